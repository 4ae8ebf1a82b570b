"""What a path holds, as one short text: the same files give the same fingerprint, whenever and wherever they lie.

Small files count by their content, large ones by size and time, so that a second question about a folder is quick.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexsi_ds.data.sniff import SUFFIXES
from lexsi_ds.errors import BadInput

READER = 3
"""Raise it when files would be read differently: sources cached by an older reader are then read again."""
_HASHED_BYTES = 200 << 20
"""Files up to this size are hashed; larger ones count by size and time of last change."""


def path_fingerprint(path: Path, kind: str, options: Mapping[str, Any]) -> str:
    """Fingerprint of a file, or of the readable files of a folder. Raises BadInput when it cannot be read."""
    digest = hashlib.sha256(json.dumps([READER, kind, dict(options)], sort_keys=True).encode())
    try:
        for file in _files(path):
            digest.update(json.dumps([file.name, *_content(file)]).encode())
    except OSError as error:
        to_do = f"Check that it is there and readable ({error.strerror})."
        raise BadInput("This cannot be read.", where=str(path), to_do=to_do) from error
    return f"path:{digest.hexdigest()}"


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(p for p in path.iterdir() if p.is_file() and p.suffix.lower() in SUFFIXES)
    else:
        yield path


def _content(file: Path) -> tuple[int, str]:
    """Size, and what tells the content: SQLite's side files change it without touching the file itself."""
    about = file.stat()
    wal = file.with_name(file.name + "-wal")
    journal = f"+{wal.stat().st_size}.{wal.stat().st_mtime_ns}" if wal.exists() else ""
    if about.st_size > _HASHED_BYTES:
        return about.st_size, f"{about.st_mtime_ns}{journal}"
    with file.open("rb") as opened:
        return about.st_size, hashlib.file_digest(opened, "sha256").hexdigest() + journal
