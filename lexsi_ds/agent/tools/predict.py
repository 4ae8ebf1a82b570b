"""Score rows with a trained model. The same model on the same rows is computed once a run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pandas.util as pandas_util
import pyarrow as pa
from pydantic import Field

from lexsi_ds.agent.context import Kept
from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.agent.tools.train_tabular_model import missing_label
from lexsi_ds.facts import FactValue, facts_of
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import ModelRef, Predictions
from lexsi_ds.models.frame_task import numbered

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext


class PredictArgs(ToolArgs):
    """Which rows, with which model."""

    df_label: str
    model_id: str | None = None
    top_k: int | None = Field(default=10, ge=1, le=1000)
    pod: str | None = "small"


def _run(args: PredictArgs, ctx: AgentContext) -> ToolResult:
    frame = ctx.rows(args.df_label)
    if frame is None:
        return refuse(missing_label(args.df_label, ctx))
    found = model_of(args.model_id, ctx)
    if found is None:
        return refuse(
            "No model is trained yet in this run: call train_tabular_model first, or pass a model_id that exists."
        )
    ref, card = found
    if len(frame) == 0:
        return refuse(f"{args.df_label} has no rows: there is nothing to score.")
    key = f"predict_cache:{_hash(card.id, frame)}"
    result: ToolResult | None = ctx.cache.get(key)
    if result is None:
        target = card.task.target_column
        empty = target in frame.columns and bool(frame[target].isna().to_numpy().all())
        rows = numbered(frame.drop(columns=target) if empty else frame, card.task)
        named = card.engine == "lexsi" and "pod" in args.model_fields_set
        asked: dict[str, Any] = {"compute_type": args.pod} if named else {}
        predictions = ctx.engine.predict(ref, rows, cancel=ctx.cancel, tell=ctx.tell, **asked)
        result = _result(predictions, rows, card, args, ctx)
        ctx.cache["_notes"] = [*ctx.cache.get("_notes", []), *predictions.notes]
        ctx.cache[key] = result
    ctx.cache |= {
        "last_predictions": result.payload,
        "last_predict_tag": args.df_label,
        "last_predict_df_label": args.df_label,
        "last_prediction_columns": {
            "pred": "prediction",
            "prob": None if card.task.kind == "regression" else "probability",
            "entity": card.task.entity_column,
        },
        "_model_ref": ref,
        "_card": card,
        "_predictions_meta": result.meta["frame"],
    }
    train_label = ctx.cache.get("last_train_df_label", "")
    ctx.session.kept = Kept(
        source_id=ctx.dataset.source_id,
        model_id=card.id,
        predictions_id=result.meta["frame"].get("predictions_id"),
        entity_column=card.task.entity_column,
        context_path=ctx.cache.get(f"_path:{train_label}"),
        predict_path=ctx.cache.get(f"_path:{args.df_label}"),
        predictions_path=result.meta["path"],
        task_label=card.task.title,
        shown=args.top_k or 10,
    )
    return result


def model_of(model_id: str | None, ctx: AgentContext) -> tuple[ModelRef, ModelCard] | None:
    """The named model, or the run's last; None when there is none that this person may use."""
    wanted = model_id or ctx.cache.get("last_model_id")
    card: ModelCard | None = ctx.cache.get("_card")
    if wanted is None or (card is not None and wanted in (card.id, card.name)):
        ref = ctx.cache.get("_model_ref")
        return (ref, card) if ref is not None and card is not None else None
    return ctx.models.find(ctx.actor, wanted) if ctx.models is not None else None


def _result(
    predictions: Predictions, rows: pd.DataFrame, card: ModelCard, args: PredictArgs, ctx: AgentContext
) -> ToolResult:
    with pa.memory_map(str(predictions.path)) as source:
        frame = pa.ipc.open_stream(source).read_all().to_pandas()
    task = card.task
    shown: dict[str, Any] = {
        "model_id": card.id,
        "rows": predictions.rows,
        "ranked": predictions.ranked,
        "entity_column": task.entity_column,
        "entity_label": task.entity_label,
        "segment_label": task.apart.label if task.apart else None,
        "top_k": args.top_k or 10,
        "positive": task.target_label,
        "top_overlap": predictions.top_overlap,
        "scored": sorted(set(frame["scored"].astype(str))),
        "display_columns": list(task.display_columns),
        "kind": task.kind,
        "headlines": list(predictions.comparability.sentences) if predictions.comparability else [],
    }
    if ctx.models is not None:
        if ctx.explanations is not None:
            ctx.explanations.keep_rows(ctx.actor, card.id, rows)
        shown["predictions_id"] = ctx.models.save_predictions(
            ctx.actor, card.id, predictions, ctx.run_id, ctx.dataset.snapshot_id
        )
    top = top_rows(frame, args.top_k or 10)
    return ToolResult(
        ok=True,
        summary=_observation(frame, top, shown, card),
        payload=frame,
        meta={"facts": prediction_facts(frame, top, shown, card), "frame": shown, "path": Path(predictions.path)},
    )


def top_rows(predictions: pd.DataFrame, k: int, start: int = 0) -> pd.DataFrame:
    """Rows ``start + 1`` to ``start + k`` of the ranked segment."""
    ranked: Any = predictions[predictions["segment"] == "ranked"]
    return ranked.sort_values("rank").iloc[start : start + k]


def prediction_facts(
    frame: pd.DataFrame, top: pd.DataFrame, shown: dict[str, Any], card: ModelCard
) -> dict[str, FactValue]:
    """The numbers of a predictions frame that a narrative may cite."""
    apart: Any = frame[frame["segment"] == "apart"]
    ranked: Any = frame[frame["segment"] == "ranked"]
    shown_top: Any = top
    scale = scale_of(card)
    intervals = ["prediction_low", "prediction_high"] if card.task.kind == "regression" else []
    columns = [
        card.task.entity_column,
        "rank",
        "prediction",
        *intervals,
        "probability",
        "probability_low",
        "probability_high",
        "rank_low",
        "rank_high",
        "top_share",
    ]
    facts: dict[str, FactValue] = {
        "rows": shown["rows"],
        "ranked": shown["ranked"],
        "apart": len(apart),
        "top_k": shown["top_k"],
        "band": 80,
        "top_overlap": shown["top_overlap"],
        "kept_of_top": shown["top_overlap"] * min(10, shown["ranked"]),
        "top_of": 10,
        "ranked.median": float(ranked[scale].median()) if len(ranked) else 0.0,
    }
    if len(apart):
        facts["apart.median"] = float(apart[scale].median())
    facts |= facts_of("comparable", shown.get("headlines", []))
    return facts | facts_of("top", shown_top[columns].to_dict("records"))


def scale_of(card: ModelCard) -> str:
    """The column that rows are ranked by: the probability, or the amount itself."""
    return "prediction" if card.task.kind == "regression" else "probability"


def _observation(frame: pd.DataFrame, top: pd.DataFrame, shown: dict[str, Any], card: ModelCard) -> str:
    entity, kind = card.task.entity_column, card.task.kind
    by = "" if kind == "regression" else "probability of "
    lines = [
        *shown["headlines"],
        f"{shown['rows']} rows scored, {shown['ranked']} ranked; top {len(top)} by {by}{card.task.target_label}:",
    ]
    lines += [f"{r['rank']:.0f}. {entity} {r[entity]}: {_figure(r, kind)}" for _, r in top.head(20).iterrows()]
    if bool(frame["rank_low"].notna().any()):
        lines.append(f"The top 10 keeps {shown['top_overlap']:.0%} of its rows in a refit on resampled data.")
    lines.append("Next: explain_prediction, then summarize_result.")
    return "\n".join(lines)[:1990]


def _figure(row: Any, kind: str) -> str:
    if kind == "regression":
        return f"{row['prediction']:,.4g} ({row['prediction_low']:,.4g} to {row['prediction_high']:,.4g})"
    return f"{row['prediction']} {row['probability']:.3f}" if kind == "multiclass" else f"{row['probability']:.3f}"


def _hash(model_id: str, frame: pd.DataFrame) -> str:
    digest = hashlib.sha256(model_id.encode())
    digest.update("|".join(map(str, frame.columns)).encode())
    hashing: Any = pandas_util
    digest.update(hashing.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()[:32]


TOOL = FunctionTool(
    ToolSpec(
        name="predict",
        description=(
            "Run a trained model on the rows that run_sql cached under df_label. Every row is scored; rows that trained the model "
            "are scored out of fold. The same model and rows are computed once. Call summarize_result next (explain_prediction "
            "may come between)."
        ),
        args_schema=PredictArgs,
        returns="Row count and the top rows by probability.",
        capabilities=("modeling",),
        cost_class="training",
        requires=("sql_result:<label>", "last_model_id"),
        produces=(
            "last_predictions",
            "last_predict_tag",
            "last_predict_df_label",
            "last_prediction_columns",
            "predict_cache:<hash>",
        ),
    ),
    _run,
)
