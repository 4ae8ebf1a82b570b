"""What a tool of the MCP server is: a name, two schemas, the rights it needs, hints for clients, and one function.

Must never: be more than a translation of a service's method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from lexsi_ds.application import Application
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor

Json = dict[str, Any]
Tell = Callable[[dict[str, Any]], None]
OURS = "Ours, not of the reference. "
UNTRUSTED = "io.lexsi/untrustedText"


class Arguments(BaseModel):
    """Base of arguments, camelCase on the wire; unknown ones are refused by name."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True, str_max_length=20_000)


class Answer(BaseModel):
    """Base of answers, for their schema; what a service adds later is no error."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel)


class Page(Arguments):
    """Arguments of a list."""

    limit: int | None = Field(default=None, ge=1, le=200, description="Most items of this page; 50 by default.")
    cursor: str | None = Field(default=None, max_length=2_000, description="nextCursor of the page before.")


class Paged(Answer):
    """What every list says beside its items."""

    count: int = Field(description="Items of this page.")
    total: int = Field(description="Items of the whole list.")
    truncated: bool = Field(description="Whether there are more pages.")
    next_cursor: str | None = Field(default=None, description="Give it as cursor for the next page.")


@dataclass(frozen=True)
class Call:
    """One call: who asks, with which arguments, through which client."""

    app: Application
    actor: Actor
    arguments: Any
    given: Json
    """The arguments as they were passed, for what depends on which were."""
    cancel: Cancel
    tell: Tell
    via: str


@dataclass(frozen=True)
class ServerTool:
    """A tool. ``needs`` are rights: without one of them it is not in the list."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[Answer]
    needs: tuple[str, ...]
    run: Callable[[Call], Json]
    reads_only: bool = True
    destroys: bool = False
    idempotent: bool = True
    open_world: bool = False
    ours: bool = False

    def seen_by(self, actor: Actor) -> bool:
        """Whether this person has the rights."""
        return not self.lacking(actor)

    def lacking(self, actor: Actor) -> list[str]:
        """The rights that are missing."""
        return [right for right in self.needs if right not in actor.rights]

    def listed(self) -> Tool:
        """As clients get it."""
        return Tool(
            name=self.name, title=self.title, description=(OURS if self.ours else "") + self.description,
            input_schema=self.arguments.model_json_schema(by_alias=True),
            output_schema=self.answer.model_json_schema(by_alias=True, mode="serialization"),
            annotations=ToolAnnotations(
                title=self.title, read_only_hint=self.reads_only, destructive_hint=self.destroys,
                idempotent_hint=self.idempotent, open_world_hint=self.open_world,
            ),
            _meta={UNTRUSTED: True} | ({"io.lexsi/ours": True} if self.ours else {}),
        )
