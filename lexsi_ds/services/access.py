"""Who asks, and what they may do. Every call of a service takes an `Actor` and checks it there, never in a page.

Without accounts there is one local person, who owns everything and has every right.
Must never: be built from anything that a browser sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from lexsi_ds.errors import Denied

Right = Literal[
    "datasets:read", "datasets:write", "models:read", "models:write", "models:review",
    "findings:read", "findings:write", "findings:review", "chats:read", "chats:write",
]
ALL_RIGHTS: frozenset[Right] = frozenset(get_args(Right))

_DOING: dict[str, str] = {
    "datasets:read": "see data sets", "datasets:write": "change data sets", "models:read": "see models",
    "models:write": "train or keep models", "models:review": "validate or approve models",
    "findings:read": "see findings", "findings:write": "write findings", "findings:review": "accept or reject findings",
    "chats:read": "read chats", "chats:write": "ask questions",
}


@dataclass(frozen=True)
class Actor:
    """A person and their rights. ``id`` is what is stored, ``name`` what is shown."""

    id: str
    name: str
    rights: frozenset[Right]

    def may(self, right: Right) -> bool:
        """Whether this person has the right."""
        return right in self.rights

    def need(self, right: Right) -> None:
        """Raise Denied unless this person has the right."""
        if not self.may(right):
            raise Denied(f"{self.name} may not {_DOING[right]}.", where=right, to_do="Ask who runs this installation.")


LOCAL = Actor("local", "You", ALL_RIGHTS)
"""The one person of an installation without accounts."""
