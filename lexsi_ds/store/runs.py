"""Runs and their events. The lease of a conversation is a partial unique index: a second live run fails in any process.

Implements `jobs.runstore.RunStore` by shape, without importing it: the two rooms are siblings.
Must never: change a run that is over, or give it a second ``done``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy import exc

from lexsi_ds.errors import Busy
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record

_LIVE = t.runs.c.state.in_(t.LIVE_STATES)


class RunRecord(Record):
    """A run; times are seconds since the epoch."""

    id: str
    conversation_id: str
    boot: str
    question: str
    state: str
    cancel: bool
    started: float
    beat: float
    ended: float | None
    meta: dict[str, Any] = Field(default_factory=dict)


class Runs:
    """Reads and writes runs; every method is one short transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert_run(
        self, run_id: str, conversation_id: str, boot: str, question: str, meta: dict[str, Any], started: float
    ) -> None:
        """Add a running run. Raises Busy when its conversation has a live one."""
        row = {"id": run_id, "conversation_id": conversation_id, "boot": boot, "question": question, "meta": meta}
        row |= {"state": "running", "cancel": False, "started": started, "beat": started}
        try:
            with self._store.write() as db:
                db.execute(sa.insert(t.runs).values(**row))
        except exc.IntegrityError as error:
            raise Busy(
                "This conversation is still at work on a question.", where="chat", to_do="Wait for it, or stop it."
            ) from error

    def put_event(self, run_id: str, seq: int, ts: float, kind: str, body: dict[str, Any]) -> None:
        """Append one event."""
        with self._store.write() as db:
            _append(db, run_id, seq, ts, kind, body)

    def finish(self, run_id: str, seq: int, ts: float, body: dict[str, Any]) -> bool:
        """Append ``done`` and end the run in one transaction; False, and nothing written, when it is over already."""
        with self._store.write() as db:
            if not _end(db, run_id, body["state"], ts):
                return False
            _append(db, run_id, seq, ts, "done", body)
            return True

    def close_interrupted(self, run_id: str, ts: float) -> bool:
        """End the run of a dead owner; False when it is over already."""
        with self._store.write() as db:
            if not _end(db, run_id, "interrupted", ts):
                return False
            last = db.execute(sa.select(sa.func.max(t.events.c.seq)).where(t.events.c.run_id == run_id)).scalar()
            _append(db, run_id, (last or 0) + 1, ts, "done", {"state": "interrupted"})
            return True

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Events with seq > ``after``, in order and flat."""
        query = sa.select(t.events).where(t.events.c.run_id == run_id, t.events.c.seq > after)
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.events.c.seq)).all()
        return [{"run_id": r.run_id, "seq": r.seq, "ts": r.ts, "type": r.type, **r.body} for r in rows]

    def events_of(self, run_ids: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """The events of several runs, each in order and flat."""
        found: dict[str, list[dict[str, Any]]] = {run_id: [] for run_id in run_ids}
        query = sa.select(t.events).where(t.events.c.run_id.in_(list(found)))
        with self._store.read() as db:
            for r in db.execute(query.order_by(t.events.c.run_id, t.events.c.seq)):
                found[r.run_id].append({"run_id": r.run_id, "seq": r.seq, "ts": r.ts, "type": r.type, **r.body})
        return found

    def run(self, run_id: str) -> RunRecord | None:
        """The run, or None."""
        with self._store.read() as db:
            row = db.execute(sa.select(t.runs).where(t.runs.c.id == run_id)).first()
        return None if row is None else RunRecord.of(row)

    def of_conversation(self, conversation_id: str) -> tuple[RunRecord, ...]:
        """The runs of a conversation, oldest first."""
        query = sa.select(t.runs).where(t.runs.c.conversation_id == conversation_id)
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.runs.c.started, t.runs.c.id)).all()
        return tuple(RunRecord.of(row) for row in rows)

    def note(self, run_id: str, **known: Any) -> None:
        """Add to what is known of a run, such as the snapshot that it reads."""
        match = t.runs.c.id == run_id
        with self._store.write() as db:
            meta = db.execute(sa.select(t.runs.c.meta).where(match)).scalar()
            if meta is not None:
                db.execute(sa.update(t.runs).where(match).values(meta={**meta, **known}))

    def set_state(self, run_id: str, state: str, ended: float | None = None) -> None:
        """Change the state of a live run."""
        with self._store.write() as db:
            db.execute(sa.update(t.runs).where(t.runs.c.id == run_id, _LIVE).values(state=state, ended=ended))

    def beat(self, run_ids: Iterable[str], ts: float) -> None:
        """Say that the owner of these runs is alive."""
        ids = list(run_ids)
        if ids:
            with self._store.write() as db:
                db.execute(sa.update(t.runs).where(t.runs.c.id.in_(ids), _LIVE).values(beat=ts))

    def request_cancel(self, run_id: str) -> None:
        """Set the cancel flag of a live run."""
        with self._store.write() as db:
            db.execute(sa.update(t.runs).where(t.runs.c.id == run_id, _LIVE).values(cancel=True))

    def cancel_requested(self, run_ids: Iterable[str]) -> set[str]:
        """Those of these runs whose cancel flag is set."""
        with self._store.read() as db:
            query = sa.select(t.runs.c.id).where(t.runs.c.id.in_(list(run_ids)), t.runs.c.cancel)
            return set(db.execute(query).scalars())

    def live_runs(self) -> tuple[RunRecord, ...]:
        """Every live run of whatever process, oldest first."""
        with self._store.read() as db:
            rows = db.execute(sa.select(t.runs).where(_LIVE).order_by(t.runs.c.started, t.runs.c.id)).all()
        return tuple(RunRecord.of(row) for row in rows)


def _append(db: sa.Connection, run_id: str, seq: int, ts: float, kind: str, body: dict[str, Any]) -> None:
    db.execute(sa.insert(t.events).values(run_id=run_id, seq=seq, ts=ts, type=kind, body=body))


def _end(db: sa.Connection, run_id: str, state: str, ts: float) -> bool:
    ended = db.execute(sa.update(t.runs).where(t.runs.c.id == run_id, _LIVE).values(state=state, ended=ts))
    return bool(ended.rowcount)
