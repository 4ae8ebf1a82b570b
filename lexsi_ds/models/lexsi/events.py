"""What the platform says happened in a project: the seed's ``recent_events()``, which the SDK calls ``events``.

Asked when a call fails without a reason, and to see whether a training has ended. Must never raise: it explains a failure
and may not hide it behind another (reading events needs rights that not everybody has).
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import LexsiError, PlatformFailed
from lexsi_ds.models.lexsi.session import NO_REASON, Session

FAILED = ("failed", "terminated", "error")
RUNNING = ("running", "pending", "queued", "started", "in_progress", "initiated")


class Event(Value):
    """One event."""

    id: str
    name: str = ""
    status: str = ""
    message: str = ""


def recent_events(session: Session, project: Any, seen: frozenset[str] = frozenset()) -> list[Event]:
    """The project's events that were not seen before, in the platform's order; empty where they cannot be read."""
    try:
        rows = session.call("reading events", lambda: project.events())
    except LexsiError:
        return []
    found = [_event(session, row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [event for event in found if event.id not in seen]


def seen_events(session: Session, project: Any) -> frozenset[str]:
    """Ids of the events so far."""
    return frozenset(event.id for event in recent_events(session, project))


def _event(session: Session, row: dict[str, Any]) -> Event:
    def text(*names: str) -> str:
        return next((session.clean(str(row[name])) for name in names if row.get(name)), "")

    return Event(
        id=text("event_id", "_id", "id"), name=text("event_name", "name"), status=text("status").casefold(),
        message=text("message", "error", "details"),
    )  # fmt: skip


def explained(session: Session, project: Any, error: PlatformFailed, seen: frozenset[str]) -> PlatformFailed:
    """The same error with the newest failed event's message, where the error itself has no reason."""
    if not error.what.startswith(NO_REASON):
        return error
    for event in reversed(recent_events(session, project, seen)):
        if event.status in FAILED and event.message:
            return PlatformFailed(f"{event.message[:300].rstrip('.')}.", where=error.where, to_do=error.to_do)
    return error
