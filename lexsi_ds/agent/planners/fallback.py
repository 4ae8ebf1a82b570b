"""A language model plans; where its endpoint fails, the offline planner takes over and the answer says so. A question that a
person has checked is answered by what was checked.

It never hides the failure, and never goes back to the model within the run.
"""

from __future__ import annotations

import logging

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.decisions import Decision, Planner, PlanState
from lexsi_ds.errors import EndpointFailed
from lexsi_ds.text_to_sql.lexicon import LEXICONS
from lexsi_ds.text_to_sql.verified import find

log = logging.getLogger(__name__)


class FallbackPlanner:
    """The first planner until it fails, then the second."""

    def __init__(self, first: Planner, second: Planner, ctx: AgentContext) -> None:
        self._now, self._second, self._ctx = first, second, ctx
        self.name = first.name

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of who plans now."""
        return self._now.usage

    def decide(self, state: PlanState) -> Decision:
        """The next step. The note about a failure stands among the answer's caveats."""
        if not state.steps and self._checked(state.question):
            self._now, self.name = self._second, self._second.name
        if self._now is self._second:
            return self._second.decide(state)
        try:
            return self._now.decide(state)
        except EndpointFailed as error:
            log.warning("planning goes on offline: %s", error.what)
            self._ctx.cache["_model_failed"] = True
            note = f"The language model could not plan this, so it was answered offline. {error}"
            self._ctx.cache.setdefault("_notes", []).append(note)
            self._now, self.name = self._second, self._second.name
            return self._second.decide(state)

    def _checked(self, question: str) -> bool:
        """Whether a person has checked SQL for this question: that is run, and no model is asked to plan it."""
        known = self._ctx.knowledge
        lexicon = LEXICONS.of(known.model, known.values)
        return find(question, known.model.verified, known.values, lexicon.vocabulary) is not None
