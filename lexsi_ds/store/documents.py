"""Documents of a library with their whole text, and what a person decided on what they suggest.

A text is read only when it is asked for. Deleting a document removes its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from lexsi_ds.store.db import Store
from lexsi_ds.store.document_tables import document_decisions, documents
from lexsi_ds.store.records import Record, now


class DocumentRecord(Record):
    """A document without its text. ``shelf`` and ``path`` name it within its library."""

    id: str
    shelf: str
    path: str
    kind: str
    title: str
    chars: int
    bytes: int
    sha256: str
    notes: tuple[str, ...] = ()
    added_by: str
    added_by_name: str
    added_at: datetime

    @property
    def name(self) -> str:
        """How it is named where both parts count: ``shelf/path``."""
        return f"{self.shelf}/{self.path}"


_BRIEF = [c for c in documents.c if c.name != "text"]


class DocumentRows:
    """Reads and writes them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, library: str) -> tuple[DocumentRecord, ...]:
        """Documents of a library, by shelf and path."""
        c = documents.c
        query = sa.select(*_BRIEF).where(c.library == library).order_by(c.shelf, c.path)
        with self._store.read() as db:
            return tuple(DocumentRecord.of(row) for row in db.execute(query).all())

    def get(self, library: str, document_id: str) -> DocumentRecord | None:
        """One document, or None."""
        c = documents.c
        with self._store.read() as db:
            row = db.execute(sa.select(*_BRIEF).where(c.library == library, c.id == document_id)).first()
        return None if row is None else DocumentRecord.of(row)

    def text(self, library: str, document_id: str) -> str | None:
        """The whole text of a document, or None."""
        c = documents.c
        with self._store.read() as db:
            return db.execute(sa.select(c.text).where(c.library == library, c.id == document_id)).scalar()

    def put(self, library: str, values: Mapping[str, Any]) -> None:
        """Add a document; one of the same shelf and path makes room for it."""
        c = documents.c
        with self._store.write() as db:
            db.execute(sa.delete(documents).where(
                c.library == library, c.shelf == values["shelf"], c.path == values["path"]
            ))
            db.execute(sa.insert(documents).values(library=library, added_at=now(), **values))

    def delete(self, library: str, document_id: str) -> bool:
        """Remove a document with its text. False when it is not there."""
        c = documents.c
        with self._store.write() as db:
            return bool(db.execute(sa.delete(documents).where(c.library == library, c.id == document_id)).rowcount)

    def decisions(self, library: str, source_id: str) -> dict[str, str]:
        """What was decided on the suggestions for a source, by suggestion."""
        c = document_decisions.c
        query = sa.select(c.suggestion, c.decision).where(c.library == library, c.source_id == source_id)
        with self._store.read() as db:
            return {row.suggestion: row.decision for row in db.execute(query).all()}

    def decide(self, library: str, source_id: str, suggestion: str, decision: str | None, person: str) -> None:
        """Keep a decision in the place of an earlier one; None takes it back."""
        c = document_decisions.c
        with self._store.write() as db:
            db.execute(sa.delete(document_decisions).where(
                c.library == library, c.source_id == source_id, c.suggestion == suggestion
            ))
            if decision is not None:
                db.execute(sa.insert(document_decisions).values(
                    library=library, source_id=source_id, suggestion=suggestion, decision=decision, decided_by=person,
                    decided_at=now(),
                ))
