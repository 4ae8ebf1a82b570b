"""Rows of findings and their history. Every change bumps ``row_version`` by one and writes the history row of that
number, in one transaction: so no change is lost, none is recorded twice, and whoever acts on an older row is told.

What a change does to findings that depend on the changed one is written in the same transaction. Must never: change a finding
without its history row, or a row whose version is not the one that was seen; keep a circle of dependencies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BeforeValidator, Field

from lexsi_ds.errors import BadInput
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
    depends_on: Annotated[tuple[str, ...], BeforeValidator(lambda kept: kept or ())] = ()
    band: dict[str, Any] | None = None
    suggested: dict[str, Any] | None = None
    proposal_key: str | None = None
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


Spread = Callable[[FindingRecord, FindingRecord], dict[str, Any] | None]
"""The flag that a change from one row to the other puts on accepted findings that depend on it; None for none."""


class Wanted(Record):
    """Which findings a list holds; what is None or empty does not narrow it."""

    segment: str | None = None
    source_id: str | None = None
    dataset_id: str | None = None
    datasets: frozenset[str] | None = None
    """Those of these datasets alone."""
    review: str | None = None
    status: str | None = None
    verdict: str | None = None
    flagged: bool | None = None
    column: str | None = None
    words: tuple[str, ...] = ()
    """Case folded; each must occur."""


class FindingRows:
    """Reads and writes findings."""

    def __init__(self, store: Store, spread: Spread | None = None) -> None:
        self._store, self._spread = store, spread

    def insert(self, record: FindingRecord, change: Change) -> FindingRecord:
        """Add a finding, or give back the same person's active one that says just the same."""
        with self._store.write() as db:
            same = _same(db, record)
            if same is not None:
                return same
            row = record.model_dump(exclude=_READ_ONLY)
            stored = {**row, "depends_on": list(record.depends_on) or None, "searched": _searched(record)}
            db.execute(sa.insert(t.findings).values(**stored))
            _note(db, record.id, record.row_version, change, {}, _plain(row))
        return record

    def source_of(self, dataset_id: str) -> str | None:
        """The source that a dataset belongs to."""
        with self._store.read() as db:
            return db.execute(sa.select(t.datasets.c.source_id).where(t.datasets.c.id == dataset_id)).scalar()

    def same(self, record: FindingRecord) -> FindingRecord | None:
        """That active finding, if there is one: so that its check need not run again."""
        with self._store.read() as db:
            return _same(db, record)

    def get(self, finding_id: str) -> FindingRecord | None:
        """The finding, or None."""
        with self._store.read() as db:
            return _get(db, finding_id)

    def change(self, finding_id: str, seen: int, values: dict[str, Any], change: Change) -> FindingRecord | None:
        """Set ``values`` if the row is still at version ``seen``; else write nothing and return None.

        Raises BadInput when it would come to depend on itself.
        """
        with self._store.write() as db:
            found = _get(db, finding_id)
            if found is None or not _write(db, found, seen, values, change):
                return None
            if values.get("depends_on") and _in_a_circle(db, found.dataset_id, finding_id, values["depends_on"]):
                raise BadInput(
                    "These dependencies go round in a circle.", where=found.title, to_do="Leave one of them out."
                )
            after = _get(db, finding_id)
            assert after is not None, "a finding is never deleted"
            if self._spread is not None:
                _ripple(db, found, after, self._spread, change)
            return after

    def history(self, finding_id: str) -> tuple[HistoryRecord, ...]:
        """Every step, oldest first."""
        h = t.finding_history.c
        query = sa.select(t.finding_history).where(h.finding_id == finding_id).order_by(h.row_version)
        with self._store.read() as db:
            rows = db.execute(query).all()
        return tuple(HistoryRecord.of(row) for row in rows)

    def list(
        self, wanted: Wanted, *, after: tuple[datetime, str] | None = None, offset: int = 0, limit: int | None = None
    ) -> tuple[FindingRecord, ...]:
        """Findings, newest first: from the one that follows ``after``, or from ``offset`` on."""
        query = _ROWS.where(*_conditions(wanted))
        if after is not None:
            at, last = after
            query = query.where(sa.or_(_F.created_at < at, sa.and_(_F.created_at == at, _F.id < last)))
        query = query.order_by(_F.created_at.desc(), _F.id.desc())
        if limit is not None:
            query = query.limit(limit).offset(offset)
        with self._store.read() as db:
            rows = db.execute(query).all()
        return tuple(FindingRecord.model_validate(dict(row._mapping)) for row in rows)

    def count(self, wanted: Wanted, *, newer_than: tuple[datetime, str] | None = None) -> int:
        """How many a list holds; only those that stand before one in it, if it is given."""
        query = sa.select(sa.func.count()).select_from(t.findings).where(*_conditions(wanted))
        if newer_than is not None:
            at, last = newer_than
            query = query.where(sa.or_(_F.created_at > at, sa.and_(_F.created_at == at, _F.id > last)))
        with self._store.read() as db:
            return int(db.execute(query).scalar_one())

    def counts(self, wanted: Wanted) -> dict[str, int]:
        """How many findings each segment holds; segments with none are absent."""
        query = sa.select(_SEGMENT, sa.func.count()).select_from(t.findings).where(*_conditions(wanted))
        with self._store.read() as db:
            return {row[0]: row[1] for row in db.execute(query.group_by(_SEGMENT))}

    def titles(self, ids: Collection[str]) -> dict[str, str]:
        """The titles of these findings."""
        with self._store.read() as db:
            return {row.id: row.title for row in db.execute(sa.select(_F.id, _F.title).where(_F.id.in_(list(ids))))}

    def would_circle(self, dataset_id: str, finding_id: str, depends_on: Collection[str]) -> bool:
        """Whether a finding that depended on these would depend on itself."""
        with self._store.read() as db:
            return _in_a_circle(db, dataset_id, finding_id, depends_on)

    def depending(self, finding_id: str, dataset_id: str) -> tuple[FindingRecord, ...]:
        """The findings that name it among what they depend on."""
        query = _ROWS.where(_F.dataset_id == dataset_id, _F.depends_on.is_not(None)).order_by(_F.created_at)
        with self._store.read() as db:
            rows = [FindingRecord.model_validate(dict(row._mapping)) for row in db.execute(query)]
        return tuple(row for row in rows if finding_id in row.depends_on)


def restored(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a history row's ``before`` as they stand in the finding's own row."""
    return {k: datetime.fromisoformat(v) if k in _MOMENTS and v is not None else v for k, v in values.items()}


def _get(db: sa.Connection, finding_id: str) -> FindingRecord | None:
    row = db.execute(_ROWS.where(_F.id == finding_id)).first()
    return None if row is None else FindingRecord.model_validate(dict(row._mapping))


def _same(db: sa.Connection, record: FindingRecord) -> FindingRecord | None:
    """The same person's active finding of the same proposal, also when it was edited since, or that says just the same."""
    mine = (_F.dataset_id == record.dataset_id, _F.created_by == record.created_by, _F.status == "active")
    if record.proposal_key is not None:
        row = db.execute(_ROWS.where(*mine, _F.proposal_key == record.proposal_key).order_by(_F.created_at)).first()
        if row is not None:
            return FindingRecord.model_validate(dict(row._mapping))
    rows = db.execute(
        _ROWS.where(
            *mine, _F.title == record.title, _F.statement == record.statement,
            _F.check_sql.is_(None) if record.check_sql is None else _F.check_sql == record.check_sql,
        )
    ).all()
    said = (FindingRecord.model_validate(dict(row._mapping)) for row in rows)
    return next((f for f in said if (f.columns, f.depends_on) == (record.columns, record.depends_on)), None)


def _write(db: sa.Connection, found: FindingRecord, seen: int, values: dict[str, Any], change: Change) -> bool:
    """Set values of a row at version ``seen`` and note it; False when it has moved on."""
    stamped = {**values, "row_version": seen + 1, "updated_by": change.person, "updated_at": now()}
    if "depends_on" in values:
        stamped["depends_on"] = list(values["depends_on"]) or None
    if {"title", "statement", "columns"} & set(values):
        stamped["searched"] = _searched(found.model_copy(update=values))
    match = sa.and_(_F.id == found.id, _F.row_version == seen)
    if db.execute(sa.update(t.findings).where(match).values(**stamped)).rowcount != 1:
        return False
    old = found.model_dump()
    changed = {name for name, value in values.items() if old[name] != value}
    before, after = ({k: rows[k] for k in sorted(changed)} for rows in (old, values))
    _note(db, found.id, seen + 1, change, _plain(before), _plain(after))
    return True


def _ripple(db: sa.Connection, before: FindingRecord, after: FindingRecord, spread: Spread, change: Change) -> None:
    """Flag the accepted findings that depend on the changed one, then those that depend on these, and so on."""
    moved = [(before, after)]
    while moved:
        old, new = moved.pop()
        flag = spread(old, new)
        if flag is None:
            continue
        rows = db.execute(
            _ROWS.where(
                _F.dataset_id == new.dataset_id, _F.depends_on.is_not(None), _F.review == "accepted",
                _F.status == "active", _F.flag.is_(None),
            )
        ).all()
        for row in rows:
            one = FindingRecord.model_validate(dict(row._mapping))
            if new.id in one.depends_on:
                by = change.model_copy(update={"action": "flagged", "via": "dependency", "note": ""})
                _write(db, one, one.row_version, {"flag": flag}, by)
                flagged = _get(db, one.id)
                assert flagged is not None, "a finding is never deleted"
                moved.append((one, flagged))


def _in_a_circle(db: sa.Connection, dataset_id: str, start: str, first: Collection[str]) -> bool:
    rows = db.execute(sa.select(_F.id, _F.depends_on).where(_F.dataset_id == dataset_id, _F.depends_on.is_not(None)))
    edges: dict[str, list[str]] = {row.id: row.depends_on for row in rows}
    seen: set[str] = set()
    left = list(first)
    while left:
        at = left.pop()
        if at == start:
            return True
        if at not in seen:
            seen.add(at)
            left += edges.get(at, ())
    return False


def _conditions(wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    plain = (
        (_SEGMENT, wanted.segment), (_F.source_id, wanted.source_id), (_F.dataset_id, wanted.dataset_id),
        (_F.review, wanted.review), (_F.status, wanted.status), (_F.verdict, wanted.verdict),
    )
    found: list[sa.ColumnElement[bool]] = [column == value for column, value in plain if value is not None]
    if wanted.datasets is not None:
        found.append(_F.dataset_id.in_(sorted(wanted.datasets)))
    if wanted.flagged is not None:
        found.append(_F.flag.is_not(None) if wanted.flagged else _F.flag.is_(None))
    if wanted.column is not None:
        named = json.dumps(wanted.column)
        found.append(sa.cast(_F.columns, sa.String).contains(named, autoescape=True))
    found += [_F.searched.contains(word, autoescape=True) for word in wanted.words]
    return found


def _searched(record: FindingRecord) -> str:
    return " ".join((record.title, record.statement, *record.columns)).casefold()


def _note(
    db: sa.Connection, finding_id: str, row_version: int, change: Change, before: dict[str, Any], after: dict[str, Any]
) -> None:
    row = {"finding_id": finding_id, "row_version": row_version, "at": now(), "before": before, "after": after}
    db.execute(sa.insert(t.finding_history).values(**row, **change.model_dump()))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in values.items()}
