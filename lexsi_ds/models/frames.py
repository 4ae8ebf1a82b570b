"""Frames on disk and columns in memory: the Arrow files an engine reads, and how a column becomes numbers or words.

Must never guess quietly: what cannot be read as its kind is counted for the caller or refused, and no row is dropped
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from lexsi_ds.data.frames import to_frame
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id

_TRUE = {"true", "yes", "y", "t", "1"}
_FALSE = {"false", "no", "n", "f", "0"}
_NUMBER_LIKE = {"decimal", "integer", "floating", "mixed-integer-float", "boolean", "empty"}


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as an Arrow stream; the index is not kept."""
    try:
        table = pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise BadInput(
            f"This frame cannot be written: {error}", to_do="Give each column one name and values of one type."
        ) from error
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def read_frame(path: Path) -> pd.DataFrame:
    """Read an Arrow stream or file back as a frame."""
    with pa.memory_map(str(path)) as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
        return to_frame(reader.read_all())


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """One column of a frame whose names are unique."""
    return cast("pd.Series", frame[name])


def need_columns(frame: pd.DataFrame, names: list[str], where: str) -> None:
    """Refuse a frame without these columns, or with a name that occurs twice."""
    doubled = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if doubled:
        raise BadInput(
            f"{where} has two columns of one name: {', '.join(doubled)}.", to_do="Give each column its own name."
        )
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise BadInput(
            f"{where} lacks {_many('column', len(missing))} {', '.join(missing)}.",
            to_do="Add what is missing; a column may be empty, but it must be there.",
        )


def entity_keys(values: pd.Series) -> np.ndarray:
    """Each entity id as text, so that 7, 7.0 and "7" are one; missing ids are empty text. Shape (n,), object."""
    if pd.api.types.is_integer_dtype(values.dtype) and not values.isna().any():
        return values.astype(str).to_numpy(dtype=object)
    return np.array([_as_text(value) or "" for value in values.tolist()], dtype=object)


def canonical_order(keys: np.ndarray) -> np.ndarray:
    """Positions that sort rows by entity id: as numbers when all are whole numbers, else as text. Stable."""
    numbers = _floats(pd.Series(keys, dtype=object))
    if len(keys) and np.isfinite(numbers).all():
        return np.lexsort((np.arange(len(keys)), numbers))
    return np.array(sorted(range(len(keys)), key=lambda i: keys[i]), dtype=np.int64)


def is_date(values: pd.Series) -> bool:
    """Whether a column holds dates or times."""
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        return True
    if values.dtype != object:
        return False
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return kind in {"date", "datetime", "datetime64", "time", "timedelta", "timedelta64"}


def is_textual(values: pd.Series) -> bool:
    """Whether a column holds words rather than numbers or booleans."""
    if values.dtype == object:
        return pd.api.types.infer_dtype(values, skipna=True) not in _NUMBER_LIKE
    return isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(values.dtype)


def as_numbers(values: pd.Series) -> tuple[np.ndarray, int]:
    """A column as float64 with NaN for missing, blank and infinite, and how many values were no numbers (now NaN)."""
    if is_textual(values):
        text = values.astype(object).where(values.notna(), None)
        stripped = pd.Series([str(v).strip() if v is not None else None for v in text.tolist()], dtype=object)
        blank = stripped.isna() | (stripped == "")
        numbers = _floats(stripped.where(~blank, None))
        unreadable = int((np.isnan(numbers) & ~blank.to_numpy()).sum())
    elif values.dtype == object:
        numbers = np.array([np.nan if _missing(v) else float(v) for v in values.tolist()], dtype=float)
        unreadable = 0
    else:
        numbers = _floats(values)
        unreadable = 0
    return np.where(np.isfinite(numbers), numbers, np.nan), unreadable


def as_words(values: pd.Series) -> np.ndarray:
    """A column as text, None for missing and blank; 3 and 3.0 are one word. Shape (n,), object."""
    return np.array([_as_text(value) for value in values.tolist()], dtype=object)


def as_truths(values: pd.Series) -> tuple[np.ndarray, int]:
    """A column as 1, 0 and NaN, and how many values were neither true nor false (now NaN)."""
    words = [w.casefold() if w is not None else None for w in as_words(values)]
    truths = np.array([np.nan if w is None else 1.0 if w in _TRUE else 0.0 if w in _FALSE else np.inf for w in words])
    unreadable = int(np.isinf(truths).sum())
    return np.where(np.isinf(truths), np.nan, truths), unreadable


def plain(value: Any) -> Any:
    """A cell as JSON can carry it: numbers, text, booleans or None; dates as ISO 8601."""
    if _missing(value):
        return None
    if isinstance(value, (np.bool_, bool)):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if isinstance(value, (np.floating, float, Decimal)):
        return float(value) if np.isfinite(float(value)) else None
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def _as_text(value: Any) -> str | None:
    if _missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return str(int(value))
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value).strip() or None


def _missing(value: Any) -> bool:
    if isinstance(value, (float, Decimal)):
        return value != value
    return value is None or value is pd.NA or value is pd.NaT


def _floats(values: pd.Series) -> np.ndarray:
    """Numbers of a column as float64; NaN for what is none."""
    return cast("pd.Series", pd.to_numeric(values, errors="coerce")).astype("float64").to_numpy()


def _many(noun: str, n: int) -> str:
    return f"the {noun}" if n == 1 else f"the {noun}s"


@contextmanager
def on_disk(home: Path, frame: pd.DataFrame) -> Iterator[Path]:
    """The frame as an Arrow file under ``home/tmp`` for the time of one call."""
    folder = home / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{new_id('frm')}.arrow"
    try:
        write_frame(frame, path)
        yield path
    finally:
        path.unlink(missing_ok=True)
