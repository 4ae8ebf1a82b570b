"""The time between a version's files and its row in the store: whoever imports holds a shared lock for it, whoever sweeps
needs it alone. So files without a row are told apart: of an import at work, or left behind by one that was killed.

Must never: make an import wait for anything longer than a few renames.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from lexsi_ds.data.filelock import try_lock
from lexsi_ds.jobs.cancel import Cancel

_POLL_S = 0.02


@contextlib.contextmanager
def publishing(home: Path, cancel: Cancel | None = None) -> Iterator[None]:
    """Hold off sweeps from before the files are built until the store has taken them."""
    path = _path(home)
    file = try_lock(path, shared=True)
    while file is None:
        (cancel or Cancel()).check()
        time.sleep(_POLL_S)
        file = try_lock(path, shared=True)
    try:
        yield
    finally:
        file.close()


@contextlib.contextmanager
def nobody_publishing(home: Path) -> Iterator[bool]:
    """Whether no import is at work in any process; while True is given, none can begin."""
    file = try_lock(_path(home))
    try:
        yield file is not None
    finally:
        if file is not None:
            file.close()


def _path(home: Path) -> Path:
    return home / "locks" / "publishing.lock"
