"""Two versions of a dataset side by side: columns, rows by key, and what changed in each column.

Rows are matched only where both versions have the same key; otherwise only totals are told. Must never: show a value of a row,
or a figure of a masked column.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.data.handle import Column, DatasetHandle, Table, Value
from lexsi_ds.data.key_names import looks_like_key
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.column_stats import ColumnStats

_COMPARED = 200
"""Most columns that are looked at to tell whether a row changed."""


class Retyped(Value):
    """A column whose type is another one now."""

    name: str
    before: str
    after: str


class ColumnChange(Value):
    """A column that both versions have. Shares are 0 to 1; means are None for what is no number."""

    name: str
    missing_before: float | None
    missing_after: float | None
    mean_before: float | None = None
    mean_after: float | None = None


class RowChange(Value):
    """Rows by key. ``changed`` counts rows of one key whose other values differ; columns of another type now are left out."""

    key: str
    added: int
    removed: int
    changed: int


class Comparison(Value):
    """How ``after`` differs from ``before``, two versions of one table."""

    table: str
    before: int
    after: int
    rows_before: int
    rows_after: int
    rows: RowChange | None
    """None when no column is a key of both versions."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    retyped: tuple[Retyped, ...]
    columns: tuple[ColumnChange, ...]


class Comparisons:
    """Compares versions. Raises Denied without the right, NotFound for what is not there."""

    def __init__(self, catalog: Catalog, sql: SqlRunner, stats: ColumnStats) -> None:
        self._catalog, self._sql, self._stats = catalog, sql, stats

    def compare(
        self, actor: Actor, source_id: str, table: str, before_snapshot: str, after_snapshot: str | None = None
    ) -> Comparison:
        """A table at two snapshots of its source; the newest is the later one by default."""
        before = _table(self._catalog.handle(actor, source_id, before_snapshot), table)
        handle = self._catalog.handle(actor, source_id, after_snapshot)
        after = _table(handle, table)
        both = [(c, other) for c in before.columns if (other := after.column(c.name)) is not None]
        return Comparison(
            table=after.name, before=before.version, after=after.version, rows_before=before.rows, rows_after=after.rows,
            rows=self._rows(handle, before, after, both),
            added=tuple(c.name for c in after.columns if before.column(c.name) is None),
            removed=tuple(c.name for c in before.columns if after.column(c.name) is None),
            retyped=tuple(Retyped(name=b.name, before=a.type, after=b.type) for a, b in both if a.type != b.type),
            columns=self._columns(before, after, both),
        )

    def _rows(
        self, handle: DatasetHandle, before: Table, after: Table, both: list[tuple[Column, Column]]
    ) -> RowChange | None:
        keys = [b for a, b in both if a.type == b.type and _is_key(before, a) and _is_key(after, b)]
        if not keys:
            return None
        key = min(keys, key=lambda c: (not looks_like_key(c.name), after.columns.index(c)))
        same = [(a, b) for a, b in both if a.type == b.type and b.name != key.name][:_COMPARED]
        differs = " OR ".join(f"a.{_quoted(a.name)} IS DISTINCT FROM b.{_quoted(b.name)}" for a, b in same) or "false"
        k = _quoted(key.name)
        there = f"a.{k} IS NOT NULL AND b.{k} IS NOT NULL"
        sql = (
            f"SELECT count(*) FILTER (WHERE a.{k} IS NULL) AS added, count(*) FILTER (WHERE b.{k} IS NULL) AS removed,"
            f" count(*) FILTER (WHERE {there} AND ({differs})) AS changed"
            f" FROM version_before AS a FULL JOIN version_after AS b ON a.{k} = b.{k}"
        )
        pair = tuple(t.model_copy(update={"name": n}) for t, n in ((before, "version_before"), (after, "version_after")))
        row: dict[str, Any] = self._sql.frame(handle.model_copy(update={"tables": pair}), sql).iloc[0].to_dict()
        return RowChange(key=key.name, added=int(row["added"]), removed=int(row["removed"]), changed=int(row["changed"]))

    def _columns(
        self, before: Table, after: Table, both: list[tuple[Column, Column]]
    ) -> tuple[ColumnChange, ...]:
        old, new = ({s.name: s for s in self._stats.of(table)} for table in (before, after))
        shown = [(old[a.name], new[b.name]) for a, b in both if not a.masked and not b.masked]
        return tuple(
            ColumnChange(name=b.name, missing_before=a.null_share, missing_after=b.null_share, mean_before=a.mean,
                         mean_after=b.mean)
            for a, b in shown
        )


def _table(handle: DatasetHandle, name: str) -> Table:
    found = handle.table(name)
    if found is None:
        raise NotFound("This version has no such table.", where=name[:80], to_do="Choose one of its tables.")
    return found


def _is_key(table: Table, column: Column) -> bool:
    return (table.rows > 0 and not column.nulls and column.distinct >= table.rows
            and column.type not in ("FLOAT", "DOUBLE") and column.family in ("number", "text", "other"))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
