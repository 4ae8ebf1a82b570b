"""Why single rows got their score: SHAP values and a plain reading a case. Trains nothing and scores nothing anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import Field

from lexsi_ds.agent.tools.base import FunctionTool, ToolArgs, ToolResult, ToolSpec, refuse
from lexsi_ds.agent.tools.predict import model_of, top_rows
from lexsi_ds.errors import LexsiError, Stopped, WorkerFailed
from lexsi_ds.explain.wording import case_sentence
from lexsi_ds.facts import FactValue, facts_of
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.engine import CaseExplanation, ModelRef
from lexsi_ds.models.frames import entity_keys

if TYPE_CHECKING:
    from lexsi_ds.agent.context import AgentContext, Kept

_T = TypeVar("_T")


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
    similar, alone = _similar(ref, rows, cases, card, args, ctx)
    failures = [*failures, *failed, *alone]
    ctx.cache["last_xai_failures"] = failures
    ctx.cache["last_xai"] = [_kept(case, similar) for case in cases]
    ctx.cache |= {"_cases": cases, "_card": card, "_model_ref": ref}
    if not cases:
        return refuse(
            f"No case could be explained: {'; '.join(f['error'] for f in failures)}"[:1900]
        )
    payload = {"model_id": card.id, "scale": cases[0].scale, "cases": [c.model_dump(mode="json") for c in cases]}
    payload |= {"failures": failures} if failures else {}
    payload |= {"similar": similar} if similar else {}
    return ToolResult(
        ok=True,
        summary=_observation(cases, failures),
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
    cases, failures = _each(rows, card, lambda part: ctx.engine.explain(ref, part, cancel=ctx.cancel, tell=ctx.tell))
    if not args.include_summary:
        return [case.model_copy(update={"summary": None, "facts": {}}) for case in cases], failures
    facts: dict[str, FactValue] = ctx.cache.setdefault("_case_facts", {})
    told = []
    for case in cases:
        sentence, said = case_sentence(case, card.task)
        facts |= {f"{case.case_id}.{name}": value for name, value in said.items()}
        told.append(case.model_copy(update={"summary": sentence}))
    return told, failures


def _each(
    rows: pd.DataFrame, card: ModelCard, work: Callable[[pd.DataFrame], Sequence[_T]]
) -> tuple[list[_T], list[dict[str, str]]]:
    """What the work gives for all rows at once; where that fails, row by row, with what kept each failing row from it."""
    try:
        return list(work(rows)), []
    except Stopped:
        raise
    except LexsiError as error:
        if len(rows) == 1 or isinstance(error, WorkerFailed):
            ids = rows[card.task.entity_column].astype(str)
            return [], [{"case_id": case, "error": str(error)} for case in ids]
    done: list[_T] = []
    failures: list[dict[str, str]] = []
    for place in range(len(rows)):
        found, failed = _each(rows.iloc[[place]].reset_index(drop=True), card, work)
        done += found
        failures += failed
    return done, failures


def _similar(
    ref: ModelRef, rows: pd.DataFrame, cases: list[CaseExplanation], card: ModelCard, args: ExplainPredictionArgs,
    ctx: AgentContext,
) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, str]]]:
    """Training rows like each explained case, by case id; and why there are none, where that could not be done."""
    if not args.include_similar or not cases:
        return {}, []
    known = {case.case_id for case in cases}
    part = rows.loc[[key in known for key in entity_keys(rows.loc[:, card.task.entity_column])]]
    try:
        found = ctx.engine.similar(ref, part, cancel=ctx.cancel)
    except Stopped:
        raise
    except LexsiError as error:
        return {}, [{"case_id": case.case_id, "error": f"no similar cases: {error}"} for case in cases]
    return {case.case_id: near for case, near in zip(cases, found, strict=True)}, []


def _kept(case: CaseExplanation, similar: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    kept: dict[str, Any] = {"case_id": case.case_id, "shap_values": {d.feature: d.margin for d in case.drivers}}
    kept |= {"summary": case.summary} if case.summary is not None else {}
    return kept | ({"similar": similar[case.case_id]} if case.case_id in similar else {})


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
        listed = "; ".join(f"{f['case_id']} ({f['error'][:80]})" for f in failures[:5])
        lines.append(f"{len(failures)} could not be explained: {listed}{' …' if len(failures) > 5 else ''}")
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
