"""Pins of the board on Home, and thumbs with a reason: what a person keeps and what they think of an answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from lexsi_ds.errors import Conflict
from lexsi_ds.store.board_tables import pins, run_feedback
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

PinKind = Literal["card", "question"]
Thumb = Literal["up", "down"]


class PinRecord(Record):
    """A pinned card (its rows come from ``sql``) or question (``{name}`` in it stands for a parameter)."""

    id: str
    kind: PinKind
    source_id: str
    title: str
    question: str
    sql: str | None = None
    view: dict[str, Any] | None = None
    """How a card is drawn: its chart."""
    parameters: dict[str, str] | None = None
    """Of a question: what each name stands for now."""
    run_id: str | None = None
    result: dict[str, Any] | None = None
    """Of a card: path in the home, rows, seconds, snapshot id and number."""
    error: str | None = None
    """Why the last run on fresh data failed; the rows are those of before."""
    place: int
    row_version: int
    created_at: datetime
    refreshed_at: datetime | None = None


class FeedbackRecord(Record):
    """What a person thinks of an answer."""

    run_id: str
    person: str
    thumb: Thumb
    reason: str
    at: datetime


class Pins:
    """Reads and writes pins."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, owner: str) -> tuple[PinRecord, ...]:
        """A person's pins in their order."""
        query = sa.select(pins).where(pins.c.owner == owner).order_by(pins.c.place, pins.c.id)
        with self._store.read() as db:
            return tuple(PinRecord.of(row) for row in db.execute(query).all())

    def get(self, owner: str, pin_id: str) -> PinRecord | None:
        """One pin, or None."""
        with self._store.read() as db:
            row = db.execute(sa.select(pins).where(pins.c.owner == owner, pins.c.id == pin_id)).first()
        return None if row is None else PinRecord.of(row)

    def insert(self, owner: str, values: dict[str, Any]) -> None:
        """Add a pin at the end."""
        with self._store.write() as db:
            last = db.execute(sa.select(sa.func.max(pins.c.place)).where(pins.c.owner == owner)).scalar()
            place = 0 if last is None else last + 1
            db.execute(sa.insert(pins).values(owner=owner, place=place, row_version=1, created_at=now(), **values))

    def change(self, owner: str, pin_id: str, seen: int, **values: Any) -> None:
        """Change a pin as it was seen. Conflict when somebody changed it meanwhile."""
        match = sa.and_(pins.c.owner == owner, pins.c.id == pin_id, pins.c.row_version == seen)
        with self._store.write() as db:
            done = db.execute(sa.update(pins).where(match).values(row_version=seen + 1, **values))
            if not done.rowcount:
                raise Conflict("This pin was changed meanwhile.", where="board", to_do="Look at it again.")

    def swap(self, owner: str, first: str, second: str) -> None:
        """Let two pins change places."""
        with self._store.write() as db:
            c = pins.c
            rows = db.execute(sa.select(c.id, c.place).where(c.owner == owner, c.id.in_((first, second)))).all()
            if len(rows) == 2:
                for row, other in zip(rows, reversed(rows), strict=True):
                    db.execute(sa.update(pins).where(c.id == row.id).values(place=other.place))

    def delete(self, owner: str, pin_id: str) -> None:
        """Take a pin off."""
        with self._store.write() as db:
            db.execute(sa.delete(pins).where(pins.c.owner == owner, pins.c.id == pin_id))


class Feedback:
    """Reads and writes thumbs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_runs(self, person: str, run_ids: tuple[str, ...]) -> dict[str, FeedbackRecord]:
        """What a person said of these runs, by run."""
        if not run_ids:
            return {}
        query = sa.select(run_feedback).where(run_feedback.c.person == person, run_feedback.c.run_id.in_(run_ids))
        with self._store.read() as db:
            return {row.run_id: FeedbackRecord.of(row) for row in db.execute(query).all()}

    def put(self, person: str, run_id: str, thumb: Thumb | None, reason: str) -> None:
        """Keep a thumb in the place of an earlier one; None takes it back."""
        c = run_feedback.c
        with self._store.write() as db:
            db.execute(sa.delete(run_feedback).where(c.person == person, c.run_id == run_id))
            if thumb is not None:
                db.execute(sa.insert(run_feedback).values(run_id=run_id, person=person, thumb=thumb, reason=reason, at=now()))
