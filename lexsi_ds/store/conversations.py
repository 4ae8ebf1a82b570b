"""Conversations: whose, about which source, under what title, and the little that a later question may look back on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now


class ConversationRecord(Record):
    """A conversation. ``title`` is empty until its first question; ``memory`` is a small JSON object."""

    id: str
    owner: str
    source_id: str | None
    title: str
    memory: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


class Conversations:
    """Reads and writes conversations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(self, conversation_id: str, owner: str, source_id: str | None) -> None:
        """Add an empty conversation."""
        at = now()
        row = {"id": conversation_id, "owner": owner, "source_id": source_id, "title": ""}
        with self._store.write() as db:
            db.execute(sa.insert(t.conversations).values(**row, created_at=at, updated_at=at))

    def get(self, conversation_id: str, owner: str) -> ConversationRecord | None:
        """The owner's conversation, or None."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.conversations).where(_of(conversation_id, owner))).first()
        return None if row is None else ConversationRecord.of(row)

    def list(self, owner: str) -> tuple[ConversationRecord, ...]:
        """The owner's conversations, the last used first."""
        query = sa.select(t.conversations).where(
            t.conversations.c.owner == owner, t.conversations.c.deleted_at.is_(None)
        )
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.conversations.c.updated_at.desc(), t.conversations.c.id.desc())).all()
        return tuple(ConversationRecord.of(row) for row in rows)

    def questions(self, owner: str) -> dict[str, list[str]]:
        """What was asked in each conversation of the owner, by conversation."""
        c, r = t.conversations.c, t.runs.c
        query = sa.select(r.conversation_id, r.question).join_from(t.runs, t.conversations, r.conversation_id == c.id)
        found: dict[str, list[str]] = {}
        with self._store.read() as db:
            for row in db.execute(query.where(c.owner == owner, c.deleted_at.is_(None))).all():
                found.setdefault(row.conversation_id, []).append(row.question)
        return found

    def touch(self, conversation_id: str, owner: str, *, source_id: str | None, title: str) -> bool:
        """Note a question: the source it was about, and the title if there is none yet."""
        keep = t.conversations.c.title
        named = sa.case((keep == "", title), else_=keep)
        return self._change(conversation_id, owner, source_id=source_id, title=named, updated_at=now())

    def rename(self, conversation_id: str, owner: str, title: str) -> bool:
        """Give it another title. False when it is not there."""
        return self._change(conversation_id, owner, title=title)

    def delete(self, conversation_id: str, owner: str) -> bool:
        """Hide it. False when it is not there."""
        return self._change(conversation_id, owner, deleted_at=now())

    def remember(self, conversation_id: str, memory: dict[str, Any]) -> None:
        """Replace the memory."""
        with self._store.write() as db:
            db.execute(sa.update(t.conversations).where(t.conversations.c.id == conversation_id).values(memory=memory))

    def _change(self, conversation_id: str, owner: str, **values: Any) -> bool:
        with self._store.write() as db:
            changed = db.execute(sa.update(t.conversations).where(_of(conversation_id, owner)).values(**values))
            return bool(changed.rowcount)


def _of(conversation_id: str, owner: str) -> sa.ColumnElement[bool]:
    c = t.conversations.c
    return sa.and_(c.id == conversation_id, c.owner == owner, c.deleted_at.is_(None))
