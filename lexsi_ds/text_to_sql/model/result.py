"""What a draft gave when it ran, and whether two drafts say the same.

Rows are kept for comparing only; a person or a prompt gets at most `shown`, and nothing of a query that touches a masked column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas.core.util.hashing import hash_pandas_object

from lexsi_ds.data.same_rows import Row, same_rows
from lexsi_ds.data.sql import SqlResult

MOST_ROWS = 20_000
"""Rows up to which results are compared cell by cell; longer ones by a digest of each column."""


@dataclass(frozen=True)
class Result:
    """The rows of a query."""

    row_count: int
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[Row, ...]
    """Empty when there are more than can be compared one by one."""
    digest: tuple[int, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it says nothing: no row, or nothing but missing values."""
        return not self.row_count or (bool(self.rows) and all(v is None for row in self.rows for v in row))


def result_of(found: SqlResult) -> Result:
    """The rows of a result, whose file is deleted."""
    try:
        table = found.arrow()
        numeric = tuple(_is_figure(f.type) for f in table.schema)
        names = tuple(c.name for c in found.columns)
        if table.num_rows > MOST_ROWS:
            return Result(found.row_count, names, numeric, (), _digest(table))
        cells = [column.to_pylist() for column in table.columns]
        return Result(found.row_count, names, numeric, tuple(zip(*cells, strict=True)))
    finally:
        found.path.unlink(missing_ok=True)


def _is_figure(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _digest(table: pa.Table) -> tuple[int, ...]:
    sums = []
    for column in table.columns:
        values: pd.Series = column.to_pandas()
        rounded = values.astype(float).round(6) if pd.api.types.is_numeric_dtype(values) else values.astype(str)
        hashed: Any = hash_pandas_object(rounded, index=False)
        sums.append(int(hashed.to_numpy().sum()))
    return tuple(sorted(sums))


def agree(a: Result, b: Result) -> bool:
    """Whether two results say the same: equal multisets of rows, where one may have further columns.

    Figures that one gives in a single row and the other down a column, one a group, are the same figures. A result without
    any figure does not agree with one that has figures beside the same names.
    """
    if a.row_count != b.row_count:
        return _spread(a, b) or _spread(b, a)
    if a.digest or b.digest:
        return a.digest == b.digest
    if not a.row_count:
        return len(a.columns) == len(b.columns)
    wide, narrow = (a, b) if len(a.columns) >= len(b.columns) else (b, a)
    if any(wide.numeric) and not any(narrow.numeric) and len(wide.columns) > len(narrow.columns):
        return False
    return same_rows(wide.rows, narrow.rows, ordered=False)


def _spread(wide: Result, long: Result) -> bool:
    """Whether the figures of one row, two or more, are those of one column of the other result."""
    if wide.row_count != 1 or not wide.rows or not long.rows or not all(wide.numeric) or len(wide.columns) != long.row_count:
        return False
    figures = [(v,) for v in wide.rows[0]]
    columns = [i for i, numeric in enumerate(long.numeric) if numeric]
    return any(same_rows([(row[i],) for row in long.rows], figures, ordered=False) for i in columns)


def shown(result: Result, *, hidden: bool) -> str:
    """A result in a few words, for a person who is to choose."""
    size = f"{result.row_count:,} row{'' if result.row_count == 1 else 's'}"
    if hidden or not result.rows:
        return size
    first = ", ".join(_cell(v) for v in result.rows[0][:4])
    return first if result.row_count == 1 else f"{size}, the first: {first}"


def _cell(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return " ".join(str(value).split())[:40]
