"""A language model plans; where its endpoint fails, the offline planner takes over and the answer says so.

It never hides the failure, and never goes back to the model within the run.
"""

from __future__ import annotations

import logging

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.decisions import Decision, Planner, PlanState
from lexsi_ds.errors import EndpointFailed

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
