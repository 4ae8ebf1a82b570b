"""How far an import is: bytes of its files, or rows, done of the total, told while DuckDB is at work.

A file counts in part when it is read and in part when its table is written; DuckDB says from another thread how far the query
at work is. Must never: go back, or reach the end before the import does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

import duckdb

Say = Callable[[dict[str, Any]], None]
Unit = Literal["bytes", "rows", ""]
_EVERY_S = 0.3
READS, WRITES = 0.5, 0.85
"""Share of what is left of a stage that one query of it may fill: many look at what is read, few at what is written."""


class Progress:
    """Tells ``say`` how far it is, from its own thread too. Use as a context manager around the queries of ``con``."""

    def __init__(self, con: duckdb.DuckDBPyConnection, say: Say) -> None:
        self._con, self._say = con, say
        self._lock, self._over = threading.Lock(), threading.Event()
        self._total, self._unit, self._text = 0.0, "", ""
        self._done = 0.0
        self._size = 0.0
        self._filled = self._at = 0.0
        self._part, self._most, self._loud_from = READS, 0.0, 0.0
        self._left: dict[str, float] = {}
        con.execute("SET enable_progress_bar = true")
        con.execute("SET enable_progress_bar_print = false")
        con.execute("SET progress_bar_time = 0")
        self._watcher = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        self._watcher.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._watcher.join()

    def expect(self, total: float, unit: Unit) -> None:
        """What there is to do in all; nothing of it is done yet."""
        with self._lock:
            self._total, self._unit = total, unit
            self._most = self._done = self._size = self._filled = self._at = 0.0

    def begin(self, text: str, size: float, part: float = READS, *, quiet_s: float = 0.0) -> None:
        """A stage worth ``size`` of the total begins; what was before is done. Its first ``quiet_s`` seconds do not count, where
        it may turn out to be no more than a look (``only_looked``)."""
        with self._lock:
            self._done += self._size
            self._size, self._text, self._part = size, text, part
            self._loud_from = time.monotonic() + quiet_s
            self._filled = self._at = 0.0
            self._tell()

    def only_looked(self) -> None:
        """The stage read nothing yet: its size is left for later."""
        with self._lock:
            self._size = 0.0

    def leave(self, table: str, size: float) -> None:
        """What of the total is done only when this table is written."""
        self._left[table] = size

    def left(self, table: str) -> float:
        """That, for the stage that writes it."""
        return self._left.get(table, 0.0)

    def tick(self, share: float) -> None:
        """How far the query or loop at work is; one that begins anew fills a part of what is left of the stage."""
        with self._lock:
            if time.monotonic() < self._loud_from:
                return
            if share < self._at:
                self._filled += (1 - self._filled) * self._part * self._at
            self._at = min(max(share, 0.0), 1.0)
            self._tell()

    def finish(self) -> None:
        """All is there."""
        with self._lock:
            self._say({"done": self._total, "total": self._total, "unit": self._unit, "text": "Done"})

    def _tell(self) -> None:
        if not self._total:
            return
        share = self._filled + (1 - self._filled) * self._part * self._at
        done = self._most = min(max(self._done + share * self._size, self._most), self._total)
        body = {"done": round(done, 4 if self._total <= 1 else 0), "total": self._total, "unit": self._unit, "text": self._text}
        self._say(body)

    def _watch(self) -> None:
        while not self._over.wait(_EVERY_S):
            try:
                percent = self._con.query_progress()
            except duckdb.Error:  # the connection is being closed
                return
            if percent >= 0:
                self.tick(percent / 100)
