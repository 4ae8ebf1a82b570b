"""Rows of a connected source, made ready for a model that exists: the step before ``predict`` when no query fetched them.

``predict`` keeps its contract (rows cached under a label, a model id); this puts a file's rows there. Must never: open a path
that a planner names: only sources that the person connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.errors import LexsiError

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext

LABEL = "score_df"


class ReadRowsToScoreArgs(ToolArgs):
    """Which model, and whose rows."""

    model_id: str = Field(description="Id or name of a trained model, such as XGBoost_v1.")
    source: str | None = Field(default=None, description="Id or name of a connected source; the active one when left out.")
    table: str | None = None
    fill_missing: bool = Field(default=False, description="Count absent columns and unreadable values as missing values.")
    label: str = LABEL


def _run(args: ReadRowsToScoreArgs, ctx: AgentContext) -> ToolResult:
    if ctx.scoring is None:
        return refuse("No model can be used here.")
    try:
        handle = ctx.scoring.named(ctx.actor, args.source) if args.source else ctx.dataset
        ref, card = ctx.scoring.model(ctx.actor, args.model_id)
        name, rows, notes = ctx.scoring.prepared(handle, card, args.table, fill_missing=args.fill_missing, cancel=ctx.cancel)
    except LexsiError as error:
        return refuse(str(error))
    ctx.cache |= {
        f"sql_result:{args.label}": rows, "last_model_id": card.id, "_model_ref": ref, "_card": card, "_task": card.task,
        "_notes": [*ctx.cache.get("_notes", []), *notes],
    }
    said = [f"{len(rows)} rows of {handle.name} ({name}) are cached under {args.label}, with the columns of {card.name}.", *notes]
    said.append(f"Next: predict with df_label={args.label!r} and model_id={card.id!r}.")
    return ToolResult(
        ok=True, summary="\n".join(said)[:1990],
        payload={"model_id": card.id, "source_id": handle.source_id, "table": name, "rows": len(rows), "notes": list(notes)},
        meta={"facts": {"score.rows": len(rows)}},
    )


TOOL = FunctionTool(
    ToolSpec(
        name="read_rows_to_score",
        description=(
            "Fetch rows of a connected source for a model that was trained before, and cache them under a label for predict. "
            "Columns are matched with those that the model learned from; what is missing, new or of another kind is said, and "
            "refused unless fill_missing is set. Use it when a person asks to score a file with an existing model."
        ),
        args_schema=ReadRowsToScoreArgs,
        returns="Row count, and what was found of the columns.",
        capabilities=("modeling",),
        cost_class="query",
        produces=("sql_result:<label>", "last_model_id"),
    ),
    _run,
)
