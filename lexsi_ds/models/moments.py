"""Columns of dates, whatever holds them: dates, dates as text, years.

Must never take a code for a date: text counts only where nearly all of it reads as year, month and day.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from lexsi_ds.models.frames import is_textual

_DATED = re.compile(r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{8}T\d{6})([T ].*)?\s*$")
_SHARE, _LOOKED_AT = 0.95, 1_000


def is_dated_text(values: pd.Series) -> bool:
    """Whether a column of text holds dates in nearly all rows that are filled."""
    if not is_textual(values):
        return False
    filled = [str(v) for v in values.dropna().head(_LOOKED_AT).tolist() if str(v).strip()]
    return len(filled) > 0 and sum(1 for v in filled if _DATED.match(v)) >= _SHARE * len(filled)


def as_moments(values: pd.Series) -> np.ndarray:
    """A column of dates, or of dates as text, as datetime64; NaT where there is none. Shape (n,)."""
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        whole = values.dropna()
        if len(whole) and whole.between(1900, 2200).all():
            return pd.to_datetime(values.astype("Int64").astype("string"), format="%Y", errors="coerce").to_numpy()
        return np.full(len(values), np.datetime64("NaT"))
    found = pd.to_datetime(values, errors="coerce", format="mixed", utc=True)
    return found.dt.tz_localize(None).to_numpy()
