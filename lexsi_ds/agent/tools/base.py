"""The tool contract. A tool has two channels: ``summary`` is all that a planner ever sees, ``payload`` is for the screen
and for later tools and never enters a prompt. Adding a tool is a file with ``TOOL`` and a line in ``REGISTRY``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

SUMMARY_CAP = 2_000
CostClass = Literal["cheap", "query", "training", "llm"]


@dataclass(frozen=True)
class ToolSpec:
    """What a planner is told of a tool, and what the loop and the router need to know."""

    name: str
    description: str
    args_schema: type[BaseModel]
    returns: str
    capabilities: tuple[str, ...] = ()
    cost_class: CostClass = "cheap"
    requires: tuple[str, ...] = ()
    """Cache keys that must exist before it can run."""
    produces: tuple[str, ...] = ()
    parallel_safe: bool = False
    summary_cap: int = SUMMARY_CAP
    """Most characters of ``summary``."""
    budget: int | None = None
    """Most calls that may succeed in one run; a spent budget takes the tool out of the offer. None: no end of its own."""


@dataclass
class ToolResult:
    """What a call gave. ``meta["facts"]`` holds the computed numbers that a narrative may cite, ``meta["shown"]`` what a screen and
    the store get in the place of a summary that is very long."""

    ok: bool
    summary: str
    payload: Any = None
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


class Tool(Protocol):
    """A named thing a planner can do."""

    @property
    def spec(self) -> ToolSpec:
        """What it is."""
        ...

    def run(self, args: BaseModel, ctx: AgentContext) -> ToolResult:
        """Do it. A person's mistake is ``ok=False`` with a summary that says what to do; never an exception."""
        ...


@dataclass(frozen=True)
class FunctionTool:
    """A tool made of its spec and one function ``(args, ctx) -> ToolResult``."""

    spec: ToolSpec
    function: Callable[[Any, AgentContext], ToolResult]

    def run(self, args: BaseModel, ctx: AgentContext) -> ToolResult:
        """Run the function; what it refuses comes back as ``ok=False``."""
        return self.function(args, ctx)


class ToolArgs(BaseModel):
    """Base of argument schemas: unknown arguments are refused by name."""

    model_config = ConfigDict(extra="forbid")


def refuse(summary: str, **meta: Any) -> ToolResult:
    """A call that could not be done, with what to do instead."""
    return ToolResult(ok=False, summary=summary, error=summary, meta=meta)
