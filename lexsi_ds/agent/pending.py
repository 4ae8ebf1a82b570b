"""A question that waits for a person's answer: what was asked, what was asked back, and what had been looked at by then.

Looks are taken up again; queries and predictions are made anew, so that nothing of an earlier run stands in a new answer unseen.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.agent.decisions import AskUser, PlanState, Step
from lexsi_ds.agent.rules import Done
from lexsi_ds.data.handle import Value

_LOOKS = ("inspect_data", "query_kg", "sample_values")
_SHORT = 120
"""Longest reply in own words that is taken as an answer; an option of any length is one."""


class Pending(Value):
    """Small enough for the store."""

    question: str
    asked: str
    options: tuple[str, ...]
    answered: tuple[tuple[str, str], ...] = ()
    looks: tuple[dict[str, Any], ...] = ()

    def answers(self, reply: str) -> bool:
        """Whether a message answers what was asked back: one of the options, or a few words that are no question."""
        text = reply.strip()
        return text.casefold() in {o.casefold() for o in self.options} or (len(text) <= _SHORT and not text.endswith("?"))


def pending_of(asked: AskUser, state: PlanState) -> Pending:
    """What waits when a planner asks back."""
    kept = [s for s in state.steps if s.ok and s.tool in _LOOKS][-6:]
    looks = tuple({"tool": s.tool, "args": s.args, "summary": s.summary[:2000]} for s in kept)
    return Pending(
        question=state.question, asked=asked.question, options=asked.options, answered=tuple(state.answered), looks=looks
    )


def take_up(waiting: Pending, reply: str, state: PlanState, done: Done) -> None:
    """Go on with the question that waited."""
    state.question = waiting.question
    state.answered = [*waiting.answered, (waiting.asked, reply.strip())]
    for look in waiting.looks:
        state.steps.append(Step(look["tool"], look["args"], True, look["summary"]))
        done.note(look["tool"], look["args"])
