"""The offline planner's ear for "score FILE with MODEL": both must be known by name, else the question is read as any other.

Must never: take a word for a model or a source that only looks like one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_ASKED = re.compile(
    r"^\s*(?:please\s+)?(?:score|rate|rescore|predict(?:\s+for)?|run)\s+(?:the\s+)?(?:rows\s+of\s+|file\s+|source\s+|data\s+set\s+)*"
    r"(?P<source>.+?)\s+(?:with|using|by|through)\s+(?:the\s+)?(?:model\s+)?(?P<model>[\w-]+)\s*[.?!]?\s*$", re.IGNORECASE,
)
_HERE = {"this", "it", "these rows", "this data", "this data set", "this dataset", "this file", "the data", "data"}


@dataclass(frozen=True)
class ScoringAsked:
    """A known model, and a known source or None for the active one."""

    model_id: str
    source_id: str | None


def scoring_asked(question: str, ctx: AgentContext) -> ScoringAsked | None:
    """What was asked, when both names are known."""
    found = _ASKED.match(question)
    if found is None or ctx.scoring is None or ctx.models is None:
        return None
    wanted = found["model"].casefold()
    model = next((card.id for card in ctx.models.list(ctx.actor) if wanted in (card.name.casefold(), card.id.casefold())), None)
    if model is None:
        return None
    named = found["source"].strip(" \"'“”").casefold()
    if named in _HERE:
        return ScoringAsked(model, None)
    source = ctx.scoring.source_id(ctx.actor, named)
    return None if source is None else ScoringAsked(model, source)
