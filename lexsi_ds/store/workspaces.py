"""Rows of workspaces, their members and their AI context. The context changes only under the row version that was read."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.document_tables import document_decisions, documents
from lexsi_ds.store.records import Record, now


class WorkspaceRecord(Record):
    """A workspace."""

    id: str
    name: str
    content: str
    """Its AI context, as Markdown; empty when none was written."""
    content_by: str | None = None
    content_by_name: str | None = None
    content_at: datetime | None = None
    row_version: int
    created_by: str
    created_at: datetime


class MemberRecord(Record):
    """A member of a workspace."""

    workspace_id: str
    person: str
    role: str
    added_by: str
    added_at: datetime


class WorkspaceRows:
    """Reads and writes workspaces."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_person(self, person: str) -> tuple[tuple[WorkspaceRecord, str], ...]:
        """The workspaces that a person is a member of, with their role in each; in order of name."""
        w, m = t.workspaces.c, t.workspace_members.c
        query = (
            sa.select(t.workspaces, m.role)
            .join_from(t.workspaces, t.workspace_members, m.workspace_id == w.id)
            .where(m.person == person, w.deleted_at.is_(None))
            .order_by(w.name, w.id)
        )
        with self._store.read() as db:
            return tuple((WorkspaceRecord.of(row), row.role) for row in db.execute(query))

    def get(self, workspace_id: str, person: str) -> tuple[WorkspaceRecord, str] | None:
        """A workspace of which the person is a member, with their role."""
        return next((found for found in self.of_person(person) if found[0].id == workspace_id), None)

    def insert(self, record: WorkspaceRecord, *, only_first: bool = False) -> None:
        """Add a workspace with its maker as admin; with ``only_first`` unless they are a member of one already."""
        m = t.workspace_members.c
        with self._store.write() as db:
            if only_first and db.execute(sa.select(m.person).where(m.person == record.created_by)).first() is not None:
                return
            db.execute(sa.insert(t.workspaces).values(**record.model_dump()))
            db.execute(sa.insert(t.workspace_members).values(
                workspace_id=record.id, person=record.created_by, role="admin", added_by=record.created_by, added_at=now()))

    def rename(self, workspace_id: str, name: str) -> None:
        """Give it another name."""
        with self._store.write() as db:
            db.execute(sa.update(t.workspaces).where(t.workspaces.c.id == workspace_id).values(name=name))

    def delete(self, workspace_id: str, *, with_documents: bool) -> tuple[str, ...]:
        """Hide it; its row stays. Its documents go for good ``with_documents``; else, where it has any, nothing changes and their
        names come back."""
        d = documents.c
        with self._store.write() as db:
            held = db.execute(sa.select(d.shelf, d.path).where(d.library == workspace_id).order_by(d.shelf, d.path)).all()
            if held and not with_documents:
                return tuple(f"{row.shelf}/{row.path}" for row in held)
            db.execute(sa.delete(documents).where(d.library == workspace_id))
            db.execute(sa.delete(document_decisions).where(document_decisions.c.library == workspace_id))
            db.execute(sa.update(t.workspaces).where(t.workspaces.c.id == workspace_id).values(deleted_at=now()))
        return ()

    def write_content(self, workspace_id: str, seen: int, content: str, person: str, name: str) -> WorkspaceRecord | None:
        """Replace the context if the row is still at version ``seen``; else write nothing and return None."""
        w = t.workspaces.c
        values = {"content": content, "content_by": person, "content_by_name": name, "content_at": now(),
                  "row_version": seen + 1}
        with self._store.write() as db:
            match = sa.and_(w.id == workspace_id, w.row_version == seen, w.deleted_at.is_(None))
            if db.execute(sa.update(t.workspaces).where(match).values(**values)).rowcount != 1:
                return None
            return WorkspaceRecord.of(db.execute(sa.select(t.workspaces).where(w.id == workspace_id)).one())

    def members(self, workspace_id: str) -> tuple[MemberRecord, ...]:
        """Its members, the first first."""
        m = t.workspace_members.c
        query = sa.select(t.workspace_members).where(m.workspace_id == workspace_id).order_by(m.added_at, m.person)
        with self._store.read() as db:
            return tuple(MemberRecord.of(row) for row in db.execute(query))

    def put_member(self, workspace_id: str, person: str, role: str | None, by: str) -> bool:
        """Add a member, change one's role, or take one out; False when no admin would be left."""
        m = t.workspace_members.c
        with self._store.write() as db:
            match = sa.and_(m.workspace_id == workspace_id, m.person == person)
            others = sa.select(m.person).where(m.workspace_id == workspace_id, m.role == "admin", m.person != person)
            if role != "admin" and db.execute(others).first() is None:
                return False
            db.execute(sa.delete(t.workspace_members).where(match))
            if role is not None:
                db.execute(sa.insert(t.workspace_members).values(
                    workspace_id=workspace_id, person=person, role=role, added_by=by, added_at=now()))
            return True
