"""Who relies on a source's versions: models and predictions, answers of conversations that are kept, active findings.

An answer of before snapshots were recorded is counted to the one that was newest when it started. Must never: leave one out
because its owner is another person than the one who asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import sqlalchemy as sa

from lexsi_ds.store import tables as t
from lexsi_ds.store.records import Record
from lexsi_ds.store.sources import SnapshotRecord

DependentKind = Literal["model", "predictions", "answer", "finding"]


class Dependent(Record):
    """Something that relies on a snapshot, or on one version of a dataset."""

    kind: DependentKind
    id: str
    name: str
    owner: str
    snapshot_id: str | None = None
    dataset_id: str | None = None
    version: int | None = None

    def relies_on(self, snapshot: SnapshotRecord) -> bool:
        """Whether it needs a version of this snapshot."""
        if self.snapshot_id is not None:
            return self.snapshot_id == snapshot.id
        return self.dataset_id is not None and snapshot.members.get(self.dataset_id) == self.version


def dependents(db: sa.Connection, source_id: str, snapshots: Sequence[SnapshotRecord]) -> tuple[Dependent, ...]:
    """Everything that relies on any version of the source. ``snapshots`` are all of the source's."""
    return (*_models(db, source_id), *_answers(db, source_id, snapshots), *_findings(db, source_id))


def _models(db: sa.Connection, source_id: str) -> list[Dependent]:
    m, p = t.models.c, t.predictions.c
    models = db.execute(sa.select(m.id, m.name, m.owner, m.snapshot_id).where(m.source_id == source_id))
    found = [Dependent(kind="model", id=r.id, name=r.name, owner=r.owner, snapshot_id=r.snapshot_id) for r in models]
    scored = sa.select(p.id, m.name, m.owner, p.snapshot_id).join_from(t.predictions, t.models)
    for r in db.execute(scored.where(m.source_id == source_id)):
        name = f"predictions of {r.name}"
        found.append(Dependent(kind="predictions", id=r.id, name=name, owner=r.owner, snapshot_id=r.snapshot_id))
    return found


def _answers(db: sa.Connection, source_id: str, snapshots: Sequence[SnapshotRecord]) -> list[Dependent]:
    r, c = t.runs.c, t.conversations.c
    query = (
        sa.select(r.id, r.question, r.meta, r.started, c.owner)
        .join_from(t.runs, t.conversations, c.id == r.conversation_id)
        .where(c.deleted_at.is_(None))
        .order_by(r.started)
    )
    found = []
    for run in db.execute(query):
        if run.meta.get("source_id") != source_id:
            continue
        snapshot_id = run.meta.get("snapshot_id") or _newest_at(run.started, snapshots)
        found.append(Dependent(kind="answer", id=run.id, name=run.question, owner=run.owner, snapshot_id=snapshot_id))
    return found


def _newest_at(moment: float, snapshots: Sequence[SnapshotRecord]) -> str | None:
    before = [s for s in snapshots if s.created_at.timestamp() <= moment] or sorted(snapshots, key=lambda s: s.number)[:1]
    return max(before, key=lambda s: s.number).id if before else None


def _findings(db: sa.Connection, source_id: str) -> list[Dependent]:
    f, d = t.findings.c, t.datasets.c
    query = (
        sa.select(f.id, f.title, f.created_by, f.dataset_id, f.last_check, f.reviewed_check)
        .join_from(t.findings, t.datasets, d.id == f.dataset_id)
        .where(d.source_id == source_id, f.status == "active")
    )
    found = []
    for row in db.execute(query):
        checks = (row.last_check or {}, row.reviewed_check or {})
        versions = {check["dataset_version"] for check in checks if check.get("dataset_version")} or {None}
        found += [
            Dependent(kind="finding", id=row.id, name=row.title, owner=row.created_by, dataset_id=row.dataset_id, version=v)
            for v in versions
        ]
    return found
