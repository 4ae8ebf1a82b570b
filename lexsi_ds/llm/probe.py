"""Finds out what an endpoint can do: native tool calls, several at once, the JSON decision, streaming, counted tokens.

A few small requests about a made-up table; nothing of anyone's data is in them.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import Any

from lexsi_ds.errors import EndpointFailed
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.llm.wire import Message, Reply, ToolOffer

_TABLE: dict[str, Any] = {"type": "object", "properties": {"table": {"type": "string"}}, "required": ["table"]}
_TOOLS = (
    ToolOffer("list_tables", "List the tables.", {"type": "object", "properties": {}}),
    ToolOffer("count_rows", "Count the rows of one table.", _TABLE),
    ToolOffer("today", "The latest date in the data.", {"type": "object", "properties": {}}),
)
_NATIVE = (
    "You answer questions about a database by calling the tools you are given; call several at once where none needs another's "
    'result. Example: for "rows of x" call count_rows with {"table": "x"}.'
)
_JSON = (
    'Reply with a single JSON object and nothing else: {"thought": "...", "tool": "<tool_name>", "args": {...}}. '
    'Tools: list_tables (args {}), count_rows (args {"table": "..."}), today (args {}).'
)
_ASKED = 'How many rows does the table "loan" have?'
_BOTH = 'How many rows have the tables "loan" and "card"? Count both now.'
_REPLY_TOKENS = 300


@dataclass(frozen=True)
class Verdict:
    """What was seen."""

    native: bool
    """Twice the right tool with the right arguments, and its result taken up."""
    several: bool
    """Two calls in one reply."""
    json: bool
    """The JSON decision, alone or with prose around it."""
    counts: bool
    """It says how many tokens it read and wrote."""
    seconds: float
    """The quickest reply."""
    notes: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        """How tools are called at this endpoint."""
        return "native" if self.native else "json"

    def as_json(self) -> dict[str, Any]:
        """For the file that remembers it."""
        return asdict(self) | {"notes": list(self.notes)}

    @classmethod
    def of(cls, body: dict[str, Any]) -> Verdict:
        """From what ``as_json`` gave."""
        return cls(**{**body, "notes": tuple(body.get("notes", ()))})


class _Probe:
    def __init__(self, llm: LLMClient) -> None:
        self._llm = llm
        self.notes: list[str] = []
        self.times: list[float] = []
        self.counted: list[bool] = []

    def ask(self, system: str, messages: list[Message], tools: tuple[ToolOffer, ...] = ()) -> Reply | None:
        """A reply; None, with a note, when the endpoint takes no such request. A dead endpoint raises."""
        started = time.monotonic()
        try:
            reply = self._llm.complete(system, messages, tools=tools, max_tokens=_REPLY_TOKENS, purpose="probe")
        except EndpointFailed as error:
            if not self.times and not tools:
                raise
            self.notes.append(error.what)
            return None
        self.times.append(time.monotonic() - started)
        self.counted.append(reply.counted)
        return reply

    def native(self) -> bool:
        question: Message = {"role": "user", "content": _ASKED}
        tried = [self.ask(_NATIVE, [question], _TOOLS) for _ in range(2)]
        for i, seen in enumerate(tried, 1):
            if seen is None or not _right(seen):
                self.notes.append(f"native call {i} of 2: {_seen(seen)}")
                return False
        reply = tried[-1]
        assert reply is not None
        made: Message = {"role": "assistant", "content": reply.text or None, "tool_calls": [c.as_json() for c in reply.calls]}
        results: list[Message] = [{"role": "tool", "tool_call_id": c.id, "content": "682"} for c in reply.calls]
        after = self.ask(_NATIVE, [question, made, *results], _TOOLS)
        if after is None or not (after.text.strip() or after.calls):
            self.notes.append("a tool's result is not taken up")
            return False
        return True

    def several(self) -> bool:
        reply = self.ask(_NATIVE, [{"role": "user", "content": _BOTH}], _TOOLS)
        return reply is not None and len([c for c in reply.calls if c.name == "count_rows"]) >= 2

    def json(self) -> bool:
        reply = self.ask(_JSON, [{"role": "user", "content": _ASKED}])
        return reply is not None and _decided(reply.text)


def probe(llm: LLMClient) -> Verdict:
    """What this endpoint and model can do. EndpointFailed when it cannot be asked at all."""
    it = _Probe(llm)
    can_json = it.json()
    native = it.native()
    several = native and it.several()
    quickest = round(min(it.times), 3) if it.times else 0.0
    return Verdict(native, several, can_json, bool(it.counted) and all(it.counted), quickest, tuple(it.notes))


def _right(reply: Reply) -> bool:
    if not reply.calls or reply.calls[0].name != "count_rows":
        return False
    try:
        return reply.calls[0].args().get("table") == "loan"
    except ValueError:
        return False


def _seen(reply: Reply | None) -> str:
    if reply is None:
        return "refused"
    if reply.calls:
        return f"{reply.calls[0].name}({reply.calls[0].arguments[:80]})"
    return f"text: {' '.join(reply.text.split())[:80]!r}"


def _decided(text: str) -> bool:
    start = text.find("{")
    if start < 0:
        return False
    try:
        body, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return False
    return isinstance(body, dict) and body.get("tool") == "count_rows" and body.get("args", {}).get("table") == "loan"
