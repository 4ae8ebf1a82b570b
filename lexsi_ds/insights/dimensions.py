"""Columns as dimensions: each a short list of levels (values, ranges, periods), coded as small integers in DuckDB.

Missing is a level of its own. Must never: make levels of identifiers or of masked columns, or choose ranges by the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from lexsi_ds.data.handle import Column
from lexsi_ds.data.raw_rows import literal as text_literal
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.insights.surprise import Side

MAX_LEVELS = 50
BINS = 8
MAX_PERIODS = 48
MIN_PERIODS = 8
LOOK = "\x00look\x00"
"""Stands in a dimension's code for the column of its look-up table."""
_SAMPLE = 200_000
_GRAINS = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True)
class Dimension:
    """A column cut into levels. ``code`` is SQL that gives a level's position for each row of ``source``."""

    column: str
    sides: tuple[Side, ...]
    code: str
    time: bool = False
    """Its levels are periods, in order of time; the last may be "missing"."""
    ordered: bool = False
    """Its levels are ranges, from low to high."""
    mapping: tuple[Any, ...] | None = None
    """Values in order of their codes, where rows are coded by a look-up."""

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.sides)


def one_in(parts: int) -> str:
    """A condition that takes one row in so many of a DuckDB table, the same ones each time."""
    return f"hash(rowid) % {parts} = 0" if parts > 1 else "TRUE"


def literal(value: Any) -> str:
    """A value in SQL: a number, a truth value, or quoted text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    return text_literal(str(value))


def dimensions(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[Column], rows: int, limit: int
) -> tuple[list[Dimension], list[str]]:
    """The dimensions among ``columns`` and, in words, what is none and why.

    ``source`` is a table and no view: rows are sampled by ``rowid``.
    """
    found: list[Dimension] = []
    notes: list[str] = []
    for column in columns:
        if column.masked or column.identifier:
            notes.append(f"{column.name} is left out: it is {'masked' if column.masked else 'an identifier'}.")
        elif len(found) == limit:
            notes.append(f"{column.name} is left out: the first {limit} columns with levels were taken.")
        elif isinstance(made := _dimension(con, source, column, rows), str):
            notes.append(f"{column.name} is left out: {made}.")
        else:
            found.append(made)
    return found, notes


def _dimension(con: duckdb.DuckDBPyConnection, source: str, column: Column, rows: int) -> Dimension | str:
    if column.distinct + bool(column.nulls) < 2:
        return "it has one value only"
    if column.family == "date":
        return _periods(con, source, column)
    if column.family == "number" and column.distinct > BINS:
        return "it is another number in each row, like a key" if like_a_key(column, rows) else _ranges(con, source, column, rows)
    if column.family in ("text", "boolean", "number"):
        if column.distinct > MAX_LEVELS and column.distinct > rows / 20:
            return f"it has {column.distinct:,} different values"
        return _values(con, source, column)
    return "values of its type have no levels"


def _whole(column: Column) -> bool:
    return column.type.upper().removeprefix("U") in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


def like_a_key(column: Column, rows: int) -> bool:
    """Whether it is a whole number, another one in nearly every row."""
    return _whole(column) and column.distinct >= 0.95 * rows and rows > 20


def _values(con: duckdb.DuckDBPyConnection, source: str, column: Column) -> Dimension:
    name = quoted(column.name)
    counted = con.execute(
        f"SELECT {name} AS v, count(*) AS n FROM {source} WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY n DESC, v LIMIT "
        f"{MAX_LEVELS + 1}"
    ).fetchall()
    kept = [value for value, _ in counted[: MAX_LEVELS if len(counted) <= MAX_LEVELS else MAX_LEVELS - 1]]
    sides = [Side(column=column.name, level=_said(v), condition=f"{name} = {literal(v)}") for v in kept]
    other, missing = "NULL", "NULL"
    if len(counted) > len(kept):
        other = str(len(sides))
        among = ", ".join(literal(v) for v in kept)
        sides.append(Side(column=column.name, level="any other value", condition=f"{name} NOT IN ({among})"))
    if column.nulls:
        missing = str(len(sides))
        sides.append(Side(column=column.name, level="missing", condition=f"{name} IS NULL"))
    code = f"coalesce({LOOK}, CASE WHEN {name} IS NULL THEN {missing} ELSE {other} END)"
    return Dimension(column.name, tuple(sides), code, mapping=tuple(kept))


def _ranges(con: duckdb.DuckDBPyConnection, source: str, column: Column, rows: int) -> Dimension | str:
    name = quoted(column.name)
    at = ", ".join(str(i / BINS) for i in range(1, BINS))
    (cuts,) = con.execute(
        f"SELECT quantile_disc({name}::DOUBLE, [{at}]) FROM {source} WHERE isfinite({name}::DOUBLE) AND {one_in(rows // _SAMPLE)}"
    ).fetchone() or (None,)
    lowest = con.execute(f"SELECT min({name})::DOUBLE FROM {source} WHERE isfinite({name}::DOUBLE)").fetchone()
    if not cuts or lowest is None or lowest[0] is None:
        return "it has no finite numbers"
    edges = sorted({float(c) for c in cuts} - {lowest[0]})
    if not edges:
        return "nearly all its values are the same"
    sides = []
    for low, high in zip([None, *edges], [*edges, None], strict=True):
        tests = [f"{name} >= {low!r}"] * (low is not None) + [f"{name} < {high!r}"] * (high is not None)
        sides.append(Side(column=column.name, level=_range(low, high, whole=_whole(column)), condition=" AND ".join(tests)))
    whens = " ".join(f"WHEN {name} < {edge!r} THEN {i}" for i, edge in enumerate(edges))
    missing = "NULL"
    if column.nulls:
        missing = str(len(sides))
        sides.append(Side(column=column.name, level="missing", condition=f"{name} IS NULL"))
    code = f"CASE WHEN {name} IS NULL THEN {missing} {whens} ELSE {len(edges)} END"
    return Dimension(column.name, tuple(sides), code, ordered=True)


def _periods(con: duckdb.DuckDBPyConnection, source: str, column: Column) -> Dimension | str:
    name = quoted(column.name)
    counts = con.execute(
        "SELECT " + ", ".join(f"count(DISTINCT date_trunc('{g}', {name}))" for g in _GRAINS) + f" FROM {source}"
    ).fetchone()
    assert counts is not None
    fitting = [(n, place) for place, n in enumerate(counts) if 2 <= n <= MAX_PERIODS]
    if not fitting:
        return "its dates make no fitting periods"
    grain = _GRAINS[max(fitting)[1]]  # the most periods; the longest name for as many
    starts = con.execute(
        f"SELECT DISTINCT date_trunc('{grain}', {name})::DATE AS v FROM {source} WHERE isfinite({name}) ORDER BY v"
    ).fetchall()
    sides = [
        Side(column=column.name, level=_period(v, grain), condition=f"date_trunc('{grain}', {name})::DATE = DATE '{v}'")
        for (v,) in starts
    ]
    missing = "NULL"
    if column.nulls:
        missing = str(len(sides))
        sides.append(Side(column=column.name, level="missing", condition=f"{name} IS NULL"))
    code = f"coalesce({LOOK}, {missing})"
    return Dimension(column.name, tuple(sides), code, time=True,
                     mapping=(f"date_trunc('{grain}', {name})::DATE", *(v for (v,) in starts)))


def _period(day: Any, grain: str) -> str:
    if grain == "year":
        return str(day.year)
    if grain == "quarter":
        return f"quarter {(day.month + 2) // 3} of {day.year}"
    return f"{day:%B %Y}" if grain == "month" else f"the week of {day}" if grain == "week" else str(day)


def _said(value: Any) -> str:
    words = str(value)
    return f"“{words}”" if words.strip() in ("", "missing", "any other value") else words


def _range(low: float | None, high: float | None, *, whole: bool) -> str:
    if whole and high is not None:
        last = high - 1
        return f"{_short(last)} or less" if low is None else _short(low) if low == last else f"{_short(low)} to {_short(last)}"
    if low is None:
        return f"below {_short(high or 0.0)}"
    return f"{_short(low)} or more" if high is None else f"{_short(low)} to below {_short(high)}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
