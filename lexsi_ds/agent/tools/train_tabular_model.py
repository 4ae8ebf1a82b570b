"""Train a model on rows that run_sql cached, and register it with its card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.facts import FactValue, facts_of
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.task import FeatureDef, TaskSpec

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class TrainTabularModelArgs(ToolArgs):
    """Which rows, what to predict, and how."""

    df_label: str
    target_column: str
    entity_column: str | None = Field(
        default=None, description="Found by itself when left out: the first unique column."
    )
    task_type: Literal["classification", "regression"] = "classification"
    model_name: str | None = None
    model_type: str | None = Field(
        default=None, description='"XGBoost", "Logistic", or null: the better on the same folds.'
    )
    compute_type: str | None = None
    xai_method: list[str] = Field(default_factory=list)
    sample_percentage: float | None = Field(default=None, gt=0, le=100)


def _run(args: TrainTabularModelArgs, ctx: AgentContext) -> ToolResult:
    frame = ctx.frame(args.df_label)
    if frame is None:
        return refuse(missing_label(args.df_label, ctx))
    if args.target_column not in frame.columns:
        return refuse(
            f"No column {args.target_column!r} in {args.df_label}. Columns: {', '.join(map(str, frame.columns))}."[
                :1900
            ]
        )
    entity = args.entity_column or _find_entity(frame, args.target_column)
    if entity is None or entity not in frame.columns:
        return refuse(f"No entity column: pass entity_column, one of {', '.join(map(str, frame.columns))}."[:1900])
    task = _task(args, ctx, frame, entity)
    if args.sample_percentage and args.sample_percentage < 100:
        frame = frame.sample(frac=args.sample_percentage / 100, random_state=0).sort_index()
    ref, card = ctx.engine.train(
        frame, task, model_type=args.model_type, handle=ctx.dataset, run_id=ctx.run_id, cancel=ctx.cancel, tell=ctx.tell,
        **_for_platform(args, ctx),
    )
    if ctx.models is not None:
        card = ctx.models.register(ctx.actor, ref, card, ctx.run_id, ctx.dataset)
    ctx.cache |= {
        "last_model_id": card.id,
        "last_train_tag": args.df_label,
        "last_train_df_label": args.df_label,
        "last_model_task": {"task_type": task.task_type, "target_column": task.target_column, "entity_column": entity},
        "_task": task,
        "_model_ref": ref,
        "_card": card,
        "_notes": [*ctx.cache.get("_notes", []), *card.notes],
    }
    return ToolResult(
        ok=True,
        summary=_observation(card),
        payload={"model_id": card.id, "card": card.model_dump(mode="json")},
        meta={"facts": card_facts(card)},
    )


def _task(args: TrainTabularModelArgs, ctx: AgentContext, frame: pd.DataFrame, entity: str) -> TaskSpec:
    """The task that text_to_sql stated where it fits this call; else one made from the frame's own columns."""
    task: TaskSpec | None = ctx.cache.get("_task")
    if task and (task.target_column, task.entity_column, task.task_type) == (
        args.target_column,
        entity,
        args.task_type,
    ):
        return task
    features = [c for c in map(str, frame.columns) if c not in (args.target_column, entity)]
    return TaskSpec(
        title=args.model_name or f"Prediction of {args.target_column}",
        question=str(ctx.cache.get("question", "")),
        task_type=args.task_type,
        target_column=args.target_column,
        target_label=args.target_column.replace("_", " "),
        positive_meaning=f"{args.target_column} is 1",
        entity_column=entity,
        entity_table="",
        entity_label="row",
        known_meaning=f"the {len(frame)} rows of {args.df_label}",
        unknown_meaning="the rows that are scored",
        context_sql=str(ctx.cache.get("last_sql", "")),
        predict_sql="",
        features=tuple(FeatureDef(name=c, label=c.replace("_", " "), kind=_kind(frame[c])) for c in features),
        notes=(
            "The frame carries no dates of its own: nothing proves that its columns were known before the outcome.",
        ),
    )


def _for_platform(args: TrainTabularModelArgs, ctx: AgentContext) -> dict[str, Any]:
    """What only the Lexsi engine can use; the local one computes here and explains without preparation."""
    if getattr(ctx.engine, "name", "local") != "lexsi":
        return {}
    return {"compute_type": args.compute_type, "xai_method": tuple(args.xai_method)}


def _kind(series: Any) -> Literal["numeric", "categorical", "boolean"]:
    if pd.api.types.is_bool_dtype(series):
        return "boolean"
    return "numeric" if pd.api.types.is_numeric_dtype(series) else "categorical"


def _find_entity(frame: pd.DataFrame, target: str) -> str | None:
    for name in map(str, frame.columns):
        series = frame[name]
        if (
            name != target
            and series.is_unique
            and (pd.api.types.is_integer_dtype(series) or series.dtype.kind not in "fMmb")
        ):
            return name
    return None


def missing_label(label: str, ctx: AgentContext) -> str:
    """What to say when no frame is cached under a label."""
    known = sorted(k.removeprefix("sql_result:") for k in ctx.cache if k.startswith("sql_result:"))
    have = f"Cached labels: {', '.join(known)}." if known else "Nothing is cached yet."
    return f"No result is cached under the label {label!r}. {have} Run run_sql with label={label!r} first."


def card_facts(card: ModelCard) -> dict[str, FactValue]:
    """The numbers of a card that a narrative may cite."""
    facts: dict[str, FactValue] = {
        "train.rows": card.rows,
        "train.positives": card.positives,
        "train.share": card.positives / max(card.rows, 1),
        "train.features": len(card.features),
        "train.left_out": len(card.left_out),
        "folds": card.folds,
        "repeats": card.repeats,
        "interval": 95,
    }
    for candidate in card.candidates:
        facts |= facts_of(candidate.model_type, candidate.metrics.model_dump())
    facts |= facts_of("auc_difference", card.auc_difference.model_dump())
    return facts | facts_of("note", [*card.warnings, card.why_chosen])


def _observation(card: ModelCard) -> str:
    lines = [
        f"Trained {card.name} ({card.model_type}) on {card.rows} rows, {card.positives} positive, "
        f"{len(card.features)} features. model_id={card.id}"
    ]
    for candidate in card.candidates:
        auc = candidate.main
        mark = " (chosen)" if candidate.chosen else ""
        lines.append(
            f"- {candidate.model_type}{mark}: out-of-fold {candidate.main_name} {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})"
        )
    lines += [card.why_chosen, *[f"Warning: {w}" for w in card.warnings]]
    lines.append("Next: predict on the rows to score.")
    return "\n".join(lines)[:1990]


TOOL = FunctionTool(
    ToolSpec(
        name="train_tabular_model",
        description=(
            "Train a tabular model on a result that run_sql cached under df_label. XGBoost and a logistic baseline are trained on "
            "the same stratified folds; the better one is used unless model_type names one. Columns that leak the target, are "
            "constant, identify a row or are protected are left out with the reason."
        ),
        args_schema=TrainTabularModelArgs,
        returns="Model id, out-of-fold AUC with its interval beside the baseline's, warnings.",
        capabilities=("modeling",),
        cost_class="training",
        requires=("sql_result:<label>",),
        produces=("last_model_id", "last_model_task", "last_train_tag", "last_train_df_label"),
    ),
    _run,
)
