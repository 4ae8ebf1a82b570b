"""One worker process as the server sees it: how it starts, how it is killed, and what its exit says.

Must only be started from a thread that lives as long as the pool: on Linux the parent-death signal follows the thread.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from lexsi_ds.errors import WorkerEnd
from lexsi_ds.jobs.channel import Channel
from lexsi_ds.jobs.limits import Lane, Limits, worker_environment
from lexsi_ds.settings import Settings

_LOG_BYTES = 5_000_000
_MODULE = "lexsi_ds.jobs.worker"
_ALLOCATION_FAILED = (b"bad_alloc", b"MemoryError", b"Cannot allocate memory", b"std::length_error")


class WorkerProcess:
    """A started worker of a lane. Not ready until its first ``idle`` frame."""

    def __init__(self, lane: Lane, limits: Limits, settings: Settings, scratch: Path) -> None:
        self.lane: Lane = lane
        self.limits = limits
        self.tasks = 0
        self.affinity: str | None = None
        self.served_at = 0.0
        self.ready = False
        self.deadline = time.monotonic() + 120
        """When the pool gives up on hearing ``idle``."""
        self._scratch = scratch
        self._lock = threading.Lock()
        self._log_path = settings.home / "logs" / "workers.log"
        for folder in (scratch, self._log_path.parent):
            folder.mkdir(parents=True, exist_ok=True)
        _keep_short(self._log_path)
        self._log_mark = 0
        ours, theirs = socket.socketpair()
        with self._log_path.open("ab") as log:
            self._process = _spawn(lane, theirs, worker_environment(settings, scratch, lane=lane), log)
        theirs.close()
        self.channel = Channel(ours)
        self.channel.send(limits.to_dict())

    @property
    def pid(self) -> int:
        """Process id, also of its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        with self._lock:
            return self._process.poll() is None

    def begin(self) -> None:
        """Remember where the log is, so that ``end_kind`` reads only what this task wrote."""
        with contextlib.suppress(OSError):
            self._log_mark = self._log_path.stat().st_size

    def kill(self) -> None:
        """End it and all it started, now. Safe to call again and from any thread."""
        with self._lock:
            if self._process.poll() is not None:
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def dismiss(self) -> None:
        """Tell an idle worker that no task will come: it ends by itself, soon."""
        self.channel.end()

    def wait(self, timeout: float = 5) -> None:
        """Wait until it is gone, a few seconds at most."""
        self._exit_code(timeout)

    def end_kind(self) -> WorkerEnd:
        """How a worker that went away on its own ended: the kernel's killer, the CPU limit, an aborted allocation."""
        code = self._exit_code(5)
        if code == -getattr(signal, "SIGKILL", 9):
            return "memory"
        if code == -getattr(signal, "SIGXCPU", 24):
            return "cpu"
        return "memory" if self._allocation_failed() else "crash"

    def discard(self) -> None:
        """Kill it, reap it, and remove its temporary files."""
        self.kill()
        self.channel.close()
        self.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _exit_code(self, timeout: float) -> int | None:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self._lock:
                code = self._process.poll()
            if code is not None:
                return code
            time.sleep(0.005)
        return None

    def _allocation_failed(self) -> bool:
        with contextlib.suppress(OSError), self._log_path.open("rb") as log:
            log.seek(self._log_mark)
            return any(words in log.read(65536) for words in _ALLOCATION_FAILED)
        return False


def _keep_short(log: Path) -> None:
    """Put a log that has grown long aside; workers that still write to it go on writing there."""
    with contextlib.suppress(OSError):
        if log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".old.log"))


def _spawn(lane: Lane, theirs: socket.socket, environment: dict[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the interpreter. No ``preexec_fn``: it is unsafe in a process with threads; the worker confines itself."""
    command = [sys.executable, "-P", "-m", _MODULE]
    if sys.platform == "win32":
        process = subprocess.Popen(
            [*command, "-", lane, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log,
            env=environment,
        )
        assert process.stdin is not None
        process.stdin.write(theirs.share(process.pid))
        process.stdin.close()
        return process
    descriptor = theirs.fileno()
    return subprocess.Popen(
        [*command, str(descriptor), lane, str(os.getpid())], pass_fds=[descriptor], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=log, env=environment, start_new_session=True,
    )
