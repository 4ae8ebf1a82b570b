"""What a run knows when it ends before its answer: said from what was computed, without asking a model.

Must never: state a number that is not in the run's facts.
"""

from __future__ import annotations

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.tools.summarize_result import plain_narrative
from lexsi_ds.facts import check


def what_is_known(ctx: AgentContext, question: str) -> str | None:
    """The narrative that was written, else the plain one of the last result; None when nothing was found."""
    if ctx.cache.get("_narrative"):
        return str(ctx.cache["_narrative"])
    facts = dict(ctx.cache.get("_facts", {}))
    text = plain_narrative(ctx, facts)
    if text is None:
        return None
    return check(text, facts, allow=question).text or None
