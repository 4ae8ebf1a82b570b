"""Days that nothing above DuckDB can say: without end, before the year 1, or beyond the year 9999.

Where they are few (as those that stand for "never" are), they become missing; where they are most of a column, it is kept as
text. Both are said. Must never: change any other value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from lexsi_ds.data.raw_rows import quoted

WORDS = "without end, or outside of the years 1 to 9999"
_FIRST, _LAST = "0001-01-01", "9999-12-31"


@dataclass(frozen=True)
class FarDays:
    """A column that holds some."""

    name: str
    test: str
    """What is true of them."""
    count: int
    most: bool
    """Whether more than half of all values are such, not counting those without end."""


def find_far_days(con: duckdb.DuckDBPyConnection, relation: str) -> list[FarDays]:
    """The columns of ``relation`` (a quoted name or a SELECT in brackets) that hold such days."""
    described = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    kinds = {row[0]: row[1] for row in described if row[1].startswith(("DATE", "TIMESTAMP")) and not row[1].endswith("]")}
    return [_counted(con, relation, name, kinds[name]) for name in _suspects(con, relation, kinds)]


def settle_far_days(con: duckdb.DuckDBPyConnection, table: str) -> tuple[str, ...]:
    """Make them missing in ``table``, or its column text; what was done, in sentences."""
    notes = []
    for far in find_far_days(con, table):
        column, many = quoted(far.name), far.count != 1
        if far.most:
            con.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE VARCHAR")
            notes.append(f"{far.name}: kept as text, since most of its days are {WORDS} ({far.count:,}).")
        else:
            con.execute(f"UPDATE {table} SET {column} = NULL WHERE {far.test}")
            notes.append(f"{far.name}: {far.count:,} day{'s' * many} {WORDS}, became missing values.")
    return tuple(notes)


def _suspects(con: duckdb.DuckDBPyConnection, relation: str, kinds: Mapping[str, str]) -> list[str]:
    """Columns of which an extreme is such a day: DuckDB knows the extremes of a table without a pass over its rows."""
    if not kinds:
        return []
    ends = ", ".join(f"min({quoted(n)}) AS a{i}, max({quoted(n)}) AS b{i}" for i, n in enumerate(kinds))
    asked = ", ".join(
        f"coalesce({_is_far(f'a{i}', kind)} OR {_is_far(f'b{i}', kind)}, false)" for i, kind in enumerate(kinds.values())
    )
    row = con.execute(f"SELECT {asked} FROM (SELECT {ends} FROM {relation})").fetchone()
    return [name for name, far in zip(kinds, row or (), strict=True) if far]


def _counted(con: duckdb.DuckDBPyConnection, relation: str, name: str, kind: str) -> FarDays:
    test = _is_far(quoted(name), kind)
    finite = f"isfinite({quoted(name)})"
    row = con.execute(
        f"SELECT count(*) FILTER (WHERE {test}), 2 * count(*) FILTER (WHERE {test} AND {finite}) > count({quoted(name)}) "
        f"FROM {relation}"
    ).fetchone()
    count, most = row or (0, False)
    return FarDays(name, test, int(count), bool(most))


def _is_far(value: str, kind: str) -> str:
    """True, false, or missing as the value is."""
    if kind == "DATE":
        return f"(NOT isfinite({value}) OR {value} < DATE '{_FIRST}' OR {value} > DATE '{_LAST}')"
    if kind == "TIMESTAMP WITH TIME ZONE":
        first, last = f"TIMESTAMPTZ '{_FIRST} 00:00:00+00'", f"TIMESTAMPTZ '{_LAST} 23:59:59.999999+00'"
    else:  # of nanoseconds, milliseconds and seconds too; what is no TIMESTAMP is beyond its years
        value, plain = f"TRY_CAST({value} AS TIMESTAMP)", value
        first, last = f"TIMESTAMP '{_FIRST}'", f"TIMESTAMP '{_LAST} 23:59:59.999999'"
        return f"({plain} IS NOT NULL AND coalesce(NOT isfinite({value}) OR {value} < {first} OR {value} > {last}, true))"
    return f"(NOT isfinite({value}) OR {value} < {first} OR {value} > {last})"
