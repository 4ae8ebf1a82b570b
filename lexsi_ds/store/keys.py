"""Random keys that sign what this installation hands out, such as cursors. Made once, kept in the store, so that every
process signs alike. Must never: be shown, logged, or used for anything that protects a person's password.
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import now


def signing_key(store: Store, name: str) -> bytes:
    """The key of this name: 32 random bytes, made at its first use. Of several processes that ask at once, one makes it."""
    query = sa.select(t.signing_keys.c.key).where(t.signing_keys.c.name == name)
    with store.read() as db:
        found = db.execute(query).scalar()
    if found is None:
        with store.write() as db:
            found = db.execute(query).scalar()
            if found is None:
                found = secrets.token_hex(32)
                db.execute(sa.insert(t.signing_keys).values(name=name, key=found, created_at=now()))
    return bytes.fromhex(found)
