"""Who still listens to the runs of the chat API: one that nobody has listened to for a while is cancelled.

Closing a stream detaches, as a reload or a lost network does; the client has this while to come back. Must never: cancel a run
that was started elsewhere, such as in the app.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
import anyio.to_thread

log = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.5


@dataclass
class _Watched:
    stop: Callable[[], None]
    listening: int = 0
    since: float = 0.0


class Clients:
    """Counts listeners of each run that was started here."""

    def __init__(self, patience_s: float, most: int) -> None:
        self._patience, self._most = patience_s, most
        self._runs: dict[str, _Watched] = {}
        self._lock = threading.Lock()

    def full(self) -> bool:
        """Whether as many runs are at work as may be."""
        with self._lock:
            return len(self._runs) >= self._most

    def expect(self, run_id: str, stop: Callable[[], None]) -> None:
        """A run was started here; its first listener is to come."""
        with self._lock:
            self._runs[run_id] = _Watched(stop, since=time.monotonic())

    @contextlib.contextmanager
    def listening(self, run_id: str) -> Iterator[None]:
        """While somebody listens."""
        self._count(run_id, 1)
        try:
            yield
        finally:
            self._count(run_id, -1)

    def over(self, run_id: str) -> None:
        """The run has ended."""
        with self._lock:
            self._runs.pop(run_id, None)

    async def watch(self, is_live: Callable[[str], bool]) -> None:
        """Cancel what nobody listens to, until cancelled itself."""
        while True:
            await anyio.sleep(min(_LOOK_EVERY_S, self._patience / 4))
            for run_id, stop in self._left_alone(is_live):
                try:
                    await anyio.to_thread.run_sync(stop)
                    log.info("run %s was cancelled: no client for %g s", run_id, self._patience)
                except Exception:
                    log.exception("run %s could not be cancelled", run_id)

    def _count(self, run_id: str, by: int) -> None:
        with self._lock:
            if (watched := self._runs.get(run_id)) is not None:
                watched.listening += by
                watched.since = time.monotonic()

    def _left_alone(self, is_live: Callable[[str], bool]) -> list[tuple[str, Callable[[], None]]]:
        with self._lock:
            for run_id in [r for r in self._runs if not is_live(r)]:
                del self._runs[run_id]
            end = time.monotonic() - self._patience
            found = [(r, w.stop) for r, w in self._runs.items() if not w.listening and w.since < end]
            for run_id, _ in found:
                del self._runs[run_id]
        return found
