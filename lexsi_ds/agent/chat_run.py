"""A question of a conversation as a run: takes up what the conversation remembers, drives the loop, keeps what is new.

The one place where the agent meets the store of chats. Events go where the registry puts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import Kept, SessionContext
from lexsi_ds.agent.given import given_of
from lexsi_ds.agent.pending import Pending
from lexsi_ds.agent.session import Remembered, fitting, made, notice
from lexsi_ds.store.conversations import Conversations
from lexsi_ds.store.runs import Runs
from lexsi_ds.text_to_sql.reading import Analytic, Clarify

if TYPE_CHECKING:
    from lexsi_ds.agent.answering import Answering
    from lexsi_ds.agent.context import AgentContext
    from lexsi_ds.data.handle import DatasetHandle
    from lexsi_ds.jobs.runs import RunHandle
    from lexsi_ds.services.artifacts import Artifacts
    from lexsi_ds.services.catalog import Catalog
    from lexsi_ds.services.chats import AskContext
    from lexsi_ds.store.db import Store

_KEPT: TypeAdapter[Kept] = TypeAdapter(Kept)
_PREVIOUS: TypeAdapter[Analytic] = TypeAdapter(Analytic)
_PENDING: TypeAdapter[Pending] = TypeAdapter(Pending)
_ASKED: TypeAdapter[Clarify] = TypeAdapter(Clarify)
_VALUES: TypeAdapter[tuple[Remembered, ...]] = TypeAdapter(tuple[Remembered, ...])
_TURN: TypeAdapter[int] = TypeAdapter(int)
_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    "kept": _KEPT, "previous": _PREVIOUS, "asked": _ASKED, "pending": _PENDING, "turn": _TURN, "values": _VALUES,
}  # fmt: skip


class ChatRun:
    """Called by `services.chats` in the run's own thread."""

    def __init__(self, answering: Answering, catalog: Catalog, artifacts: Artifacts, store: Store) -> None:
        self._answering, self._catalog, self._artifacts = answering, catalog, artifacts
        self._conversations, self._runs = Conversations(store), Runs(store)

    def __call__(self, ask: AskContext, run: RunHandle) -> None:
        """Answer the question; every event goes to ``run``."""
        handle = self._catalog.handle(ask.actor, ask.source_id)
        self._runs.note(ask.run_id, snapshot_id=handle.snapshot_id, snapshot_number=handle.snapshot_number)
        session = self._session(ask)
        folder = self._artifacts.folder(ask.run_id)
        ctx = self._answering.context(
            handle, ask.run_id, folder, actor=ask.actor, session=session, cancel=run.cancel, given=given_of(ask.given)
        )
        self._follow(ctx, ask)
        sink = self._artifacts.sink(ask.actor)

        def emit(event: ev.Event) -> None:
            if isinstance(event, ev.Done):
                event = self._kept(event, ctx, ask.question)
                self._conversations.remember(ask.conversation_id, memory(session))
                self._runs.note(ask.run_id, tool_calls=event.tool_calls, sources=event.sources)
            body = event.model_dump(mode="json", exclude={"run_id", "seq", "ts", "type"})
            run.put(event.type, **body)

        self._answering.loop(ctx, sink).drive(ask.question, ctx, emit)

    def _kept(self, done: ev.Done, ctx: AgentContext, question: str) -> ev.Done:
        """Keep the rows of this turn at hand for later ones; the person is told what had to go for them."""
        session, most = ctx.session, round(self._answering.settings.session_mb * 2**20)
        masked = ctx.cache.get("_masked_touched")  # such rows stay in their turn: a later one would not know of it
        new = () if masked else made(session.turn, question, ctx.cache, ctx.dataset.snapshot_id)
        session.values, gone = fitting((*session.values, *new), most)
        session.turn += 1
        return done.model_copy(update={"caveats": [*done.caveats, notice(gone, most)]}) if gone else done

    def _follow(self, ctx: AgentContext, ask: AskContext) -> None:
        """When the run goes on with another data set, so does its conversation."""
        before = ctx.activate

        def activate(taken: DatasetHandle) -> None:
            if before is not None:
                before(taken)
            about = {"source_id": taken.source_id, "snapshot_id": taken.snapshot_id}
            self._runs.note(ask.run_id, **about, snapshot_number=taken.snapshot_number)
            self._conversations.touch(ask.conversation_id, ask.actor.id, source_id=taken.source_id, title="")

        ctx.activate = activate

    def _session(self, ask: AskContext) -> SessionContext:
        record = self._conversations.get(ask.conversation_id, ask.actor.id)
        return remembered(ask.conversation_id, record.memory if record else None)


def memory(session: SessionContext) -> dict[str, Any]:
    """What a conversation keeps, as JSON."""
    previous = session.previous if isinstance(session.previous, Analytic) else None
    return {
        "kept": session.kept.model_dump(mode="json") if session.kept else None,
        "previous": previous.model_dump(mode="json") if previous else None,
        "asked": session.asks.model_dump(mode="json") if session.asks else None,
        "pending": session.pending.model_dump(mode="json") if isinstance(session.pending, Pending) else None,
        "turn": session.turn,
        "values": [v.model_dump(mode="json") for v in session.values],
    }


def remembered(conversation_id: str, body: dict[str, Any] | None) -> SessionContext:
    """The session of a stored memory; what an older version wrote and this one cannot read is left aside."""
    session = SessionContext(conversation_id)
    for name, adapter in _ADAPTERS.items():
        value = (body or {}).get(name)
        if value is not None:
            try:
                setattr(session, name, adapter.validate_python(value))
            except ValidationError:
                continue
    return session
