"""Whether files stayed as they were while they were read: same file, same size, same time of last change.

A file that is cut, grown or replaced under a reader gives a table that never was in any file. Must never: change one, or
take one for changed that only its reader touched.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from lexsi_ds.errors import BadInput

_State = tuple[int, ...]
_SQLITE = b"SQLite format 3\x00"


class Unchanged:
    """The files that ``paths`` name, and those directly in the folders among them, as they are now."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._states = {file: _state(file) for file in _files(paths)}

    def check(self) -> None:
        """Raise BadInput when one of them is not as it was."""
        for file, before in self._states.items():
            if _state(file) != before:
                raise BadInput(
                    "This file changed while it was read; nothing of it was kept.", where=file.name,
                    to_do="Wait until it is written completely, then import it again.",
                )  # fmt: skip


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (p for p in path.iterdir() if not p.name.startswith(".") and not p.is_symlink() and p.is_file())
        else:
            yield path


def _state(file: Path) -> _State | None:
    """Device, inode, size and time of last change; of a SQLite file, whose readers see one state of it and may tidy up its
    journal, only which file it is; None when it is gone."""
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):  # a pipe would never answer
            return about.st_dev, about.st_ino
        with file.open("rb") as opened:
            if opened.read(len(_SQLITE)) == _SQLITE:
                return about.st_dev, about.st_ino
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns
