"""How the values of columns are spread, as a few counts each: what a table of columns shows as small bars.

Numbers and dates in equal bins between the smallest and the largest value, texts by their most frequent values. Kept in a
file beside the version's statistics. Must never: tell anything of a masked column.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from lexsi_ds.data.handle import Column, Table
from lexsi_ds.data.sql import SqlRunner

BINS = 12
_BATCH = 12
_MOST = 120
"""Columns of a very wide table past this many have no bars."""
Shapes = dict[str, list[int]]


class ColumnShapes:
    """Counts of each column of a dataset version, made once."""

    def __init__(self, home: Path, sql: SqlRunner) -> None:
        self._folder, self._sql = home / "column_stats", sql

    def ready(self, table: Table) -> bool:
        """Whether they are made already."""
        return self._path(table).is_file()

    def of(self, table: Table) -> Shapes:
        """Counts by column name; a column without a shape is absent. Raises what a query raises."""
        path = self._path(table)
        try:
            return json.loads(path.read_bytes())
        except (OSError, ValueError):
            found = self._made(table)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(found))
            temporary.replace(path)
            return found

    def _made(self, table: Table) -> Shapes:
        wanted = [(c, expression) for c in table.columns[:_MOST] if not c.masked and (expression := _counts(c))]
        found: Shapes = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            parts = ", ".join(f"{expression} AS c{i}" for i, (_, expression) in enumerate(batch))
            rows = self._rows(table, f"SELECT {parts} FROM dataset AS d")
            for i, (column, _) in enumerate(batch):
                found[column.name] = [int(n) for n in rows[0][f"c{i}"] or ()]
        return found

    def _rows(self, table: Table, sql: str) -> list[dict[str, Any]]:
        result = self._sql.run_on_table(table, sql)
        try:
            return result.arrow().to_pylist()
        finally:
            result.path.unlink(missing_ok=True)

    def _path(self, table: Table) -> Path:
        masked = json.dumps(sorted(c.name for c in table.columns if c.masked))
        name = f"v{table.version}-shapes-{hashlib.sha256(masked.encode()).hexdigest()[:12]}.json"
        return self._folder / table.dataset_id / name


def _counts(column: Column) -> str | None:
    name = '"' + column.name.replace('"', '""') + '"'
    if column.family == "number":
        edges = _edges(column)
        return _binned(f"d.{name}", [repr(e) for e in edges]) if edges else None
    if column.family == "date":
        days = _days(column)
        return _binned(f"date_diff('day', DATE '1970-01-01', CAST(d.{name} AS DATE))", [str(d) for d in days]) if days else None
    if column.family in ("text", "boolean") and 0 < column.distinct <= 50:
        return f"list_reverse_sort(map_values(histogram(d.{name})))[1:{BINS}]"
    return None


def _binned(value: str, edges: Sequence[str]) -> str:
    inner = [f"count(*) FILTER (WHERE {value} < {edges[0]})"]
    inner += [f"count(*) FILTER (WHERE {value} >= {a} AND {value} < {b})" for a, b in pairwise(edges)]
    return f"[{', '.join([*inner, f'count(*) FILTER (WHERE {value} >= {edges[-1]})'])}]"


def _edges(column: Column) -> list[float]:
    try:
        low, high = float(column.minimum or ""), float(column.maximum or "")
    except ValueError:
        return []
    step = (high - low) / BINS
    return [low + step * i for i in range(1, BINS)] if step > 0 and step < float("inf") else []


def _days(column: Column) -> list[int]:
    try:
        low, high = (date.fromisoformat((v or "")[:10]) for v in (column.minimum, column.maximum))
    except ValueError:
        return []
    first = (low - date(1970, 1, 1)).days
    span = (high - low).days
    return [first + round(span * i / BINS) for i in range(1, BINS)] if span >= BINS else []
