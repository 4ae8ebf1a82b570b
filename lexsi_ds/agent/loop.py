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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.decisions import Answer, AskUser, CallTool, Planner, PlanState, Step
from lexsi_ds.agent.given import waits
from lexsi_ds.agent.results import ArtifactSink, MemorySink, keep
from lexsi_ds.agent.rules import Done, broken, empty_result
from lexsi_ds.agent.set_aside import set_aside
from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.agent.tools.base import Tool, ToolResult, refuse
from lexsi_ds.errors import LexsiError, Stopped
from lexsi_ds.facts import check
from lexsi_ds.ids import new_id

log = logging.getLogger(__name__)
Emit = Callable[[ev.Event], None]


@dataclass(frozen=True)
class RunLimits:
    """Where a run ends whatever the planner wants."""

    max_steps: int = 12
    """Most planner decisions; then one final answer is asked for."""
    max_failures: int = 3
    """Refused or failed calls in a row that end the run."""


class AgentLoop:
    """One planner, one set of tools. A loop serves one run."""

    def __init__(
        self,
        planner: Planner,
        *,
        tools: Mapping[str, Tool] | None = None,
        limits: RunLimits | None = None,
        sink: ArtifactSink | None = None,
    ) -> None:
        self._planner = planner
        self._tools = dict(tools or REGISTRY)
        self._limits = limits or RunLimits()
        self._sink = sink or MemorySink()

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
        run = _Run(question, ctx, emit, self._planner, self._tools, self._limits, self._sink)
        try:
            done = run.go()
        except Stopped:
            done = run.end("stopped", None)
        except LexsiError as error:
            emit(ev.Failed(message=str(error), phase=run.phase))
            done = run.end("failed", None)
        except Exception:
            log_id = ctx.run_id[-8:]
            log.exception("run failed in %s, log id %s", run.phase, log_id)
            emit(ev.Failed(message=f"Something went wrong in {run.phase}. Log id {log_id}.", phase=run.phase))
            done = run.end("failed", None)
        log.info(
            "turn run=%s state=%s tool_calls=%d sources=%s", ctx.run_id, done.state, done.tool_calls, json.dumps(done.sources)
        )
        emit(done)


class _Run:
    """The state of one run."""

    def __init__(
        self,
        question: str,
        ctx: AgentContext,
        emit: Emit,
        planner: Planner,
        tools: dict[str, Tool],
        limits: RunLimits,
        sink: ArtifactSink,
    ) -> None:
        self._ctx, self._emit, self._planner, self._tools, self._sink = ctx, emit, planner, tools, sink
        self._limits = limits
        self._done = Done()
        self._state = PlanState(
            question=question,
            dataset_summary=dataset_summary(ctx),
            tools=tuple(t.spec for t in tools.values()),
            context=ctx.hints,
        )
        self._failures = 0
        self._calls = 0
        self._spent: dict[str, int] = {}
        self._removed: list[str] = []
        self.phase = "planner"

    def go(self) -> ev.Done:
        """Decide and act until an answer, a question back, or a limit."""
        for _ in range(self._limits.max_steps):
            self._ctx.cancel.check()
            self.phase = "planner"
            self._emit(ev.Thinking())
            decision = self._planner.decide(self._state)
            self._ctx.cancel.check()
            if isinstance(decision, CallTool):
                self._call(decision)
                if (asked := self._ctx.cache.pop("_asks_back", None)) is not None:
                    return self._ask(AskUser(asked.question, asked.options, asked.learns))
                if self._failures >= self._limits.max_failures:
                    return self._give_up()
            elif isinstance(decision, AskUser):
                return self._ask(decision)
            elif reason := empty_result(self._done):
                self._state.steps.append(Step("final_answer", {}, False, reason, refused=True))
            else:
                return self._answer(decision)
        return self._force_final()

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
        return ev.Done(
            state=state,
            answer=answer,
            reading=getattr(reading, "reading", None),
            caveats=list(dict.fromkeys(caveats)),
            suggestions=list(suggestions),
            removed=self._removed,
            sources=list(dict.fromkeys(cache.get("_sources", ()))),
            offer=offer,
            tool_calls=self._calls,
            usage=self._planner.usage | self._llm_usage(),
        )

    def _ask(self, asked: AskUser) -> ev.Done:
        """End with a question back, whose options would each be understood."""
        self._emit(ev.Ask(question=asked.question, options=list(asked.options), learns=list(asked.learns)))
        return self.end("needs_clarification", asked.question, suggestions=asked.options)

    def _llm_usage(self) -> dict[str, int]:
        return self._ctx.llm.usage if self._ctx.llm is not None else {}

    def _call(self, decision: CallTool) -> None:
        """Run one tool, or answer why it may not run."""
        call_id = new_id("call")
        self._calls += 1
        self._emit(
            ev.ToolCalled(
                call_id=call_id, name=decision.tool, argument=_argument(decision.args), args=_shown(decision.args)
            )
        )
        started = time.perf_counter()
        refused, result = self._result(decision, call_id)
        self._ctx.cancel.check()
        if not result.summary.strip():
            result.summary = (
                result.error
                or f"{decision.tool} {'ended without a word' if result.ok else 'failed without saying why'}."
            )
        tool = self._tools.get(decision.tool)
        summary = _cut(result.summary, tool.spec.summary_cap if tool else 2000)
        if result.ok:
            self._done.note(decision.tool, decision.args)
            self._spend(decision.tool)
            self._failures = 0
            self._ctx.cache.setdefault("_facts", {}).update(result.meta.get("facts", {}))
            self._removed += result.meta.get("removed", [])
            if decision.tool == "run_sql":
                self._ctx.cache["_last_observation"] = summary
                self._done.unseen_empty = self._empty_by_guess()
        else:
            self._failures += 1
            if not result.meta.get("rule"):  # what a rule refused may run once the rule is kept
                self._done.answers[_fingerprint(decision)] = summary
        artifacts = keep(decision.tool, result, self._ctx.run_id, self._sink) if result.ok else []
        self._state.dataset_summary = dataset_summary(self._ctx)
        self._state.steps.append(Step(decision.tool, _shown(decision.args), result.ok, summary, refused, decision.thought))
        meta: dict[str, Any] = {"seconds": round(time.perf_counter() - started, 4), "refused": refused}
        if result.error:
            meta["error"] = result.error
        self._emit(
            ev.ToolReturned(
                call_id=call_id, name=decision.tool, ok=result.ok, summary=result.meta.get("shown") or summary,
                artifact_ids=artifacts, meta=meta,
            )
        )

    def _spend(self, name: str) -> None:
        """Count a call of a tool with a budget; a spent one is offered no more."""
        self._spent[name] = self._spent.get(name, 0) + 1
        if self._over(name):
            self._state.tools = tuple(s for s in self._state.tools if s.name != name)

    def _over(self, name: str) -> bool:
        budget = self._tools[name].spec.budget
        return budget is not None and self._spent.get(name, 0) >= budget

    def _empty_by_guess(self) -> bool:
        """Whether the query just run gave no row and its values were a planner's or a model's guess, not the parser's."""
        reading = self._ctx.cache.get("_readings", {}).get(self._ctx.cache.get("last_sql"))
        return len(self._ctx.cache["last_sql_result"]) == 0 and (reading is None or not reading.evidence)

    def _result(self, decision: CallTool, call_id: str) -> tuple[bool, ToolResult]:
        """Whether the loop refused the call, and what came of it."""
        tool = self._tools.get(decision.tool)
        if tool is None:
            return True, refuse(f"There is no tool named {decision.tool!r}. Tools: {', '.join(self._tools)}.")
        if self._over(decision.tool):
            return True, refuse(
                f"{decision.tool} was called as often as one question may ({tool.spec.budget}). Go on with what is known.",
                spent=True,
            )
        if earlier := self._done.answers.get(_fingerprint(decision)):
            return True, refuse(f"The same call was already answered: {earlier} Do something else.")
        try:
            args = tool.spec.args_schema.model_validate(decision.args)
        except ValidationError as error:
            return True, refuse(f"Arguments of {decision.tool} are not valid: {_explained(error)}.")
        if rule := broken(decision.tool, decision.args, self._done, self._ctx):
            return True, refuse(rule, rule=True)
        self.phase = decision.tool
        self._ctx.tell = lambda m: self._emit(
            ev.Progress(
                call_id=call_id,
                done=float(m.get("done") or 0),
                total=float(m.get("total") or 0),
                text=str(m.get("text") or ""),
            )
        )
        return False, self._run_tool(tool, args)

    def _run_tool(self, tool: Tool, args: Any) -> ToolResult:
        try:
            return tool.run(args, self._ctx)
        except LexsiError as error:
            return refuse(str(error))
        except Stopped:
            raise
        except Exception as error:
            log_id = self._ctx.run_id[-8:]
            log.exception("tool %s failed, log id %s", tool.spec.name, log_id)
            return refuse(f"{tool.spec.name} failed ({type(error).__name__}). Log id {log_id}.")

    def _answer(self, decision: Answer) -> ev.Done:
        """End with an answer; a prediction is summarized first, and prose is held to the facts."""
        if self._done.owes_summary:
            self._call(
                CallTool("summarize_result", {"question": self._state.question}, "the loop: predict must be summarized")
            )
            decision = Answer(None, decision.state, decision.suggestions)
        narrative = self._ctx.cache.get("_narrative")
        if decision.text is None or decision.state != "answered":
            text = decision.text or narrative
        else:
            checked = check(decision.text, self._ctx.cache.get("_facts", {}), allow=self._allowed())
            self._removed += [r for r in checked.removed if r not in self._removed]
            text = checked.text or narrative
        if text is None and decision.state == "answered":
            return self.end("failed", None, suggestions=decision.suggestions)
        state = decision.state
        if state == "answered" and not self._done.succeeded:
            state = "refused"
        if state == "answered" and self._ctx.cache.get("_abstained") and not self._done.has_result:
            state = "cannot_answer"
        if state == "answered" and (read := self._ctx.cache.get("_last_reading")) is not None:
            self._ctx.session.previous = read
        if text:
            self._emit(ev.Delta(text=text))
        return self.end(state, text, suggestions=decision.suggestions, offer=decision.offer)

    def _allowed(self) -> str:
        """Texts whose numbers a narrative may repeat beside the facts: the question, and the documents that were read."""
        return "\n".join((self._state.question, *self._ctx.cache.get("_documents", {}).values()))

    def _give_up(self) -> ev.Done:
        """Too many refused or failed calls in a row: end with what is known."""
        last = self._state.steps[-1].summary
        self._emit(ev.Failed(message=last, phase=self._state.steps[-1].tool))
        if self._done.owes_summary:
            return self._answer(Answer(None))
        narrative = self._ctx.cache.get("_narrative")
        return self.end("failed", narrative)

    def _force_final(self) -> ev.Done:
        """The steps are used up: ask once for an answer, and take nothing else."""
        self._state.force_final = True
        if self._done.owes_summary:
            self._call(CallTool("summarize_result", {"question": self._state.question}, "the loop: no step is left"))
        decision = self._planner.decide(self._state)
        text = decision.text if isinstance(decision, Answer) else None
        facts = self._ctx.cache.get("_facts", {})
        checked = check(text, facts, allow=self._allowed()) if text else None
        if checked:
            self._removed += checked.removed
        answer = (checked.text if checked else None) or self._ctx.cache.get("_narrative")
        if answer:
            self._emit(ev.Delta(text=answer))
        return self.end("limit_reached", answer)


def dataset_summary(ctx: AgentContext) -> str:
    """The active data set in a few lines: id, kind, tables, and whether a knowledge graph is there."""
    data = ctx.dataset
    tables = ", ".join(f"{t.name} ({t.rows} rows)" for t in data.tables[:60])
    more = f", and {len(data.tables) - 60} more" if len(data.tables) > 60 else ""
    graph = "A knowledge graph is attached (query_kg)." if ctx.knowledge.model.tables else "No knowledge graph."
    today = f" Latest date in the data: {data.today}; that is 'today'." if data.today else ""
    return f"{data.name} (id {data.source_id}, kind {data.kind}). Tables: {tables}{more}. {graph}{today}"[:4000]


def _argument(args: dict[str, Any]) -> str:
    """The argument that a person would look at first."""
    if args.get("path"):
        return " ".join(f"{args.get('source', '')}/{args['path']}".split())[:120]
    for key in ("sql", "question", "search", "section", "node", "df_label", "column", "case_ids", "bucket"):
        if args.get(key):
            value = args[key]
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            if key == "column" and args.get("table"):
                text = f"{args['table']}.{text}"
            return " ".join(text.split())[:120]
    return ""


def _shown(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as events, the store and later prompts may have them: keys and secrets, wherever they stand, are hidden."""
    hidden = [str(v) for k, v in args.items() if ("secret" in k or "key" in k) and v]

    def safe(name: str, value: Any) -> bool:
        return not ("secret" in name or "key" in name) and not any(secret in str(value) for secret in hidden)

    return {k: (v if safe(k, v) else "(hidden)") for k, v in args.items()}


def _fingerprint(decision: CallTool) -> str:
    return decision.tool + json.dumps(decision.args, sort_keys=True, default=str)


def _explained(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:5])


def _cut(text: str, cap: int) -> str:
    return text if len(text) <= cap else text[: cap - 20].rstrip() + " … (cut)"
