"""The agent loop: asks a planner, checks the rules, runs tools, says what happens as typed events.

It has no opinion about which tool comes next; it only enforces what must hold whoever plans: valid arguments, the rules of
`rules`, hard limits, a narrative whose numbers are facts, and exactly one ``done``.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.answer_stream import AnswerStream
from lexsi_ds.agent.calling import Caller, Emit
from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.decisions import Answer, AskUser, CallTool, CallTools, Planner, PlanState, Step
from lexsi_ds.agent.given import waits
from lexsi_ds.agent.known import what_is_known
from lexsi_ds.agent.limits import Meter, RunLimits
from lexsi_ds.agent.pending import Pending, pending_of, take_up
from lexsi_ds.agent.results import ArtifactSink, MemorySink
from lexsi_ds.agent.router import ToolRouter
from lexsi_ds.agent.rules import Done, empty_result
from lexsi_ds.agent.set_aside import set_aside
from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.agent.tools.base import Tool
from lexsi_ds.errors import EndpointFailed, LexsiError, Stopped
from lexsi_ds.facts import Checked, check
from lexsi_ds.jobs.cancel import Cancel

__all__ = ["AgentLoop", "RunLimits", "dataset_summary"]

log = logging.getLogger(__name__)

class AgentLoop:
    """One planner, one set of tools. A loop serves one run."""

    def __init__(
        self,
        planner: Planner,
        *,
        tools: Mapping[str, Tool] | None = None,
        limits: RunLimits | None = None,
        sink: ArtifactSink | None = None,
        whole: bool = False,
    ) -> None:
        """``whole`` offers the full catalogue at every step, as the benches do to compare."""
        self.planner, self.tools = planner, dict(tools or REGISTRY)
        self.limits, self.sink, self.whole = limits or RunLimits(), sink or MemorySink(), whole

    def run(self, question: str, ctx: AgentContext) -> ev.Done:
        """Run to the end; returns the last event."""
        last = list(self.stream(question, ctx))[-1]
        assert isinstance(last, ev.Done)
        return last

    def stream(self, question: str, ctx: AgentContext) -> Iterator[ev.Event]:
        """Events as they happen. Closing the generator stops the run."""
        out: queue.SimpleQueue[ev.Event] = queue.SimpleQueue()
        thread = threading.Thread(
            target=self.drive, args=(question, ctx, out.put), name=f"run-{ctx.run_id}", daemon=True
        )
        thread.start()
        over, seq = False, 0
        try:
            while not over:
                event, seq = out.get(), seq + 1
                over = isinstance(event, ev.Done)
                yield event.model_copy(update={"run_id": ctx.run_id, "seq": seq, "ts": time.time()})
        finally:
            if not over:
                ctx.cancel.set()

    def drive(self, question: str, ctx: AgentContext, emit: Emit) -> None:
        """Run to the end in this thread, handing every event to ``emit``; ``done`` is the last, once. Never raises."""
        ctx.cache.clear()
        ctx.cache["question"] = question
        asked, ctx.cancel = ctx.cancel, Cancel()
        run = _Run(question, ctx, emit, self)

        def late() -> None:
            run.out_of_time = True
            ctx.cancel.set()

        clock = threading.Timer(self.limits.max_seconds, late)
        clock.daemon = True
        clock.start()
        try:
            asked.arm(ctx.cancel.set)
            done = run.go()
        except Stopped:
            done = run.limit(Meter(self.limits).time_words) if run.out_of_time else run.end("stopped", None)
        except LexsiError as error:
            done = run.failed(error)
        except Exception:
            log_id = ctx.run_id[-8:]
            log.exception("run failed in %s, log id %s", run.phase, log_id)
            emit(ev.Failed(message=f"Something went wrong in {run.phase}. Log id {log_id}.", phase=run.phase))
            done = run.end("failed", None)
        finally:
            clock.cancel()
            asked.disarm()
        log.info(
            "turn run=%s state=%s tool_calls=%d sources=%s", ctx.run_id, done.state, done.tool_calls, json.dumps(done.sources)
        )
        emit(done)


class _Run:
    """The state of one run."""

    def __init__(self, question: str, ctx: AgentContext, emit: Emit, loop: AgentLoop) -> None:
        self._ctx, self._emit, self._planner, self._tools = ctx, emit, loop.planner, loop.tools
        self._limits, self._meter = loop.limits, Meter(loop.limits, ctx.price)
        self._done = Done()
        self._state = PlanState(
            question, dataset_summary(ctx), (), context=ctx.hints, reviewed=ctx.knowledge.reviewed
        )
        waiting, ctx.session.pending = ctx.session.pending, None
        if isinstance(waiting, Pending) and ctx.llm is not None and waiting.answers(question):
            take_up(waiting, question, self._state, self._done)
            ctx.cache["question"] = question = f"{waiting.question} ({question.strip()})"
        self._router = ToolRouter(question, ctx, whole=loop.whole)
        self._caller = Caller(ctx, emit, self._tools, self._state, loop.sink, self._done)
        self._removed = self._caller.removed
        self._stream = AnswerStream(
            lambda text: emit(ev.Delta(text=text)), self._held_to_facts, lambda: emit(ev.Thinking()), self._streams
        )
        self._state.listener = self._stream
        self.out_of_time = False

    @property
    def phase(self) -> str:
        """What is at work."""
        return self._caller.phase

    def go(self) -> ev.Done:
        """Decide and act until an answer, a question back, or a limit."""
        for _ in range(self._limits.max_steps):
            self._ctx.cancel.check()
            if reached := self._meter.reached(self._caller.count, self._llm_usage()):
                return self.limit(reached)
            self._offer()
            self._caller.phase = "planner"
            self._emit(ev.Thinking())
            decision = self._planner.decide(self._state)
            self._ctx.cancel.check()
            if isinstance(decision, CallTool | CallTools):
                if (ended := self._act(decision)) is not None:
                    return ended
            elif isinstance(decision, AskUser):
                if self._ctx.llm is not None and not decision.learns:
                    self._ctx.session.pending = pending_of(decision, self._state)
                return self._ask(decision)
            elif reason := empty_result(self._done):
                self._state.steps.append(Step("final_answer", {}, False, reason, refused=True))
            else:
                return self._answer(decision)
        return self._force_final()

    def _offer(self) -> None:
        """What the planner may choose from at this step."""
        specs = [t.spec for name, t in self._tools.items() if not self._caller.over(name)]
        self._state.tools = self._router.offer(specs, self._done)

    def _act(self, decision: CallTool | CallTools) -> ev.Done | None:
        """Make the calls; an end where they ask back or have failed too often."""
        if isinstance(decision, CallTool):
            self._caller.call(decision)
        else:
            self._caller.several(decision.calls, max(1, self._limits.max_tool_calls - self._caller.count))
        self._state.dataset_summary, self._state.reviewed = dataset_summary(self._ctx), self._ctx.knowledge.reviewed
        if (asked := self._ctx.cache.pop("_asks_back", None)) is not None:
            return self._ask(AskUser(asked.question, asked.options, asked.learns))
        return self._give_up() if self._caller.failures >= self._limits.max_failures else None

    def end(
        self, state: ev.RunState, answer: str | None, *, suggestions: tuple[str, ...] = (), offer: dict[str, Any] | None = None
    ) -> ev.Done:
        """The last event."""
        cache = self._ctx.cache
        reading = cache.get("_last_reading") or cache.get("_predictive")
        caveats: list[str] = list(getattr(reading, "caveats", ()))
        if task := cache.get("_task"):
            caveats += task.notes
        caveats += cache.get("_notes", ())
        if state == "answered":
            caveats += set_aside(self._ctx.dataset, cache)
        stated = cache.get("_predictive")
        if offer is None and state == "needs_clarification" and stated is not None and waits(stated, self._ctx):
            offer = {"kind": "task"}
        usage = self._planner.usage | self._llm_usage()
        return ev.Done(
            state=state,
            answer=answer,
            reading=getattr(reading, "reading", None),
            caveats=list(dict.fromkeys(caveats)),
            suggestions=list(suggestions),
            removed=self._removed,
            sources=list(dict.fromkeys(cache.get("_sources", ()))),
            offer=offer,
            tool_calls=self._caller.count,
            usage=usage,
            cost=self._meter.cost(usage),
        )

    def _ask(self, asked: AskUser) -> ev.Done:
        """End with a question back, whose options would each be understood."""
        self._emit(ev.Ask(question=asked.question, options=list(asked.options), learns=list(asked.learns)))
        return self.end("needs_clarification", asked.question, suggestions=asked.options)

    def _llm_usage(self) -> dict[str, int]:
        return self._ctx.llm.usage if self._ctx.llm is not None else {}

    def _summarize(self, why: str) -> None:
        self._caller.call(CallTool("summarize_result", {"question": self._state.question}, f"the loop: {why}"))

    def _answer(self, decision: Answer) -> ev.Done:
        """End with an answer; a prediction is summarized first, and prose is held to the facts."""
        if self._done.owes_summary:
            self._summarize("predict must be summarized")
            decision = Answer(None, decision.state, decision.suggestions)
        narrative = self._ctx.cache.get("_narrative")
        if narrative and (self._ctx.aggregates_only or self._ctx.cache.get("_masked_touched")):
            decision = replace(decision, text=None)  # the planner has not seen what it would have to say
        if decision.text is None or decision.state != "answered":
            text = decision.text or narrative
        else:
            text = self._checked(decision.text) or narrative
        if text is None and decision.state == "answered":
            return self.end("failed", None, suggestions=decision.suggestions)
        state = decision.state
        if state == "answered" and not self._done.succeeded:
            state = "refused"
        if state == "answered" and self._ctx.cache.get("_abstained") and not self._done.has_result:
            state = "cannot_answer"
        if state == "answered" and (read := self._ctx.cache.get("_last_reading")) is not None:
            self._ctx.session.previous = read
        self._say(text)
        return self.end(state, text, suggestions=decision.suggestions, offer=decision.offer)

    def _say(self, text: str | None) -> None:
        """What of an answer was not said while it was written."""
        if text and (rest := self._stream.rest(text)):
            self._emit(ev.Delta(text=rest))

    def _streams(self) -> bool:
        """Whether the model's words will be the answer, as far as can be told while it writes."""
        if self._done.owes_summary or not self._done.succeeded or empty_result(self._done):
            return False
        hidden = self._ctx.aggregates_only or self._ctx.cache.get("_masked_touched")
        return not (hidden and self._ctx.cache.get("_narrative"))

    def _held_to_facts(self, text: str) -> Checked:
        return check(text, self._ctx.cache.get("_facts", {}), allow=self._allowed())

    def _checked(self, text: str) -> str:
        """Prose with its grounded sentences only; the others are said to be out."""
        checked = self._held_to_facts(text)
        self._removed += [r for r in checked.removed if r not in self._removed]
        return checked.text

    def _allowed(self) -> str:
        """Texts whose numbers a narrative may repeat beside the facts: the question, and the documents that were read."""
        return "\n".join((self._state.question, *self._ctx.cache.get("_documents", {}).values()))

    def _known(self) -> str | None:
        """What is known, told to whoever listens."""
        known = what_is_known(self._ctx, self._state.question)
        if known:
            self._emit(ev.Delta(text=known))
        return known

    def _give_up(self) -> ev.Done:
        """Too many refused or failed calls in a row: end with what is known."""
        last = self._state.steps[-1]
        self._emit(ev.Failed(message=last.summary, phase=last.tool))
        if self._done.owes_summary:
            return self._answer(Answer(None))
        return self.end("failed", self._known())

    def failed(self, error: LexsiError) -> ev.Done:
        """The planner or a part of the loop failed: end with what is known."""
        self._emit(ev.Failed(message=str(error), phase=self.phase))
        return self.end("failed", self._known())

    def limit(self, reached: str) -> ev.Done:
        """A limit is reached: nothing more is asked of anyone."""
        self._ctx.cache.setdefault("_notes", []).append(f"The run ended at its limit of {reached}.")
        return self.end("limit_reached", self._known())

    def _force_final(self) -> ev.Done:
        """The steps are used up: ask once for an answer, and take nothing else."""
        self._state.force_final = True
        if self._done.owes_summary:
            self._summarize("no step is left")
        try:
            decision = self._planner.decide(self._state)
        except EndpointFailed:
            decision = Answer(None)
        text = decision.text if isinstance(decision, Answer) else None
        answer = (self._checked(text) if text else None) or self._ctx.cache.get("_narrative")
        if answer is None:
            return self.end("limit_reached", self._known())
        self._say(answer)
        return self.end("limit_reached", answer)


def dataset_summary(ctx: AgentContext) -> str:
    """The active data set in a few lines: id, kind, tables, and whether a knowledge graph is there."""
    data = ctx.dataset
    tables = ", ".join(f"{t.name} ({t.rows} rows)" for t in data.tables[:60])
    more = f", and {len(data.tables) - 60} more" if len(data.tables) > 60 else ""
    graph = "A knowledge graph is attached (query_kg)." if ctx.knowledge.model.tables else "No knowledge graph."
    values = ctx.session.at_hand(data.snapshot_id)[-8:]
    named = ", ".join(f"{v.name} ({v.rows} rows)" for v in values)
    earlier = f" Rows of earlier turns, usable as df_label: {named}." if values else ""
    today = f" Latest date in the data: {data.today}; that is 'today'." if data.today else ""
    return f"{data.name} (id {data.source_id}, kind {data.kind}). Tables: {tables}{more}. {graph}{today}{earlier}"[:4000]
