"""The offline planner's steps for a question about findings: keep one, list them, put a decision before a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lexsi_ds.agent.decisions import Answer, CallTool, Decision, PlanState
from lexsi_ds.agent.finding_words import FindingAsked

_HOW = "Say what to keep, such as \u201csave as a finding: the default rate stays between 5% and 8%\u201d."


def finding_steps(asked: FindingAsked, state: PlanState, suggestions: tuple[str, ...]) -> Iterator[Decision]:
    """One call, and what it said."""
    if asked.act == "save" and not asked.text:
        yield Answer(_HOW, "cannot_answer", suggestions)
        return
    yield _call(asked)
    last = state.steps[-1]
    yield Answer(last.summary, "answered" if last.ok else "cannot_answer", suggestions)


def _call(asked: FindingAsked) -> CallTool:
    if asked.act == "save":
        args: dict[str, Any] = {"statement": asked.text} | ({"dataset": asked.table} if asked.table else {})
        return CallTool("propose_finding", args, "keep it for review")
    if asked.act == "list":
        wanted = {"dataset": asked.table, "review": asked.review, "flagged": asked.flagged or None}
        return CallTool("list_findings", {k: v for k, v in wanted.items() if v is not None}, "look at the findings")
    return CallTool("review_finding", {"finding": asked.text, "decision": asked.act}, "put the decision before a person")
