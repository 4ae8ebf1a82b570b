"""The audit trail: who did what to what, through which door, with what outcome. Lines are only ever added.

Must never: hold a data value, a key, or the text of a call's arguments; stop the work it writes of when it cannot be written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from lexsi_ds.ids import new_id
from lexsi_ds.services.access import Actor
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

log = logging.getLogger(__name__)


class AuditLine(Record):
    """One line."""

    id: str
    at: datetime
    person: str
    person_name: str
    via: str
    action: str
    target: str
    outcome: str
    detail: dict[str, Any]


class Audit:
    """Writes and reads the trail."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def note(
        self, actor: Actor, action: str, target: str, *, via: str = "ui", outcome: str = "done",
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a line. ``detail`` holds counts and ids, such as ``rows`` and ``snapshot`` of a download."""
        more = dict(detail or {}) | ({"key": actor.key} if actor.key else {})
        row = {
            "id": new_id("aud"), "at": now(), "person": actor.id, "person_name": actor.name, "via": via[:100],
            "action": action, "target": target[:200], "outcome": outcome, "detail": more,
        }
        try:
            with self._store.write() as db:
                db.execute(sa.insert(t.audit).values(**row))
        except SQLAlchemyError:
            log.exception("the audit trail could not be written: %s of %s", action, target)

    def downloaded(self, actor: Actor, target: str, *, rows: int | None, snapshot: str | None, via: str = "ui") -> None:
        """Add the line of a download: of what, how many rows, of which snapshot."""
        self.note(actor, "download", target, via=via, detail={"rows": rows, "snapshot": snapshot})

    def lines(
        self, actor: Actor, *, person: str | None = None, action: str | None = None, offset: int = 0, limit: int = 50
    ) -> tuple[tuple[AuditLine, ...], int]:
        """A page of the trail, newest first, and how many lines there are."""
        actor.need("people:manage")
        a = t.audit.c
        wanted = [column == value for column, value in ((a.person, person), (a.action, action)) if value is not None]
        query = sa.select(t.audit).where(*wanted).order_by(a.at.desc(), a.id.desc()).limit(limit).offset(max(0, offset))
        with self._store.read() as db:
            total = db.execute(sa.select(sa.func.count()).select_from(t.audit).where(*wanted)).scalar_one()
            return tuple(AuditLine.of(row) for row in db.execute(query)), int(total)
