"""What the offline planner looks at between steps, and how it words the ends that are no answer."""

from __future__ import annotations

from typing import Any

from lexsi_ds.agent.decisions import Answer, PlanState
from lexsi_ds.text_to_sql.reading import CannotAnswer, Predictive


def stopped(state: PlanState, as_state: str = "failed") -> Answer | None:
    """The end of the plan when its last step did not succeed."""
    if state.steps and not state.steps[-1].ok:
        return Answer(state.steps[-1].summary, "cannot_answer" if as_state == "cannot_answer" else "failed")
    return None


def searched(state: PlanState) -> bool:
    """Whether the knowledge graph was asked in this run."""
    return any(step.tool == "query_kg" for step in state.steps)


def half(reading: CannotAnswer) -> dict[str, Any] | None:
    """What was understood, to be finished by point and click."""
    if reading.partial is None:
        return None
    return {"kind": "query", "logical": reading.partial, "words": list(reading.words)}


def before_training(reading: Predictive) -> str:
    """What is said of a task that waits for a person."""
    why = " ".join(reading.doubts)
    return f"This is the task; nothing has been trained yet. {why}".strip() + " Change what you like, then train."


def missed(reading: CannotAnswer) -> str:
    """Why there is no answer, with the words that the reason does not name."""
    unsaid = [word for word in reading.words if word not in reading.reason]
    return reading.reason + (f" Not understood: {', '.join(unsaid)}." if unsaid else "")
