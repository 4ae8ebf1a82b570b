"""What a planner is offered, how large its prompts get, what runs together, and where a run ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.pkdd.items import load
from bench.pkdd.scripted import ScriptedPlanner as Calls
from lexsi_ds.agent import events as ev
from lexsi_ds.agent.chat_run import memory, remembered
from lexsi_ds.agent.decisions import Answer, CallTool, CallTools, Decision, PlanState
from lexsi_ds.agent.loop import AgentLoop, RunLimits
from lexsi_ds.agent.planners.llm import LLMPlanner
from lexsi_ds.agent.planners.offline import OfflinePlanner
from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.prices import Price
from tests.agent.scripted import NORTH_STAR, ScriptedPlanner, call, context, done, returned
from tests.llm.server import Say, Server

pytestmark = pytest.mark.xdist_group("demo")
ITEMS = load()


class Model:
    """A planner needs only its name to write prompts."""

    model = "m"

    def complete(self, *args, **kw):
        raise AssertionError


class Watched:
    """Another planner's decisions, with what was on offer at each."""

    name, usage = "watched", {}

    def __init__(self, inner) -> None:
        self._inner = inner
        self.missing: list[str] = []
        self.made = 0
        self.states: list[PlanState] = []

    def decide(self, state: PlanState) -> Decision:
        self.states.append(replace(state, steps=list(state.steps)))
        decision = self._inner.decide(state)
        if isinstance(decision, CallTool):
            self.made += 1
            if decision.tool not in {t.name for t in state.tools}:
                self.missing.append(decision.tool)
        return decision


def _watched(application, handle, folder: Path, question: str, planner: Callable, hints: str = "") -> Watched:
    ctx = context(application, handle, folder)
    ctx.hints = hints
    watched = Watched(planner(ctx))
    AgentLoop(watched).run(question, ctx)
    return watched


def test_every_tool_that_a_run_of_the_bench_uses_was_offered_at_its_step(application, demo_handle, tmp_path: Path) -> None:
    """All questions of one turn, once a kind of end for those that train: a training takes its time."""
    made, missing, trained = 0, [], 0
    for item in ITEMS:
        if len(item.asked) > 1:
            continue
        if item.expect in ("predict", "prediction", "explain") or "predict" in item.kind:
            trained += 1
            if trained > 2:
                continue
        planner = (lambda ctx, item=item: Calls(item.calls)) if item.calls else OfflinePlanner
        seen = _watched(application, demo_handle, tmp_path / item.id, item.asked[-1], planner, item.context or "")
        made += seen.made
        if item.expect != "tool_error":  # those call what cannot run, to see that it says so
            missing += [(item.id, name) for name in seen.missing]
    assert not missing, missing
    assert made > 300


def test_prompts_of_the_north_star_are_half_of_those_with_the_full_catalogue(application, demo_handle, tmp_path) -> None:
    seen = _watched(application, demo_handle, tmp_path, NORTH_STAR, OfflinePlanner)
    every = tuple(t.spec for n, t in REGISTRY.items() if "document" not in n)
    # other tests may be filling the library of documents of the shared home: with and without, their two tools are left out
    states = [replace(s, tools=tuple(t for t in s.tools if "document" not in t.name)) for s in seen.states]
    for native in (False, True):
        planner = LLMPlanner(Model(), native=native)  # pyright: ignore[reportArgumentType]
        routed = sum(len(planner.prompt(s).text) for s in states)
        whole = sum(len(planner.prompt(replace(s, tools=every)).text) for s in states)
        assert len(seen.states) == 10 and routed <= 0.5 * whole, (native, routed, whole)


def test_the_size_of_prompts_does_not_depend_on_how_many_rows_there_are(application, demo_handle, tmp_path: Path) -> None:
    sizes = {}
    for rows in (30, 10_000_000):
        ctx = context(application, demo_handle, tmp_path / str(rows))
        script = [call("run_sql", sql=f"SELECT 1000000 + i % 7 AS v FROM range({rows}) AS r(i)", label=x) for x in ("a", "b")]
        watched = Watched(ScriptedPlanner([call("inspect_data"), *script]))
        AgentLoop(watched).run("How many accounts?", ctx)
        planner = LLMPlanner(Model())  # pyright: ignore[reportArgumentType]
        sizes[rows] = [len(planner.prompt(s).text) for s in watched.states]
        assert len(ctx.frame("b")) == rows  # pyright: ignore[reportArgumentType]
    assert all(abs(a - b) <= 60 for a, b in zip(*sizes.values(), strict=True)), sizes


def test_prompts_do_not_grow_with_the_length_of_a_run() -> None:
    from lexsi_ds.agent.decisions import Step

    def size(n: int, native: bool) -> int:
        steps = [Step("run_sql", {"sql": "x" * 5000}, True, "y" * 9000, batch=i) for i in range(n)]
        planner = LLMPlanner(Model(), native=native)  # pyright: ignore[reportArgumentType]
        return len(planner.prompt(PlanState("q", "data", (), steps)).text)

    for native in (False, True):
        assert size(30, native) - size(10, native) < 20 * 1500


def _slow(name: str, both: threading.Barrier, *, safe: bool) -> FunctionTool:
    def run(args: ToolArgs, ctx) -> ToolResult:
        both.wait(5)
        return ToolResult(ok=True, summary=f"{name} done")

    return FunctionTool(ToolSpec(name, "Waits.", ToolArgs, "words", parallel_safe=safe), run)


def test_calls_that_are_safe_together_run_together(application, demo_handle, tmp_path: Path) -> None:
    both = threading.Barrier(2)  # passes only when both are inside at once
    tools = {n: _slow(n, both, safe=True) for n in ("one", "two")}
    ctx = context(application, demo_handle, tmp_path)
    planner = ScriptedPlanner([CallTools((CallTool("one", {}), CallTool("two", {})))])  # pyright: ignore[reportArgumentType]
    events = list(AgentLoop(planner, tools=tools).stream("How many accounts?", ctx))
    assert [r.summary for r in returned(events)] == ["one done", "two done"]


def test_calls_that_are_not_wait_their_turn(application, demo_handle, tmp_path: Path) -> None:
    both = threading.Barrier(2)
    tools = {n: _slow(n, both, safe=False) for n in ("one", "two")}
    threading.Timer(0.2, lambda: both.abort()).start()
    ctx = context(application, demo_handle, tmp_path)
    planner = ScriptedPlanner([CallTools((CallTool("one", {}), CallTool("two", {})))])  # pyright: ignore[reportArgumentType]
    events = list(AgentLoop(planner, tools=tools).stream("How many accounts?", ctx))
    assert not [r for r in returned(events) if r.ok]


COUNT = call("run_sql", sql="SELECT count(*) AS n FROM account")


@pytest.mark.parametrize(
    ("limits", "words"),
    [(RunLimits(max_tool_calls=1), "1 tool calls"), (RunLimits(max_steps=1), ""), (RunLimits(max_seconds=0.001), "seconds")],
)
def test_a_limit_ends_the_run_with_what_is_known(application, demo_handle, tmp_path: Path, limits, words: str) -> None:
    def slow(state: PlanState) -> Decision:
        time.sleep(0.05 if limits.max_seconds < 1 else 0)
        return COUNT

    def ever(state: PlanState) -> Decision:
        return Answer(None) if state.force_final else call("inspect_data")

    ctx = context(application, demo_handle, tmp_path)
    end = done(list(AgentLoop(ScriptedPlanner([slow, *[ever] * 9]), limits=limits).stream("How many accounts?", ctx)))
    assert end.state == "limit_reached"
    assert any(words in c for c in end.caveats) if words else True
    if limits.max_seconds > 1:
        assert end.answer and "4,500" in end.answer


@pytest.mark.parametrize("limits", [RunLimits(max_tokens=1500), RunLimits(max_cost=0.01)])
def test_tokens_and_cost_end_a_run_too(application, demo_handle, tmp_path: Path, limits) -> None:
    decide = '{"tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM account"}}'
    look = '{"tool": "inspect_data", "args": {"table_filter": ["loan"]}}'
    with Server([Say(decide, usage=(1000, 0)), Say(look, usage=(1000, 0))]) as server:
        ctx = context(application, demo_handle, tmp_path)
        ctx.llm, ctx.price = LLMClient(server.url, "m"), Price(6.0, 0)
        end = AgentLoop(LLMPlanner(ctx.llm), limits=limits).run("How many accounts?", ctx)
        assert len(server.requests) == 2
    assert end.state == "limit_reached" and end.answer and "4,500" in end.answer and end.cost == pytest.approx(0.012)


def test_three_failures_in_a_row_end_with_what_is_known(application, demo_handle, tmp_path: Path) -> None:
    ctx = context(application, demo_handle, tmp_path)
    script = [COUNT, *[call("run_sql", sql="SELECT nothing FROM nowhere")] * 3]
    events = list(AgentLoop(ScriptedPlanner(script)).stream("How many accounts?", ctx))
    assert done(events).state == "failed" and "4,500" in (done(events).answer or "")
    assert "already answered" in returned(events)[2].summary


def test_a_look_that_is_repeated_at_once_is_not_made_again(application, demo_handle, tmp_path: Path) -> None:
    ctx = context(application, demo_handle, tmp_path)
    events = list(AgentLoop(ScriptedPlanner([call("inspect_data")] * 2)).stream("How many accounts?", ctx))
    assert [r.ok for r in returned(events)] == [True, False] and "worked already" in returned(events)[1].summary


def test_native_calls_plan_a_run_and_several_are_made_at_once(application, demo_handle, tmp_path: Path) -> None:
    looks = (("sample_values", {"table": "account", "column": "frequency"}), ("sample_values", {"table": "card", "column": "type"}))
    count = (("run_sql", {"sql": "SELECT count(*) AS n FROM account"}),)
    with Server([Say(calls=looks, piece=3, mixed=True), Say(calls=count), Say("There are 4,500 accounts.")]) as server:
        ctx = context(application, demo_handle, tmp_path)
        ctx.llm = LLMClient(server.url, "m")
        events = list(AgentLoop(LLMPlanner(ctx.llm, native=True)).stream("How many accounts?", ctx))
        last = server.requests[-1]["messages"]
    assert done(events).answer == "There are 4,500 accounts." and [r.ok for r in returned(events)] == [True] * 3
    assert [m["role"] for m in last] == ["system", "user", *["assistant", "tool"] * 3]
    assert "Tools:" not in last[0]["content"] and "run_sql" in {t["function"]["name"] for t in server.requests[0]["tools"]}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (Say(""), "empty"),
        (Say(calls=(("run_sql", '{"sql": '),)), "not valid JSON"),
        (Say(calls=(("run_sql", "[1]"),)), "one JSON object"),
        (Say("half of it", finish="length"), "cut off"),
        (Say(calls=(("ask_user", {"question": "Which?"}),)), "options"),
    ],
)
def test_a_malformed_native_reply_gets_one_precise_message(application, demo_handle, tmp_path: Path, bad, words) -> None:
    count = Say(calls=(("run_sql", {"sql": "SELECT count(*) AS n FROM account"}),))
    with Server([bad, count, Say("There are 4,500 accounts.")]) as server:
        ctx = context(application, demo_handle, tmp_path)
        ctx.llm = LLMClient(server.url, "m")
        end = AgentLoop(LLMPlanner(ctx.llm, native=True)).run("How many accounts?", ctx)
        assert words in server.requests[1]["messages"][-1]["content"]
    assert end.state == "answered"


def test_ask_user_ends_the_turn_with_options(application, demo_handle, tmp_path: Path) -> None:
    with Server([Say(calls=(("ask_user", {"question": "Which loans?", "options": ["running", "finished"]}),))]) as server:
        ctx = context(application, demo_handle, tmp_path)
        ctx.llm = LLMClient(server.url, "m")
        events = list(AgentLoop(LLMPlanner(ctx.llm, native=True)).stream("How many loans?", ctx))
    (asked,) = [e for e in events if isinstance(e, ev.Ask)]
    assert asked.options == ["running", "finished"] and done(events).state == "needs_clarification"


def test_the_answer_to_what_was_asked_back_resumes_the_question(application, demo_handle, tmp_path: Path) -> None:
    look = Say(calls=(("sample_values", {"table": "card", "column": "type"}),))
    back = Say(calls=(("ask_user", {"question": "Which rows?", "options": ["the first", "the second"]}),))
    count = Say(calls=(("run_sql", {"sql": "SELECT count(*) AS n FROM card"}),))
    with Server([look, back, count, Say("There are 892.")]) as server:
        ctx = context(application, demo_handle, tmp_path)
        ctx.llm = LLMClient(server.url, "m")
        AgentLoop(LLMPlanner(ctx.llm, native=True)).run("How many of them?", ctx)
        body = memory(ctx.session)  # as the store keeps it
        later = context(application, demo_handle, tmp_path, remembered("c", body))
        later.llm = ctx.llm
        end = AgentLoop(LLMPlanner(later.llm, native=True)).run("the first", later)
        told = server.requests[2]["messages"]
    assert end.answer == "There are 892." and later.session.pending is None
    assert told[1]["content"] == "Question: How many of them?" and "answered: the first" in told[-1]["content"]
    assert any("sample_values" in str(m.get("content")) for m in told)
