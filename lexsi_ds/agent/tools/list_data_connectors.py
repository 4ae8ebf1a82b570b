"""The data connectors that the person can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import Json, asked, counted

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class ListDataConnectorsArgs(ToolArgs):
    """One page of the list."""

    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, description="nextCursor of the page before.")


def _run(args: ListDataConnectorsArgs, ctx: AgentContext) -> ToolResult:
    return asked(ctx, lambda d: d.list_data_connectors(ctx.actor, limit=args.limit, cursor=args.cursor), _lines)


def _lines(answer: Json) -> list[str]:
    return [counted(answer, "data connectors"), *(_line(c) for c in answer["connectors"])]


def _line(connector: Json) -> str:
    state = f", {connector['deleteStatus']}" if "deleteStatus" in connector else ""
    return f"- {connector['displayName']} ({connector['kind']}, {connector['accessLevel']}{state}): {connector['id']}"


TOOL = FunctionTool(
    ToolSpec(
        name="list_data_connectors",
        description="List the data connectors (databases, uploads, buckets) that the user can see. Not needed for questions "
        "about the active data set.",
        args_schema=ListDataConnectorsArgs,
        returns="id, displayName, kind, accessLevel, database, createdAt, updatedAt; count, total, truncated, nextCursor.",
        capabilities=("discovery",),
        parallel_safe=True,
    ),
    _run,
)
