"""Rows that say where each model stands, and their history. Every change bumps ``row_version`` by one and writes the
history row of that number, in one transaction: so no change is lost, and whoever acts on an older row is told.

Must never: change a model's row without its history row, or a row whose version is not the one that was seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import Field

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_R = t.model_registry.c


class RegistryRecord(Record):
    """Where a model stands; `services.model_registry.Entry` says what the fields mean."""

    model_id: str
    row_version: int
    state: str
    author: str
    author_name: str
    reviewer: str | None
    responsible: str
    intended_use: str
    limits: str
    note: str
    threshold: dict[str, Any] | None
    updated_by: str
    updated_at: datetime


class Step(Record):
    """Who did what: the part of a history row that the caller knows."""

    person: str
    person_name: str
    action: str
    via: str
    note: str = ""


class ModelStep(Step):
    """One step of a model's life; ``before`` and ``after`` hold the fields that changed."""

    model_id: str
    row_version: int
    at: datetime
    before: dict[str, Any] = Field(default_factory=dict)
    after: dict[str, Any] = Field(default_factory=dict)


class RegistryRows:
    """Reads and writes the registry."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, model_id: str) -> RegistryRecord | None:
        """Where the model stands, or None."""
        with self._store.read() as db:
            return _get(db, model_id)

    def many(self, model_ids: list[str]) -> dict[str, RegistryRecord]:
        """Where these models stand."""
        with self._store.read() as db:
            rows = db.execute(sa.select(t.model_registry).where(_R.model_id.in_(model_ids))).all()
        return {row.model_id: RegistryRecord.of(row) for row in rows}

    def change(self, model_id: str, seen: int, values: dict[str, Any], step: Step) -> RegistryRecord | None:
        """Set ``values`` if the row is still at version ``seen``; else write nothing and return None."""
        with self._store.write() as db:
            found = _get(db, model_id)
            stamped = {**values, "row_version": seen + 1, "updated_by": step.person, "updated_at": now()}
            match = sa.and_(_R.model_id == model_id, _R.row_version == seen)
            if found is None or db.execute(sa.update(t.model_registry).where(match).values(**stamped)).rowcount != 1:
                return None
            old = found.model_dump()
            changed = sorted(name for name, value in values.items() if old[name] != value)
            note(db, model_id, seen + 1, step, {k: old[k] for k in changed}, {k: values[k] for k in changed})
            return _get(db, model_id)

    def history(self, model_id: str) -> tuple[ModelStep, ...]:
        """Every step, oldest first."""
        h = t.model_history.c
        with self._store.read() as db:
            rows = db.execute(sa.select(t.model_history).where(h.model_id == model_id).order_by(h.row_version)).all()
        return tuple(ModelStep.of(row) for row in rows)

    def people(self) -> set[str]:
        """Ids of everybody who ever did something in this installation."""
        columns = (
            t.sources.c.owner, t.conversations.c.owner, t.models.c.owner, t.findings.c.created_by,
            t.finding_history.c.person, t.model_history.c.person, t.preferences.c.person,
        )
        query = sa.union(*(sa.select(column.label("person")) for column in columns))
        with self._store.read() as db:
            return set(db.execute(query).scalars())


def enter(db: sa.Connection, model_id: str, author: str, author_name: str, via: str) -> None:
    """A model's first row and step, inside the transaction that adds the model."""
    at = now()
    db.execute(sa.insert(t.model_registry).values(
        model_id=model_id, row_version=1, state="draft", author=author, author_name=author_name, reviewer=None,
        responsible=author_name, intended_use="", limits="", note="", threshold=None, updated_by=author, updated_at=at,
    ))
    note(db, model_id, 1, Step(person=author, person_name=author_name, action="trained", via=via), {}, {})


def note(
    db: sa.Connection, model_id: str, row_version: int, step: Step, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Write one step of the history."""
    row = {"model_id": model_id, "row_version": row_version, "at": now(), "before": before, "after": after}
    db.execute(sa.insert(t.model_history).values(**row, **step.model_dump()))


def _get(db: sa.Connection, model_id: str) -> RegistryRecord | None:
    row = db.execute(sa.select(t.model_registry).where(_R.model_id == model_id)).first()
    return None if row is None else RegistryRecord.of(row)
