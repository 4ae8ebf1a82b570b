"""What runs inside a worker process: ``python -P -m lexsi_ds.jobs.worker FD KIND PPID``.

It confines itself, imports what its lane needs, and then does one task after another until its server goes away. Must
never outlive the server, run a handler that is not listed here, or write to stdout. A handler is ``(args, say) ->
dict``; its module may also have ``after_task()`` (tidying, once the answer is out) and ``release()`` (give all memory back).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import importlib
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from lexsi_ds.errors import LexsiError, WorkerEnd, WorkerFailed
from lexsi_ds.jobs.channel import Channel, FrameTooLargeError

resource = importlib.import_module("resource") if sys.platform != "win32" else None

HANDLERS = frozenset({
    "lexsi_ds.data.sandbox:run_query",
    "lexsi_ds.data.ingest:ingest",
    "lexsi_ds.data.export:export",
    "lexsi_ds.data.ingest:plan_files",
    "lexsi_ds.data.ingest:preview_file",
    "lexsi_ds.data.connectors.worker:test",
    "lexsi_ds.data.connectors.worker:list_tables",
    "lexsi_ds.data.connectors.worker:look",
    "lexsi_ds.data.connectors.worker:ingest",
    "lexsi_ds.data.connectors.worker:bind",
    "lexsi_ds.data.connectors.worker:query",
    "lexsi_ds.knowledge.documents_worker:extract",
    "lexsi_ds.models.worker:train",
    "lexsi_ds.models.worker:predict",
    "lexsi_ds.services.outcome_worker:backtest",
    "lexsi_ds.services.outcome_worker:compare",
    "lexsi_ds.explain.worker:explain_cases",
    "lexsi_ds.explain.worker:explain_global",
    "lexsi_ds.explain.worker:similar_cases",
    "lexsi_ds.explain.worker:view",
    "lexsi_ds.insights.worker:surprises",
    "lexsi_ds.insights.layer_worker:build",
    "lexsi_ds.models.lexsi.worker:check",
    "lexsi_ds.models.lexsi.worker:train",
    "lexsi_ds.models.lexsi.worker:predict",
    "lexsi_ds.models.lexsi.worker:explain_cases",
    "lexsi_ds.models.lexsi.worker:explain_global",
    "lexsi_ds.models.lexsi.worker:similar_cases",
    "lexsi_ds.models.lexsi.worker:connect",
})
"""All that a worker will do. They live in rooms above this one, so they are imported by name, at their first use."""

WARM = {
    "sql": ("duckdb", "pyarrow"),
    "ml": ("numpy", "pandas", "pyarrow", "xgboost", "sklearn.linear_model", "sklearn.model_selection"),
    "explain": ("numpy", "pandas", "pyarrow", "xgboost", "shap"),
    "ingest": ("duckdb", "pyarrow"),
    "connector": ("duckdb", "pyarrow"),
    "lexsi": ("numpy", "pandas", "pyarrow"),
    "documents": ("pypdf", "docx", "markdownify"),
}
PROGRESS_EVERY_S = 0.2
_MEMORY_WORDS = ("bad allocation", "bad_alloc", "out of memory", "unable to allocate", "cannot allocate memory",
                 "could not allocate", "failed to allocate", "realloc of size", "malloc of size")
_PR_SET_PDEATHSIG = 1

Say = Callable[[dict[str, Any]], None]


def main(argv: list[str]) -> None:
    """Serve the channel given in ``argv`` (descriptor, lane, server's process id)."""
    channel, lane, server = Channel(_socket(argv[1])), argv[2], int(argv[3])
    die_with(server)
    limits = channel.receive()
    confine(limits)
    for module in WARM[lane]:
        importlib.import_module(module)
    base = address_space()
    channel.send({"t": "idle", "fit": True})
    while True:
        task = channel.receive()
        serve(channel, task)
        channel.send({"t": "idle", "fit": tidy(base, limits["memory_mb"] * 2**20)})


def serve(channel: Channel, task: dict[str, Any]) -> None:
    """Do one task and send how it ended."""
    allow_cpu(task["cpu_s"])
    try:
        channel.send({"t": "ok", "result": handler(task["do"])(task["args"], throttled(channel))})
    except EOFError:
        raise
    except FrameTooLargeError:
        channel.send(error_frame(WorkerFailed("error", "The answer of this task is too large to hand over.")))
    except BaseException as error:
        channel.send(error_frame(error))
        if not isinstance(error, LexsiError):
            traceback.print_exc()


def handler(name: str) -> Callable[[dict[str, Any], Say], dict[str, Any]]:
    """The function of a listed name; anything else is refused."""
    if name not in HANDLERS:
        raise WorkerFailed("error", "This worker does not do that task.", where=name)
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def throttled(channel: Channel) -> Say:
    """``say`` for a handler: at most five times a second, and always at the end of a count and where ``stage`` is true."""
    last = time.monotonic()

    def say(body: dict[str, Any]) -> None:
        nonlocal last
        now, done, begins = time.monotonic(), body.get("done"), body.pop("stage", False)
        if begins or now - last >= PROGRESS_EVERY_S or (done is not None and done == body.get("total")):
            last = now
            channel.send({**body, "t": "progress"})

    return say


def error_frame(error: BaseException) -> dict[str, Any]:
    """An exception as JSON. What is not meant to be shown travels only as far as the server's log."""
    if isinstance(error, LexsiError):
        return {"t": "err", "class": type(error).__name__, "what": error.what, "where": error.where,
                "to_do": error.to_do, "kind": getattr(error, "kind", None)}
    return {"t": "err", "class": None, "kind": kind_of(error), "log": f"{type(error).__name__}: {error}"[:500]}


def kind_of(error: BaseException) -> WorkerEnd:
    """How a task ended, told from the exception. DuckDB and Arrow report a refused allocation in several classes."""
    text = str(error).lower()
    if isinstance(error, MemoryError) or any(words in text for words in _MEMORY_WORDS):
        return "memory"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "disk"
    return "disk" if "no space left" in text or "file too large" in text else "error"


def die_with(server: int) -> None:
    """End when the server ends: by the kernel's signal on Linux, else by looking whether the parent changed."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif hasattr(os, "killpg"):
        threading.Thread(target=_watch_parent, args=(server,), daemon=True).start()
    if hasattr(os, "killpg") and os.getppid() != server:
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _watch_parent(server: int) -> NoReturn:
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)


def confine(limits: dict[str, Any]) -> None:
    """Lower what this process may use; there is no way back up."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if hasattr(os, "nice"):
        os.nice(limits["nice"])
    if resource is None:
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_AS, limits["memory_mb"] * 2**20)
    if limits["file_mb"] is not None:
        _lower(resource.RLIMIT_FSIZE, limits["file_mb"] * 2**20)


def _lower(what: int, most: int) -> None:
    assert resource is not None
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most))


def allow_cpu(seconds: float) -> None:
    """Let this task use so much processor time. The limit counts the whole life: its soft end moves with each task."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard))


def address_space() -> int:
    """Bytes of address space of this process; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def tidy(base: int, most: int) -> bool:
    """Clean up after a task; False when so much stays taken that the next task would meet the limit early."""
    _call_handlers("after_task")
    if address_space() <= base + (most - base) * 0.55:
        return True
    _call_handlers("release")
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return address_space() <= base + max((most - base) * 0.14, 64 * 2**20)


def _call_handlers(function: str) -> None:
    for name in {name.partition(":")[0] for name in HANDLERS} & sys.modules.keys():
        if (call := getattr(sys.modules[name], function, None)) is not None:
            call()


def _socket(argument: str) -> socket.socket:
    """The descriptor that was inherited; on Windows, where none is, the shared socket comes over stdin."""
    if argument == "-":
        return socket.fromshare(sys.stdin.buffer.read())  # type: ignore[attr-defined]
    return socket.socket(fileno=int(argument))


if __name__ == "__main__":
    with contextlib.suppress(EOFError):
        main(sys.argv)
