"""The live runs of this process: who owns one, what it has said so far, and how it ends exactly once.

An event goes to memory and to the store in one step, under one lock, so every reader sees the same numbered list. A run
is owned by a thread here and by a lock file that dies with this process; whoever meets a dead owner's run closes it as
interrupted. Must never: let a page's rerun, switch or reload end a run; write after ``done``; forget a live run.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexsi_ds.errors import Busy, LexsiError, Stopped
from lexsi_ds.ids import new_id
from lexsi_ds.jobs import measures
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.owner import Owner, is_dead
from lexsi_ds.jobs.runstore import LIVE_STATES, RunStore

log = logging.getLogger(__name__)

_CANCEL_EVERY_S = 0.25
_BEAT_EVERY_S = 2.0
_STOP_WITHIN_S = 1.5
_CLOSE_WITHIN_S = 3.0


class RunHandle:
    """What the work of a run is given: its id, its Cancel, and the one way to say something."""

    def __init__(self, run_id: str, store: RunStore, closing: threading.Event) -> None:
        self.run_id = run_id
        self.cancel = Cancel()
        self.events: list[dict[str, Any]] = []
        self.over = False
        self.changed = threading.Condition()
        self._began = time.monotonic()
        self._store, self._closing = store, closing

    def put(self, kind: str, /, **body: Any) -> None:
        """Say one event, to memory and store in one step; ``done`` ends the run, and what follows it is dropped.

        Raises ``Stopped`` once a stop was asked for, unless it is ``done``.
        """
        if kind == "done":
            self.finish(body)
            return
        self.cancel.check()
        self._append(kind, body)

    def report(self, message: str, phase: str) -> None:
        """Say an ``error`` event, also when the run is being stopped."""
        self._append("error", {"message": message, "phase": phase})

    def finish(self, body: dict[str, Any]) -> None:
        """Say ``done``, once; when somebody else closed the run, their ending is taken over."""
        if body.get("state") == "stopped" and self._closing.is_set():
            body = {**body, "state": "interrupted"}
        with self.changed:
            if self.over:
                return
            seq, now = len(self.events) + 1, time.time()
            if self._store.finish(self.run_id, seq, now, body):
                self.events.append({"run_id": self.run_id, "seq": seq, "ts": now, "type": "done", **body})
            else:
                self.events = self._store.events(self.run_id, 0)
            self.over = True
            self.changed.notify_all()
        measures.turn_over(self.run_id, body, time.monotonic() - self._began)

    def _append(self, kind: str, body: dict[str, Any]) -> None:
        with self.changed:
            if self.over:
                return
            seq, now = len(self.events) + 1, time.time()
            self._store.put_event(self.run_id, seq, now, kind, body)
            self.events.append({"run_id": self.run_id, "seq": seq, "ts": now, "type": kind, **body})
            self.changed.notify_all()


Work = Callable[[RunHandle], dict[str, Any] | None]


class RunRegistry:
    """Starts, reads and stops runs. One a process; other processes are met through the store."""

    def __init__(self, store: RunStore, home: Path, most: int = 16) -> None:
        self._store, self._home, self._most = store, home, most
        self._owner = Owner(home)
        self._live: dict[str, RunHandle] = {}
        self._unfinished: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.sweep()
        self._heart = threading.Thread(target=self._keep_beating, name="runs-heart", daemon=True)
        self._heart.start()

    def start(self, conversation_id: str, question: str, work: Work, *, meta: dict[str, Any] | None = None) -> str:
        """Start ``work`` in a thread and return the run's id.

        ``work`` returns the body of ``done`` or has put it; its state is ``answered`` unless it says otherwise. Raises
        Busy when the conversation has a live run, or this process as many as it takes.
        """
        if len(self.live()) >= self._most:
            measures.REFUSED.labels("runs").inc()
            raise Busy(f"{self._most} questions are at work here, as many as this server takes at once.", where="chat",
                       to_do="Ask again in a moment; nothing was lost.")
        handle = RunHandle(new_id("run"), self._store, self._closing)
        arguments = (handle.run_id, conversation_id, self._owner.boot, question, meta or {})
        try:
            self._store.insert_run(*arguments, time.time())
        except Busy:
            self.sweep()
            self._store.insert_run(*arguments, time.time())
        with self._lock:
            self._live[handle.run_id] = handle
            measures.LIVE_RUNS.set(len(self._live))
        threading.Thread(target=self._own, args=(handle, work), name=handle.run_id, daemon=True).start()
        return handle.run_id

    def read(self, run_id: str, after: int = 0, wait: float = 0.0) -> list[dict[str, Any]]:
        """Events with seq > ``after``; waits up to ``wait`` seconds for one. Any number of readers, in any process."""
        handle = self._handle(run_id)
        if handle is None:
            return self._read_stored(run_id, after, wait)
        with handle.changed:
            if wait and not handle.over and len(handle.events) <= after:
                handle.changed.wait(wait)
            return handle.events[after:]

    def stop(self, run_id: str) -> None:
        """Stop a run of whatever process and wait a moment for its end; one that is over is left alone."""
        handle = self._handle(run_id)
        if handle is None:
            self._store.request_cancel(run_id)
            self._await_foreign_end(run_id)
            return
        handle.cancel.set()
        with handle.changed:
            handle.changed.wait_for(lambda: handle.over, _STOP_WITHIN_S)

    def sweep(self) -> None:
        """Close the runs of dead processes as interrupted."""
        for run in self._store.live_runs():
            if run.boot != self._owner.boot and is_dead(self._home, run.boot):
                self._store.close_interrupted(run.id, time.time())

    def live(self) -> list[str]:
        """Ids of the runs at work in this process."""
        with self._lock:
            return list(self._live)

    def close(self) -> None:
        """Stop every run of this process, as interrupted; safe to call twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        with self._lock:
            handles = list(self._live.values())
        for handle in handles:
            handle.cancel.set()
        end = time.monotonic() + _CLOSE_WITHIN_S
        for handle in handles:
            with handle.changed:
                handle.changed.wait_for(lambda each=handle: each.over, max(0.0, end - time.monotonic()))
            self._end(handle, {"state": "interrupted"})
        self._heart.join(_CLOSE_WITHIN_S)
        self._owner.close()

    # -- a run's own thread --------------------------------------------------------------------------------------

    def _own(self, handle: RunHandle, work: Work) -> None:
        try:
            body = {"state": "answered", **(work(handle) or {})}
        except Stopped:
            body = {"state": "stopped"}
        except LexsiError as error:
            body = self._failed(handle, str(error))
        except Exception:
            log.exception("run %s failed", handle.run_id)
            body = self._failed(handle, f"Something went wrong. The log has the details under {handle.run_id}.")
        self._end(handle, body)

    def _failed(self, handle: RunHandle, message: str) -> dict[str, Any]:
        with contextlib.suppress(Exception):
            handle.report(message, "run")
        return {"state": "failed"}

    def _end(self, handle: RunHandle, body: dict[str, Any]) -> None:
        """Say ``done``. A store that cannot take it now is asked again at every beat: no run stays live forever."""
        try:
            handle.finish(body)
        except Exception:
            log.exception("the end of run %s could not be stored yet", handle.run_id)
            with self._lock:
                self._unfinished[handle.run_id] = body
            return
        with self._lock:
            self._live.pop(handle.run_id, None)
            measures.LIVE_RUNS.set(len(self._live))
            self._unfinished.pop(handle.run_id, None)

    # -- the beat ------------------------------------------------------------------------------------------------

    def _keep_beating(self) -> None:
        next_beat = 0.0
        while not self._closing.wait(_CANCEL_EVERY_S):
            try:
                self._hear_stops()
                if time.monotonic() >= next_beat:
                    next_beat = time.monotonic() + _BEAT_EVERY_S
                    self._store.beat(self.live(), time.time())
                    self._retry_ends()
                    self.sweep()
            except Exception:
                log.exception("a beat of the runs failed")

    def _hear_stops(self) -> None:
        """Stops that other processes asked for."""
        for run_id in self._store.cancel_requested(live) if (live := self.live()) else ():
            if (handle := self._handle(run_id)) is not None:
                handle.cancel.set()

    def _retry_ends(self) -> None:
        with self._lock:
            ends = [(self._live[run_id], body) for run_id, body in self._unfinished.items()]
        for handle, body in ends:
            self._end(handle, body)

    # -- runs of other processes, and those that are over ----------------------------------------------------------

    def _handle(self, run_id: str) -> RunHandle | None:
        with self._lock:
            return self._live.get(run_id)

    def _read_stored(self, run_id: str, after: int, wait: float) -> list[dict[str, Any]]:
        end = time.monotonic() + wait
        while True:
            if not (events := self._store.events(run_id, after)) and self._closed_as_dead(run_id):
                events = self._store.events(run_id, after)
            left = end - time.monotonic()
            if events or left <= 0:
                return events
            time.sleep(min(0.1, left))

    def _closed_as_dead(self, run_id: str) -> bool:
        run = self._store.run(run_id)
        if run is None or run.state not in LIVE_STATES or run.boot == self._owner.boot:
            return False
        return is_dead(self._home, run.boot) and self._store.close_interrupted(run_id, time.time())

    def _await_foreign_end(self, run_id: str) -> None:
        end = time.monotonic() + _STOP_WITHIN_S
        while time.monotonic() < end and not self._closed_as_dead(run_id):
            run = self._store.run(run_id)
            if run is None or run.state not in LIVE_STATES:
                return
            time.sleep(0.05)
