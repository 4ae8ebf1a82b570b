"""Datasets as a list shows them, one light row each at its latest version, and what people write of them.

Must never: load the columns of every dataset for a list, or show what is deleted.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now
from lexsi_ds.store.sources import SourceRecord


class DatasetRow(Record):
    """A dataset at its latest version."""

    id: str
    name: str
    source_id: str
    derived: bool
    description: str | None
    target_column: str | None
    created_at: datetime
    edited_at: datetime | None
    version: int
    rows: int
    bytes: int
    read_options: dict[str, Any]
    version_at: datetime

    @property
    def updated_at(self) -> datetime:
        """When its data or its texts last changed."""
        return max(self.version_at, self.edited_at or self.version_at)


class Unset:
    """Stands for "leave this as it is" where None means "none"."""


UNSET: Final = Unset()


class DatasetRows:
    """Reads and edits rows of datasets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def sources(self, *, throwaway: bool = False) -> tuple[SourceRecord, ...]:
        """Every source that is not deleted, also those on their way out."""
        query = sa.select(t.sources).where(t.sources.c.deleted_at.is_(None))
        if not throwaway:
            query = query.where(sa.not_(t.sources.c.throwaway))
        with self._store.read() as db:
            return tuple(SourceRecord.of(row) for row in db.execute(query))

    def databases(self, source_ids: Collection[str]) -> dict[str, str]:
        """The database that a connector reads, by the id of its source; sources without one are absent."""
        c = t.connectors.c
        with self._store.read() as db:
            rows = db.execute(sa.select(c.source_id, c.config).where(c.source_id.in_(list(source_ids)))).all()
        found = {row.source_id: row.config.get("database") or row.config.get("bucket") for row in rows}
        return {source_id: str(name) for source_id, name in found.items() if name}

    def of_sources(self, source_ids: Collection[str]) -> tuple[DatasetRow, ...]:
        """The datasets of these sources, each at its latest version."""
        d, v = t.datasets.c, t.dataset_versions.c
        latest = sa.select(v.dataset_id, sa.func.max(v.version).label("version")).group_by(v.dataset_id).subquery()
        query = (
            sa.select(
                d.id, d.name, d.source_id, d.derived, d.description, d.target_column, d.created_at, d.edited_at,
                v.version, v.rows, v.bytes, v.read_options, v.created_at.label("version_at"),
            )
            .select_from(t.datasets)
            .join(latest, latest.c.dataset_id == d.id)
            .join(t.dataset_versions, sa.and_(v.dataset_id == d.id, v.version == latest.c.version))
            .where(d.source_id.in_(list(source_ids)), d.deleted_at.is_(None))
        )
        with self._store.read() as db:
            return tuple(DatasetRow.model_validate(dict(row._mapping)) for row in db.execute(query))

    def edit(
        self, dataset_id: str, *, description: str | Unset | None = UNSET, target_column: str | Unset | None = UNSET
    ) -> None:
        """Set what is given."""
        given: dict[str, Any] = {"description": description, "target_column": target_column}
        values = {name: value for name, value in given.items() if not isinstance(value, Unset)}
        if values:
            with self._store.write() as db:
                match = t.datasets.c.id == dataset_id
                db.execute(sa.update(t.datasets).where(match).values(**values, edited_at=now()))

    def describe_column(self, dataset_id: str, column: str, person: str, text: str | None) -> None:
        """Set or take away what is said of a column."""
        key = column.casefold()
        match = sa.and_(t.column_marks.c.dataset_id == dataset_id, t.column_marks.c.column_key == key)
        said = {"description": text, "marked_by": person, "marked_at": now()}
        with self._store.write() as db:
            if not db.execute(sa.update(t.column_marks).where(match).values(**said)).rowcount:
                db.execute(sa.insert(t.column_marks).values(dataset_id=dataset_id, column_key=key, **said))
            db.execute(sa.update(t.datasets).where(t.datasets.c.id == dataset_id).values(edited_at=now()))
