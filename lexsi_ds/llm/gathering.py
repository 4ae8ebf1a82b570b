"""A reply put together from the pieces of a stream, or read whole from an endpoint that does not stream.

Deltas of tool calls come by index, several calls mixed, names and arguments split anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from lexsi_ds.llm.wire import Reply, ToolUse

OnText = Callable[[str], None]


class BrokeOff(Exception):
    """The stream ended before the reply did."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Gathered:
    """What has come so far."""

    text: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    finish: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted: bool = False
    chosen: bool = False
    """Whether any choice came."""

    def take(self, chunk: Any, on_text: OnText | None = None) -> None:
        """One chunk of a stream."""
        self._usage(getattr(chunk, "usage", None))
        for choice in getattr(chunk, "choices", None) or ():
            self.chosen = True
            delta = getattr(choice, "delta", None) or getattr(choice, "message", None)
            piece = getattr(delta, "content", None)
            if isinstance(piece, str) and piece:
                self.text.append(piece)
                if on_text is not None:
                    on_text(piece)
            for place, part in enumerate(getattr(delta, "tool_calls", None) or ()):
                self._part(part, place)
            self.finish = getattr(choice, "finish_reason", None) or self.finish

    def _part(self, part: Any, place: int) -> None:
        index = getattr(part, "index", None)
        function = getattr(part, "function", None)
        said_id, name = getattr(part, "id", None) or "", getattr(function, "name", None) or ""
        if not isinstance(index, int):  # some endpoints leave it out: an id begins a new call, none continues the last
            index = place if place not in self.calls else max(self.calls) + (1 if said_id and name else 0)
        call = self.calls.setdefault(index, _Call())
        call.id = call.id or said_id
        if name and name != call.name:  # sent once, in pieces, or again with every delta
            call.name = name if name.startswith(call.name) and call.name else call.name + name
        call.arguments += _text_of(getattr(function, "arguments", None))

    def _usage(self, usage: Any) -> None:
        prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        if isinstance(prompt, int) and isinstance(completion, int):
            self.prompt_tokens, self.completion_tokens, self.counted = prompt, completion, True

    def reply(self) -> Reply:
        """The whole reply."""
        calls = tuple(
            ToolUse(call.id or f"call_{index}", call.name, call.arguments) for index, call in sorted(self.calls.items())
        )
        return Reply(
            "".join(self.text), self.prompt_tokens, self.completion_tokens, self.finish == "length", calls, self.counted
        )


def gathered(chunks: Iterable[Any], on_text: OnText | None = None) -> Gathered:
    """All chunks of a stream. BrokeOff when it ends without saying that the reply is over."""
    found = Gathered()
    for chunk in chunks:
        found.take(chunk, on_text)
    if found.finish is None:
        raise BrokeOff
    return found


def _text_of(arguments: Any) -> str:
    """Arguments as text: some endpoints send the object itself."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
