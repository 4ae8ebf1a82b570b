"""Rows of findings and their history. Every change bumps ``row_version`` by one and writes the history row of that
number, in one transaction: so no change is lost, none is recorded twice, and whoever acts on an older row is told.

Must never: change a finding without its history row, or a row whose version is not the one that was seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import Field

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

_F = t.findings.c
_SEGMENT = sa.case(
    (_F.status == "retired", "retired"),
    (_F.review == "pending", "to_review"),
    (_F.review == "rejected", "rejected"),
    (_F.flag.is_not(None), "flagged"),
    else_="accepted",
)
_MOMENTS = {"reviewed_at"}
_V = t.dataset_versions.c
_LATEST = sa.select(sa.func.max(_V.version)).where(_V.dataset_id == _F.dataset_id).scalar_subquery()
_ROWS = sa.select(t.findings, _LATEST.label("latest_version"))
_READ_ONLY = {"latest_version"}


class FindingRecord(Record):
    """A finding's row; `services.finding.Finding` says what the fields mean."""

    id: str
    source_id: str | None
    dataset_id: str
    run_id: str | None
    origin: str
    title: str
    statement: str
    columns: tuple[str, ...]
    check_sql: str | None
    verdict: str
    last_check: dict[str, Any] | None
    review: str
    status: str
    flag: dict[str, Any] | None
    version: int
    row_version: int
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    reviewed_by: str | None = None
    reviewed_by_name: str | None = None
    reviewed_at: datetime | None = None
    review_note: str = ""
    reviewed_version: int | None = None
    reviewed_via: str | None = None
    reviewed_check: dict[str, Any] | None = None
    latest_version: int | None = None
    """The newest version of its dataset: read with the row, never written."""


class Change(Record):
    """Who did what: the part of a history row that the caller knows."""

    person: str
    person_name: str
    action: str
    via: str
    note: str = ""


class HistoryRecord(Change):
    """One step of a finding's life; ``before`` and ``after`` hold the fields that changed, moments as ISO text."""

    finding_id: str
    row_version: int
    at: datetime
    before: dict[str, Any] = Field(default_factory=dict)
    after: dict[str, Any] = Field(default_factory=dict)


class FindingRows:
    """Reads and writes findings."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(self, record: FindingRecord, change: Change) -> FindingRecord:
        """Add a finding, or give back the same person's active one that says just the same."""
        with self._store.write() as db:
            same = _same(db, record)
            if same is not None:
                return same
            row = record.model_dump(exclude=_READ_ONLY)
            db.execute(sa.insert(t.findings).values(**row))
            _note(db, record.id, record.row_version, change, {}, _plain(row))
        return record

    def same(self, record: FindingRecord) -> FindingRecord | None:
        """That active finding, if there is one: so that its check need not run again."""
        with self._store.read() as db:
            return _same(db, record)

    def get(self, finding_id: str) -> FindingRecord | None:
        """The finding, or None."""
        with self._store.read() as db:
            return _get(db, finding_id)

    def change(self, finding_id: str, seen: int, values: dict[str, Any], change: Change) -> FindingRecord | None:
        """Set ``values`` if the row is still at version ``seen``; else write nothing and return None."""
        with self._store.write() as db:
            found = _get(db, finding_id)
            stamped = {**values, "row_version": seen + 1, "updated_by": change.person, "updated_at": now()}
            match = sa.and_(_F.id == finding_id, _F.row_version == seen)
            if found is None or db.execute(sa.update(t.findings).where(match).values(**stamped)).rowcount != 1:
                return None
            old = found.model_dump()
            changed = {name for name, value in values.items() if old[name] != value}
            before, after = ({k: rows[k] for k in sorted(changed)} for rows in (old, values))
            _note(db, finding_id, seen + 1, change, _plain(before), _plain(after))
            return _get(db, finding_id)

    def history(self, finding_id: str) -> tuple[HistoryRecord, ...]:
        """Every step, oldest first."""
        h = t.finding_history.c
        query = sa.select(t.finding_history).where(h.finding_id == finding_id).order_by(h.row_version)
        with self._store.read() as db:
            rows = db.execute(query).all()
        return tuple(HistoryRecord.of(row) for row in rows)

    def list(
        self, *, segment: str | None = None, source_id: str | None = None, dataset_id: str | None = None
    ) -> tuple[FindingRecord, ...]:
        """Findings, newest first."""
        query = _ROWS
        for column, wanted in ((_SEGMENT, segment), (_F.source_id, source_id), (_F.dataset_id, dataset_id)):
            if wanted is not None:
                query = query.where(column == wanted)
        with self._store.read() as db:
            rows = db.execute(query.order_by(_F.created_at.desc(), _F.id.desc())).all()
        return tuple(FindingRecord.model_validate(dict(row._mapping)) for row in rows)

    def counts(self, source_id: str | None = None) -> dict[str, int]:
        """How many findings each segment holds; segments with none are absent."""
        query = sa.select(_SEGMENT, sa.func.count()).select_from(t.findings).group_by(_SEGMENT)
        if source_id is not None:
            query = query.where(_F.source_id == source_id)
        with self._store.read() as db:
            return {row[0]: row[1] for row in db.execute(query)}


def restored(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a history row's ``before`` as they stand in the finding's own row."""
    return {k: datetime.fromisoformat(v) if k in _MOMENTS and v is not None else v for k, v in values.items()}


def _get(db: sa.Connection, finding_id: str) -> FindingRecord | None:
    row = db.execute(_ROWS.where(_F.id == finding_id)).first()
    return None if row is None else FindingRecord.model_validate(dict(row._mapping))


def _same(db: sa.Connection, record: FindingRecord) -> FindingRecord | None:
    rows = db.execute(
        sa.select(t.findings).where(
            _F.dataset_id == record.dataset_id, _F.created_by == record.created_by, _F.title == record.title,
            _F.statement == record.statement, _F.status == "active",
            _F.check_sql.is_(None) if record.check_sql is None else _F.check_sql == record.check_sql,
        )
    ).all()
    return next((f for f in map(FindingRecord.of, rows) if f.columns == record.columns), None)


def _note(
    db: sa.Connection, finding_id: str, row_version: int, change: Change, before: dict[str, Any], after: dict[str, Any]
) -> None:
    row = {"finding_id": finding_id, "row_version": row_version, "at": now(), "before": before, "after": after}
    db.execute(sa.insert(t.finding_history).values(**row, **change.model_dump()))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in values.items()}
