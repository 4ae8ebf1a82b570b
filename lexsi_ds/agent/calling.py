"""One call of a tool, from the planner's wish to its observation; several at once where they are safe to run together.

Refuses what is unknown, spent, invalid, against a rule, or was answered already; a tool's failure is an observation, never a crash.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.decisions import CallTool, PlanState, Step
from lexsi_ds.agent.leaving import what_leaves
from lexsi_ds.agent.results import ArtifactSink, keep
from lexsi_ds.agent.rules import Done, broken
from lexsi_ds.agent.tools.base import Tool, ToolResult, refuse
from lexsi_ds.errors import LexsiError, Stopped
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel

log = logging.getLogger(__name__)
Emit = Callable[[ev.Event], None]
_SAME = 2
"""How often the same look that worked may be repeated once its answer is out of sight."""


class Caller:
    """The calls of one run."""

    def __init__(
        self, ctx: AgentContext, emit: Emit, tools: Mapping[str, Tool], state: PlanState, sink: ArtifactSink, done: Done
    ) -> None:
        self._ctx, self._emit, self._tools, self._state, self._sink, self._done = ctx, emit, tools, state, sink, done
        self.count = 0
        self.failures = 0
        """Refused or failed ones in a row."""
        self.phase = "planner"
        self.removed: list[str] = []
        """Sentences that tools took out of their prose."""
        self._spent: dict[str, int] = {}
        self._batch = 0
        self._made: list[str] = []

    def call(self, decision: CallTool) -> None:
        """Run one tool, or answer why it may not run."""
        self._batch += 1
        self._one(decision)

    def several(self, decisions: Sequence[CallTool], most: int) -> None:
        """Run several, at most so many: neighbours that are safe together run at once, the others wait their turn."""
        self._batch += 1
        group: list[CallTool] = []
        for decision in decisions[:most]:
            if self._together(decision):
                group.append(decision)
                continue
            self._at_once(group)
            group = []
            self._one(decision)
            if "_asks_back" in self._ctx.cache:
                return
        self._at_once(group)

    def over(self, name: str) -> bool:
        """Whether a tool's budget is spent."""
        budget = self._tools[name].spec.budget
        return budget is not None and self._spent.get(name, 0) >= budget

    def _together(self, decision: CallTool) -> bool:
        tool = self._tools.get(decision.tool)
        return tool is not None and tool.spec.parallel_safe and tool.spec.budget is None

    def _at_once(self, decisions: Sequence[CallTool]) -> None:
        if len(decisions) < 2:
            for decision in decisions:
                self._one(decision)
            return
        cancels = [Cancel() for _ in decisions]
        started = [(d, self._begin(d), time.perf_counter()) for d in decisions]
        found: list[tuple[bool, ToolResult] | BaseException | None] = [None] * len(decisions)

        def work(i: int) -> None:
            decision, call_id, _ = started[i]
            try:
                found[i] = self._result(decision, call_id, replace(self._ctx, cancel=cancels[i]))
            except BaseException as error:
                found[i] = error

        def stop() -> None:
            for each in cancels:
                each.set()

        self._ctx.cancel.arm(stop)
        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(decisions))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._ctx.cancel.disarm()
        for (decision, call_id, at), result in zip(started, found, strict=True):
            if isinstance(result, BaseException):
                raise result
            assert result is not None
            self._end(decision, call_id, at, *result)

    def _one(self, decision: CallTool) -> None:
        call_id, started = self._begin(decision), time.perf_counter()
        self._end(decision, call_id, started, *self._result(decision, call_id, self._ctx))

    def _begin(self, decision: CallTool) -> str:
        call_id = new_id("call")
        self.count += 1
        argument, args = _argument(decision.args), shown_args(decision.args)
        self._emit(ev.ToolCalled(call_id=call_id, name=decision.tool, argument=argument, args=args))
        return call_id

    def _end(self, decision: CallTool, call_id: str, started: float, refused: bool, result: ToolResult) -> None:
        """Take the result into the run: facts, artifacts, the observation, the event."""
        self._ctx.cancel.check()
        if not result.summary.strip():
            ended = "ended without a word" if result.ok else "failed without saying why"
            result.summary = result.error or f"{decision.tool} {ended}."
        tool = self._tools.get(decision.tool)
        cap = tool.spec.summary_cap if tool else 2000
        summary, told = _cut(result.summary, cap), _cut(what_leaves(decision.tool, result, self._ctx), cap)
        if result.ok:
            self._worked(decision, result, told)
        else:
            self.failures += 1
            if not result.meta.get("rule"):  # what a rule refused may run once the rule is kept
                self._done.answers[_fingerprint(decision)] = told
        artifacts = keep(decision.tool, result, self._ctx.run_id, self._sink) if result.ok else []
        step = Step(decision.tool, shown_args(decision.args), result.ok, told, refused, decision.thought, self._batch)
        self._state.steps.append(step)
        meta: dict[str, Any] = {"seconds": round(time.perf_counter() - started, 4), "refused": refused}
        if result.error:
            meta["error"] = result.error
        said = result.meta.get("shown") or summary
        self._emit(
            ev.ToolReturned(
                call_id=call_id, name=decision.tool, ok=result.ok, summary=said, artifact_ids=artifacts, meta=meta
            )
        )

    def _worked(self, decision: CallTool, result: ToolResult, told: str) -> None:
        self._done.note(decision.tool, decision.args)
        self._spent[decision.tool] = self._spent.get(decision.tool, 0) + 1
        self._made.append(_fingerprint(decision))
        if decision.tool == "connect_datalake":
            self._made.clear()  # other data: what was looked at may be looked at again
        self.failures = 0
        self._ctx.cache.setdefault("_facts", {}).update(result.meta.get("facts", {}))
        self.removed += result.meta.get("removed", [])
        if decision.tool == "run_sql":
            self._ctx.cache["_last_observation"] = told
            self._done.unseen_empty = self._empty_by_guess()

    def _empty_by_guess(self) -> bool:
        """Whether the query just run gave no row and its values were a planner's or a model's guess, not the parser's."""
        reading = self._ctx.cache.get("_readings", {}).get(self._ctx.cache.get("last_sql"))
        return len(self._ctx.cache["last_sql_result"]) == 0 and (reading is None or not reading.evidence)

    def _result(self, decision: CallTool, call_id: str, ctx: AgentContext) -> tuple[bool, ToolResult]:
        """Whether the call was refused here, and what came of it."""
        tool = self._tools.get(decision.tool)
        if tool is None:
            return True, refuse(f"There is no tool named {decision.tool!r}. Tools: {', '.join(self._tools)}.")
        if self.over(decision.tool):
            return True, refuse(
                f"{decision.tool} was called as often as one question may ({tool.spec.budget}). Go on with what is known.",
                spent=True,
            )
        if earlier := self._done.answers.get(_fingerprint(decision)):
            return True, refuse(f"The same call was already answered: {earlier} Do something else.")
        if repeated := self._repeated(decision, tool):
            return True, refuse(repeated, rule=True)
        try:
            args = tool.spec.args_schema.model_validate(decision.args)
        except ValidationError as error:
            return True, refuse(f"Arguments of {decision.tool} are not valid: {_explained(error)}.")
        if rule := broken(decision.tool, decision.args, self._done, ctx):
            return True, refuse(rule, rule=True)
        self.phase = decision.tool
        ctx.tell = lambda m: self._emit(
            ev.Progress(
                call_id=call_id,
                done=float(m.get("done") or 0),
                total=float(m.get("total") or 0),
                text=str(m.get("text") or ""),
            )
        )
        return False, run_tool(tool, args, ctx)

    def _repeated(self, decision: CallTool, tool: Tool) -> str:
        """What to tell a planner that looks at the same thing again while the answer is still before it."""
        if not tool.spec.parallel_safe:
            return ""
        mine = _fingerprint(decision)
        if self._made[-1:] == [mine] or self._made.count(mine) > _SAME:
            return f"The same {decision.tool} call has worked already; its answer stands above. Do something else."
        return ""


def run_tool(tool: Tool, args: Any, ctx: AgentContext) -> ToolResult:
    """Run a tool; what it raises, a Stop aside, becomes a refusal."""
    try:
        return tool.run(args, ctx)
    except LexsiError as error:
        return refuse(str(error))
    except Stopped:
        raise
    except Exception as error:
        log_id = ctx.run_id[-8:]
        log.exception("tool %s failed, log id %s", tool.spec.name, log_id)
        return refuse(f"{tool.spec.name} failed ({type(error).__name__}). Log id {log_id}.")


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


def shown_args(args: dict[str, Any]) -> dict[str, Any]:
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
