"""What a planner may decide: call a tool, ask the person, or answer. Nothing else exists for the loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from lexsi_ds.agent.events import RunState
from lexsi_ds.agent.tools.base import ToolSpec


@dataclass(frozen=True)
class CallTool:
    """Run this tool with these arguments."""

    tool: str
    args: dict[str, Any]
    thought: str = ""


@dataclass(frozen=True)
class CallTools:
    """Run these, together where all of them are safe to, else one after the other."""

    calls: tuple[CallTool, ...]


@dataclass(frozen=True)
class AskUser:
    """Ask back; each option is a question that will be understood."""

    question: str
    options: tuple[str, ...]
    learns: tuple[dict[str, str], ...] = ()
    """What choosing an option teaches, one for each, in their order; empty when they teach nothing."""


@dataclass(frozen=True)
class Answer:
    """End the run with this text. ``text`` None means: what ``summarize_result`` wrote."""

    text: str | None
    state: RunState = "answered"
    suggestions: tuple[str, ...] = ()
    offer: dict[str, Any] | None = None
    """What a person may finish by point and click."""


Decision = CallTool | CallTools | AskUser | Answer


@dataclass(frozen=True)
class Step:
    """One call that was made, as the planner remembers it: the payload stays out."""

    tool: str
    args: dict[str, Any]
    ok: bool
    summary: str
    refused: bool = False
    """The loop did not let it run."""
    thought: str = ""
    batch: int = 0
    """Which of the planner's decisions it came from."""


class Listener(Protocol):
    """Hears the words of a model while it writes them."""

    def begin(self, *, native: bool) -> None:
        """A new decision is asked for."""
        ...

    def take(self, piece: str) -> None:
        """A piece of the reply."""
        ...

    def again(self) -> None:
        """The reply is asked for anew."""
        ...


@dataclass
class PlanState:
    """All that a planner may look at."""

    question: str
    dataset_summary: str
    tools: tuple[ToolSpec, ...]
    steps: list[Step] = field(default_factory=list)
    force_final: bool = False
    """No step is left: only an answer will be taken."""
    context: str = ""
    """The person's own hints (``--context``), quoted as data."""
    reviewed: str = ""
    """What people said and reviewed of the data set: descriptions, accepted findings with their reviewer, workspace notes."""
    answered: list[tuple[str, str]] = field(default_factory=list)
    """What was asked back in this run, and what the person answered."""
    listener: Listener | None = None
    """Who shows an answer while it is written."""


class Planner(Protocol):
    """Chooses the next decision. One instance serves one run."""

    name: str

    def decide(self, state: PlanState) -> Decision:
        """The next decision; may raise EndpointFailed or Stopped."""
        ...

    @property
    def usage(self) -> dict[str, int]:
        """Tokens used so far; empty offline."""
        ...
