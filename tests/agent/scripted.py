"""A planner that does as it is told, good or bad, and a context for it on the demo bank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import AgentContext, SessionContext
from lexsi_ds.agent.decisions import Answer, CallTool, Decision, PlanState
from lexsi_ds.agent.loop import AgentLoop, RunLimits
from lexsi_ds.agent.results import MemorySink
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.ids import new_id

NORTH_STAR = "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."


class ScriptedPlanner:
    """Plays its script, then answers; a script's entry may be a function of the state."""

    name = "scripted"

    def __init__(self, script: Sequence[Decision | Callable[[PlanState], Decision]]) -> None:
        self._script = list(script)
        self.seen: list[PlanState] = []

    @property
    def usage(self) -> dict[str, int]:
        """None."""
        return {}

    def decide(self, state: PlanState) -> Decision:
        """The next entry of the script."""
        self.seen.append(state)
        if not self._script:
            return Answer("That is all.")
        entry = self._script.pop(0)
        return entry(state) if callable(entry) else entry


def call(tool: str, **args: object) -> CallTool:
    """A decision to call a tool."""
    return CallTool(tool, dict(args))


def context(
    app: Application, handle: DatasetHandle, folder: Path, session: SessionContext | None = None
) -> AgentContext:
    """A fresh context of one run."""
    return app.answering.context(handle, new_id("run"), folder, session=session)


def play(
    app: Application,
    handle: DatasetHandle,
    folder: Path,
    question: str,
    script: Sequence[Decision | Callable[[PlanState], Decision]],
    *,
    max_steps: int = 12,
) -> tuple[list[ev.Event], AgentContext, ScriptedPlanner]:
    """Run a script to its end."""
    ctx, planner = context(app, handle, folder), ScriptedPlanner(script)
    loop = AgentLoop(planner, limits=RunLimits(max_steps=max_steps), sink=MemorySink())
    return list(loop.stream(question, ctx)), ctx, planner


def returned(events: Sequence[ev.Event]) -> list[ev.ToolReturned]:
    """The tool results of a run, in order."""
    return [e for e in events if isinstance(e, ev.ToolReturned)]


def done(events: Sequence[ev.Event]) -> ev.Done:
    """The last event, which must be the only ``done``."""
    ends = [e for e in events if isinstance(e, ev.Done)]
    assert ends == [events[-1]]
    return ends[0]
