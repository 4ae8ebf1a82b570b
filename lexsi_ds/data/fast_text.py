"""placeholder"""
from lexsi_ds.data.readers import read_text as read_fast  # noqa
