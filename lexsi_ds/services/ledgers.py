"""What left for a language model's endpoint in a person's runs, and what it took: read from the run's own file and its last event.

Must never: open the ledger of somebody else's run.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.errors import NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.llm.ledger import Sent, read
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.llm_choice import LEDGER
from lexsi_ds.store.conversations import Conversations
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs

_CONVERSATIONS = 12


@dataclass(frozen=True)
class Used:
    """What one run took of the model."""

    question: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    """Waiting for the endpoint."""
    cost: float | None


class Ledgers:
    """Reads ledgers and usage."""

    def __init__(self, store: Store, artifacts: Artifacts) -> None:
        self._runs, self._conversations, self._artifacts = Runs(store), Conversations(store), artifacts

    def of_run(self, actor: Actor, run_id: str) -> tuple[Sent, ...]:
        """Every request of a run in its order; none of a run that asked no model."""
        actor.need("chats:read")
        run = self._runs.run(run_id) if is_id(run_id, "run") else None
        if run is None or self._conversations.get(run.conversation_id, actor.id) is None:
            raise NotFound("There is no such run.", to_do="Choose a conversation from the list.")
        return read(self._artifacts.folder(run_id) / LEDGER)

    def recent(self, actor: Actor, most: int = 8) -> tuple[Used, ...]:
        """The last runs that asked a model, newest first."""
        actor.need("chats:read")
        talks = self._conversations.list(actor.id)[:_CONVERSATIONS]
        runs = {run.id: run for talk in talks for run in self._runs.of_conversation(talk.id)}
        events = self._runs.events_of(runs) if runs else {}
        found = []
        for run in sorted(runs.values(), key=lambda r: r.started, reverse=True):
            last = events[run.id][-1] if events.get(run.id) else {}
            usage = last.get("usage") or {}
            if usage.get("requests"):
                seconds = usage.get("milliseconds", 0) / 1000
                tokens = (usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
                found.append(Used(run.question, usage["requests"], *tokens, seconds, last.get("cost")))
        return tuple(found[:most])
