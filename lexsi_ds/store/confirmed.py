"""Confirmed calls by the id of their token: claimed once, done once, answered again with what they gave."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_ABANDONED = timedelta(seconds=120)
_KEPT = timedelta(days=2)


class ConfirmedCall(Record):
    """A call that was claimed; ``result`` is None until it is done."""

    id: str
    tool: str
    person: str
    claim: str
    result: dict[str, Any] | None = None


class ConfirmedRows:
    """Reads and writes confirmed calls."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, call_id: str) -> ConfirmedCall | None:
        """The call, if its token was used."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.confirmed_calls).where(t.confirmed_calls.c.id == call_id)).first()
        return None if row is None else ConfirmedCall.of(row)

    def claim(self, call_id: str, tool: str, person: str, claim: str) -> ConfirmedCall:
        """Claim the call, unless somebody holds it; returns who holds it now. A claim of a process that ended is taken over."""
        c = t.confirmed_calls.c
        at = now()
        with self._store.write() as db:
            db.execute(sa.delete(t.confirmed_calls).where(c.at < at - _KEPT))
            abandoned = sa.and_(c.id == call_id, c.result.is_(None), c.at < at - _ABANDONED)
            db.execute(sa.delete(t.confirmed_calls).where(abandoned))
            if db.execute(sa.select(c.id).where(c.id == call_id)).first() is None:
                db.execute(sa.insert(t.confirmed_calls).values(
                    id=call_id, tool=tool, person=person, claim=claim, result=None, at=at))
            return ConfirmedCall.of(db.execute(sa.select(t.confirmed_calls).where(c.id == call_id)).one())

    def finish(self, call_id: str, claim: str, result: dict[str, Any]) -> None:
        """Keep what it gave."""
        c = t.confirmed_calls.c
        with self._store.write() as db:
            db.execute(sa.update(t.confirmed_calls).where(c.id == call_id, c.claim == claim).values(result=result))

    def release(self, call_id: str, claim: str) -> None:
        """Give the claim back: the call was not done."""
        c = t.confirmed_calls.c
        with self._store.write() as db:
            db.execute(sa.delete(t.confirmed_calls).where(c.id == call_id, c.claim == claim, c.result.is_(None)))
