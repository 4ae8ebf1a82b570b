"""What the registry of runs needs of a store. The store implements it without importing this room, so it is a protocol.

Every method is one short transaction, durable on return, and safe from any thread and any process. Times are seconds
since the epoch. A run is live in the states of ``LIVE_STATES``; a run that is over never changes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

LIVE_STATES = ("queued", "running")


class RunRecord(Protocol):
    """A stored run; the store returns a frozen value with these attributes."""

    @property
    def id(self) -> str: ...
    @property
    def conversation_id(self) -> str: ...
    @property
    def boot(self) -> str:
        """Which server process owns it: the name of its lock file under ``home/owners``."""
        ...

    @property
    def question(self) -> str: ...
    @property
    def state(self) -> str:
        """``queued`` or ``running`` while live; else the state of its ``done`` event."""
        ...

    @property
    def cancel(self) -> bool:
        """Whether somebody asked for a stop."""
        ...

    @property
    def started(self) -> float: ...
    @property
    def beat(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def meta(self) -> dict[str, Any]: ...


class RunStore(Protocol):
    """Where runs and their events live."""

    def insert_run(
        self, run_id: str, conversation_id: str, boot: str, question: str, meta: dict[str, Any], started: float,
    ) -> None:
        """Add a run in state ``running``, ``cancel`` false, ``beat`` = ``started``.

        Raises ``lexsi_ds.errors.Busy`` when the conversation already has a live run, of whatever process: a partial
        unique index on the conversation where the state is live decides it.
        """
        ...

    def put_event(self, run_id: str, seq: int, ts: float, kind: str, body: dict[str, Any]) -> None:
        """Append one event (primary key run_id, seq): ``kind`` is its type, ``body`` a JSON object with the rest."""
        ...

    def finish(self, run_id: str, seq: int, ts: float, body: dict[str, Any]) -> bool:
        """The last event and the end of the run, in one transaction.

        Iff the run is live: append event ``done`` with ``body`` at ``seq``, set state = ``body["state"]`` and ended =
        ``ts``, and return True. Else write nothing and return False.
        """
        ...

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Events with seq > ``after`` in order, flat: ``{"run_id", "seq", "ts", "type", **body}``; [] if unknown."""
        ...

    def run(self, run_id: str) -> RunRecord | None:
        """The run, or None."""
        ...

    def set_state(self, run_id: str, state: str, ended: float | None = None) -> None:
        """Change the state of a live run (``queued`` to ``running``, say)."""
        ...

    def beat(self, run_ids: Iterable[str], ts: float) -> None:
        """Say that these runs' owner is alive."""
        ...

    def request_cancel(self, run_id: str) -> None:
        """Set the cancel flag of a live run."""
        ...

    def cancel_requested(self, run_ids: Iterable[str]) -> set[str]:
        """Those of these runs whose cancel flag is set."""
        ...

    def live_runs(self) -> Sequence[RunRecord]:
        """Every run in a live state, of whatever process, oldest first."""
        ...

    def close_interrupted(self, run_id: str, ts: float) -> bool:
        """Close the run of a dead owner, in one transaction that begins as a write.

        Iff it is still live: set state ``interrupted`` and ended = ``ts``, append event ``done`` with body
        ``{"state": "interrupted"}`` at max(seq) + 1, and return True. Else write nothing and return False.
        """
        ...
