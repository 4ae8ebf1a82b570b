"""Thumbs with a reason: what a person thinks of an answer, kept beside the run it is about."""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.errors import BadInput
from lexsi_ds.services.access import Actor
from lexsi_ds.services.chats import Chats
from lexsi_ds.store.board import Feedback as Rows
from lexsi_ds.store.board import FeedbackRecord, Thumb
from lexsi_ds.store.db import Store

LONGEST = 500
REASONS = ("Wrong number", "Wrong reading of the question", "Something is missing", "Too slow", "Hard to read")
"""Reasons that are one click away under a thumb down."""


class Feedback:
    """Every read and write of thumbs; a person rates their own runs."""

    def __init__(self, store: Store, chats: Chats) -> None:
        self._rows, self._chats = Rows(store), chats

    def rate(self, actor: Actor, run_id: str, thumb: Thumb | None, reason: str = "") -> None:
        """Keep a thumb for an answer; None takes it back. Raises NotFound for a run of somebody else."""
        actor.need("chats:write")
        self._chats.run(actor, run_id)
        text = " ".join(reason.split())
        if len(text) > LONGEST:
            raise BadInput(f"The reason has {len(text)} characters; {LONGEST} are the most.", where="feedback")
        if thumb not in ("up", "down", None):
            raise BadInput("A thumb goes up or down.", where="feedback")
        self._rows.put(actor.id, run_id, thumb, text)

    def of_runs(self, actor: Actor, run_ids: Sequence[str]) -> dict[str, FeedbackRecord]:
        """What this person said of these runs, by run."""
        actor.need("chats:read")
        return self._rows.of_runs(actor.id, tuple(run_ids))
