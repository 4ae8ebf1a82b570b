"""Values of the data room made from rows of the store: marks of a person win over what was guessed at import.

Must never: open a file, or keep a smallest or largest value of a masked column.
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import cast

from lexsi_ds.data.handle import Column, DatasetHandle, Live, SourceKind, Table, Value
from lexsi_ds.store.sources import Mark, Parts, VersionRecord


class SourceInfo(Value):
    """A source in a list."""

    id: str
    name: str
    kind: SourceKind
    synthetic: bool
    tables: int
    table_names: tuple[str, ...]
    rows: int
    bytes: int
    snapshot_id: str
    snapshot_number: int
    today: date | None
    created_at: datetime
    updated_at: datetime


def source_info(parts: Parts) -> SourceInfo:
    """What a list shows of a source at its newest snapshot."""
    source, snapshot = parts.source, parts.snapshot
    return SourceInfo(
        id=source.id,
        name=source.name,
        kind=cast("SourceKind", source.kind),
        synthetic=source.synthetic,
        tables=len(parts.tables),
        table_names=tuple(t.name for t in parts.tables),
        rows=sum(t.rows for t in parts.tables),
        bytes=sum(t.bytes for t in parts.tables),
        snapshot_id=snapshot.id,
        snapshot_number=snapshot.number,
        today=snapshot.today,
        created_at=source.created_at,
        updated_at=source.updated_at,
    )


def handle_of(parts: Parts, home: Path) -> DatasetHandle:
    """The handle of a snapshot."""
    return DatasetHandle(
        source_id=parts.source.id,
        name=parts.source.name,
        kind=cast("SourceKind", parts.source.kind),
        snapshot_id=parts.snapshot.id,
        snapshot_number=parts.snapshot.number,
        tables=tuple(table_of(record, home) for record in parts.tables),
        today=parts.snapshot.today,
        synthetic=parts.source.synthetic,
    )


def table_of(record: VersionRecord, home: Path) -> Table:
    """The table of a dataset version."""
    marks = {mark.column_key: mark for mark in record.marks}
    columns = (Column.model_validate(body) for body in record.columns)
    return Table(
        name=record.name,
        dataset_id=record.dataset_id,
        version=record.version,
        path=home / record.path,
        rows=record.rows,
        columns=tuple(_marked(column, marks.get(column.name.casefold())) for column in columns),
        comment=record.description or record.comment,
        rejected=record.rejected,
        flagged=int(record.read_options.get("flagged", 0)),
        live=Live.model_validate(record.read_options["live"]) if record.read_options.get("live") else None,
    )


def _marked(column: Column, mark: Mark | None) -> Column:
    given = {} if mark is None else mark.model_dump(exclude={"column_key", "description"}, exclude_none=True)
    if mark is not None and mark.description:
        given["comment"] = mark.description
    marked = column.model_copy(update=given)
    return marked.model_copy(update={"minimum": None, "maximum": None}) if marked.masked else marked
