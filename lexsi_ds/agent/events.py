"""What a run says while it goes: typed events that UI, SSE, MCP, CLI, saved chats and tests all read.

A saved turn replays to the same screen from these alone, so nothing that a screen needs may live elsewhere.
``run_id``, ``seq`` and ``ts`` are added by whoever stores the event.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

RunState = Literal[
    "answered",
    "needs_clarification",
    "cannot_answer",
    "refused",
    "failed",
    "stopped",
    "limit_reached",
    "interrupted",
]


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str = ""
    seq: int = 0
    ts: float = 0.0


class Thinking(_Event):
    """The planner is choosing the next step."""

    type: Literal["thinking"] = "thinking"
    text: str = ""


class ToolCalled(_Event):
    """A tool starts. ``argument`` is the one that a person would look at first."""

    type: Literal["tool"] = "tool"
    call_id: str
    name: str
    argument: str = ""
    args: dict[str, Any] = Field(default_factory=dict)


class Progress(_Event):
    """How far the tool at work is."""

    type: Literal["progress"] = "progress"
    call_id: str
    done: float
    total: float
    text: str = ""


class ToolReturned(_Event):
    """A tool ended. What it made is in artifacts, by id; ``meta`` holds ``seconds``, ``error`` and small facts for the screen."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str = ""
    ok: bool
    summary: str
    artifact_ids: list[str] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)


class Delta(_Event):
    """A piece of the answer's text."""

    type: Literal["delta"] = "delta"
    text: str


class Ask(_Event):
    """The run asks back; each option is a question that will be understood."""

    type: Literal["ask"] = "ask"
    question: str
    options: list[str] = Field(default_factory=list)
    learns: list[dict[str, str]] = Field(default_factory=list)
    """What choosing an option teaches, one for each: ``words``, and the table, column, value or metric that they mean."""


class Failed(_Event):
    """Something went wrong; ``phase`` says where: planner, tool name, worker, store."""

    type: Literal["error"] = "error"
    message: str
    phase: str = ""


class Done(_Event):
    """The last event, exactly once."""

    type: Literal["done"] = "done"
    state: RunState
    answer: str | None = None
    reading: str | None = None
    """The reading taken, in one line."""
    caveats: list[str] = Field(default_factory=list)
    suggestions: list[str] = Field(default_factory=list)
    """Follow-up questions that will be understood."""
    removed: list[str] = Field(default_factory=list)
    """Sentences taken out of the narrative because a number was not in the facts."""
    sources: list[str] = Field(default_factory=list)
    offer: dict[str, Any] | None = None
    """What can be finished by point and click: ``{"kind": "query", "logical", "words"}`` where words were not understood,
    ``{"kind": "task"}`` where the task that text_to_sql stated waits for a person."""
    tool_calls: int = 0
    usage: dict[str, int] = Field(default_factory=dict)
    cost: float | None = None
    """What the model's tokens cost by the person's price table; None without a price."""
    graph: dict[str, Any] | None = None
    """How the answer was made (`services.result_graph.ResultGraph`): read from the run by the door that sends it, never stored."""


Event = Annotated[
    Thinking | ToolCalled | Progress | ToolReturned | Delta | Ask | Failed | Done,
    Field(discriminator="type"),
]
_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)


def parse(body: dict[str, Any]) -> Event:
    """An event from its stored or sent JSON object."""
    return _ADAPTER.validate_python(body)
