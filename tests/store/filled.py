"""Rows for every table of a store as it stands at some revision, made from what the database itself says of its tables."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store.db import Store

MOMENT = datetime(2026, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)
ROWS = 3


def reflected(store: Store) -> sa.MetaData:
    """The tables that are there now."""
    found = sa.MetaData()
    with store.read() as db:
        found.reflect(db)
    found.remove(found.tables["alembic_version"])
    return found


def fill(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Three rows in every table, in the order that foreign keys want; gives what now stands there."""
    tables = reflected(store)
    with store.write() as db:
        for table in tables.sorted_tables:
            db.execute(sa.insert(table), [{c.name: _value(c, i) for c in table.columns} for i in range(ROWS)])
    return content(store, tables)


def content(store: Store, tables: sa.MetaData) -> dict[str, list[dict[str, Any]]]:
    """All rows of these tables, by their columns; those that were added since are left out."""
    with store.read() as db:
        found = {}
        for table in tables.sorted_tables:
            rows = db.execute(sa.select(table).order_by(*table.primary_key.columns))
            found[table.name] = [dict(row._mapping) for row in rows]
        return found


def _value(column: sa.Column[Any], i: int) -> Any:
    kind = column.type
    if column.foreign_keys:
        return f"{next(iter(column.foreign_keys)).column.table.name}_{i} žluť"
    if isinstance(kind, sa.JSON):
        return ["x", "č"] if column.name == "columns" else {"name": f"n{i}", "deep": [1, 2.5, None, "ř"]}
    if isinstance(kind, sa.Boolean):
        return i == 0
    if isinstance(kind, sa.DateTime):
        return MOMENT if column.name not in ("deleted_at", "removed_at", "revoked_at") or i else None
    if isinstance(kind, sa.Date):
        return date(1998, 12, 31)
    if isinstance(kind, sa.Float):
        return 1.5 + i
    if isinstance(kind, sa.BigInteger):
        return 3_000_000_000 + i
    if isinstance(kind, sa.Integer):
        return i + 1
    if column.name == "state":  # of these at most one a conversation may be live
        return "running"
    if column.primary_key and column.name == "id":
        return f"{column.table.name}_{i} žluť"
    return f"{column.name}_{i} 'quoted' \"so\" %s :x"
