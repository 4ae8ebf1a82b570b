"""Dataset versions on disk: built under a temporary name, then renamed, and never written again.

A build folder holds a locked file for as long as its process lives, so what a killed import left behind can be told
apart from one at work, and is swept. Must never: change a published version; sweep a folder whose lock is held.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lexsi_ds.data.filelock import locked, try_lock

DATABASE = "data.duckdb"
REJECTED = "rejected.csv"
_PREFIX = ".build-"
_GATE = ".builds.lock"
_LOCK = "lock"


@dataclass(frozen=True)
class Target:
    """Where a table is to be published."""

    dataset_id: str
    version: int


def new_version_folder(into: Path, target: Target) -> Path:
    """A name for a version's folder that nobody has: what a killed import left behind is never in the way."""
    return into / target.dataset_id / f"v{target.version}-{uuid.uuid4().hex[:8]}"


class Build:
    """A build folder: one numbered folder a table, and scratch space. Made by ``open_build``."""

    def __init__(self, folder: Path, into: Path) -> None:
        self._folder, self._into = folder, into
        self._tables: list[Path] = []
        self.scratch = folder / "scratch"
        """For temporary files; goes away with the build."""
        self.scratch.mkdir()

    def new_table(self) -> Path:
        """A fresh folder for one table; its files are published together."""
        folder = self._folder / str(len(self._tables))
        folder.mkdir()
        self._tables.append(folder)
        return folder

    def publish(self, built: list[tuple[Path, Target]]) -> list[Path]:
        """Make every table durable, then rename each to its place; returns the places.

        They exist for others only once the store says so: it also decides who wrote a version first.
        """
        for folder, _ in built:
            for file in folder.iterdir():
                _sync(file)
                file.chmod(0o444)
            _sync(folder)
        places = []
        for folder, target in built:
            place = new_version_folder(self._into, target)
            place.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(place)
            _sync(place.parent)
            places.append(place)
        _sync(self._into)
        return places


@contextlib.contextmanager
def open_build(into: Path) -> Iterator[Build]:
    """A build in ``into``, after what dead builds left there was swept; all that was not published goes at the end."""
    into.mkdir(parents=True, exist_ok=True)
    sweep(into)
    folder = into / f"{_PREFIX}{uuid.uuid4().hex}"
    with locked(into / _GATE):
        folder.mkdir()
        held = try_lock(folder / _LOCK)
    assert held is not None, "a folder made this instant is locked by another"
    try:
        yield Build(folder, into)
    finally:
        _remove(folder, held)


def sweep(into: Path) -> int:
    """Remove the build folders of processes that are gone; returns how many."""
    into.mkdir(parents=True, exist_ok=True)
    removed = 0
    with locked(into / _GATE):
        for folder in into.glob(f"{_PREFIX}*"):
            held = try_lock(folder / _LOCK)
            if held is not None:
                _remove(folder, held)
                removed += 1
    return removed


def _remove(folder: Path, held: BinaryIO) -> None:
    held.close()
    shutil.rmtree(folder, ignore_errors=True)


def _sync(path: Path) -> None:
    """Make a file or a folder's entries durable. Windows cannot open a folder, and needs no sync of it."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
