"""Rows of people, of what was granted to them, and of how visible sources are."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now


class PersonRecord(Record):
    """A person; one who was removed keeps the row, since history names them."""

    id: str
    name: str
    role: str
    added_by: str
    added_at: datetime
    removed_at: datetime | None = None


class GrantRecord(Record):
    """What was granted to a person on a source or a dataset."""

    subject: str
    person: str
    level: str
    granted_by: str
    granted_at: datetime


class PeopleRows:
    """Reads and writes people."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, person: str) -> PersonRecord | None:
        """The person, also one who was removed; None for an unknown id."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.people).where(t.people.c.id == person)).first()
        return None if row is None else PersonRecord.of(row)

    def list(self) -> tuple[PersonRecord, ...]:
        """Everyone who was not removed, in order of name."""
        query = sa.select(t.people).where(t.people.c.removed_at.is_(None)).order_by(t.people.c.name, t.people.c.id)
        with self._store.read() as db:
            return tuple(PersonRecord.of(row) for row in db.execute(query))

    def put(self, person: str, name: str, role: str, by: str) -> PersonRecord:
        """Add a person, or change one's name and role; one who was removed is back."""
        match = t.people.c.id == person
        with self._store.write() as db:
            values = {"name": name, "role": role, "removed_at": None}
            if not db.execute(sa.update(t.people).where(match).values(**values)).rowcount:
                db.execute(sa.insert(t.people).values(id=person, **values, added_by=by, added_at=now()))
            return PersonRecord.of(db.execute(sa.select(t.people).where(match)).one())

    def remove(self, person: str) -> bool:
        """Take a person out, with their grants and memberships; False when there is none."""
        match = sa.and_(t.people.c.id == person, t.people.c.removed_at.is_(None))
        with self._store.write() as db:
            if not db.execute(sa.update(t.people).where(match).values(removed_at=now())).rowcount:
                return False
            db.execute(sa.delete(t.grants).where(t.grants.c.person == person))
            db.execute(sa.delete(t.workspace_members).where(t.workspace_members.c.person == person))
            return True


class GrantRows:
    """Reads and writes grants and visibility."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_person(self, person: str) -> dict[str, str]:
        """Levels by what they are on."""
        g = t.grants.c
        with self._store.read() as db:
            return {row.subject: row.level for row in db.execute(sa.select(g.subject, g.level).where(g.person == person))}

    def of_subject(self, subject: str) -> tuple[GrantRecord, ...]:
        """Who was granted something on it, the first first."""
        query = sa.select(t.grants).where(t.grants.c.subject == subject).order_by(t.grants.c.granted_at)
        with self._store.read() as db:
            return tuple(GrantRecord.of(row) for row in db.execute(query))

    def put(self, subject: str, person: str, level: str | None, by: str) -> None:
        """Grant a level, another one, or none."""
        g = t.grants.c
        with self._store.write() as db:
            db.execute(sa.delete(t.grants).where(g.subject == subject, g.person == person))
            if level is not None:
                row = {"subject": subject, "person": person, "level": level, "granted_by": by, "granted_at": now()}
                db.execute(sa.insert(t.grants).values(**row))

    def set_visibility(self, source_id: str, visibility: str) -> None:
        """``private``, ``showcase`` or ``public``."""
        with self._store.write() as db:
            match = t.sources.c.id == source_id
            db.execute(sa.update(t.sources).where(match).values(visibility=visibility, updated_at=now()))

    def places(self, dataset_id: str | None = None) -> tuple[tuple[str, str, str, str, str | None], ...]:
        """Dataset id, source id, owner, kind and visibility of every dataset that is not deleted, or of one."""
        d, s = t.datasets.c, t.sources.c
        query = (
            sa.select(d.id, s.id, s.owner, s.kind, s.visibility)
            .join_from(t.datasets, t.sources)
            .where(d.deleted_at.is_(None), s.deleted_at.is_(None))
        )
        if dataset_id is not None:
            query = query.where(d.id == dataset_id)
        with self._store.read() as db:
            return tuple((r[0], r[1], r[2], r[3], r[4]) for r in db.execute(query))
