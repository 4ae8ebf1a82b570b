"""The exact text that left for an endpoint: taken where the request leaves the HTTP client, with every try.

Holds bodies only. Must never hold a header, so that no key can be in it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexsi_ds.llm.redaction import redact


@dataclass(frozen=True)
class Sent:
    """One request as it left, and what came of it."""

    at: float
    purpose: str
    address: str
    body: str
    """The request's body, byte for byte, as text."""
    reply: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    problem: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


Record = Callable[[Sent], None]
_leaving: ContextVar[list[tuple[float, str, str]] | None] = ContextVar("leaving", default=None)


@contextmanager
def listening() -> Iterator[list[tuple[float, str, str]]]:
    """Collects when, where to and what leaves for an endpoint in this context."""
    found: list[tuple[float, str, str]] = []
    token = _leaving.set(found)
    try:
        yield found
    finally:
        _leaving.reset(token)


def left(request: Any) -> None:
    """An HTTP client's hook: this request leaves now."""
    found = _leaving.get()
    if found is not None:
        found.append((time.time(), redact(str(request.url)), request.content.decode("utf-8", "replace")))


@dataclass
class FileLedger:
    """A run's ledger: a line of JSON a request, written as it is known, readable while the run goes."""

    path: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, sent: Sent) -> None:
        """Keep one request."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(sent), ensure_ascii=False) + "\n")


def read(path: Path) -> tuple[Sent, ...]:
    """The requests of a ledger in their order; none where there is no file."""
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    return tuple(Sent(**{**line, "calls": tuple(line["calls"])}) for line in lines)
