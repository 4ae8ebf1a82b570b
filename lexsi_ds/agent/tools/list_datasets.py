"""The datasets that the person can see, of every connector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import Json, asked, counted

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class ListDatasetsArgs(ToolArgs):
    """One page of the list."""

    connector_id: str | None = Field(default=None, description="Only datasets of this connector.")
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, description="nextCursor of the page before.")


def _run(args: ListDatasetsArgs, ctx: AgentContext) -> ToolResult:
    return asked(
        ctx,
        lambda d: d.list_datasets(ctx.actor, connector_id=args.connector_id, limit=args.limit, cursor=args.cursor),
        _lines,
    )


def _lines(answer: Json) -> list[str]:
    return [counted(answer, "data sets"), *(_line(d) for d in answer["datasets"])]


def _line(dataset: Json) -> str:
    table = f" ({dataset['schemaName']}.{dataset['tableName']})" if "schemaName" in dataset else ""
    target = f", target {dataset['targetColumn']}" if dataset["targetColumn"] else ""
    return f"- {dataset['name']}{table}, version {dataset['latestVersion']}{target}: {dataset['id']}"


TOOL = FunctionTool(
    ToolSpec(
        name="list_datasets",
        description="List the data sets (tables) that the user can see, over all connectors. Not needed for questions about the "
        "active data set: inspect_data shows its tables.",
        args_schema=ListDatasetsArgs,
        returns="id, name, connectorId, schemaName, tableName, kind, status, targetColumn, latestVersion, accessLevel, "
        "updatedAt; count, total, truncated, nextCursor.",
        capabilities=("discovery",),
        parallel_safe=True,
    ),
    _run,
)
