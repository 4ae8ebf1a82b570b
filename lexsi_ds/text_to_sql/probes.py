"""What the predictive writer must ask the data: which columns are filled only once the outcome is known, which dates come
after the cut-off. Counts only; no row is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from lexsi_ds.knowledge.model import ColumnModel, Outcome
from lexsi_ds.text_to_sql.sqltext import Names, ident

Query = Callable[[str], pd.DataFrame]
_AT_ONCE = 100
"""Columns of one query."""
_ENOUGH = 10
"""Fewest rows on a side before a pattern in them says anything."""


@dataclass(frozen=True)
class Filled:
    """How a column is filled on rows with a known and an unknown outcome, and on either class of the known ones."""

    known: int
    known_filled: int
    known_distinct: int
    unknown: int
    unknown_filled: int
    unknown_distinct: int
    positive: int
    positive_filled: int
    negative: int
    negative_filled: int
    after_cutoff: int

    def after_outcome(self) -> str | None:
        """Why the column must have been written after the outcome; None when nothing says so."""
        if self.after_cutoff:
            return f"{self.after_cutoff:,} of its dates come after the cut-off."
        if self.unknown >= _ENOUGH and self.known_filled and not self.unknown_filled:
            return f"It is filled on {self.known_filled:,} rows whose outcome is known and on none of the {self.unknown:,} others."
        if (
            self.unknown >= _ENOUGH
            and self.unknown_distinct == 1
            and self.unknown_filled == self.unknown
            and self.known_distinct > 1
        ):
            return f"It varies where the outcome is known and has one and the same value on all {self.unknown:,} other rows."
        if min(self.positive, self.negative) >= _ENOUGH:
            if not self.negative_filled and self.positive_filled > self.positive / 2:
                return "It is filled only on rows where the outcome happened."
            if not self.positive_filled and self.negative_filled > self.negative / 2:
                return "It is filled only on rows where the outcome did not happen."
        return None


def probe_columns(
    names: Names, outcome: Outcome, columns: tuple[ColumnModel, ...], cutoff: str | None, query: Query
) -> dict[str, Filled]:
    """How each column of the entity's table is filled, in few queries."""
    found: dict[str, Filled] = {}
    for i in range(0, len(columns), _AT_ONCE):
        found |= _probe_some(names, outcome, columns[i : i + _AT_ONCE], cutoff, query)
    return found


def _probe_some(
    names: Names, outcome: Outcome, columns: tuple[ColumnModel, ...], cutoff: str | None, query: Query
) -> dict[str, Filled]:
    table, of = outcome.table, names.tests("t", outcome.positive)
    known, unknown = names.tests("t", outcome.known), names.tests("t", outcome.unknown)
    yes, no = (f"{known} AND {of}", f"{known} AND NOT ({of})") if of else ("FALSE", "FALSE")
    sides = _sides(known, unknown, yes, no, outcome)
    counted = [f"count(*) FILTER (WHERE {w}) AS {n}" for n, w in sides]
    for i, column in enumerate(columns):
        value = names.read("t", table, column.name)
        counted += [f"count({value}) FILTER (WHERE {w}) AS {n}_f{i}" for n, w in sides]
        counted += [f"count(DISTINCT {value}) FILTER (WHERE {w}) AS {n}_d{i}" for n, w in sides[:2]]
        late = f"{value} > {names.read('t', table, cutoff)}" if cutoff and column.role == "time" else "FALSE"
        counted.append(f"count(*) FILTER (WHERE {late}) AS late{i}")
    row = counts(query, f"SELECT {', '.join(counted)} FROM {ident(table)} AS t")
    return {c.name: _filled(row, i) for i, c in enumerate(columns)}


def _sides(known: str, unknown: str, positive: str, negative: str, outcome: Outcome) -> list[tuple[str, str]]:
    # Where no outcome is unknown, the rows to score are known ones too: only the two classes can be compared.
    return [("k", known), ("u", "FALSE" if outcome.out_of_fold else unknown), ("p", positive), ("m", negative)]


def _filled(row: dict[str, int], i: int) -> Filled:
    return Filled(
        known=row["k"],
        known_filled=row[f"k_f{i}"],
        known_distinct=row[f"k_d{i}"],
        unknown=row["u"],
        unknown_filled=row[f"u_f{i}"],
        unknown_distinct=row[f"u_d{i}"],
        positive=row["p"],
        positive_filled=row[f"p_f{i}"],
        negative=row["m"],
        negative_filled=row[f"m_f{i}"],
        after_cutoff=row[f"late{i}"],
    )


def counts(query: Query, sql: str) -> dict[str, int]:
    """The numbers of a counting query of one row, by column."""
    return {str(name): int(value) for name, value in query(sql).to_dict("records")[0].items()}


def count(query: Query, sql: str) -> int:
    """The one number of a counting query."""
    return next(iter(counts(query, sql).values()))
