"""The versions of a source: what each holds, who relies on it, what a newer one makes stale, how two differ.

A refresh makes a new version and leaves every older one as it was; then it runs the checks of accepted findings again.
Must never: mix two versions in one answer, or delete one that something relies on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.errors import Denied, NotFound
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.importer import Tell
from lexsi_ds.services.removal import Removal, snapshots_of
from lexsi_ds.store.db import Store
from lexsi_ds.store.dependents import Dependent, DependentKind, dependents
from lexsi_ds.store.sources import SnapshotRecord, Sources


class Reliance(Value):
    """Something that relies on a version. ``mine`` tells whether it belongs to the person who asks; others' are unnamed."""

    kind: DependentKind
    id: str
    name: str
    mine: bool


class VersionInfo(Value):
    """A version of a source: a snapshot of its tables."""

    snapshot_id: str
    number: int
    newest: bool
    created_at: datetime
    today: date | None
    """Latest date in its data."""
    tables: int
    rows: int
    bytes: int
    used_by: tuple[Reliance, ...]

    @property
    def removable(self) -> bool:
        """Whether it can be deleted."""
        return not self.newest and not self.used_by


class Stale(Value):
    """A model, predictions, an answer or a finding made from a version that is not the newest any more."""

    kind: DependentKind
    id: str
    name: str
    number: int | None
    """The version it was made from; None when that is not known any more."""
    newest: int


class Refreshed(Value):
    """What a refresh did."""

    handle: DatasetHandle
    rechecked: tuple[Finding, ...]
    """Accepted findings as they stand after their checks ran on the new data."""
    stale: tuple[Stale, ...]


class Versions:
    """Versions of sources. All methods raise Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store, home: Path, catalog: Catalog, findings: Findings) -> None:
        self._store, self._catalog, self._findings = store, catalog, findings
        self._rows, self._removal = Sources(store), Removal(home, store)

    def list(self, actor: Actor, source_id: str) -> tuple[VersionInfo, ...]:
        """Every version that is kept, newest first."""
        self._catalog.handle(actor, source_id)
        snapshots, relying = self._read(source_id)
        return tuple(self._info(actor, s, snapshots[0], relying) for s in snapshots)

    def refresh(
        self, actor: Actor, source_id: str, paths: Sequence[Path | str] = (), *, options: Mapping[str, Any] | None = None,
        cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> Refreshed:
        """Read the source again (or other files) into a new version, and run the checks of its accepted findings on it."""
        handle = self._catalog.reimport(actor, source_id, paths, cancel=cancel, tell=tell, options=options)
        return self.refreshed(actor, handle)

    def refreshed(self, actor: Actor, handle: DatasetHandle) -> Refreshed:
        """What a new version means for what relies on the source; the checks of its accepted findings run."""
        self._catalog.rederive(replace(actor, rights=actor.rights | {"datasets:write"}), handle.source_id)
        return Refreshed(handle=handle, rechecked=self.recheck(actor, handle), stale=self.stale(actor, handle.source_id))

    def recheck(self, actor: Actor, handle: DatasetHandle) -> tuple[Finding, ...]:
        """Run the checks of every accepted finding on the tables of a new version: part of the import, so no right of its own."""
        checker = replace(actor, rights=actor.rights | {"findings:write"})
        tables = [*handle.tables, *self._catalog.derived(actor, handle.source_id)]
        return tuple(f for table in tables for f in self._findings.recheck(checker, table.dataset_id))

    def stale(self, actor: Actor, source_id: str) -> tuple[Stale, ...]:
        """This person's models, predictions, answers and findings that were made from an older version."""
        self._catalog.handle(actor, source_id)
        snapshots, relying = self._read(source_id)
        numbers, newest = {s.id: s.number for s in snapshots}, snapshots[0]
        found = []
        for d in relying:
            if d.owner != actor.id or d.relies_on(newest) or (d.snapshot_id is None and d.version is None):
                continue
            holding = [s.number for s in snapshots if d.relies_on(s)]
            number = numbers.get(d.snapshot_id) if d.snapshot_id else max(holding, default=None)
            found.append(Stale(kind=d.kind, id=d.id, name=d.name, number=number, newest=newest.number))
        current = {d.id for d in relying if d.kind == "finding" and d.relies_on(newest)}
        return tuple(s for s in found if s.id not in current)

    def stale_models(self, actor: Actor, source_id: str) -> tuple[Stale, ...]:
        """Those of them that are models."""
        return tuple(s for s in self.stale(actor, source_id) if s.kind == "model")

    def prune(self, actor: Actor, source_id: str) -> int:
        """Delete every old version that nothing relies on; returns the bytes freed."""
        self._own(actor, source_id)
        return self._removal.delete_snapshots(source_id, None)

    def delete(self, actor: Actor, source_id: str, snapshot_id: str) -> int:
        """Delete one old version; returns the bytes freed. Raises Conflict that names what relies on it."""
        self._own(actor, source_id)
        return self._removal.delete_snapshots(source_id, [snapshot_id])

    def disk_used(self, actor: Actor, source_id: str) -> int:
        """Bytes on disk of all versions of a source, of the datasets derived from it, and of its uploaded originals."""
        self._catalog.handle(actor, source_id)
        return self._removal.disk_used(source_id)

    def uploaded(self, actor: Actor, source_id: str) -> int:
        """Bytes of the uploaded originals that are kept, so that the source can be read again; part of ``disk_used``."""
        self._catalog.handle(actor, source_id)
        return self._removal.uploaded(source_id)

    def _read(self, source_id: str) -> tuple[list[SnapshotRecord], tuple[Dependent, ...]]:
        with self._store.read() as db:
            snapshots = snapshots_of(db, source_id)
            return snapshots, dependents(db, source_id, snapshots)

    def _own(self, actor: Actor, source_id: str) -> None:
        actor.need("datasets:write")
        self._catalog.handle(actor, source_id)
        source = self._rows.get(source_id)
        if source is None:
            raise NotFound("There is no such source.", where=source_id, to_do="Look at the page Connect data.")
        if source.owner != actor.id:
            raise Denied("This source belongs to somebody else.", where=source.name, to_do="Ask its owner.")

    def _info(
        self, actor: Actor, snapshot: SnapshotRecord, newest: SnapshotRecord, relying: Sequence[Dependent]
    ) -> VersionInfo:
        parts = self._rows.parts(snapshot.source_id, snapshot.id)
        tables = parts.tables if parts is not None else ()
        used = {d.id: d for d in relying if d.relies_on(snapshot)}
        return VersionInfo(
            snapshot_id=snapshot.id, number=snapshot.number, newest=snapshot.id == newest.id,
            created_at=snapshot.created_at, today=snapshot.today, tables=len(tables), rows=sum(t.rows for t in tables),
            bytes=sum(t.bytes for t in tables),
            used_by=tuple(
                Reliance(kind=d.kind, id=d.id, name=d.name if d.owner == actor.id else "", mine=d.owner == actor.id)
                for d in used.values()
            ),
        )
