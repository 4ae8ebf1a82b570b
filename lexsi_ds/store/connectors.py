"""Rows of connectors: a source that is reached over a network or as a database, before and after tables are copied.

``config`` says where it is, ``variables`` which environment variables hold what is secret. Must never: hold a password
or a key itself, not even one that was typed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

Mode = Literal["ingest", "in_place"]
_OF_SOURCE = ("id", "owner", "name", "kind", "delete_status", "delete_error", "created_at", "updated_at")


class ConnectorRecord(Record):
    """A connector and the source it stands for; both have the same id."""

    id: str
    owner: str
    name: str
    kind: str
    mode: Mode
    """Whether its tables are copied, or read where they are."""
    config: dict[str, Any]
    variables: dict[str, str | None]
    """Names of environment variables by secret field; None for one that was typed, and is in memory only."""
    warnings: tuple[str, ...]
    """What was said of its rights when it was last tested."""
    delete_status: str | None
    delete_error: str | None
    created_at: datetime
    updated_at: datetime


class ConnectorRows:
    """Reads and writes connectors."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(
        self, source_id: str, owner: str, name: str, kind: str, *, mode: Mode, config: dict[str, Any],
        variables: dict[str, str | None], warnings: Sequence[str] = (),
    ) -> ConnectorRecord:
        """Add a connector with its source, which has no dataset yet."""
        at = now()
        source = {"id": source_id, "owner": owner, "name": name, "kind": kind, "options": {}}
        source |= {"synthetic": False, "throwaway": False, "created_at": at, "updated_at": at}
        own = {"source_id": source_id, "mode": mode, "config": config, "variables": variables, "warnings": list(warnings)}
        with self._store.write() as db:
            db.execute(sa.insert(t.sources).values(**source))
            db.execute(sa.insert(t.connectors).values(**own))
        found = self.get(source_id)
        assert found is not None
        return found

    def get(self, source_id: str) -> ConnectorRecord | None:
        """A connector that is not deleted, or None."""
        return next(iter(self._where(t.sources.c.id == source_id)), None)

    def list(self) -> tuple[ConnectorRecord, ...]:
        """Every connector that is not deleted, newest first."""
        return tuple(self._where(sa.true()))

    def warn(self, source_id: str, warnings: Sequence[str]) -> None:
        """Keep what the last test said."""
        match = t.connectors.c.source_id == source_id
        with self._store.write() as db:
            db.execute(sa.update(t.connectors).where(match).values(warnings=list(warnings)))

    def mark_delete(self, source_id: str, status: str | None, error: str | None = None) -> None:
        """Say how its deletion stands."""
        match = t.sources.c.id == source_id
        with self._store.write() as db:
            db.execute(sa.update(t.sources).where(match).values(delete_status=status, delete_error=error))

    def _where(self, condition: sa.ColumnElement[bool]) -> list[ConnectorRecord]:
        s, c = t.sources.c, t.connectors.c
        query = (
            sa.select(
                *(s[name] for name in _OF_SOURCE), c.mode, c.config, c.variables, c.warnings
            )
            .join_from(t.sources, t.connectors)
            .where(condition, s.deleted_at.is_(None))
            .order_by(s.created_at.desc(), s.id.desc())
        )
        with self._store.read() as db:
            return [ConnectorRecord.of(row) for row in db.execute(query)]
