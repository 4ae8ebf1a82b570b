"""What runs made, by id: kind, file and facts. The files lie in the home; `services.artifacts` opens them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.records import Record, now

ArtifactKind = Literal["frame", "json"]


class ArtifactRecord(Record):
    """An artifact. ``path`` is relative to the home."""

    id: str
    owner: str
    run_id: str
    kind: ArtifactKind
    path: str
    bytes: int
    meta: dict[str, Any]
    created_at: datetime


class Artifacts:
    """Reads and writes artifact rows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def insert(
        self, artifact_id: str, owner: str, run_id: str, kind: ArtifactKind, path: str, size: int, meta: dict[str, Any]
    ) -> ArtifactRecord:
        """Add one; its file is complete by now."""
        record = ArtifactRecord(
            id=artifact_id, owner=owner, run_id=run_id, kind=kind, path=path, bytes=size, meta=meta, created_at=now()
        )
        with self._store.write() as db:
            db.execute(sa.insert(t.artifacts).values(**record.model_dump()))
        return record

    def get(self, artifact_id: str, owner: str) -> ArtifactRecord | None:
        """The owner's artifact, or None."""
        query = sa.select(t.artifacts).where(t.artifacts.c.id == artifact_id, t.artifacts.c.owner == owner)
        with self._store.read() as db:
            row = db.execute(query).first()
        return None if row is None else ArtifactRecord.of(row)

    def of_run(self, run_id: str, owner: str) -> tuple[ArtifactRecord, ...]:
        """What a run made, in order."""
        query = sa.select(t.artifacts).where(t.artifacts.c.run_id == run_id, t.artifacts.c.owner == owner)
        with self._store.read() as db:
            rows = db.execute(query.order_by(t.artifacts.c.created_at, t.artifacts.c.id)).all()
        return tuple(ArtifactRecord.of(row) for row in rows)
