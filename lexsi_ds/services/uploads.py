"""Uploaded files in the home: each upload has a folder of its own, from its first byte until the source made of it is deleted.

A folder that no source reads from is somebody's open wizard or running import, or was left behind. A lock that dies with its
process tells them apart. Must never: remove what a source reads from, or what another process is still at.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy as sa

from lexsi_ds.data.filelock import try_lock
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.store import tables as t
from lexsi_ds.store.db import Store

log = logging.getLogger(__name__)


class Uploads:
    """The upload folders of one home. Thread-safe."""

    def __init__(self, home: Path, store: Store) -> None:
        self._home, self._store = home.resolve(), store
        self._held: dict[str, BinaryIO] = {}
        self._lock = threading.Lock()

    def open(self) -> Path:
        """A fresh folder, held by this process until ``release`` or its end."""
        upload = new_id("up")
        held = try_lock(self._lock_path(upload))
        if held is not None:
            with self._lock:
                self._held[upload] = held
        folder = self._root / upload
        folder.mkdir(parents=True)
        return folder

    def release(self, folder: Path) -> None:
        """The wizard is left, or its import is over: the folder goes unless a source reads from it now."""
        self._remove_unread(folder)
        with self._lock:
            held = self._held.pop(folder.name, None)
        if held is not None:
            held.close()
            self._lock_path(folder.name).unlink(missing_ok=True)

    def sweep(self) -> int:
        """Remove folders whose process is gone and that no source reads from; returns how many went."""
        removed = 0
        for folder in self._root.glob("up_*"):
            held = try_lock(self._lock_path(folder.name)) if is_id(folder.name, "up") else None
            if held is None:  # somebody's open wizard or running import
                continue
            with held:
                removed += self._remove_unread(folder)
            self._lock_path(folder.name).unlink(missing_ok=True)
        return removed

    def size(self, source_id: str) -> int:
        """Bytes of the uploaded files that a source was made of."""
        return sum(_size(folder) for folder in self._of(source_id))

    def forget(self, source_id: str) -> None:
        """Remove the uploaded files of a source that is being deleted, but for those that another source reads too."""
        others = self._read_by_sources(but=source_id)
        for folder in self._of(source_id):
            if folder.name not in others and folder.exists():
                shutil.rmtree(folder)

    @property
    def _root(self) -> Path:
        return self._home / "uploads"

    def _lock_path(self, upload: str) -> Path:
        return self._home / "locks" / f"upload-{upload}.lock"

    def _remove_unread(self, folder: Path) -> bool:
        if folder.parent != self._root or folder.name in self._read_by_sources() or not folder.is_dir():
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return True

    def _of(self, source_id: str) -> list[Path]:
        query = sa.select(t.sources.c.options).where(t.sources.c.id == source_id)
        with self._store.read() as db:
            options = db.execute(query).scalars().all()
        return [self._root / name for name in sorted(self._names(options))]

    def _read_by_sources(self, but: str | None = None) -> set[str]:
        """Names of the folders that sources read from."""
        query = sa.select(t.sources.c.options).where(t.sources.c.deleted_at.is_(None))
        if but is not None:
            query = query.where(t.sources.c.id != but)
        with self._store.read() as db:
            return self._names(db.execute(query).scalars().all())

    def _names(self, all_options: Iterable[Any]) -> set[str]:
        names = set()
        for options in all_options:
            for path in (Path(p).resolve() for p in (options or {}).get("paths", ())):
                if path.is_relative_to(self._root) and path != self._root:
                    names.add(path.relative_to(self._root).parts[0])
        return names


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
