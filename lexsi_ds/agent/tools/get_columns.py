"""The columns of one dataset with their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec
from lexsi_ds.agent.tools.catalog_reading import Json, asked, plain

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_TOP = 3
_SAID = {
    "nullCount": "missing", "uniqueCount": "distinct", "min": "from", "max": "to", "mean": "mean", "median": "median",
}  # fmt: skip


class GetColumnsArgs(ToolArgs):
    """Which dataset."""

    dataset: str = Field(description="Its id, schema.table, or exact name; tables of the active data set come first.")


def _run(args: GetColumnsArgs, ctx: AgentContext) -> ToolResult:
    within = ctx.dataset.source_id
    result = asked(ctx, lambda d: d.get_columns(ctx.actor, args.dataset, within=within), _lines)
    if result.ok:
        result.meta["facts"] = {
            f"{name}.{column['name']}": column[name]
            for column in result.payload["columns"] for name in ("nullCount", "uniqueCount", "min", "max", "mean", "median")
            if isinstance(column.get(name), int | float)
        } | {"rows": result.payload["totalRows"]}
    return result


def _lines(answer: Json) -> list[str]:
    head = f"{answer['name']}: {answer['totalRows']} rows, {answer['totalColumns']} columns ({answer['component']})."
    return [head, *(_line(column) for column in answer["columns"])]


def _line(column: Json) -> str:
    if column["masked"]:
        return f"- {column['name']} {column['dtype']}: masked"
    parts = [f"{word} {plain(column[key])}" for key, word in _SAID.items() if key in column]
    top = ", ".join(f"{t['value'][:30]} ({t['count']})" for t in column.get("topValues", ())[:_TOP])
    return f"- {column['name']} {column['dtype']}: {', '.join(parts)}" + (f"; mostly {top}" if top else "")


TOOL = FunctionTool(
    ToolSpec(
        name="get_columns",
        description="Columns of one data set with statistics over all rows: type, missing and distinct counts, smallest, largest, "
        "mean, quantiles, most frequent values. Use it for the shape of the data; use SQL for any question with a condition.",
        args_schema=GetColumnsArgs,
        returns="columns: name, dtype, count, nullCount, uniqueCount, min, max, mean, std, q1, median, q3, topValues; names "
        "alone where statistics cannot be computed.",
        capabilities=("discovery", "statistics"),
        cost_class="query",
        parallel_safe=True,
    ),
    _run,
)
