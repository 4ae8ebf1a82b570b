"""Explanations on disk, each under the model, rows and arguments that it belongs to, so that none is computed twice.

Must never give back what was computed for other rows or arguments, nor half a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

_V = TypeVar("_V", bound=BaseModel)
_VERSION = 2
"""Of what is kept: files of another version are computed anew."""
MOST_FILES = 4_000


class ExplanationCache:
    """One folder a model under ``folder``. Two threads that ask for the same thing compute it once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def of(self, model_id: str) -> Path:
        """The folder of a model."""
        return self.folder / model_id

    def forget(self, model_id: str) -> None:
        """Remove what is kept of a model that was deleted."""
        shutil.rmtree(self.of(model_id), ignore_errors=True)

    def forget_views(self, model_id: str) -> None:
        """Remove the explanations but not the rows: other rows have been scored."""
        for path in self.of(model_id).glob("*.json"):
            path.unlink(missing_ok=True)

    def get(
        self, model_id: str, view: str, arguments: dict[str, Any], rows: str, kind: type[_V], compute: Callable[[], _V]
    ) -> _V:
        """What is kept for this view, these arguments and rows; else computed and kept."""
        path = self.path(model_id, view, arguments, rows)
        with self._lock:
            lock = self._locks.setdefault(str(path), threading.Lock())
        try:
            with lock:
                kept = self.read(path, kind)
                if kept is not None:
                    return kept
                made = compute()
                self.put(path, made)
                return made
        finally:
            with self._lock:
                self._locks.pop(str(path), None)

    def path(self, model_id: str, view: str, arguments: dict[str, Any], rows: str) -> Path:
        """The file of a view with these arguments over these rows."""
        text = json.dumps([_VERSION, view, arguments, rows], sort_keys=True, default=str)
        return self.of(model_id) / f"{view}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def put(self, path: Path, made: BaseModel) -> None:
        """Keep what was computed; the oldest half goes when there are too many."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        temporary.write_text(made.model_dump_json(), encoding="utf-8")
        temporary.replace(path)
        if hash(path.name) % 64 == 0:
            _thin(path.parent)

    def read(self, path: Path, kind: type[_V]) -> _V | None:
        """What is kept in this file, or None."""
        try:
            return kind.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            path.unlink(missing_ok=True)
            return None


def _thin(folder: Path) -> None:
    files = list(folder.glob("*.json"))
    if len(files) <= MOST_FILES:
        return
    for path in sorted(files, key=lambda p: p.stat().st_mtime_ns)[: len(files) // 2]:
        path.unlink(missing_ok=True)
