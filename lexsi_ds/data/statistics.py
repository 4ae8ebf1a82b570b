"""Statistics of a table's columns: extremes, mean, spread and quantiles of numbers, the most frequent values of categories.

Computed by DuckDB over all rows, a few columns to a pass. Values of masked columns are never read. Quantiles are
interpolated (Hyndman and Fan 1996, type 7, as ``quantile_cont``), or estimated by t-digest (Dunning 2019) on large tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lexsi_ds.data.handle import Column, Table, Value
from lexsi_ds.data.profile import EXACT_ROWS

Rows = list[dict[str, Any]]
Query = Callable[[str], Rows]
"""Runs one SELECT on the table, visible as ``dataset``, and gives its rows."""

_BATCH = 24
_TOP = 10
_LONGEST_TEXT = 200
_CODES_MOST = 20
"""Most distinct numbers that are also counted as codes."""
_EXACT_VALUES = 24_000_000
"""Most values whose quantiles are exact in one pass: they are held in memory."""
_FLOATS = ("FLOAT", "DOUBLE")


class TopValue(Value):
    """A value as text, and how many rows hold it."""

    value: str
    count: int


class ColumnStatistics(Value):
    """What is known of a column; None is what its type does not have. Shares are 0 to 1."""

    name: str
    type: str
    masked: bool = False
    """Nothing else is told of a masked column."""
    count: int | None = None
    """Values that are not missing."""
    null_count: int | None = None
    null_share: float | None = None
    distinct_count: int | None = None
    distinct_share: float | None = None
    """Of the values that are not missing."""
    distinct_estimated: bool = False
    """Whether distinct values are an estimate, as on large tables."""
    minimum: float | str | None = None
    """A number, or text (ISO for dates)."""
    maximum: float | str | None = None
    mean: float | None = None
    std: float | None = None
    """Sample standard deviation."""
    q1: float | None = None
    median: float | None = None
    q3: float | None = None
    zero_count: int | None = None
    zero_share: float | None = None
    not_finite: int | None = None
    """NaN and infinities; they are left out of the other figures."""
    top_values: tuple[TopValue, ...] = ()
    estimated: bool = False
    """Whether the quantiles are estimates."""


def statistics(table: Table, query: Query) -> tuple[ColumnStatistics, ...]:
    """Statistics of every column, in order."""
    found: dict[str, ColumnStatistics] = {}
    for batch in _batches(table):
        estimated = table.rows * sum(c.family == "number" for c in batch) > _EXACT_VALUES
        parts = [part for i, column in enumerate(batch) for part in _parts(i, column, table, estimated)]
        row = query(f"SELECT {', '.join(parts)} FROM dataset AS d")[0]
        for i, column in enumerate(batch):
            mine = {name.removeprefix(f"c{i}_"): value for name, value in row.items() if name.startswith(f"c{i}_")}
            found[column.name] = _of(column, table, mine, estimated)
    return tuple(
        found.get(c.name, ColumnStatistics(name=c.name, type=c.type, masked=c.masked)) for c in table.columns
    )


def _batches(table: Table) -> Iterator[Sequence[Column]]:
    shown = [c for c in table.columns if not c.masked]
    room = max(1, _EXACT_VALUES // max(1, table.rows))
    size = min(_BATCH, room) if table.rows <= _EXACT_VALUES else _BATCH
    for start in range(0, len(shown), size):
        yield shown[start : start + size]


def _parts(i: int, column: Column, table: Table, estimated: bool) -> list[str]:
    name = "d." + _quoted(column.name)
    parts = [f"count({name}) AS c{i}_count"]
    if column.family == "number":
        value, finite = f"CAST({name} AS DOUBLE)", ""
        if column.type in _FLOATS:
            finite = f" FILTER (WHERE isfinite({name}))"
            parts.append(f"count({name}) FILTER (WHERE NOT isfinite({name})) AS c{i}_odd")
        quantile = "approx_quantile" if estimated else "quantile_cont"
        parts += [
            f"min({value}){finite} AS c{i}_min", f"max({value}){finite} AS c{i}_max", f"avg({value}){finite} AS c{i}_mean",
            f"stddev_samp({value}){finite} AS c{i}_std", f"{quantile}({value}, [0.25, 0.5, 0.75]){finite} AS c{i}_quantiles",
            f"count(*) FILTER (WHERE {name} = 0) AS c{i}_zeros",
        ]
    elif column.family in ("date", "text"):
        parts += [f"CAST(min({name}) AS VARCHAR) AS c{i}_min", f"CAST(max({name}) AS VARCHAR) AS c{i}_max"]
    if _counts_values(column, table):
        parts.append(f"{_top(column)} AS c{i}_top")
    return parts


def _counts_values(column: Column, table: Table) -> bool:
    if column.family == "number":
        return 0 < column.distinct <= _CODES_MOST
    if column.family == "text":
        return table.rows <= _CODES_MOST or column.distinct <= 0.95 * (table.rows - column.nulls)
    return column.family == "boolean"


def _top(column: Column) -> str:
    name = _quoted(column.name)
    counted = (
        f"SELECT {name} AS v, count(*) AS n FROM dataset WHERE {name} IS NOT NULL"
        f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_TOP}"
    )
    shown = f"struct_pack(v := left(CAST(v AS VARCHAR), {_LONGEST_TEXT}), n := n)"
    return f"(SELECT list({shown} ORDER BY n DESC, v) FROM ({counted}) AS t)"


def _of(column: Column, table: Table, row: dict[str, Any], estimated: bool) -> ColumnStatistics:
    count = int(row["count"])
    quantiles = row.get("quantiles") or (None, None, None)
    return ColumnStatistics(
        name=column.name, type=column.type, count=count, null_count=table.rows - count,
        null_share=_share(table.rows - count, table.rows), distinct_count=column.distinct,
        distinct_share=_share(column.distinct, count),
        distinct_estimated=table.rows > EXACT_ROWS, minimum=_short(row.get("min")), maximum=_short(row.get("max")),
        mean=row.get("mean"), std=row.get("std"), q1=quantiles[0], median=quantiles[1], q3=quantiles[2],
        zero_count=row.get("zeros"), zero_share=_share(row["zeros"], count) if "zeros" in row else None,
        not_finite=row.get("odd"), estimated=estimated and column.family == "number",
        top_values=tuple(TopValue(value=str(e["v"]), count=e["n"]) for e in row.get("top") or ()),
    )


def _short(value: Any) -> Any:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else value


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
