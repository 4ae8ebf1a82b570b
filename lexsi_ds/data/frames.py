"""Arrow results in pandas, whatever DuckDB's types: no type may make a page or a training crash.

Must never drop a row or a column, and never change an integer that fits into 64 bits.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31 in days since 1970: what dates in Python can say."""
_DAY_US = 86_400_000_000


def to_frame(table: pa.Table) -> pd.DataFrame:
    """All rows and columns; decimals become floats, huge integers int64 where they fit, dates ``datetime64``."""
    columns = [_plain(column) for column in table.columns]
    plain = pa.Table.from_arrays(columns, names=table.column_names)
    return plain.to_pandas(date_as_object=False)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_decimal(kind):
        return _number(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return column if _sayable(column) else _as_text(column)
    if pa.types.is_union(kind) or isinstance(kind, pa.BaseExtensionType):
        return pa.chunked_array([pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.string())])
    return _nested(column) if pa.types.is_nested(kind) else column


def _nested(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists and objects; where pandas cannot say a day in them, their days are text."""
    try:
        column.to_pandas(date_as_object=False)
    except (ValueError, OverflowError, pa.ArrowException):
        return column.cast(_with_days_as_text(column.type))
    return column


def _with_days_as_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_with_days_as_text(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_with_days_as_text(kind.key_type), _with_days_as_text(kind.item_type))
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([pa.field(f.name, _with_days_as_text(f.type)) for f in fields])
    return kind


def _number(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            pass
    return column.cast(pa.float64())


def _sayable(column: pa.ChunkedArray) -> bool:
    """Whether every value lies between the years 1 and 9999; DuckDB's infinity and BC dates do not."""
    if column.null_count == len(column):
        return True
    if pa.types.is_date(column.type):
        numbers = column.cast(pa.int32())
        low, high = _FIRST_DAY, _LAST_DAY
    else:
        per_day = _DAY_US * {"s": 1e-6, "ms": 1e-3, "us": 1, "ns": 1e3}[column.type.unit]
        numbers = column.cast(pa.int64())
        low, high = int(_FIRST_DAY * per_day), int((_LAST_DAY + 1) * per_day)
    ends = pyarrow.compute.call_function("min_max", [numbers])
    return low <= ends["min"].as_py() and ends["max"].as_py() <= high


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())
