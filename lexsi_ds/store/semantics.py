"""Saved semantic models of a source, version by version, and words that people taught. Rows are added, never changed away:
a version stays when a later one is saved, a word stays when it is forgotten.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.errors import Conflict
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now


class SemanticVersion(Record):
    """One saved version. ``text`` None means: as derived, nothing saved."""

    source_id: str
    version: int
    text: str | None
    changes: tuple[str, ...] = ()
    how: str
    person: str
    person_name: str
    created_at: datetime


class WordRecord(Record):
    """A taught word."""

    id: str
    source_id: str
    words: str
    meaning: dict[str, str]
    person: str
    person_name: str
    created_at: datetime
    forgotten_at: datetime | None = None


class SemanticRows:
    """Reads and writes them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def state(self, source_id: str) -> tuple[int, int, int]:
        """What changes whenever a source's saved model or words do: newest version, words taught, words forgotten."""
        v, w = t.semantic_versions.c, t.learned_words.c
        with self._store.read() as db:
            newest = db.execute(sa.select(sa.func.max(v.version)).where(v.source_id == source_id)).scalar() or 0
            query = sa.select(sa.func.count(), sa.func.count(w.forgotten_at)).where(w.source_id == source_id)
            taught, forgotten = db.execute(query).one()
        return newest, taught, forgotten

    def newest(self, source_id: str) -> SemanticVersion | None:
        """The version in force."""
        v = t.semantic_versions.c
        return self._one(sa.select(t.semantic_versions).where(v.source_id == source_id).order_by(v.version.desc()).limit(1))

    def version(self, source_id: str, number: int) -> SemanticVersion | None:
        """One version."""
        v = t.semantic_versions.c
        return self._one(sa.select(t.semantic_versions).where(v.source_id == source_id, v.version == number))

    def history(self, source_id: str) -> tuple[SemanticVersion, ...]:
        """All versions, newest first."""
        v = t.semantic_versions.c
        query = sa.select(t.semantic_versions).where(v.source_id == source_id).order_by(v.version.desc())
        with self._store.read() as db:
            return tuple(SemanticVersion.of(row) for row in db.execute(query))

    def save(
        self, source_id: str, seen: int, *, text: str | None, changes: tuple[str, ...], how: str, person: str, person_name: str
    ) -> int:
        """Add the version after ``seen``; Conflict when somebody saved meanwhile."""
        v = t.semantic_versions.c
        with self._store.write() as db:
            newest = db.execute(sa.select(sa.func.max(v.version)).where(v.source_id == source_id)).scalar() or 0
            if newest != seen:
                raise Conflict(
                    f"Version {newest} was saved meanwhile; yours was made from version {seen}.", where="semantic model",
                    to_do="Look at what changed, then make your change again.",
                )
            row: dict[str, Any] = {
                "source_id": source_id, "version": seen + 1, "text": text, "changes": list(changes), "how": how,
                "person": person, "person_name": person_name, "created_at": now(),
            }  # fmt: skip
            db.execute(sa.insert(t.semantic_versions).values(**row))
        return seen + 1

    def words(self, source_id: str) -> tuple[WordRecord, ...]:
        """Words that are in use, oldest first."""
        w = t.learned_words.c
        query = sa.select(t.learned_words).where(w.source_id == source_id, w.forgotten_at.is_(None)).order_by(w.created_at, w.id)
        with self._store.read() as db:
            return tuple(WordRecord.of(row) for row in db.execute(query))

    def teach(self, word_id: str, source_id: str, words: str, meaning: dict[str, str], person: str, person_name: str) -> None:
        """Keep a word; one of the same words is forgotten for it."""
        w = t.learned_words.c
        with self._store.write() as db:
            same = sa.and_(w.source_id == source_id, w.words == words, w.forgotten_at.is_(None))
            db.execute(sa.update(t.learned_words).where(same).values(forgotten_by=person, forgotten_at=now()))
            row = {"id": word_id, "source_id": source_id, "words": words, "meaning": meaning, "person": person,
                   "person_name": person_name, "created_at": now()}  # fmt: skip
            db.execute(sa.insert(t.learned_words).values(**row))

    def forget(self, source_id: str, word_id: str, person: str) -> bool:
        """Take a word out of use; whether it was in use."""
        w = t.learned_words.c
        match = sa.and_(w.id == word_id, w.source_id == source_id, w.forgotten_at.is_(None))
        with self._store.write() as db:
            values = {"forgotten_by": person, "forgotten_at": now()}
            return bool(db.execute(sa.update(t.learned_words).where(match).values(**values)).rowcount)

    def _one(self, query: sa.Select[Any]) -> SemanticVersion | None:
        with self._store.read() as db:
            row = db.execute(query).first()
        return None if row is None else SemanticVersion.of(row)
