"""Rows of sources, their datasets, versions, snapshots and column marks. The catalog service decides; this room keeps.

A snapshot says which version of each dataset is meant; derived datasets belong to a source, to none of its snapshots.
Paths are kept as the text they are given (the catalog makes them relative to the home).
Must never: write a source without its tables and its snapshot, or part of them: each insert is one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy import exc

from lexsi_ds.errors import Conflict
from lexsi_ds.ids import new_id
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now


class NewVersion(Record):
    """One dataset version to be added; version 1 of a new ``dataset_id`` adds the dataset too."""

    dataset_id: str
    name: str
    version: int
    path: str
    rows: int
    bytes: int = 0
    columns: tuple[dict[str, Any], ...]
    """As JSON objects of ``data.handle.Column``."""
    comment: str | None = None
    read_options: dict[str, Any] = Field(default_factory=dict)
    rejected: int = 0
    """Lines of the file that could not be read."""
    rejected_path: str | None = None


class NewSource(Record):
    """A source to be added. ``fingerprint``, when given, is unique among sources that are not deleted."""

    id: str
    owner: str
    name: str
    kind: str
    synthetic: bool = False
    throwaway: bool = False
    """Made for one question from the command line: not listed."""
    fingerprint: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class SourceRecord(NewSource):
    """A source."""

    created_at: datetime
    updated_at: datetime
    delete_status: str | None = None
    """``deleting`` or ``delete_failed``; None for a source that can be used."""
    delete_error: str | None = None
    visibility: str | None = None
    """``private`` (as None), ``showcase`` or ``public``."""


class SnapshotRecord(Record):
    """A snapshot: ``members`` maps dataset ids to versions."""

    id: str
    source_id: str
    number: int
    members: dict[str, int]
    today: date | None
    created_at: datetime


class Mark(Record):
    """What a person said of a column; None leaves what was found in the data."""

    column_key: str
    """The column's name, case folded."""
    protected: bool | None = None
    masked: bool | None = None
    identifier: bool | None = None
    description: str | None = None


class VersionRecord(NewVersion):
    """A dataset version with its dataset's name and the marks on its columns."""

    source_id: str
    derived: bool
    run_id: str | None
    created_at: datetime
    marks: tuple[Mark, ...] = ()
    description: str | None = None
    """What a person wrote of the dataset; it stands before ``comment``."""
    target_column: str | None = None
    edited_at: datetime | None = None


class Parts(Record):
    """What a handle is made of: a source, one of its snapshots, and that snapshot's tables in order of name."""

    source: SourceRecord
    snapshot: SnapshotRecord
    tables: tuple[VersionRecord, ...]


class Sources:
    """Reads and writes sources."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def store(self) -> Store:
        """The store whose sources these are."""
        return self._store

    def insert(self, source: NewSource, versions: Sequence[NewVersion], today: date | None) -> SnapshotRecord:
        """Add a source, its datasets and snapshot 1. Raises Conflict when its fingerprint is taken."""
        at = now()
        with _conflict(f"{source.name} was just added by someone else."), self._store.write() as db:
            db.execute(sa.insert(t.sources).values(**source.model_dump(), created_at=at, updated_at=at))
            _add_versions(db, source.id, versions, at)
            return _add_snapshot(db, source.id, versions, today, at)

    def add_snapshot(
        self, source_id: str, versions: Sequence[NewVersion], today: date | None, *, keep: bool = False
    ) -> SnapshotRecord:
        """Add new versions and a snapshot that holds exactly them; with ``keep`` also the other tables of the newest one.

        Raises Conflict when a version is taken.
        """
        at = now()
        with _conflict("Someone else imported this source at the same time."), self._store.write() as db:
            _add_versions(db, source_id, versions, at)
            db.execute(sa.update(t.sources).where(t.sources.c.id == source_id).values(updated_at=at))
            return _add_snapshot(db, source_id, versions, today, at, keep=keep)

    def add_derived(self, source_id: str, version: NewVersion, run_id: str | None) -> VersionRecord:
        """Keep a result as a dataset of its own. Raises Conflict when the source has a dataset of that name."""
        with _conflict(f"There is a dataset named {version.name} already."), self._store.write() as db:
            _add_versions(db, source_id, [version], now(), derived=True, run_id=run_id)
        found = self.dataset(version.dataset_id)
        assert found is not None
        return found

    def list(self, owner: str | None = None, *, throwaway: bool = False) -> tuple[SourceRecord, ...]:
        """Sources that are not deleted, newest first; of one owner if given; throwaway ones only when asked for."""
        query = sa.select(t.sources).where(t.sources.c.deleted_at.is_(None))
        if owner is not None:
            query = query.where(t.sources.c.owner == owner)
        if not throwaway:
            query = query.where(sa.not_(t.sources.c.throwaway))
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.sources.c.created_at.desc(), t.sources.c.id.desc())).all()
        return tuple(SourceRecord.of(row) for row in rows)

    def get(self, source_id: str) -> SourceRecord | None:
        """A source that is not deleted, or None."""
        return self._one(t.sources.c.id == source_id)

    def by_fingerprint(self, fingerprint: str) -> SourceRecord | None:
        """The source with this fingerprint, or None."""
        return self._one(t.sources.c.fingerprint == fingerprint)

    def _one(self, condition: sa.ColumnElement[bool]) -> SourceRecord | None:
        with self._store.read() as db:
            row = db.execute(sa.select(t.sources).where(condition, t.sources.c.deleted_at.is_(None))).first()
        return None if row is None else SourceRecord.of(row)

    def snapshots(self, source_id: str) -> tuple[SnapshotRecord, ...]:
        """Every snapshot of a source, newest first."""
        query = sa.select(t.snapshots).where(t.snapshots.c.source_id == source_id)
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.snapshots.c.number.desc())).all()
        return tuple(SnapshotRecord.of(row) for row in rows)

    def parts(self, source_id: str, snapshot_id: str | None = None) -> Parts | None:
        """The parts of one snapshot, or of the latest; None when source or snapshot is not there (or deleted)."""
        with self._store.read() as db:
            source = db.execute(
                sa.select(t.sources).where(t.sources.c.id == source_id, t.sources.c.deleted_at.is_(None))
            ).first()
            query = sa.select(t.snapshots).where(t.snapshots.c.source_id == source_id)
            if snapshot_id is not None:
                query = query.where(t.snapshots.c.id == snapshot_id)
            snapshot = db.execute(query.order_by(t.snapshots.c.number.desc()).limit(1)).first()
            if source is None or snapshot is None:
                return None
            members: dict[str, int] = snapshot.members
            found = _versions(db, t.datasets.c.id.in_(members))
        chosen = sorted((v for v in found if members[v.dataset_id] == v.version), key=lambda v: v.name)
        return Parts(source=SourceRecord.of(source), snapshot=SnapshotRecord.of(snapshot), tables=tuple(chosen))

    def dataset(self, dataset_id: str, version: int | None = None) -> VersionRecord | None:
        """A dataset at a version, or at its latest; None when it or its source is not there (or deleted)."""
        with self._store.read() as db:
            found = _versions(
                db,
                t.datasets.c.id == dataset_id,
                t.datasets.c.deleted_at.is_(None),
                t.sources.c.deleted_at.is_(None),
            )
        chosen = [v for v in found if version is None or v.version == version]
        return max(chosen, key=lambda v: v.version, default=None)

    def derived(self, source_id: str) -> tuple[VersionRecord, ...]:
        """The derived datasets of a source, newest first."""
        with self._store.read() as db:
            found = _versions(
                db, t.datasets.c.source_id == source_id, t.datasets.c.derived, t.datasets.c.deleted_at.is_(None)
            )
        return tuple(sorted(found, key=lambda v: v.created_at, reverse=True))

    def mark(
        self, dataset_id: str, column: str, person: str, *, protected: bool | None = None, masked: bool | None = None,
        identifier: bool | None = None,
    ) -> Mark:
        """Set the marks that are not None; the others stay."""
        key = column.casefold()
        marks = {"protected": protected, "masked": masked, "identifier": identifier}
        given = {name: mark for name, mark in marks.items() if mark is not None}
        match = sa.and_(t.column_marks.c.dataset_id == dataset_id, t.column_marks.c.column_key == key)
        with self._store.write() as db:
            changed = db.execute(
                sa.update(t.column_marks).where(match).values(**given, marked_by=person, marked_at=now())
            )
            if not changed.rowcount:
                fresh = {"dataset_id": dataset_id, "column_key": key, "marked_by": person, "marked_at": now()}
                db.execute(sa.insert(t.column_marks).values(**fresh, **given))
            return Mark.of(db.execute(sa.select(t.column_marks).where(match)).one())

    def rename(self, source_id: str, name: str) -> None:
        """Give a source another name."""
        with self._store.write() as db:
            db.execute(sa.update(t.sources).where(t.sources.c.id == source_id).values(name=name, updated_at=now()))

    def delete(self, source_id: str) -> bool:
        """Hide a source and everything under it; files and rows stay. False when there was nothing to hide."""
        with self._store.write() as db:
            match = sa.and_(t.sources.c.id == source_id, t.sources.c.deleted_at.is_(None))
            return bool(db.execute(sa.update(t.sources).where(match).values(deleted_at=now())).rowcount)


class _conflict:  # noqa: N801 - reads as a statement
    """Turns a broken unique constraint into a Conflict that says what happened."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, exc.IntegrityError):
            raise Conflict(self._what, to_do="Look at the list again.") from error


def _add_versions(
    db: sa.Connection, source_id: str, versions: Sequence[NewVersion], at: datetime, *, derived: bool = False,
    run_id: str | None = None,
) -> None:
    left = t.sources.c.deleted_at.is_not(None) | t.sources.c.delete_status.is_not(None)
    if db.execute(sa.select(t.sources.c.id).where(t.sources.c.id == source_id, left)).first() is not None:
        raise Conflict("This source was deleted meanwhile.", where=source_id, to_do="Import the files as a new source.")
    known = set(db.execute(sa.select(t.datasets.c.id).where(t.datasets.c.source_id == source_id)).scalars())
    for version in versions:
        if version.dataset_id not in known:
            row = {"id": version.dataset_id, "source_id": source_id, "name": version.name, "derived": derived}
            row |= {"name_key": version.name.casefold(), "run_id": run_id, "created_at": at}
            db.execute(sa.insert(t.datasets).values(**row))
        db.execute(sa.insert(t.dataset_versions).values(**version.model_dump(exclude={"name"}), created_at=at))


def _add_snapshot(
    db: sa.Connection, source_id: str, versions: Sequence[NewVersion], today: date | None, at: datetime, *,
    keep: bool = False,
) -> SnapshotRecord:
    last = db.execute(sa.select(sa.func.max(t.snapshots.c.number)).where(t.snapshots.c.source_id == source_id)).scalar()
    kept: dict[str, int] = {}
    if keep and last is not None:
        newest = sa.and_(t.snapshots.c.source_id == source_id, t.snapshots.c.number == last)
        kept, before = db.execute(sa.select(t.snapshots.c.members, t.snapshots.c.today).where(newest)).one()
        today = max((day for day in (today, before) if day is not None), default=None)
    record = SnapshotRecord(
        id=new_id("snap"),
        source_id=source_id,
        number=(last or 0) + 1,
        members=kept | {v.dataset_id: v.version for v in versions},
        today=today,
        created_at=at,
    )
    db.execute(sa.insert(t.snapshots).values(**record.model_dump()))
    return record


_OF_DATASET = ("name", "source_id", "derived", "run_id", "description", "target_column", "edited_at")


def _versions(db: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[VersionRecord]:
    """Versions whose dataset meets the conditions, with marks."""
    query = (
        sa.select(
            t.dataset_versions, *(t.datasets.c[name] for name in _OF_DATASET)
        )
        .join_from(t.dataset_versions, t.datasets)
        .join(t.sources)
        .where(*conditions)
    )
    rows = db.execute(query).all()
    marks: dict[str, list[Mark]] = {}
    ids = {row.dataset_id for row in rows}
    for row in db.execute(sa.select(t.column_marks).where(t.column_marks.c.dataset_id.in_(ids))):
        marks.setdefault(row.dataset_id, []).append(Mark.of(row))
    return [
        VersionRecord.model_validate({**row._mapping, "marks": tuple(marks.get(row.dataset_id, ()))}) for row in rows
    ]
