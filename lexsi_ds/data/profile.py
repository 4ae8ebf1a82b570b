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
_FLOATS = ("FLOAT", "DOUBLE")


@dataclass(frozen=True)
class Profile:
    """A table's columns, its rows, and the latest day in it that is not in the future (None without dates)."""

    rows: int
    columns: tuple[Column, ...]
    latest: date | None
    estimated: bool
    """Whether distinct values are estimates."""
    notes: tuple[str, ...] = ()
    """What was done to the rows when they were written."""


@dataclass(frozen=True)
class Counts:
    """Of one column, over all rows. Extremes as text, those of floats without NaN and infinities."""

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
    counts: Sequence[Counts] | None = None,
) -> Profile:
    """Profile ``table`` (a quoted name). ``comments`` and ``marks`` by column name win over what is guessed; ``counts`` are
    those of ``count_columns`` where they are known."""
    bare, rows = _described(con, table), _rows(con, table)
    facts = counts if counts is not None else count_columns(con, table)
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
                    "minimum": None if marked.masked else _short(found.minimum),
                    "maximum": None if marked.masked else _short(found.maximum),
                    "protected": marked.protected,
                    "identifier": marked.identifier,
                    "masked": marked.masked,
                }
            )
        )
        if found.latest is not None and not marked.protected:  # a birthday is not "today"
            latest = max(latest or found.latest, found.latest)
    return Profile(rows, tuple(columns), latest, rows > EXACT_ROWS)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _described(con: duckdb.DuckDBPyConnection, table: str) -> list[Column]:
    return [Column(name=row[0], type=row[1]) for row in con.execute(f"DESCRIBE {table}").fetchall()]


def _rows(con: duckdb.DuckDBPyConnection, table: str) -> int:
    counted = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(counted[0]) if counted else 0


def count_columns(con: duckdb.DuckDBPyConnection, table: str) -> list[Counts]:
    """Counts of every column of ``table`` (a quoted name), in order.

    The extremes of numbers and days come from a query of their own: DuckDB knows them without a pass over the rows.
    """
    columns, exact = _described(con, table), _rows(con, table) <= EXACT_ROWS
    result: list[Counts] = []
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        plain = _plain_extremes(con, table, batch)
        parts = [part for column in batch for part in _parts(column, exact, column.name not in plain)]
        row = con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
        assert row is not None
        for index, column in enumerate(batch):
            nulls, distinct, *ends = row[5 * index : 5 * index + 5]
            low, high, latest = plain.get(column.name, ends)
            result.append(Counts(int(nulls), int(distinct), low, high, latest))
    return result


def _plain_extremes(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column]
) -> dict[str, tuple[str | None, str | None, date | None]]:
    """Smallest, largest and latest day of numbers and days of which all are finite and none is in the future, by name."""
    asked = [c for c in columns if c.family in ("number", "date")]
    if not asked:
        return {}
    parts = []
    for column in asked:
        name = _quoted(column.name)
        low, high, day = f"min({name})", f"max({name})", "NULL"
        plain = "true" if column.type not in _FLOATS else f"coalesce(isfinite({low}) AND isfinite({high}), true)"
        if column.family == "date":
            day = f"CAST({high} AS DATE)"
            whole = f"isfinite({low}) AND isfinite({high}) AND CAST({low} AS DATE) >= DATE '0001-01-01'"
            plain = f"coalesce({whole} AND {day} <= DATE '{_soon()}', true)"
        parts += [plain, f"CAST({low} AS VARCHAR)", f"CAST({high} AS VARCHAR)", f"CASE WHEN {plain} THEN {day} END"]
    row = con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
    assert row is not None
    found = {column.name: row[4 * i : 4 * i + 4] for i, column in enumerate(asked)}
    return {name: (low, high, latest) for name, (plain, low, high, latest) in found.items() if plain}


def _soon() -> str:
    return (date.today() + timedelta(days=1)).isoformat()


def _parts(column: Column, exact: bool, ends: bool) -> tuple[str, str, str, str, str]:
    """Nulls, distinct; with ``ends`` the smallest and largest as text, and the latest day."""
    name = _quoted(column.name)
    distinct = f"count(DISTINCT {name})" if exact or column.type == "BOOLEAN" else f"approx_count_distinct({name})"
    ordered = ends and (column.family in ("number", "text", "date") or column.type == "TIME")
    number = f" FILTER (WHERE isfinite({name}))" if column.type in _FLOATS else ""
    low = f"CAST(min({name}){number} AS VARCHAR)" if ordered else "NULL"
    high = f"CAST(max({name}){number} AS VARCHAR)" if ordered else "NULL"
    latest = "NULL"
    if ends and column.family == "date":
        day = f"CAST({name} AS DATE)"
        latest = f"max({day}) FILTER (WHERE isfinite({name}) AND {day} BETWEEN DATE '0001-01-01' AND DATE '{_soon()}')"
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
