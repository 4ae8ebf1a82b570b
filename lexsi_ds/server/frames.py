"""Events of a run as frames of server-sent events: ``type``, ``name`` and ``argument`` first, as clients of the seed read them.

An id names the run and the event, so that a client that comes back with ``Last-Event-ID`` goes on behind it, whichever address it
asks. Must never: send a frame that is not one line of JSON.
"""

from __future__ import annotations

import json
from typing import Any

from lexsi_ds.errors import BadInput
from lexsi_ds.ids import is_id

KEEP_ALIVE = b": still here\n\n"
_LEADING = ("type", "name", "argument")


def frame(event: dict[str, Any]) -> bytes:
    """One event."""
    body = {name: event[name] for name in _LEADING if event.get(name)}
    body |= {name: value for name, value in event.items() if name not in _LEADING}
    return f"id: {event['run_id']}:{event['seq']}\n".encode() + _data(body)


def opening(run_id: str, conversation_id: str | None) -> bytes:
    """The first frame: what to stop, to resume and to go on with. It has no id: nothing is resumed from it."""
    body = {"type": "run", "run_id": run_id} | ({"conversation_id": conversation_id} if conversation_id else {})
    return b"retry: 1000\n" + _data(body)


def position(last_event_id: str) -> tuple[str, int]:
    """Run and number of a ``Last-Event-ID``. Raises BadInput."""
    run_id, _, seq = last_event_id.strip().rpartition(":")
    if not is_id(run_id, "run") or not (seq.isascii() and seq.isdigit() and len(seq) < 10):
        raise BadInput("This Last-Event-ID is none of this server.", where="Last-Event-ID",
                       to_do="Send the id of the last frame that arrived, or leave it out.")
    return run_id, int(seq)


def _data(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False, allow_nan=False)}\n\n".encode("utf-8", "replace")
