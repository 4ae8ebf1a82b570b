"""Train a model on rows that run_sql cached, and register it with its card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.data.handle import Column
from lexsi_ds.facts import FactValue, facts_of
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frame_task import Wanted, task_of_frame
from lexsi_ds.models.task import TaskSpec

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
        default=None,
        description='"XGBoost", "LightGBM", "EBM", "Logistic", "Linear", "TabPFN", "TabICL", or null: compared on the same folds.',
    )
    compute_type: str | None = None
    xai_method: list[str] = Field(default_factory=list)
    sample_percentage: float | None = Field(default=None, gt=0, le=100)


def _run(args: TrainTabularModelArgs, ctx: AgentContext) -> ToolResult:
    frame = ctx.rows(args.df_label)
    if frame is None:
        return refuse(missing_label(args.df_label, ctx))
    if args.target_column not in frame.columns:
        return refuse(
            f"No column {args.target_column!r} in {args.df_label}. Columns: {', '.join(map(str, frame.columns))}."[
                :1900
            ]
        )
    if args.entity_column is not None and args.entity_column not in frame.columns:
        return refuse(
            f"No column {args.entity_column!r} in {args.df_label}. Columns: {', '.join(map(str, frame.columns))}."[
                :1900
            ]
        )
    if args.sample_percentage and args.sample_percentage < 100:
        frame = frame.sample(frac=args.sample_percentage / 100, random_state=0).sort_index()
    task, frame = _task(args, ctx, frame)
    entity = task.entity_column
    ref, card = ctx.engine.train(
        _with_protected(frame, task, ctx),
        task,
        model_type=args.model_type,
        handle=ctx.dataset,
        run_id=ctx.run_id,
        cancel=ctx.cancel,
        tell=ctx.tell,
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


def _task(args: TrainTabularModelArgs, ctx: AgentContext, frame: pd.DataFrame) -> tuple[TaskSpec, pd.DataFrame]:
    """The task that text_to_sql stated where it fits this call; else one made from the frame's own columns, with the
    marks that the source's columns of these names carry."""
    stated: TaskSpec | None = ctx.cache.get("_task")
    if stated and (stated.target_column, stated.task_type) == (args.target_column, args.task_type):
        named = args.entity_column in (None, stated.entity_column)
        if named and {stated.entity_column, *(f.name for f in stated.features)} <= set(map(str, frame.columns)):
            return stated, frame
    wanted = Wanted(
        target=args.target_column, entity=args.entity_column, task_type=args.task_type, title=args.model_name or "",
        question=str(ctx.cache.get("question", "")), label=args.df_label, sql=str(ctx.cache.get("last_sql", "")),
    )  # fmt: skip
    found = task_of_frame(frame, wanted, _marks(ctx))
    return found.task, found.frame


def _with_protected(frame: pd.DataFrame, task: TaskSpec, ctx: AgentContext) -> pd.DataFrame:
    """The rows with their protected columns, for the comparison of groups by a local model; the cached rows stay without."""
    if not task.guarded_sql or getattr(ctx.engine, "name", "local") == "lexsi":
        return frame
    beside = ctx.query(task.guarded_sql).drop_duplicates(task.entity_column)
    new = [task.entity_column, *(c for c in beside.columns if c not in frame.columns)]
    return frame.merge(beside[new], on=task.entity_column, how="left", validate="many_to_one")


def _for_platform(args: TrainTabularModelArgs, ctx: AgentContext) -> dict[str, Any]:
    """What only the Lexsi engine can use; the local one computes here and explains without preparation."""
    if getattr(ctx.engine, "name", "local") != "lexsi":
        return {}
    return {"compute_type": args.compute_type, "xai_method": tuple(args.xai_method)}


def _marks(ctx: AgentContext) -> dict[str, Column]:
    """Columns of the source that are protected or masked anywhere, by lower-cased name."""
    every = (column for table in ctx.dataset.tables for column in table.columns)
    return {column.name.casefold(): column for column in every if column.protected or column.masked}


def missing_label(label: str, ctx: AgentContext) -> str:
    """What to say when no frame is cached under a label."""
    known = sorted(k.removeprefix("sql_result:") for k in ctx.cache if k.startswith("sql_result:"))
    have = f"Cached labels: {', '.join(known)}." if known else "Nothing is cached yet."
    if earlier := ctx.session.at_hand(ctx.dataset.snapshot_id):
        have += f" Of earlier turns: {', '.join(v.name for v in earlier[-8:])}."
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
    for comparison in card.comparisons:
        facts |= facts_of(f"difference.{comparison.other}", comparison.difference.model_dump())
    facts |= facts_of("auc_difference", card.auc_difference.model_dump())
    for count in card.class_counts:
        facts[f"class.{count.name}"] = count.rows
    if card.conformal is not None:
        facts |= facts_of("conformal", card.conformal.model_dump())
    return facts | facts_of("note", [*card.headlines, *card.warnings, card.why_chosen, card.calibration.sentence])


def _observation(card: ModelCard) -> str:
    lines = [
        f"Trained {card.name} ({card.model_type}) on {card.rows} rows{_counts(card)}, "
        f"{len(card.features)} features, {len(card.left_out)} columns left out. model_id={card.id}",
        *card.headlines,
    ]
    for candidate in card.candidates:
        auc = candidate.main
        mark = " (chosen)" if candidate.chosen else ""
        lines.append(
            f"- {candidate.model_type}{mark}: out-of-fold {candidate.main_name} {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})"
        )
    lines += [f"- {skipped.model_type} not tried: {skipped.reason}" for skipped in card.not_tried]
    lines += [card.why_chosen, *[f"Warning: {w}" for w in card.warnings]]
    lines.append("Next: predict on the rows to score.")
    return "\n".join(lines)[:1990]


def _counts(card: ModelCard) -> str:
    if card.task.kind == "binary":
        return f", {card.positives} positive"
    return f" of {len(card.class_counts)} classes" if card.class_counts else ""


TOOL = FunctionTool(
    ToolSpec(
        name="train_tabular_model",
        description=(
            "Train a tabular model on any result that run_sql cached under df_label: classification (two or more classes) or "
            "regression. A linear baseline, XGBoost, LightGBM and EBM are compared on the same folds; the simplest that is as good "
            "as the best is used unless model_type names one. Columns that leak the target, are constant, identify a row, date it "
            "or are protected are left out with the reason; rows of one repeated id stay in one fold."
        ),
        args_schema=TrainTabularModelArgs,
        returns="Model id, out-of-fold ROC AUC or R2 with its interval beside the others', headlines, warnings.",
        capabilities=("modeling",),
        cost_class="training",
        requires=("sql_result:<label>",),
        produces=("last_model_id", "last_model_task", "last_train_tag", "last_train_df_label"),
    ),
    _run,
)
