"""Documents as hints of the offline planner: where words of a question are unknown, a document that defines them is read.

The same mechanism as ``--context``: a definition only puts other words in the place of words, and what comes out must be understood
like any question. A question that is understood without documents never looks into one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import gate
from lexsi_ds.text_to_sql.reading import CannotAnswer, OffTopic, Reading

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

LONGEST = 6_000
"""Most characters of definitions that one question takes up."""


def document_for(reading: Reading, ctx: AgentContext) -> tuple[str, str] | None:
    """Source and path of the document that defines most of the words that were not understood; None when none does."""
    if ctx.documents is None or not isinstance(reading, CannotAnswer) or not reading.words:
        return None
    found = ctx.documents.defining(ctx.actor, tuple(reading.words))
    return (found[0][0].shelf, found[0][0].path) if found else None


def hints_of(ctx: AgentContext, question: str) -> str:
    """The person's own hints, then the definitions in documents that this run has read, those of the question's words first."""
    read: dict[str, str] = ctx.cache.get("_documents", {})
    if not read or ctx.documents is None:
        return ctx.hints
    told = ctx.documents.definitions_in(ctx.actor, tuple(read), question)
    lines = [f"{d.words} is {d.meaning}" for d in told]
    while lines and sum(map(len, lines)) > LONGEST:
        lines.pop()
    return "\n".join(part for part in (ctx.hints, *lines) if part)


def quote_for(question: str, reading: Reading, ctx: AgentContext) -> tuple[str, str, str] | None:
    """Source, path and the sentence of a document that has every word of a question that the data cannot answer."""
    if ctx.documents is None or not isinstance(reading, CannotAnswer | OffTopic):
        return None
    if gate.refusal(question) not in (None, "small_talk"):
        return None
    found = ctx.documents.quote(ctx.actor, question)
    return (found[0].shelf, found[0].path, found[1]) if found else None
