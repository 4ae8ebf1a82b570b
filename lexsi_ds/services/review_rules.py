"""How findings are judged in this installation: whose decisions wait for a person, and whether an author may judge.

A token that a model sends back is no person's consent: so a decision through a listed door becomes a suggestion in the queue.
"""

from __future__ import annotations

from pydantic import ValidationError

from lexsi_ds.data.handle import Value
from lexsi_ds.services.access import Actor
from lexsi_ds.store.db import Store
from lexsi_ds.store.preferences import Preferences

_INSTALLATION, _KEY = "@installation", "review_rules"


class ReviewRules(Value):
    """What holds for every review."""

    queued: tuple[str, ...] = ("chat",)
    """Doors whose decisions wait for a person: ``chat`` (the built-in one), ``mcp`` (every client of the MCP server)."""
    other_reviewer: bool = False
    """Whether somebody else than its author has to judge a finding."""

    def queues(self, via: str) -> bool:
        """Whether a decision through this door waits; ``mcp:<client>`` is a door of ``mcp``."""
        return via in self.queued or via.split(":", 1)[0] in self.queued


class ReviewSettings:
    """Reads and changes the rules."""

    def __init__(self, store: Store) -> None:
        self._kept = Preferences(store)

    def rules(self) -> ReviewRules:
        """The rules as they are now."""
        try:
            return ReviewRules.model_validate(self._kept.get(_INSTALLATION, _KEY) or {})
        except ValidationError:
            return ReviewRules()

    def change(self, actor: Actor, rules: ReviewRules) -> ReviewRules:
        """Keep other rules. Raises Denied unless the person manages this installation."""
        actor.need("people:manage")
        self._kept.set(_INSTALLATION, _KEY, rules.model_dump(mode="json"))
        return rules
