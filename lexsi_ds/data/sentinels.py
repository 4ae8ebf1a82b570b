"""Numbers that look like a code for a missing value: -200 among temperatures, 9999 among distances.

Suggested and shown, applied only when a person chooses. Must never: change a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from lexsi_ds.data.plan import Suggestion

_MOST_ROWS = 200_000
_LEAST_COUNT = 3
_CODE = re.compile(r"^-?(9+|1|[1-9]00|9{2,}0|[1-9]000|8{2,}|9\d*9)$")


def missing_notes(suggestions: Sequence[Suggestion]) -> list[str]:
    """One sentence a code, however many columns have it."""
    notes = []
    for value in dict.fromkeys(s.values[0] for s in suggestions):
        alike = [s for s in suggestions if s.values[0] == value]
        if len(alike) == 1:
            notes.append(alike[0].said)
            continue
        shown = ", ".join(s.column for s in alike[:4]) + (", …" if len(alike) > 4 else "")
        total, where = sum(s.count for s in alike), f"{len(alike)} columns ({shown})"
        notes.append(f"{value} comes {total:,} times in {where} and may stand for a missing value; it was kept.")
    return notes


@dataclass(frozen=True)
class _Edge:
    """An extreme value of a column: how often it comes, and how far it is from the rest."""

    column: str
    value: float
    count: int
    clear: bool
    lone_sign: bool
    """It is negative and nothing else is."""


def suggest_missing(
    con: duckdb.DuckDBPyConnection, source: str, columns: Sequence[tuple[str, str]], kept: Sequence[str] = ()
) -> list[Suggestion]:
    """Codes worth a look among the numeric ``columns`` (name, expression) of ``source``; names in ``kept`` are not looked at."""
    edges: list[_Edge] = []
    for name, expression in columns:
        if name not in kept:
            edges += _edges(con, source, name, expression)
    clear = {edge.value for edge in edges if edge.clear and _CODE.match(_text(edge.value))}
    found = []
    for edge in edges:
        if edge.value in clear and (edge.clear or edge.lone_sign):
            value = _text(edge.value)
            said = f"{value} comes {edge.count:,} times in {edge.column} and may stand for a missing value; it was kept."
            found.append(
                Suggestion(kind="missing", column=edge.column, values=(value,), count=edge.count, said=said)
            )
    return found


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _edges(con: duckdb.DuckDBPyConnection, source: str, name: str, expression: str) -> list[_Edge]:
    """The smallest and the largest value, when it repeats."""
    row = con.execute(
        f"""WITH v AS (SELECT CAST(({expression}) AS DOUBLE) AS x FROM (SELECT * FROM {source} LIMIT {_MOST_ROWS})),
            e AS (SELECT min(x) AS low, max(x) AS high FROM v WHERE isfinite(x))
            SELECT low, high, count(*) FILTER (WHERE x = low), count(*) FILTER (WHERE x = high),
            min(x) FILTER (WHERE x > low), max(x) FILTER (WHERE x > low),
            min(x) FILTER (WHERE x < high), max(x) FILTER (WHERE x < high),
            count(DISTINCT x) FROM v, e WHERE isfinite(x) GROUP BY low, high"""
    ).fetchone()
    if row is None or row[8] < 4:
        return []
    low, high, lows, highs, above_low, top, bottom, below_high, _ = row
    made = []
    if lows >= _LEAST_COUNT and low != 0:
        gap, spread = above_low - low, top - above_low
        made.append(_Edge(name, low, lows, gap > max(spread, 1), low < 0 <= above_low))
    if highs >= _LEAST_COUNT and high > 0:
        gap, spread = high - below_high, below_high - bottom
        made.append(_Edge(name, high, highs, gap > 3 * max(spread, 1), False))
    return made
