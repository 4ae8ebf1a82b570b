"""Takes data off the disk: a deleted source, versions that nobody needs, and what killed processes left behind.

The store says first that something goes, then its files go: renamed aside at once, so that no reader finds half of them, and
removed. Readers that have a file open keep it to their end. Must never: remove what anything relies on, what the store lists,
or what a living process is about to publish.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import sqlalchemy as sa

from lexsi_ds.data import versions as on_disk
from lexsi_ds.data.filelock import try_lock
from lexsi_ds.errors import Busy, Conflict, LexsiError, NotFound
from lexsi_ds.services.component_files import ComponentFiles
from lexsi_ds.services.publishing import nobody_publishing
from lexsi_ds.services.uploads import Uploads
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store
from lexsi_ds.store.dependents import Dependent, dependents
from lexsi_ds.store.records import now
from lexsi_ds.store.sources import SnapshotRecord

log = logging.getLogger(__name__)
_TRASH = ".trash-"
_NAMED = 5


class Removal:
    """Deletions and sweeps of one home."""

    def __init__(self, home: Path, store: Store) -> None:
        self._home, self._store = home.resolve(), store
        self._datasets, self._stats = self._home / "datasets", self._home / "column_stats"
        self._uploads, self._components = Uploads(home, store), ComponentFiles(self._home)

    def delete_source(self, source_id: str) -> None:
        """Delete a source with all its files. Raises Conflict that names what relies on it; then nothing has changed.

        Raises LexsiError when files cannot be removed: the source then stands as ``delete_failed``, and can be deleted again.
        """
        lock = try_lock(self._home / "locks" / f"delete-{source_id}.lock")
        if lock is None:
            raise Busy("This source is being deleted already.", where=source_id, to_do="Wait a moment.")
        try:
            with self._store.write() as db:
                if db.execute(_listed(source_id)).first() is None:
                    raise NotFound("There is no such source.", where=source_id, to_do="Look at the page Connect data.")
                _refuse(dependents(db, source_id, snapshots_of(db, source_id)), "This source")
                db.execute(sa.update(t.sources).where(t.sources.c.id == source_id).values(
                    delete_status="deleting", delete_error=None))
            self._finish(source_id)
        finally:
            lock.close()

    def delete_snapshots(self, source_id: str, wanted: Sequence[str] | None) -> int:
        """Delete old snapshots (all that nothing relies on when ``wanted`` is None); returns the bytes freed.

        A version that another snapshot or a finding needs stays. Raises Conflict when a wanted one is relied on or newest.
        """
        with self._store.write() as db:
            snapshots = snapshots_of(db, source_id)
            relying = dependents(db, source_id, snapshots)
            gone = _chosen(snapshots, relying, wanted)
            kept = [s for s in snapshots if s not in gone]
            needed = {pair for s in kept for pair in s.members.items()}
            needed |= {(d.dataset_id, d.version) for d in relying if d.dataset_id is not None}
            freed = {pair for s in gone for pair in s.members.items()} - needed
            paths = [self._home / _drop_version(db, dataset_id, version) for dataset_id, version in sorted(freed)]
            ids = [s.id for s in gone]
            db.execute(sa.delete(t.found_relations).where(t.found_relations.c.snapshot_id.in_(ids)))
            db.execute(sa.delete(t.snapshots).where(t.snapshots.c.id.in_(ids)))
        for dataset_id, version in freed:
            self._components.forget(dataset_id, version)
            for path in (self._stats / dataset_id).glob(f"v{version}-*.json"):
                path.unlink(missing_ok=True)
        return sum(self._remove([path.parent]) for path in paths)

    def sweep(self) -> int:
        """Remove what killed processes left behind and finish their deletions; returns the number of folders removed."""
        removed = on_disk.sweep(self._datasets)
        with nobody_publishing(self._home) as alone:
            aside = [self._aside(folder) for folder in self._orphans()] if alone else []
            for folder in self._datasets.glob("ds_*") if alone else ():
                _remove_empty(folder)
        for folder in self._datasets.glob(f"{_TRASH}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self._resume()
        return removed + len(aside)

    def disk_used(self, source_id: str) -> int:
        """Bytes on disk of a source's versions, of derived datasets and of uploaded originals too."""
        with self._store.read() as db:
            ids = db.execute(sa.select(t.datasets.c.id).where(t.datasets.c.source_id == source_id)).scalars().all()
        return sum(_size(self._datasets / dataset_id) for dataset_id in ids) + self.uploaded(source_id)

    def uploaded(self, source_id: str) -> int:
        """Bytes of the uploaded originals that a refresh would read again."""
        return self._uploads.size(source_id)

    def _finish(self, source_id: str) -> None:
        with self._store.read() as db:
            ids = db.execute(sa.select(t.datasets.c.id).where(t.datasets.c.source_id == source_id)).scalars().all()
        try:
            self._remove(self._datasets / dataset_id for dataset_id in ids)
            for dataset_id in ids:
                shutil.rmtree(self._stats / dataset_id, ignore_errors=True)
                self._components.forget(dataset_id)
            self._uploads.forget(source_id)
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._set(source_id, delete_status="delete_failed", delete_error=f"Its files could not be removed: {why}.")
            raise LexsiError(
                f"The source could not be deleted: {why}.", where=source_id, to_do="Free the files, then delete it again."
            ) from error
        self._set(source_id, delete_status=None, delete_error=None, deleted_at=now())

    def _resume(self) -> None:
        """Finish the deletions whose process is gone."""
        query = sa.select(t.sources.c.id).where(t.sources.c.delete_status == "deleting", t.sources.c.deleted_at.is_(None))
        with self._store.read() as db:
            waiting = db.execute(query).scalars().all()
        for source_id in waiting:
            lock = try_lock(self._home / "locks" / f"delete-{source_id}.lock")
            if lock is None:
                continue
            try:
                self._finish(source_id)
            except LexsiError as error:
                log.warning("a deletion could not be finished: %s", error)
            finally:
                lock.close()

    def _set(self, source_id: str, **values: object) -> None:
        with self._store.write() as db:
            db.execute(sa.update(t.sources).where(t.sources.c.id == source_id).values(**values))

    def _orphans(self) -> list[Path]:
        """Version folders that no row names. Only to be asked while nobody publishes."""
        with self._store.read() as db:
            known = {(self._home / path).parent for path in db.execute(sa.select(t.dataset_versions.c.path)).scalars()}
        return [folder for folder in self._datasets.glob("ds_*/v*") if folder not in known]

    def _remove(self, folders: Iterable[Path]) -> int:
        """Remove folders, whole or not at all as a reader sees it; returns their size."""
        freed = 0
        for folder in folders:
            if folder.is_dir():
                freed += _size(folder)
                _erase(self._aside(folder))
        return freed

    def _aside(self, folder: Path) -> Path:
        place = self._datasets / f"{_TRASH}{uuid.uuid4().hex}"
        return folder.rename(place)


def snapshots_of(db: sa.Connection, source_id: str) -> list[SnapshotRecord]:
    """Every snapshot of a source, newest first."""
    query = sa.select(t.snapshots).where(t.snapshots.c.source_id == source_id).order_by(t.snapshots.c.number.desc())
    return [SnapshotRecord.of(row) for row in db.execute(query)]


def _listed(source_id: str) -> sa.Select[tuple[str]]:
    return sa.select(t.sources.c.id).where(t.sources.c.id == source_id, t.sources.c.deleted_at.is_(None))


def _chosen(
    snapshots: Sequence[SnapshotRecord], relying: Sequence[Dependent], wanted: Sequence[str] | None
) -> list[SnapshotRecord]:
    old = snapshots[1:]
    if wanted is None:
        return [s for s in old if not any(d.relies_on(s) for d in relying)]
    chosen = [s for s in snapshots if s.id in wanted]
    if len(chosen) != len(set(wanted)):
        raise NotFound("There is no such version.", to_do="Look at the source's versions.")
    for snapshot in chosen:
        if snapshot not in old:
            raise Conflict("The newest version cannot be deleted.", where=f"version {snapshot.number}",
                           to_do="Delete the whole source instead.")
        _refuse([d for d in relying if d.relies_on(snapshot)], f"Version {snapshot.number}")
    return chosen


def _refuse(relying: Sequence[Dependent], what: str) -> None:
    if not relying:
        return
    names = [f"{d.kind} “{d.name if len(d.name) <= 60 else d.name[:59] + '…'}”" for d in relying[:_NAMED]]
    more = f" and {len(relying) - _NAMED} more" if len(relying) > _NAMED else ""
    raise Conflict(
        f"{what} cannot be deleted: {', '.join(names)}{more} rely on it." if len(relying) > 1
        else f"{what} cannot be deleted: {names[0]} relies on it.",
        to_do="Delete the conversations and models that use it, and retire its findings, first.",
    )


def _drop_version(db: sa.Connection, dataset_id: str, version: int) -> str:
    v = t.dataset_versions.c
    match = sa.and_(v.dataset_id == dataset_id, v.version == version)
    path = db.execute(sa.select(v.path).where(match)).scalar_one()
    db.execute(sa.delete(t.dataset_versions).where(match))
    return path


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _erase(folder: Path) -> None:
    """Remove a folder that a sweep of another process may be removing too."""
    while folder.exists():
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # it holds a version
        folder.rmdir()
