"""Whether an answer's rows are the gold's: by the comparison that the product tells its own readings apart with."""

from lexsi_ds.data.same_rows import Row, same_rows

__all__ = ["Row", "same_rows"]
