"""The one thread that starts workers and waits for them to be ready again.

Workers die with the thread that started them, so it must be one that lives as long as the pool. It hands a worker over
to the pool when it says ``idle``, and reports one that ends before that. Must never run a task or wait for one.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import selectors
import socket
import threading
import time
from collections.abc import Callable

from lexsi_ds.jobs.process import WorkerProcess

log = logging.getLogger(__name__)


class Keeper:
    """Runs starts, and watches workers until they are idle.

    ``on_idle(worker, fit)`` and ``on_lost(worker)`` are called in its thread; they must be quick.
    """

    def __init__(
        self, on_idle: Callable[[WorkerProcess, bool], None], on_lost: Callable[[WorkerProcess], None],
    ) -> None:
        self._on_idle, self._on_lost = on_idle, on_lost
        self._chores: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._woken, self._bell = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._over = False
        self._thread = threading.Thread(target=self._live, name="worker-keeper", daemon=True)
        self._thread.start()

    def do(self, chore: Callable[[], None]) -> None:
        """Run this in the keeper's thread, soon."""
        self._chores.put(chore)
        with contextlib.suppress(OSError):  # closed: nothing is kept any more
            self._bell.send(b"!")

    def watch(self, worker: WorkerProcess) -> None:
        """From any thread: wait for this worker's ``idle``."""
        self.do(lambda: self._register(worker))

    def close(self) -> None:
        """End the thread after the chores that are queued; what it still watches is lost."""
        self.do(self._end)
        self._thread.join(10)
        self._bell.close()
        self._woken.close()

    def _end(self) -> None:
        self._over = True

    def _register(self, worker: WorkerProcess) -> None:
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)

    def _live(self) -> None:
        while not self._over:
            for key, _ in self._selector.select(timeout=1.0):
                if key.data is None:
                    self._run_chores()
                else:
                    self._hear(key.data)
            self._drop_overdue()
        for worker in self._watched():
            self._lose(worker)
        self._selector.close()

    def _run_chores(self) -> None:
        for _ in self._woken.recv(1024):
            try:
                self._chores.get_nowait()()
            except Exception:
                log.exception("a chore of the worker keeper failed")

    def _hear(self, worker: WorkerProcess) -> None:
        try:
            message = worker.channel.receive()
        except (EOFError, ValueError):
            self._lose(worker)
            return
        if message.get("t") == "idle":
            self._selector.unregister(worker.channel)
            self._on_idle(worker, bool(message.get("fit")))

    def _drop_overdue(self) -> None:
        for worker in self._watched():
            if time.monotonic() > worker.deadline:
                self._lose(worker)

    def _lose(self, worker: WorkerProcess) -> None:
        self._selector.unregister(worker.channel)
        self._on_lost(worker)

    def _watched(self) -> list[WorkerProcess]:
        return [key.data for key in self._selector.get_map().values() if key.data is not None]
