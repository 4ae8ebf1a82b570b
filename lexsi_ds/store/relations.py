"""Keys and relationships found in a snapshot, and what people chose about a source's relationships.

What was found belongs to one snapshot and is never changed; a choice belongs to the source and outlives its versions.
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

Choice = Literal["confirmed", "rejected"]
Ends = tuple[str, str, str, str]
"""Child, child column, parent, parent column."""


class ChoiceRecord(Record):
    """What a person said of a relationship."""

    child: str
    child_column: str
    parent: str
    parent_column: str
    choice: Choice

    @property
    def ends(self) -> Ends:
        """What it is about."""
        return self.child, self.child_column, self.parent, self.parent_column


class RelationRows:
    """Reads and writes them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def found(self, snapshot_id: str) -> dict[str, Any] | None:
        """What was found in a snapshot; None when nobody has looked yet."""
        query = sa.select(t.found_relations.c.body).where(t.found_relations.c.snapshot_id == snapshot_id)
        with self._store.read() as db:
            return db.execute(query).scalar()

    def keep(self, snapshot_id: str, body: dict[str, Any]) -> None:
        """Keep what was found; whoever comes second to the same snapshot changes nothing."""
        with self._store.write() as db:
            known = sa.select(t.found_relations.c.snapshot_id).where(t.found_relations.c.snapshot_id == snapshot_id)
            if db.execute(known).first() is None:
                row = {"snapshot_id": snapshot_id, "body": body, "created_at": now()}
                db.execute(sa.insert(t.found_relations).values(**row))

    def choices(self, source_id: str) -> tuple[ChoiceRecord, ...]:
        """Every choice about a source."""
        query = sa.select(t.relation_choices).where(t.relation_choices.c.source_id == source_id)
        with self._store.read() as db:
            return tuple(ChoiceRecord.of(row) for row in db.execute(query))

    def choose(self, source_id: str, ends: Ends, choice: Choice | None, person: str) -> None:
        """Set a choice, or take it back with None."""
        c = t.relation_choices.c
        named = {"child": ends[0], "child_column": ends[1], "parent": ends[2], "parent_column": ends[3]}
        match = sa.and_(c.source_id == source_id, *(c[name] == value for name, value in named.items()))
        with self._store.write() as db:
            db.execute(sa.delete(t.relation_choices).where(match))
            if choice is not None:
                said = {"choice": choice, "chosen_by": person, "chosen_at": now()}
                db.execute(sa.insert(t.relation_choices).values(source_id=source_id, **named, **said))
