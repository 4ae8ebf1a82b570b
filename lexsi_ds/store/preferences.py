"""What a person prefers (active source, scale, rows a page), by key. Never a secret."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import now


class Preferences:
    """Reads and writes preferences."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, person: str, key: str) -> Any:
        """The JSON value, or None."""
        p = t.preferences.c
        with self._store.read() as db:
            return db.execute(sa.select(p.value).where(p.person == person, p.key == key)).scalar()

    def set(self, person: str, key: str, value: Any) -> None:
        """Keep a JSON value."""
        p = t.preferences.c
        with self._store.write() as db:
            match = sa.update(t.preferences).where(p.person == person, p.key == key)
            if not db.execute(match.values(value=value, updated_at=now())).rowcount:
                row = {"person": person, "key": key, "value": value, "updated_at": now()}
                db.execute(sa.insert(t.preferences).values(**row))
