"""One warm pool of killable worker processes a server process: the only place where a person's SQL or training runs.

A stop, a passed clock and a broken worker all end the same way: the process is killed and another takes its place, so
the server's own memory and state are never at stake. Must never reuse a worker whose task did not come to a clean end.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from lexsi_ds.errors import Stopped, WorkerFailed
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.channel import FrameTooLargeError
from lexsi_ds.jobs.endings import failure, rebuilt
from lexsi_ds.jobs.keeper import Keeper
from lexsi_ds.jobs.limits import EXCLUSIVE, Lane, Limits, cpu_seconds, lane_limits
from lexsi_ds.jobs.owner import Owner, forget_dead
from lexsi_ds.jobs.process import WorkerProcess
from lexsi_ds.settings import Settings, get_settings

log = logging.getLogger(__name__)

Tell = Callable[[dict[str, Any]], None]
MAX_TASKS = 500
_TIDY_WITHIN_S = 30
_FAREWELL_S = 2.0
"""How long idle workers get to end by themselves when the pool closes."""
_START_TRIES = 3


class _LaneState:
    """Workers of one lane and who waits for them; guarded by the pool's condition."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.idle: list[WorkerProcess] = []
        self.alive = 0
        self.waiting: deque[object] = deque()
        self.failed_starts = 0


class Pool:
    """Workers in lanes, started when first needed (or all at once by ``warm``)."""

    def __init__(self, settings: Settings, limits: Mapping[Lane, Limits] | None = None) -> None:
        self._settings = settings
        self._owner = Owner(settings.home)
        self.scratch = settings.home / "tmp" / self._owner.boot
        """Temporary files of this process; gone when the pool closes, or when the next one starts."""
        for boot in forget_dead(settings.home):
            shutil.rmtree(settings.home / "tmp" / boot, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self._lanes = {lane: _LaneState(each) for lane, each in (limits or lane_limits(settings)).items()}
        self._turn = threading.Condition()
        self._workers: set[WorkerProcess] = set()
        self._numbers = count(1)
        self._closing = False
        self._keeper = Keeper(self._on_idle, self._on_lost)

    def run(
        self, lane: Lane, do: str, args: dict[str, Any], *, cancel: Cancel | None = None, tell: Tell | None = None,
        timeout_s: float | None = None, cleanup: Path | None = None, affinity: str | None = None,
    ) -> dict[str, Any]:
        """Run handler ``do`` ("module:function") in a worker of the lane and return its answer.

        ``tell`` gets progress (``done``, ``total``, ``text``), also while waiting for a free worker. ``cleanup`` is a
        file or folder that is removed, with its ``.tmp``, when this raises. ``affinity`` prefers the worker that last
        served this key. Raises what the handler raised if it is a LexsiError; WorkerFailed; Stopped.
        """
        cancel, tell = cancel or Cancel(), tell or _silent
        limits = self._lanes[lane].limits
        wait = timeout_s or limits.timeout_s
        cpu = limits.cpu_s if timeout_s is None else cpu_seconds(timeout_s, self._settings.threads)
        try:
            worker = self._take(lane, cancel, tell, affinity)
            self._arm(worker, cancel)
            return self._serve(worker, {"do": do, "args": args, "cpu_s": cpu}, cancel, tell, wait, affinity)
        except BaseException:
            if cleanup is not None:
                _remove(cleanup)
            raise

    def warm(self) -> None:
        """Start the workers of the sql, ml and explain lanes now, in the background, so that the first question is quick."""
        with self._turn:
            for lane in ("sql", "ml", "explain"):
                for _ in range(self._lanes[lane].limits.workers - self._lanes[lane].alive):
                    self._start(lane)

    def close(self) -> None:
        """End every worker: idle ones by themselves, the others at once. Tasks at work end as Stopped."""
        with self._turn:
            if self._closing:
                return
            self._closing = True
            workers = list(self._workers)
            idle = {worker for lane in self._lanes.values() for worker in lane.idle}
            self._turn.notify_all()
        for worker in workers:
            if worker in idle:
                worker.dismiss()
            else:
                worker.kill()
        patience = time.monotonic() + _FAREWELL_S
        for worker in idle:
            worker.wait(max(0.0, patience - time.monotonic()))
            worker.kill()
        self._keeper.close()
        for worker in list(self._workers):
            worker.discard()
        shutil.rmtree(self.scratch, ignore_errors=True)
        self._owner.close()

    def pids(self) -> list[int]:
        """Process ids of the workers alive now."""
        with self._turn:
            return [worker.pid for worker in self._workers]

    # -- one task ------------------------------------------------------------------------------------------------

    def _serve(
        self, worker: WorkerProcess, task: dict[str, Any], cancel: Cancel, tell: Tell, wait: float,
        affinity: str | None,
    ) -> dict[str, Any]:
        keep = False
        try:
            worker.begin()
            worker.channel.send(task)
            message = self._answer(worker, tell, wait)
            cancel.disarm()
            cancel.check()
            worker.tasks += 1
            worker.affinity, worker.served_at = affinity, time.monotonic()
            keep = message.get("kind") != "memory" and worker.tasks < MAX_TASKS
            if message["t"] == "err":
                raise rebuilt(message, worker.lane)
            return message["result"]
        except FrameTooLargeError as error:
            raise failure("error", worker.lane) from error
        except EOFError:
            cancel.disarm()
            cancel.check()
            if self._closing:
                raise Stopped from None
            raise failure(worker.end_kind(), worker.lane) from None
        finally:
            cancel.disarm()
            if keep:
                worker.deadline = time.monotonic() + _TIDY_WITHIN_S
                self._keeper.watch(worker)
            else:
                worker.kill()
                self._keeper.do(partial(self._on_lost, worker))

    def _arm(self, worker: WorkerProcess, cancel: Cancel) -> None:
        """From now on a stop kills this worker; one that was asked for before gives it back untouched."""
        try:
            cancel.arm(worker.kill)
        except Stopped:
            self._on_idle(worker, True)
            raise

    def _answer(self, worker: WorkerProcess, tell: Tell, wait: float) -> dict[str, Any]:
        """The frame that ends the task; progress on the way goes to ``tell``. No polling: a kill closes the pipe."""
        end = time.monotonic() + wait
        while True:
            if not worker.channel.poll(end - time.monotonic()):
                worker.kill()
                worker.wait()
                raise failure("timeout", worker.lane, f"after {wait:g} s")
            message = worker.channel.receive()
            if message["t"] != "progress":
                return message
            tell({key: value for key, value in message.items() if key != "t"})

    # -- who gets which worker -----------------------------------------------------------------------------------

    def _take(self, lane: Lane, cancel: Cancel, tell: Tell, affinity: str | None) -> WorkerProcess:
        """A ready worker, first come first served."""
        state, ticket, told = self._lanes[lane], object(), 0
        cancel.arm(self._wake)
        try:
            while True:
                with self._turn:
                    if ticket not in state.waiting:
                        state.waiting.append(ticket)
                    self._check(state, cancel)
                    ahead = state.waiting.index(ticket)
                    if not ahead and state.idle:
                        worker = _best(state.idle, affinity)
                        if worker.alive and (lane not in EXCLUSIVE or worker.affinity in (None, affinity)):
                            return worker
                        worker.kill()
                        self._keeper.do(partial(self._on_lost, worker))
                        continue
                    if state.alive < min(state.limits.workers, len(state.waiting) + self._busy(lane)):
                        self._start(lane)
                    if ahead == told:
                        self._turn.wait(1.0)
                        continue
                told = ahead
                tell({"text": f"waiting for a free worker, {ahead} ahead" if ahead else "waiting for a free worker"})
        finally:
            with self._turn:
                with contextlib.suppress(ValueError):
                    state.waiting.remove(ticket)
                self._turn.notify_all()
            cancel.disarm()

    def _check(self, state: _LaneState, cancel: Cancel) -> None:
        cancel.check()
        if self._closing:
            raise Stopped
        if state.failed_starts >= _START_TRIES:
            state.failed_starts = 0
            raise WorkerFailed("crash", "A worker process could not be started.",
                               to_do="home/logs/workers.log has what it said; the memory limit may be too small.")

    def _busy(self, lane: Lane) -> int:
        """Workers of the lane that are at a task or tidying up (not idle, not starting)."""
        return sum(w.lane == lane and w.ready and w not in self._lanes[lane].idle for w in self._workers)

    def _wake(self) -> None:
        with self._turn:
            self._turn.notify_all()

    def _start(self, lane: Lane) -> None:
        """With the condition held: have the keeper start one more worker."""
        self._lanes[lane].alive += 1
        self._keeper.do(partial(self._spawn, lane))

    # -- in the keeper's thread ----------------------------------------------------------------------------------

    def _spawn(self, lane: Lane) -> None:
        scratch = self.scratch / f"w{next(self._numbers)}"
        if self._closing:
            return
        try:
            worker = WorkerProcess(lane, self._lanes[lane].limits, self._settings, scratch)
        except (OSError, EOFError) as error:
            log.error("a worker of lane %s could not be started: %r", lane, error)
            with self._turn:
                self._lanes[lane].alive -= 1
                self._lanes[lane].failed_starts += 1
                self._turn.notify_all()
            return
        with self._turn:
            self._workers.add(worker)
        self._keeper.watch(worker)

    def _on_idle(self, worker: WorkerProcess, fit: bool) -> None:
        if not fit:
            self._on_lost(worker)
            return
        with self._turn:
            worker.ready = True
            self._lanes[worker.lane].failed_starts = 0
            self._lanes[worker.lane].idle.append(worker)
            self._turn.notify_all()

    def _on_lost(self, worker: WorkerProcess) -> None:
        """Take it out; start its replacement at once, since the lane is in use."""
        state = self._lanes[worker.lane]
        with self._turn:
            self._workers.discard(worker)
            state.alive -= 1
            if worker.ready:
                if not self._closing:
                    self._start(worker.lane)
            else:
                state.failed_starts += 1
            self._turn.notify_all()
        worker.discard()


def _best(idle: list[WorkerProcess], affinity: str | None) -> WorkerProcess:
    """Take out the worker that last served this key, else an unused one, else the one that rested longest."""
    def order(worker: WorkerProcess) -> tuple[bool, bool, float]:
        return affinity is None or worker.affinity != affinity, worker.affinity is not None, worker.served_at

    chosen = min(idle, key=order)
    idle.remove(chosen)
    return chosen


def _remove(path: Path) -> None:
    for each in (path, path.with_name(path.name + ".tmp")):
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)


def _silent(_: dict[str, Any]) -> None:
    """Nobody listens."""


_pool: Pool | None = None
_pool_lock = threading.Lock()


def get_pool() -> Pool:
    """The pool of this process, built once and closed at exit."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = Pool(get_settings())
            atexit.register(_pool.close)
        return _pool
