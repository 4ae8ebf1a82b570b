"""Rows of API keys: a digest each, never the key."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_USED_EVERY = timedelta(seconds=60)


class ApiKeyRecord(Record):
    """A key as it is kept. ``tail`` is its last four characters, so that people tell keys apart."""

    id: str
    person: str
    person_name: str
    name: str
    digest: str
    tail: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class ApiKeyRows:
    """Reads and writes API keys."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(self, record: ApiKeyRecord) -> None:
        """Add a key."""
        with self._store.write() as db:
            db.execute(sa.insert(t.api_keys).values(**record.model_dump()))

    def get(self, key_id: str) -> ApiKeyRecord | None:
        """The key, also one that ended; None for an unknown id."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.api_keys).where(t.api_keys.c.id == key_id)).first()
        return None if row is None else ApiKeyRecord.of(row)

    def list(self, person: str | None = None) -> tuple[ApiKeyRecord, ...]:
        """The keys of one person, or of everyone; the newest first."""
        query = sa.select(t.api_keys).order_by(t.api_keys.c.created_at.desc(), t.api_keys.c.id.desc())
        if person is not None:
            query = query.where(t.api_keys.c.person == person)
        with self._store.read() as db:
            return tuple(ApiKeyRecord.of(row) for row in db.execute(query))

    def revoke(self, key_id: str) -> None:
        """End a key; from now on it opens nothing."""
        c = t.api_keys.c
        with self._store.write() as db:
            db.execute(sa.update(t.api_keys).where(c.id == key_id, c.revoked_at.is_(None)).values(revoked_at=now()))

    def used(self, record: ApiKeyRecord) -> None:
        """Keep when it was used last, to the minute."""
        if record.last_used_at is None or now() - record.last_used_at > _USED_EVERY:
            with self._store.write() as db:
                db.execute(sa.update(t.api_keys).where(t.api_keys.c.id == record.id).values(last_used_at=now()))
