"""Run one guarded SELECT on the active data set. The frame is whole; only what is shown to the planner is cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from lexsi_ds.agent.tools.base import SUMMARY_CAP, FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.facts import facts_of
from lexsi_ds.services.masking import masked_columns

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

PREVIEW_ROWS = 20


class RunSqlArgs(ToolArgs):
    """The query, and a label under which later tools find its rows."""

    sql: str
    label: str | None = None


def full_sql(sql: str, ctx: AgentContext) -> str:
    """The text to run: the names ``context_sql`` and ``predict_sql`` stand for what text_to_sql wrote in this run."""
    task = ctx.cache.get("_task")
    name = sql.strip().casefold()
    if task is not None and name in ("context_sql", "predict_sql"):
        return task.context_sql if name == "context_sql" else task.predict_sql
    return sql


def _run(args: RunSqlArgs, ctx: AgentContext) -> ToolResult:
    if args.label is not None and not re.fullmatch(r"\w{1,60}", args.label):
        return refuse("label must be 1 to 60 letters, digits or underscores.")
    number = ctx.cache.get("_sql_runs", 0) + 1
    ctx.cache["_sql_runs"] = number
    sql = full_sql(args.sql, ctx)
    result = ctx.run_sql(sql, f"sql_{number}")
    frame = result.frame()
    ctx.cache["last_sql_result"] = frame
    ctx.cache["last_sql"] = sql
    ctx.cache["_last_path"] = result.path
    if args.label:
        ctx.cache[f"sql_result:{args.label}"] = frame
        ctx.cache[f"_path:{args.label}"] = result.path
    reading = ctx.cache.get("_readings", {}).get(sql)
    shown = {
        "sql": sql,
        "label": args.label,
        "row_count": result.row_count,
        "seconds": result.seconds,
        "columns": [{"name": c.name, "type": c.type} for c in result.columns],
    }
    ctx.cache["_last_columns"] = shown["columns"]
    if reading is not None:
        shown |= reading.model_dump(mode="json", include={"reading", "value_column", "group_columns", "chart", "unit"})
        ctx.cache["_last_reading"] = reading
    facts = {"row_count": result.row_count} | facts_of("row", frame.head(PREVIEW_ROWS).to_dict("records"))
    return ToolResult(
        ok=True,
        summary=_observation(frame, result.row_count, ctx),
        payload=frame,
        meta={"facts": facts, "path": result.path, "frame": shown},
    )


def _observation(frame: pd.DataFrame, rows: int, ctx: AgentContext) -> str:
    head = f"{rows} rows x {len(frame.columns)} columns"
    if not rows:
        return (
            head
            + ". No row matches: if that is unexpected, look at the values with sample_values and write the SQL again."
        )
    if masked := masked_columns(ctx.cache["last_sql"], ctx.dataset):
        return f"{head}; columns: {', '.join(map(str, frame.columns))}. No preview: {', '.join(masked)} identifies persons."[
            :SUMMARY_CAP
        ]
    preview = frame.head(PREVIEW_ROWS)
    room = SUMMARY_CAP - len(head) - 60
    for count in range(len(preview), 0, -1):
        text = preview.head(count).to_csv(index=False, sep="|", float_format="%.6g")
        if len(text) <= room:
            return f"{head}; first {count}:\n{text}".rstrip()
    return f"{head}; columns: {', '.join(map(str, frame.columns))}"[: SUMMARY_CAP - 40] + " (rows too wide to preview)"


TOOL = FunctionTool(
    ToolSpec(
        name="run_sql",
        description=(
            "Execute one DuckDB SELECT against the active data set and keep the result. With a label the rows are cached under "
            "that name for train_tabular_model, predict and summarize_result: the label is a cache key, not a table, and cannot "
            "be used in SQL. Inline SQL is for trivial single-table queries; SQL with joins, conditional aggregates or "
            "string filters comes from text_to_sql."
        ),
        args_schema=RunSqlArgs,
        returns="Row count, column count, and a preview of at most 20 rows.",
        capabilities=("retrieval",),
        cost_class="query",
        produces=("last_sql_result", "last_sql", "sql_result:<label>"),
    ),
    _run,
)
