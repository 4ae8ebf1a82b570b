"""Long work that a page starts and does not wait for: imports, the demo bank, explanations. Kept per process.

A task outlives the page, the reload and the browser; only its own Cancel ends it. Nothing here knows the screen.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from lexsi_ds.errors import Busy, LexsiError, Stopped
from lexsi_ds.ids import new_id
from lexsi_ds.jobs import measures
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pace import Pace

log = logging.getLogger(__name__)
TaskState = Literal["running", "done", "failed", "stopped"]
Tell = Callable[[dict[str, Any]], None]
Work = Callable[[Cancel, Tell], Any]


@dataclass
class Task:
    """One piece of background work and how far it is."""

    id: str
    kind: str
    label: str
    owner: str
    state: TaskState = "running"
    done: float = 0.0
    total: float = 0.0
    unit: str = ""
    """What ``done`` and ``total`` count: bytes, rows, or nothing that has a name."""
    text: str = ""
    pace: Pace = field(default_factory=Pace)
    result: Any = None
    error: str | None = None
    error_id: str | None = None
    started: float = field(default_factory=time.time)
    ended: float | None = None
    cancel: Cancel = field(default_factory=Cancel)

    @property
    def share(self) -> float:
        """Progress from 0 to 1; 0 while the total is not known."""
        return min(self.done / self.total, 1.0) if self.total else 0.0


class Background:
    """The tasks of this process. Thread-safe; one task a key at a time."""

    def __init__(self, keep: int = 50, most: int = 8) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[str, Task] = {}
        self._keys: dict[str, str] = {}
        self._keep, self._most = keep, most

    def start(self, kind: str, label: str, work: Work, *, owner: str, key: str | None = None) -> Task:
        """Begin ``work`` in a thread. With a ``key`` that is already at work, its task is returned and nothing starts.

        Raises Busy when this owner has as many tasks at work as one may have.
        """
        with self._lock:
            if key and (live := self._tasks.get(self._keys.get(key, ""))) and live.state == "running":
                return live
            if sum(t.state == "running" and t.owner == owner for t in self._tasks.values()) >= self._most:
                measures.REFUSED.labels("tasks").inc()
                raise Busy(f"{self._most} tasks of yours are at work, as many as one person may have.", where=label[:60],
                           to_do="Wait for one to end, or cancel one; then start this again.")
            task = Task(new_id("job"), kind, label, owner)
            self._tasks[task.id] = task
            if key:
                self._keys[key] = task.id
            self._forget_old()
        measures.LIVE_TASKS.inc()
        threading.Thread(target=self._own, args=(task, work), name=f"task-{kind}", daemon=True).start()
        return task

    def get(self, task_id: str) -> Task | None:
        """A task by id; None when it was never here or is forgotten."""
        with self._lock:
            return self._tasks.get(task_id)

    def running(self, owner: str | None = None) -> list[Task]:
        """Tasks at work, oldest first."""
        with self._lock:
            return [t for t in self._tasks.values() if t.state == "running" and owner in (None, t.owner)]

    def stop(self, task_id: str, owner: str) -> None:
        """Cancel a task of this owner; another's is left alone."""
        task = self.get(task_id)
        if task and task.owner == owner:
            task.cancel.set()

    def _own(self, task: Task, work: Work) -> None:
        def tell(message: dict[str, Any]) -> None:
            if message.get("total"):
                task.done, task.total = float(message.get("done") or 0.0), float(message["total"])
                task.unit = str(message.get("unit") or "")
                task.pace.note(time.monotonic(), task.done, task.total)
            elif message.get("done"):
                task.done = float(message["done"])
            task.text = str(message.get("text") or task.text)

        try:
            task.result = work(task.cancel, tell)
            task.state = "done"
        except Stopped:
            task.state = "stopped"
        except LexsiError as error:
            task.error, task.state = str(error), "failed"
        except Exception:
            task.error_id = task.id[-8:]
            log.exception("background task %s failed, log id %s", task.kind, task.error_id)
            task.error, task.state = f"Something went wrong while: {task.label}. Log id {task.error_id}.", "failed"
        finally:
            task.ended = time.time()
            measures.LIVE_TASKS.dec()
            measures.TASKS.labels(task.kind, task.state).inc()

    def _forget_old(self) -> None:
        over = [t.id for t in self._tasks.values() if t.state != "running"]
        for task_id in over[: max(0, len(over) - self._keep)]:
            del self._tasks[task_id]
