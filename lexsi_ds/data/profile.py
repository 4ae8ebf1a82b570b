"""What a table's columns hold: missing values, distinct values, smallest and largest, and what the column seems to be.

Counted once, when a version is built, over all rows. Must never: keep a value of a column that names a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import duckdb

from lexsi_ds.data.handle import Column
from lexsi_ds.data.marks import Facts, Marks, guess_marks

EXACT_ROWS = 1_200_000
"""Most rows for which distinct values are counted exactly; beyond, DuckDB's HyperLogLog estimate stands in."""
_BATCH = 24
_SAMPLE_ROWS = 300
_SAMPLE_VALUES = 60
_LONGEST_VALUE = 120


@dataclass(frozen=True)
class Profile:
    """A table's columns, its rows, and the latest day in it that is not in the future (None without dates)."""

    rows: int
    columns: tuple[Column, ...]
    latest: date | None
    estimated: bool
    """Whether distinct values are estimates."""


@dataclass(frozen=True)
class _Counted:
    nulls: int
    distinct: int
    minimum: str | None
    maximum: str | None
    latest: date | None


def profile(
    con: duckdb.DuckDBPyConnection,
    table: str,
    *,
    comments: Mapping[str, str] | None = None,
    marks: Mapping[str, Marks] | None = None,
) -> Profile:
    """Profile ``table`` (a quoted name). ``comments`` and ``marks`` by column name win over what is guessed."""
    described = con.execute(f"DESCRIBE {table}").fetchall()
    bare = [Column(name=row[0], type=row[1]) for row in described]
    counted = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    rows = int(counted[0]) if counted else 0
    exact = rows <= EXACT_ROWS
    facts = _count(con, table, bare, exact)
    samples = _samples(con, table, bare)
    columns = []
    latest: date | None = None
    for column, found, sample in zip(bare, facts, samples, strict=True):
        distinct = min(found.distinct, rows - found.nulls)
        about = Facts(column.name, column.family, rows, found.nulls, distinct, sample)
        marked = (marks or {}).get(column.name) or guess_marks(about)
        columns.append(
            column.model_copy(
                update={
                    "comment": (comments or {}).get(column.name),
                    "nulls": found.nulls,
                    "distinct": distinct,
                    "minimum": None if marked.masked else found.minimum,
                    "maximum": None if marked.masked else found.maximum,
                    "protected": marked.protected,
                    "identifier": marked.identifier,
                    "masked": marked.masked,
                }
            )
        )
        if found.latest is not None and not marked.protected:  # a birthday is not "today"
            latest = max(latest or found.latest, found.latest)
    return Profile(rows, tuple(columns), latest, not exact)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _count(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column], exact: bool
) -> list[_Counted]:
    result = []
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        parts = [part for column in batch for part in _parts(column, exact)]
        row = con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
        assert row is not None
        for index in range(len(batch)):
            nulls, distinct, low, high, latest = row[5 * index : 5 * index + 5]
            result.append(_Counted(int(nulls), int(distinct), _short(low), _short(high), latest))
    return result


def _parts(column: Column, exact: bool) -> tuple[str, str, str, str, str]:
    """Nulls, distinct, smallest and largest as text, latest day."""
    name = _quoted(column.name)
    distinct = f"count(DISTINCT {name})" if exact else f"approx_count_distinct({name})"
    ordered = column.family in ("number", "text", "date")
    number = f" FILTER (WHERE isfinite({name}))" if column.type in ("FLOAT", "DOUBLE") else ""
    low = f"CAST(min({name}){number} AS VARCHAR)" if ordered else "NULL"
    high = f"CAST(max({name}){number} AS VARCHAR)" if ordered else "NULL"
    limit = (date.today() + timedelta(days=1)).isoformat()
    latest = "NULL"
    if column.family == "date":
        day = f"CAST({name} AS DATE)"
        latest = f"max({day}) FILTER (WHERE isfinite({name}) AND {day} <= DATE '{limit}')"
    return f"count(*) - count({name})", distinct, low, high, latest


def _short(value: str | None) -> str | None:
    return value if value is None or len(value) <= _LONGEST_VALUE else None


def _samples(con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """The first few values of each text and number column, as text."""
    texts = [c for c in columns if c.family in ("text", "number")]
    if not texts:
        return [()] * len(columns)
    wanted = ", ".join(f"left(CAST({_quoted(c.name)} AS VARCHAR), 200)" for c in texts)
    found = con.execute(f"SELECT {wanted} FROM {table} LIMIT {_SAMPLE_ROWS}").fetchall()
    by_name = {
        c.name: tuple(row[i] for row in found if row[i] is not None)[:_SAMPLE_VALUES] for i, c in enumerate(texts)
    }
    return [by_name.get(c.name, ()) for c in columns]
