"""How a task that failed is told: the handler's own error as the class it had, or the worker's end in plain words.

Must never show what an unexpected error says: it may hold a value or a path; that goes to the log.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from lexsi_ds import errors
from lexsi_ds.errors import LexsiError, WorkerEnd, WorkerFailed
from lexsi_ds.jobs.limits import Lane

log = logging.getLogger(__name__)

_WORK: dict[Lane, str] = {
    "sql": "The query", "ml": "The model", "explain": "The explanation", "ingest": "The import", "connector": "The query",
    "documents": "Reading the document", "lexsi": "The Lexsi platform",
}
_ENDS: dict[WorkerEnd, tuple[str, str]] = {
    "memory": ("{work} needed more memory than one worker may use.", "Ask for fewer rows, columns or groups at once."),
    "cpu": ("{work} used up the processor time that one task may take.", "Ask for less at once, or raise the time limit."),
    "timeout": ("{work} took longer than one task may take.", "Ask for less at once, or raise the time limit."),
    "disk": ("{work} wrote more to disk than one task may write.", "Ask for less at once, or free some disk space."),
    "crash": ("{work} ended unexpectedly with its worker process.", "Try again; home/logs/workers.log has what it said last."),
    "error": ("{work} met an error that was not expected.", "Try again; the log and home/logs/workers.log have the details."),
}


def failure(kind: WorkerEnd, lane: Lane, where: str = "", log_id: str = "") -> WorkerFailed:
    """A worker's end in a person's words; with the id that the log knows it by, where there is one."""
    what, to_do = _ENDS[kind]
    said = f"{to_do} Log id {log_id}." if log_id and kind == "error" else to_do
    return WorkerFailed(kind, what.format(work=_WORK[lane]), where=where, to_do=said)


def rebuilt(message: dict[str, Any], lane: Lane) -> LexsiError:
    """The handler's error as the class it had; an unexpected one stays in the log."""
    known = getattr(errors, str(message.get("class")), None)
    if not (isinstance(known, type) and issubclass(known, LexsiError)):
        short = secrets.token_hex(2)
        log.error("a task of lane %s failed, log id %s: %s", lane, short, message.get("log"))
        return failure(message.get("kind") or "error", lane, log_id=short)
    what, where, to_do = message["what"], message["where"], message["to_do"]
    if issubclass(known, WorkerFailed):
        return WorkerFailed(message["kind"], what, where=where, to_do=to_do)
    return known(what, where=where, to_do=to_do)
