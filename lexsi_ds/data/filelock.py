"""A lock on a file that dies with its process, so that whoever finds it free knows the owner is gone.

Must never: delete a lock file that others may be waiting on; be used on a network share without working locks.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_POLL_S = 0.05


def try_lock(path: Path, *, shared: bool = False) -> BinaryIO | None:
    """The locked, open file; None when another process holds it. Closing the file gives the lock up."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+b")
    try:
        _lock(file, shared)
    except OSError:
        file.close()
        return None
    return file


@contextlib.contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock for a block; waits for it without using the processor."""
    file = try_lock(path, shared=shared)
    while file is None:
        time.sleep(_POLL_S)
        file = try_lock(path, shared=shared)
    try:
        yield
    finally:
        file.close()


def _lock(file: BinaryIO, shared: bool) -> None:
    """Take the lock at once or raise OSError."""
    if sys.platform == "win32":
        msvcrt = importlib.import_module("msvcrt")
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # Windows knows no shared lock: exclusive is safe
    else:
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
