"""Who asks, and what they may do. Every call of a service takes an `Actor` and checks it there, never in a page.

What a person may do is what their role allows, narrowed by the scopes of the API key they came with; what they may do to one
dataset is narrowed again by their level on it (`services.sharing`). Without accounts there is one local person, who owns
everything and has every right. Must never: be built from anything that a browser sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from lexsi_ds.errors import Denied

Right = Literal[
    "datasets:read", "datasets:write", "models:read", "models:write", "models:review",
    "findings:read", "findings:write", "findings:review", "chats:read", "chats:write",
    "sharing:read", "sharing:write", "connectors:write", "people:manage",
]
ALL_RIGHTS: frozenset[Right] = frozenset(get_args(Right))
Scope = Literal["datasets:read", "datasets:write", "sharing:read", "sharing:write", "connectors:write"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
Role = Literal["viewer", "member", "admin", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
Level = Literal["showcase", "read", "edit", "owner"]
"""What a person may do to a dataset: see figures of it alone, read it, change it and judge its findings, own it."""
LEVELS: tuple[Level, ...] = get_args(Level)

_OF_SCOPE: dict[Scope, frozenset[Right]] = {
    "datasets:read": frozenset({"datasets:read", "models:read", "findings:read", "chats:read", "chats:write"}),
    "datasets:write": frozenset({"datasets:write", "models:write", "models:review", "findings:write", "findings:review"}),
    "sharing:read": frozenset({"sharing:read"}),
    "sharing:write": frozenset({"sharing:write"}),
    "connectors:write": frozenset({"connectors:write"}),
}
_VIEWER: frozenset[Right] = _OF_SCOPE["datasets:read"] | _OF_SCOPE["sharing:read"]
_MEMBER: frozenset[Right] = ALL_RIGHTS - {"people:manage"}
_OF_ROLE: dict[Role, frozenset[Right]] = {
    "viewer": _VIEWER, "member": _MEMBER, "admin": ALL_RIGHTS, "owner": ALL_RIGHTS,
}
_DOING: dict[str, str] = {
    "datasets:read": "see data sets", "datasets:write": "change data sets", "models:read": "see models",
    "models:write": "train or keep models", "models:review": "validate or approve models",
    "findings:read": "see findings", "findings:write": "write findings", "findings:review": "accept or reject findings",
    "chats:read": "read chats", "chats:write": "ask questions", "sharing:read": "see with whom things are shared",
    "sharing:write": "share things or write a workspace's context", "connectors:write": "connect data",
    "people:manage": "manage people, keys of others and the audit trail",
}


@dataclass(frozen=True)
class Actor:
    """A person and their rights. ``id`` is what is stored, ``name`` what is shown."""

    id: str
    name: str
    rights: frozenset[Right]
    key: str = ""
    """The API key they came with, by its id; empty for a person at the screen."""

    def may(self, right: Right) -> bool:
        """Whether this person has the right."""
        return right in self.rights

    def need(self, right: Right) -> None:
        """Raise Denied unless this person has the right."""
        if not self.may(right):
            raise Denied(f"{self.name} may not {_DOING[right]}.", where=right, to_do="Ask who runs this installation.")


LOCAL = Actor("local", "You", ALL_RIGHTS)
"""The one person of an installation without accounts."""


def rights_of_role(role: Role) -> frozenset[Right]:
    """What a role allows at the screen."""
    return _OF_ROLE[role]


def rights_of_key(role: Role, scopes: Iterable[Scope]) -> frozenset[Right]:
    """What a key with these scopes allows to a person of this role: never to manage people."""
    allowed: frozenset[Right] = frozenset().union(*(_OF_SCOPE[scope] for scope in scopes))
    return _OF_ROLE[role] & allowed


def scopes_of(actor: Actor) -> tuple[Scope, ...]:
    """The scopes that this person could give to a key."""
    return tuple(scope for scope in SCOPES if _OF_SCOPE[scope] & actor.rights)


def at_least(level: Level | None, wanted: Level) -> bool:
    """Whether a level on a dataset suffices."""
    return level is not None and LEVELS.index(level) >= LEVELS.index(wanted)
