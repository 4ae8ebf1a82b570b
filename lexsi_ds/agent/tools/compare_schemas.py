"""Columns of two datasets side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import Json, asked

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class CompareSchemasArgs(ToolArgs):
    """The two."""

    dataset_a: str = Field(description="Id, schema.table, or exact name.")
    dataset_b: str = Field(description="Id, schema.table, or exact name.")


def _run(args: CompareSchemasArgs, ctx: AgentContext) -> ToolResult:
    within = ctx.dataset.source_id
    return asked(ctx, lambda d: d.compare_schemas(ctx.actor, args.dataset_a, args.dataset_b, within=within), _lines)


def _lines(answer: Json) -> list[str]:
    a, b = answer["a"]["name"], answer["b"]["name"]
    both = [f"{c['name']} ({c['typeA']}" + ("" if c["sameType"] else f" in A, {c['typeB']} in B") + ")" for c in answer["inBoth"]]
    only_a, only_b = ([f"{c['name']} ({c['type']})" for c in answer[side]] for side in ("onlyInA", "onlyInB"))
    return [
        f"A is {a}, B is {b}.", f"In both ({len(both)}): {', '.join(both) or 'none'}",
        f"Only in A ({len(only_a)}): {', '.join(only_a) or 'none'}", f"Only in B ({len(only_b)}): {', '.join(only_b) or 'none'}",
    ]


TOOL = FunctionTool(
    ToolSpec(
        name="compare_schemas",
        description="Compare the columns of two data sets: in both (with their types), only in A, only in B.",
        args_schema=CompareSchemasArgs,
        returns="inBoth, onlyInA, onlyInB.",
        capabilities=("discovery",),
        parallel_safe=True,
    ),
    _run,
)
