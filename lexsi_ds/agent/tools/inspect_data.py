"""Schema of the active data set as Markdown, cut between tables only, so that a planner always sees whole column lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.data.handle import Column, Table

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

_SCHEMA_BUDGET_CHARS = 10_000


class InspectDataArgs(ToolArgs):
    """Which tables; all when left out."""

    table_filter: list[str] | None = None


def _run(args: InspectDataArgs, ctx: AgentContext) -> ToolResult:
    tables = ctx.dataset.tables
    if args.table_filter is not None:
        unknown = [name for name in args.table_filter if ctx.dataset.table(name) is None]
        if unknown:
            return refuse(f"No table named {', '.join(unknown)}. Tables: {', '.join(t.name for t in tables)}.")
        tables = tuple(t for name in args.table_filter if (t := ctx.dataset.table(name)) is not None)
    return ToolResult(
        ok=True,
        summary=_markdown(tables, ctx),
        payload={"tables": [_table_json(t) for t in tables]},
        meta={"facts": {f"rows.{t.name}": t.rows for t in tables} | {"tables": len(tables)}},
    )


def _markdown(tables: tuple[Table, ...], ctx: AgentContext) -> str:
    pointer = (
        ""
        if not ctx.knowledge.model.tables
        else (
            "\n\nA knowledge graph is attached: call query_kg with the full question before SQL on an ambiguous noun."
        )
    )
    head, parts, left = f"Data set {ctx.dataset.name}", [], _SCHEMA_BUDGET_CHARS - len(pointer) - 200
    for i, table in enumerate(tables):
        block = f"\n\n### {table.name} ({table.rows} rows)\n" + "\n".join(_line(c) for c in table.columns)
        if len(block) > left:
            names = ", ".join(t.name for t in tables[i:])
            parts.append(f"\n\nLeft out for length: {names}"[:180] + ". Ask again with table_filter.")
            break
        parts.append(block)
        left -= len(block)
    return head + "".join(parts) + pointer


def _line(column: Column) -> str:
    comment = f": {column.comment}" if column.comment else ""
    return f"- {column.name} {column.type}{comment}"


def _table_json(table: Table) -> dict[str, Any]:
    columns = [{"name": c.name, "type": c.type, "comment": c.comment} for c in table.columns]
    return {"name": table.name, "rows": table.rows, "columns": columns}


TOOL = FunctionTool(
    ToolSpec(
        name="inspect_data",
        description=(
            "Return the schema (tables, columns, types, comments) of the active data set as Markdown. Cheap and without side "
            "effects. Use it on an unfamiliar data set, or to be reminded which columns exist."
        ),
        args_schema=InspectDataArgs,
        returns="Markdown schema.",
        capabilities=("discovery",),
        produces=(),
        parallel_safe=True,
        summary_cap=_SCHEMA_BUDGET_CHARS,
    ),
    _run,
)
