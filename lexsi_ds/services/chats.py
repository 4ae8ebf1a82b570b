"""Conversations, their turns and what their runs made. Asking starts a run; whoever may see it reads its events.

A run belongs to a conversation, a conversation to a person: every call goes that way before it touches anything.
Must never: end a run because a page went away; give out a run, a turn or a result of somebody else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.runs import RunHandle, RunRegistry
from lexsi_ds.knowledge.words import fold
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifact, Artifacts
from lexsi_ds.store.conversations import ConversationRecord, Conversations
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import RunRecord, Runs
from lexsi_ds.store.tables import LIVE_STATES

MAX_TITLE = 120
_TITLE_FROM_QUESTION = 60


@dataclass(frozen=True)
class AskContext:
    """What the agent is told of a question."""

    actor: Actor
    conversation_id: str
    run_id: str
    question: str
    source_id: str
    given: dict[str, Any] | None = None
    """What was built or edited by point and click instead of written, as JSON; ``question`` then says it in words."""


@dataclass(frozen=True)
class LiveRun:
    """A run that is at work, and the conversation it belongs to."""

    run_id: str
    conversation_id: str
    title: str


Events = list[dict[str, Any]]
Agent = Callable[[AskContext, RunHandle], "dict[str, Any] | None"]
"""Answers a question in the run's own thread: events go to the handle, the body of ``done`` is returned."""


@dataclass(frozen=True)
class Turn:
    """A question and all that was said on it so far. ``state`` is ``queued`` or ``running`` while it is live."""

    run_id: str
    question: str
    state: str
    source_id: str | None
    started: float
    ended: float | None
    events: tuple[dict[str, Any], ...]
    snapshot_id: str | None = None
    """The version of the source that it read; None for turns of before this was recorded."""
    given: dict[str, Any] | None = None
    """What it was given instead of words, so that it can be asked again."""
    view: dict[str, Any] | None = None
    """How a person wants its result drawn."""

    @property
    def live(self) -> bool:
        """Whether it is still at work."""
        return self.state in LIVE_STATES


class Chats:
    """Every read and write of conversations. All methods raise Denied without the right, NotFound for an unknown id."""

    def __init__(
        self, store: Store, runs: RunRegistry, agent: Agent, artifacts: Artifacts, *, max_question_chars: int = 4_000
    ) -> None:
        self._conversations, self._stored = Conversations(store), Runs(store)
        self._runs, self._agent, self._artifacts = runs, agent, artifacts
        self._longest = max_question_chars

    def new(self, actor: Actor, source_id: str | None = None) -> str:
        """Begin a conversation and return its id."""
        actor.need("chats:write")
        conversation_id = new_id("conv")
        self._conversations.insert(conversation_id, actor.id, source_id)
        return conversation_id

    def list(self, actor: Actor) -> tuple[ConversationRecord, ...]:
        """This person's conversations, the last used first."""
        actor.need("chats:read")
        return self._conversations.list(actor.id)

    def search(self, actor: Actor, text: str) -> tuple[ConversationRecord, ...]:
        """Conversations whose title or questions hold every word of ``text``, case and accents aside, the last used first."""
        words, every = fold(text).split(), self.list(actor)
        if not words:
            return every
        asked = self._conversations.questions(actor.id)
        told = {c.id: fold("\n".join((c.title, *asked.get(c.id, ())))) for c in every}
        return tuple(c for c in every if all(w in told[c.id] for w in words))

    def draw_as(self, actor: Actor, run_id: str, view: dict[str, Any]) -> None:
        """Keep how the result of a run is drawn: its chart."""
        actor.need("chats:write")
        self._stored.note(self.run(actor, run_id).id, view=view)

    def live(self, actor: Actor) -> tuple[LiveRun, ...]:
        """This person's runs that are at work, oldest first."""
        actor.need("chats:read")
        runs = self._stored.live_runs()
        titles = {c.id: c.title for c in self._conversations.list(actor.id)} if runs else {}
        return tuple(
            LiveRun(run.id, run.conversation_id, titles[run.conversation_id] or run.question)
            for run in runs if run.conversation_id in titles
        )

    def get(self, actor: Actor, conversation_id: str) -> ConversationRecord:
        """One conversation."""
        actor.need("chats:read")
        found = self._conversations.get(conversation_id, actor.id) if is_id(conversation_id, "conv") else None
        if found is None:
            raise NotFound("There is no such conversation.", to_do="Choose one from the list, or start a new one.")
        return found

    def rename(self, actor: Actor, conversation_id: str, title: str) -> None:
        """Give it another title. Raises BadInput for an empty or too long one."""
        actor.need("chats:write")
        found, line = self.get(actor, conversation_id), " ".join(title.split())
        if not line or len(line) > MAX_TITLE:
            raise BadInput(f"A title has 1 to {MAX_TITLE} characters.", where="conversation", to_do="Choose another.")
        self._conversations.rename(found.id, actor.id, line)

    def delete(self, actor: Actor, conversation_id: str) -> None:
        """Take it off the list; a run that is still at work in it is stopped."""
        actor.need("chats:write")
        found = self.get(actor, conversation_id)
        for run in self._stored.of_conversation(found.id):
            if run.state in LIVE_STATES:
                self._runs.stop(run.id)
        self._conversations.delete(found.id, actor.id)

    def ask(
        self, actor: Actor, conversation_id: str, question: str, source_id: str, *, given: dict[str, Any] | None = None
    ) -> str:
        """Start answering and return the run's id at once. ``given`` is a query or a task made by point and click.

        Raises Busy while the conversation is at work, BadInput for an empty or too long question.
        """
        actor.need("chats:write")
        found, text = self.get(actor, conversation_id), question.strip()
        if not text:
            raise BadInput("The question is empty.", where="chat", to_do="Write a question.")
        if len(text) > self._longest:
            raise BadInput(
                f"The question has {len(text):,} characters; {self._longest:,} are the most.", where="chat",
                to_do="Shorten it, or put long background into a file.",
            )

        def work(handle: RunHandle) -> dict[str, Any]:
            return self._agent(AskContext(actor, found.id, handle.run_id, text, source_id, given), handle) or {}

        meta = {"source_id": source_id} | ({"given": given} if given else {})
        run_id = self._runs.start(found.id, text, work, meta=meta)
        self._conversations.touch(found.id, actor.id, source_id=source_id, title=_title(text))
        return run_id

    def stop(self, actor: Actor, run_id: str) -> None:
        """Stop a run and wait a moment for its end; one that is over is left alone."""
        actor.need("chats:write")
        self._runs.stop(self._run(actor, run_id).id)

    def events(self, actor: Actor, run_id: str, after: int = 0, wait: float = 0.0) -> Events:
        """Events of a run with seq > ``after``; waits up to ``wait`` seconds for one."""
        actor.need("chats:read")
        return self._runs.read(self._run(actor, run_id).id, after, wait)

    def run(self, actor: Actor, run_id: str) -> RunRecord:
        """What is stored of a run: its conversation, question, state and source."""
        actor.need("chats:read")
        return self._run(actor, run_id)

    def turns(self, actor: Actor, conversation_id: str) -> tuple[Turn, ...]:
        """Every question of a conversation with its events, oldest first."""
        actor.need("chats:read")
        found = self.get(actor, conversation_id)
        runs = self._stored.of_conversation(found.id)
        if any(run.state in LIVE_STATES and run.id not in self._runs.live() for run in runs):
            self._runs.sweep()  # its process may have died
            runs = self._stored.of_conversation(found.id)
        over = self._stored.events_of(run.id for run in runs if run.state not in LIVE_STATES)
        return tuple(_turn(run, over[run.id] if run.id in over else self._runs.read(run.id)) for run in runs)

    def artifact(self, actor: Actor, artifact_id: str) -> Artifact:
        """What a run made, by id."""
        return self._artifacts.get(actor, artifact_id)

    def csv(self, actor: Actor, artifact_id: str) -> bytes:
        """All rows of a frame artifact as CSV, safe for a spreadsheet."""
        return self._artifacts.csv(actor, artifact_id)

    def _run(self, actor: Actor, run_id: str) -> RunRecord:
        run = self._stored.run(run_id) if is_id(run_id, "run") else None
        if run is None or self._conversations.get(run.conversation_id, actor.id) is None:
            raise NotFound("There is no such run.", to_do="Choose a conversation from the list.")
        return run


def _turn(run: RunRecord, events: Events) -> Turn:
    """The last event decides: a run that was live when its row was read may be over by now."""
    last = events[-1] if events and events[-1]["type"] == "done" else None
    state, ended = (last["state"], last["ts"]) if last else (run.state, run.ended)
    source_id, snapshot_id = run.meta.get("source_id"), run.meta.get("snapshot_id")
    given = run.meta.get("given")
    return Turn(run.id, run.question, state, source_id, run.started, ended, tuple(events), snapshot_id, given, run.meta.get("view"))


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _TITLE_FROM_QUESTION else line[: _TITLE_FROM_QUESTION - 1].rstrip() + "…"
