"""Several questions in one turn: which may be answered one after the other, and what stays of each when the next begins.

Must never: let a figure, a table or a caveat of one question pass for one of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.given import waits
from lexsi_ds.agent.tools.text_to_sql import read_question
from lexsi_ds.text_to_sql.reading import Analytic, Predictive, Reading

_CALLS = {"analytic": 3, "predictive": 7}
"""Tool calls of a question of each kind, after one look at the knowledge graph for all of them."""
_MOST = 11
"""Calls of a turn, so that its last step is left for the answer (`agent.limits.RunLimits.max_steps`)."""


def readings_in_turn(questions: Sequence[str], ctx: AgentContext) -> list[tuple[str, Reading]]:
    """Each question with its reading; empty where one of them must be asked about first, or they are too many for a turn."""
    found: list[tuple[str, Reading]] = []
    for number, question in enumerate(questions):
        reading = read_question(question, "auto", ctx)
        last = number == len(questions) - 1
        fits = isinstance(reading, Analytic) or (isinstance(reading, Predictive) and last and not waits(reading, ctx))
        if not fits:
            return []
        found.append((question, reading))
    return found if 1 + sum(_CALLS[reading.kind] for _, reading in found) <= _MOST else []


def set_down(question: str, reading: Reading, ctx: AgentContext) -> str:
    """What was said to a question, taken out of the way of the next; its caveats become notes of the turn, its rows a part."""
    cache = ctx.cache
    said = str(cache.pop("_narrative", "")) or "There is no answer."
    part = {"question": question, "answer": said, "reading": getattr(reading, "reading", None), "sql": None, "result": None}
    cache.setdefault("_parts", []).append(part)
    if not isinstance(reading, Analytic):
        return said
    part |= {"sql": cache.get("last_sql"), "result": (cache.get("last_sql_result"), cache.get("_last_columns"))}
    cache.setdefault("_notes", []).extend(reading.caveats)
    cache.pop("_last_reading", None)
    return f"{said} (Read as: {reading.reading}.)"
