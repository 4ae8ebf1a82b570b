"""A planner that plays an item's calls through the product's loop, so that every tool is seen to work and to refuse."""

from __future__ import annotations

from collections.abc import Sequence

from bench.pkdd.items import Scripted
from lexsi_ds.agent.decisions import Answer, CallTool, Decision, PlanState


class ScriptedPlanner:
    """Makes the calls in order, then ends."""

    name = "scripted"

    def __init__(self, calls: Sequence[Scripted]) -> None:
        self._left = list(calls)

    @property
    def usage(self) -> dict[str, int]:
        """None."""
        return {}

    def decide(self, state: PlanState) -> Decision:
        """The next call of the script; the end after a call that failed."""
        if not self._left or (state.steps and not state.steps[-1].ok):
            return Answer("The script is over.", "cannot_answer")
        call = self._left.pop(0)
        return CallTool(call.tool, call.args)
