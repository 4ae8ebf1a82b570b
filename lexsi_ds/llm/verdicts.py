"""What endpoints were found to support, remembered in the home by address and model, so that each is asked once."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

from lexsi_ds.llm.probe import Verdict

log = logging.getLogger(__name__)


class Verdicts:
    """Reads and writes ``llm_verdicts.json``. A file that cannot be read counts as empty."""

    def __init__(self, home: Path) -> None:
        self._path = home / "llm_verdicts.json"
        self._lock = threading.Lock()

    def get(self, address: str, model: str) -> Verdict | None:
        """What was seen; None when it was never asked."""
        found = self._read().get(_key(address, model))
        try:
            return Verdict.of(found["verdict"]) if found else None
        except (KeyError, TypeError):
            return None

    def put(self, address: str, model: str, verdict: Verdict) -> None:
        """Remember it. Not being able to write costs a probe next time, nothing else."""
        with self._lock:
            known = self._read() | {_key(address, model): {"model": model, "verdict": verdict.as_json()}}
            new = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
            try:
                new.write_text(json.dumps(known, indent=1), encoding="utf-8")
                new.replace(self._path)
            except OSError as error:
                log.warning("the endpoint's abilities could not be remembered: %s", error.strerror)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _key(address: str, model: str) -> str:
    return hashlib.sha256(f"{address.rstrip('/')}\n{model}".encode()).hexdigest()[:24]
