"""Which server processes are alive, told by lock files that the operating system releases when one dies.

Files are ``home/owners/<boot>.lock``. Must never be trusted across hosts: there only a heartbeat tells.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import IO

from lexsi_ds.errors import LexsiError
from lexsi_ds.ids import is_id, new_id

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt


class Owner:
    """This process, as others see it, until ``close`` or death. Each instance has its own ``boot`` id."""

    def __init__(self, home: Path) -> None:
        self.boot = new_id("boot")
        self._path = _lock_path(home, self.boot)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._take()

    def _take(self) -> IO[str]:
        """Open and lock the file. Somebody looking for the dead may hold it, or remove it, just before we lock it."""
        for _ in range(100):
            file = self._path.open("a+")
            with contextlib.suppress(OSError):
                _lock(file.fileno())
                if self._path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                    return file
            file.close()
            time.sleep(0.01)
        raise LexsiError("The lock file of this process cannot be held.", where=str(self._path.parent),
                         to_do="Put the home folder on a local disk, or free it of leftover files.")

    def close(self) -> None:
        """Give the lock up; from now on this boot is dead."""
        self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink()


def is_dead(home: Path, boot: str) -> bool:
    """Whether the process that took this boot id is gone. Unknown and malformed ids count as dead."""
    if not is_id(boot, "boot"):
        return True
    return _is_unlocked(_lock_path(home, boot), remove=False)


def forget_dead(home: Path) -> list[str]:
    """Boots that died without closing; their lock files are removed."""
    return [path.stem for path in (home / "owners").glob("boot_*.lock") if _is_unlocked(path, remove=True)]


def _is_unlocked(path: Path, *, remove: bool) -> bool:
    """Whether nobody holds the lock. Removing happens while we hold it, or it could hit a file just taken."""
    try:
        with path.open("r+") as file:
            _lock(file.fileno())
            if remove:
                with contextlib.suppress(OSError):
                    path.unlink()
            return True
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _lock_path(home: Path, boot: str) -> Path:
    return home / "owners" / f"{boot}.lock"


def _lock(descriptor: int) -> None:
    """Take the lock now or raise ``OSError``."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
