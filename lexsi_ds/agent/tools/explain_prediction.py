"""Why single rows got their score: SHAP values and a plain reading a case. Trains nothing and scores nothing anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.agent.tools.predict import model_of, top_rows
from lexsi_ds.errors import LexsiError, Stopped
from lexsi_ds.explain.wording import case_sentence
from lexsi_ds.facts import FactValue, facts_of
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, ModelRef

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext, Kept


class ExplainPredictionArgs(ToolArgs):
    """Which cases; the top of the last predictions when left out."""

    case_ids: list[str | int] | None = Field(default=None, max_length=200)
    top_k: int = Field(default=10, ge=1, le=100)
    model_id: str | None = None
    include_similar: bool = False
    include_summary: bool = True


def _run(args: ExplainPredictionArgs, ctx: AgentContext) -> ToolResult:
    model = model_of(args.model_id, ctx)
    kept: Kept | None = ctx.recall("kept") if model is None or args.case_ids else None
    if model is None and args.case_ids and kept is not None and ctx.models is not None:
        model = ctx.models.find(ctx.actor, kept.model_id)
    if model is None:
        return refuse("There is no model to explain yet: train one and predict first.")
    ref, card = model
    wanted = [str(c) for c in args.case_ids] if args.case_ids else _top_ids(card, args.top_k, ctx)
    if not wanted:
        return refuse("There are no predictions in this run: call predict first, or name case_ids.")
    rows, missing = _rows(wanted, card, kept, ctx)
    failures = [{"case_id": c, "error": f"no {card.task.entity_label} {c} in the rows of this model"} for c in missing]
    cases, failed = _explain(ref, card, rows, args, ctx)
    ctx.cache["last_xai_failures"] = [*failures, *failed]
    ctx.cache["last_xai"] = [
        {"case_id": c.case_id, "shap_values": {d.feature: d.margin for d in c.drivers}, "summary": c.summary}
        for c in cases
    ]
    ctx.cache |= {"_cases": cases, "_card": card, "_model_ref": ref}
    similar = ctx.engine.similar(ref, rows, cancel=ctx.cancel) if args.include_similar and len(rows) else None
    if not cases:
        return refuse(
            f"No case could be explained: {'; '.join(f['error'] for f in ctx.cache['last_xai_failures'])}"[:1900]
        )
    payload = {"model_id": card.id, "scale": cases[0].scale, "cases": [c.model_dump(mode="json") for c in cases]}
    if similar is not None:
        payload["similar"] = {c.case_id: s for c, s in zip(cases, similar, strict=True)}
    return ToolResult(
        ok=True,
        summary=_observation(cases, ctx.cache["last_xai_failures"]),
        payload=payload,
        meta={"facts": _facts(cases, ctx), "cases": len(cases)},
    )


def _top_ids(card: ModelCard, k: int, ctx: AgentContext) -> list[str]:
    predictions = ctx.cache.get("last_predictions")
    if not isinstance(predictions, pd.DataFrame):
        return []
    return [str(v) for v in top_rows(predictions, k)[card.task.entity_column]]


def _rows(wanted: list[str], card: ModelCard, kept: Kept | None, ctx: AgentContext) -> tuple[pd.DataFrame, list[str]]:
    """The feature rows of the cases, in order: from this run's frames, else from the files an earlier run kept."""
    entity = card.task.entity_column
    frames = [
        ctx.frame(label) for key in ("last_predict_df_label", "last_train_df_label") if (label := ctx.cache.get(key))
    ]
    if kept is not None and kept.model_id == card.id:
        frames += [_read(path) for path in (kept.predict_path, kept.context_path)]
    found: dict[str, pd.DataFrame] = {}
    for frame in frames:
        if frame is None or entity not in frame.columns:
            continue
        ids = frame[entity].astype(str)
        for case in wanted:
            hit: Any = frame[ids == case]
            if case not in found and len(hit):
                found[case] = hit.head(1)
    missing = [c for c in wanted if c not in found]
    if missing and ctx.explanations is not None:
        found |= ctx.explanations.rows(ctx.actor, card.id, missing)
    rows = [found[c] for c in wanted if c in found]
    return (pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()), [c for c in wanted if c not in found]


def _read(path: Path | None) -> pd.DataFrame | None:
    if path is None or not path.exists():
        return None
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_stream(source).read_all().to_pandas()


def _explain(
    ref: ModelRef,
    card: ModelCard,
    rows: pd.DataFrame,
    args: ExplainPredictionArgs,
    ctx: AgentContext,
) -> tuple[list[CaseExplanation], list[dict[str, str]]]:
    if not len(rows):
        return [], []
    try:
        cases = ctx.engine.explain(ref, rows, cancel=ctx.cancel, tell=ctx.tell)
    except Stopped:
        raise
    except LexsiError as error:
        return [], [{"case_id": "all", "error": str(error)}]
    if not args.include_summary:
        return list(cases), []
    facts: dict[str, FactValue] = ctx.cache.setdefault("_case_facts", {})
    told = []
    for case in cases:
        sentence, said = case_sentence(case, card.task)
        facts |= {f"{case.case_id}.{name}": value for name, value in said.items()}
        told.append(case.model_copy(update={"summary": sentence}))
    return told, []


def _facts(cases: list[CaseExplanation], ctx: AgentContext) -> dict[str, FactValue]:
    facts: dict[str, Any] = dict(ctx.cache.get("_case_facts", {}))
    for case in cases:
        facts |= facts_of(
            f"case.{case.case_id}",
            {
                "id": case.case_id,
                "base": case.base_value,
                "prediction": case.prediction,
                "drivers": [{"value": d.value, "contribution": d.contribution} for d in case.drivers[:5]],
            },
        )
    return facts | {"cases": len(cases)}


def _observation(cases: list[CaseExplanation], failures: list[dict[str, str]]) -> str:
    lines = ["case | prediction | top drivers (contribution, " + cases[0].scale + ")"]
    for case in cases:
        drivers = "; ".join(f"{d.label}={_short(d.value)} ({d.contribution:+.3f})" for d in case.drivers[:3])
        lines.append(f"{case.case_id} | {case.prediction:.3f} | {drivers}")
    if failures:
        lines.append(f"{len(failures)} cases could not be explained: {', '.join(f['case_id'] for f in failures)}")
    return "\n".join(lines)[:1990]


def _short(value: float | str | bool | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:40]


TOOL = FunctionTool(
    ToolSpec(
        name="explain_prediction",
        description=(
            "Per-case SHAP values with a plain-language summary for selected predictions. Without case_ids the top of the last "
            "predictions is explained. A row that trained the model is explained by a model that did not see it."
        ),
        args_schema=ExplainPredictionArgs,
        returns="Compact table of case, prediction, top three drivers.",
        capabilities=("modeling", "explanation"),
        cost_class="query",
        requires=("last_model_id",),
        produces=("last_xai", "last_xai_failures"),
    ),
    _run,
)
