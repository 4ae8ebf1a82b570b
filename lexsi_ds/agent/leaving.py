"""What a planner may be told of a result: nothing of a masked column, and where a person says so only aggregates.

A sum, a mean or a count over many rows is an aggregate; a row, an id, a value that few rows have, a case's explanation is not.
Must never: let a summary of row-level results through because its tool is unknown here.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.tools.base import ToolResult
from lexsi_ds.errors import LexsiError
from lexsi_ds.services.masking import masked_columns

FEWEST = 5
"""Rows behind a figure or a value below which it is about someone rather than about many."""
_WRITTEN = "The narrative is written and will be shown as it stands: end the run now."
_SAFE = ("inspect_data", "query_kg", "train_tabular_model", "list_data_connectors", "list_datasets", "connect_datalake",
         "describe_dataset", "compare_schemas", "list_documents", "read_document", "text_to_sql")  # fmt: skip
"""Tools whose summaries hold names, types, counts and what people wrote, and no cell of a table."""


def what_leaves(tool: str, result: ToolResult, ctx: AgentContext) -> str:
    """The summary that the planner gets."""
    if tool == "run_sql" and result.ok and masked_columns(str(ctx.cache.get("last_sql", "")), ctx.dataset):
        ctx.cache["_masked_touched"] = True
    if tool == "summarize_result" and result.ok and ctx.cache.get("_masked_touched"):
        return _WRITTEN
    if not ctx.aggregates_only or not result.ok or tool in _SAFE:
        return result.summary
    if tool == "run_sql":
        return result.summary if is_aggregate(str(ctx.cache.get("last_sql", "")), ctx) else _shape(result.payload)
    if tool == "sample_values":
        return _common(result.payload)
    if tool == "predict":
        meta = result.meta.get("frame", {})
        return (
            f"{meta.get('rows')} rows scored, {meta.get('ranked')} ranked. Rows stay here: only aggregates are sent. "
            "Next: explain_prediction, then summarize_result."
        )
    if tool == "explain_prediction":
        return "The cases were explained. Their figures stay here: only aggregates are sent. Next: summarize_result."
    if tool == "summarize_result":
        return _WRITTEN
    return f"{tool} worked. What it found stays here: only aggregates are sent."


def is_aggregate(sql: str, ctx: AgentContext) -> bool:
    """Whether each row of a query's result is a figure over at least ``FEWEST`` rows, none of them a row's own value."""
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError:
        return False
    figures = [e for e in tree.expressions if e.find(exp.AggFunc)] if isinstance(tree, exp.Select) else []
    if not isinstance(tree, exp.Select) or not figures or any(map(_single, figures)) or tree.args.get("qualify"):
        return False
    keys = [e for e in tree.expressions if not e.find(exp.AggFunc)]
    grouped = tree.args.get("group")
    if keys and grouped is None:
        return False
    counted = tree.copy()
    for part in ("order", "limit", "offset", "having", "distinct"):
        counted.set(part, None)
    extra = [k.this.copy() if isinstance(k, exp.Alias) else k.copy() for k in keys]
    counted.set("expressions", [exp.alias_(exp.Count(this=exp.Star()), "rows_behind"), *extra])
    if grouped is not None:
        counted.set("group", exp.Group(expressions=[k.copy() for k in extra]) if extra else None)
    try:
        least = ctx.query(f"SELECT min(rows_behind) AS n FROM ({counted.sql(dialect='duckdb')}) AS behind").iloc[0, 0]
    except LexsiError:
        return False
    return least is not None and not pd.isna(least) and int(least) >= FEWEST


def _single(figure: exp.Expr) -> bool:
    """Whether an aggregate may give back a row's own value: all but counts, sums and means of them."""
    allowed = (exp.Count, exp.Sum, exp.Avg, exp.Stddev, exp.StddevSamp, exp.Variance, exp.Corr, exp.Median, exp.CountIf)
    found = list(figure.find_all(exp.AggFunc))
    odd = figure.find(exp.Window, exp.Anonymous, exp.AnonymousAggFunc)
    return odd is not None or not all(isinstance(f, allowed) for f in found)


def _shape(payload: Any) -> str:
    if not isinstance(payload, pd.DataFrame):
        return "The query ran. Its rows stay here: only aggregates are sent."
    lines = [f"{len(payload)} rows x {len(payload.columns)} columns. Rows stay here: only aggregates are sent."]
    for name in payload.columns[:30]:
        column: Any = payload[name]
        known = f"{int(column.notna().sum())} values"
        if pd.api.types.is_numeric_dtype(column) and column.notna().sum() >= FEWEST:
            known += f", mean {float(column.mean()):.6g}"
        lines.append(f"- {name}: {known}")
    return "\n".join(lines)[:1900]


def _common(payload: Any) -> str:
    many = [v for v in payload["values"] if v["count"] >= FEWEST]
    listing = ", ".join(f"{v['value'][:60]!r} ({v['count']})" for v in many)
    said = f"{payload['table']}.{payload['column']}: {payload['distinct']} distinct values"
    return f"{said}; those of at least {FEWEST} rows: {listing or 'none'}"[:1900]
