"""Which tables of a source a query reads. Must never: run anything, or fail on what cannot be parsed."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.data.handle import DatasetHandle, Table


def tables_of(handle: DatasetHandle, sql: str) -> list[Table]:
    """The source's tables that a query reads, in order of their first mention; [] when it cannot be parsed."""
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except SqlglotError:
        return []
    made_here = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
    named = dict.fromkeys(t.name.casefold() for t in tree.find_all(exp.Table, bfs=False))
    found = [handle.table(name) for name in named if name not in made_here]
    return [table for table in found if table is not None]
