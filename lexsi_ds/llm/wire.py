"""What goes to an endpoint and what comes back, as values. No client, no network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from typing_extensions import TypedDict


class Message(TypedDict, total=False):
    """One chat message. ``tool_calls`` and ``tool_call_id`` belong to native tool calls."""

    role: str
    content: str | None
    tool_calls: list[dict[str, Any]]
    tool_call_id: str


@dataclass(frozen=True)
class ToolOffer:
    """A tool as an endpoint with native tool calls is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of its arguments."""

    def as_json(self) -> dict[str, Any]:
        """The form of the protocol."""
        told = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": told}


@dataclass(frozen=True)
class ToolUse:
    """A call that the model asked for. ``arguments`` is the text as it came, whatever it is."""

    id: str
    name: str
    arguments: str

    def args(self) -> dict[str, Any]:
        """The arguments as an object. ValueError says what is wrong with them."""
        try:
            found = json.loads(self.arguments or "{}")
        except ValueError as error:
            raise ValueError(f"The arguments of {self.name or 'the call'} are not valid JSON ({error}).") from None
        if not isinstance(found, dict):
            raise ValueError(f"The arguments of {self.name} must be one JSON object.")
        return found

    def as_json(self) -> dict[str, Any]:
        """The form of the protocol, for the message that repeats it."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments or "{}"}}


@dataclass(frozen=True)
class Reply:
    """What the endpoint said, and what it cost in tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False
    """Whether the endpoint ended it at its longest length, in the middle of whatever it said."""
    calls: tuple[ToolUse, ...] = ()
    """Native tool calls, in their order."""
    counted: bool = True
    """Whether the endpoint said the tokens; they are estimated from the letters otherwise."""


class Asks(Protocol):
    """A language model's client, whatever it speaks."""

    model: str

    @property
    def usage(self) -> dict[str, int]:
        """Tokens, requests and milliseconds since this client was made."""
        ...

    def complete(
        self,
        system: str,
        messages: list[Message],
        *,
        temperature: float = 0,
        max_tokens: int | None = None,
        within_s: float | None = None,
    ) -> Reply:
        """One reply."""
        ...
