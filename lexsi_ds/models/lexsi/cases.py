"""The platform's explanations in the form of ours: cases with drivers, importance, similar training rows.

What the platform does not give is said in ``method`` of each explanation: a base value, a scale, values per row for the
overall view. Must never fill such a gap with a number that looks like the platform's.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput, PlatformFailed
from lexsi_ds.models.bundle import TARGET
from lexsi_ds.models.encode import read_columns
from lexsi_ds.models.engine import BeeswarmFeature, CaseDriver, CaseExplanation, GlobalExplanation
from lexsi_ds.models.estimators import probability
from lexsi_ds.models.frames import as_numbers, column, entity_keys, need_columns, plain
from lexsi_ds.models.lexsi.additive import LEAST_ROWS, Base, Pair, find_base, log_odds
from lexsi_ds.models.lexsi.answers import Answer, Asker
from lexsi_ds.models.lexsi.folder import KEYS, SCORE, PlatformFolder, columns_of
from lexsi_ds.models.lexsi.project import opened
from lexsi_ds.models.lexsi.scoring import IN_SAMPLE, Uploaded
from lexsi_ds.models.lexsi.session import Session

PLATFORM = "platform"
"""A scale: the platform's own, where it could not be told which one that is."""
_UNTOLD = (
    "SHAP values as the Lexsi platform gives them. It says neither their scale nor a base value, and these rows did not show "
    "one, so the base is the remainder."
)


def explain_cases(
    session: Session, model: PlatformFolder, frame: pd.DataFrame, scale: str, *, summaries: bool = True
) -> list[CaseExplanation]:
    """Each row explained, in order. Rows are uploaded, scored, and asked about one by one."""
    task = model.task
    need_columns(frame, [task.entity_column, *(f.name for f in model.link.features)], "The rows to explain")
    if frame.empty:
        return []
    rows = _with_references(model, frame)
    sent = Uploaded.of(session, model, rows)
    values = sent.scores(session, model).values
    asker = Asker(session, sent.project, sent.tag, model.link.model)
    answers: list[Answer] = []
    for i, key in enumerate(sent.keys):
        session.stage(i, len(sent.keys), f"Explaining row {i + 1} of {len(sent.keys)} on the Lexsi platform")
        answers.append(asker.ask(key, summary=summaries and i < len(frame)))
    pairs = [Pair(float(v), sum(a.shap.values())) for v, a in zip(values, answers, strict=True)]
    base = find_base(pairs, task.kind)
    columns = read_columns(frame, model.link.features)
    keys = entity_keys(column(frame, task.entity_column))
    places = model.places(keys)
    shown = [name for name in task.display_columns if name in frame.columns]
    return [
        _case(model, str(keys[i]), float(values[i]), answers[i], base, scale).model_copy(
            update={
                "drivers": _drivers(
                    model, answers[i], columns, i, _factors(float(values[i]), pairs[i].total, base, scale)
                ),
                "scored": _scored(model, int(places[i])),
                "display": {name: plain(frame[name].iloc[i]) for name in shown},
            }
        )
        for i in range(len(frame))
    ]


def _with_references(model: PlatformFolder, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows, and a few training rows when there are too few to see on which scale the values add up."""
    missing = LEAST_ROWS - len(frame)
    if missing <= 0:
        return frame
    names = [model.task.entity_column, *(f.name for f in model.link.features)]
    others = cast("pd.DataFrame", model.training[~model.training[model.task.entity_column].isin(frame[model.task.entity_column])])
    score = as_numbers(column(others, SCORE))[0]
    known = np.flatnonzero(np.isfinite(score))
    # Rows far apart tell the scales apart best.
    order = known[np.argsort(score[known])]
    chosen = order[np.unique(np.linspace(0, len(order) - 1, missing + 1).round().astype(int))] if len(order) else []
    return pd.concat([columns_of(frame, names), columns_of(others.iloc[chosen], names)], ignore_index=True)


def _scored(model: PlatformFolder, place: int) -> str:
    if place < 0:
        return "model"
    held = np.isfinite(model.held_out()[place]) and not model.link.folds
    return "out_of_fold" if held else IN_SAMPLE


def _factors(prediction: float, total: float, base: Base | None, scale: str) -> tuple[float, float]:
    """What a SHAP value is multiplied by for the contribution, and for the margin."""
    if base is None or base.scale == "value":
        return 1.0, 1.0
    bottom, top, margin_bottom, margin_top = _ends(prediction, total, base)
    if abs(total) < 1e-9:
        return (1.0, 1.0)
    onto_chance, onto_margin = (top - bottom) / total, (margin_top - margin_bottom) / total
    return (onto_margin if scale == "log-odds" else onto_chance), onto_margin


def _ends(prediction: float, total: float, base: Base) -> tuple[float, float, float, float]:
    """Base and prediction as probability, then as log-odds. The base is this row's own, so that the row adds up exactly."""
    p = np.array([prediction])
    if base.scale == "log-odds":
        top = float(log_odds(p)[0])
        bottom = top - total
        return float(probability(np.array([bottom]))[0]), prediction, bottom, top
    low = prediction - total
    return low, prediction, float(log_odds(np.array([low]))[0]), float(log_odds(p)[0])


def _case(
    model: PlatformFolder, key: str, prediction: float, answer: Answer, base: Base | None, scale: str
) -> CaseExplanation:
    total = sum(answer.shap.values())
    if base is None or base.scale == "value":
        ends = (prediction - total, prediction, prediction - total, prediction)
        named, method = (PLATFORM, _UNTOLD) if base is None else ("value", _told(base))
    else:
        low, high, margin_low, margin_high = _ends(prediction, total, base)
        named = "log-odds" if scale == "log-odds" else "probability"
        shown = (margin_low, margin_high) if named == "log-odds" else (low, high)
        ends, method = (*shown, margin_low, margin_high), _told(base)
    if answer.unread:
        method += f" Without a value: {', '.join(answer.unread[:5])}."
    return CaseExplanation(
        case_id=key, scale=named, base_value=ends[0], prediction=ends[1], base_margin=ends[2], margin=ends[3], drivers=(),
        scored="model", display={}, method=method, engine_summary=answer.summary,
    )  # fmt: skip


def _told(base: Base) -> str:
    word = {"value": "units of the outcome"}.get(base.scale, base.scale)
    return (
        f"SHAP values as the Lexsi platform gives them; it gives no base value. Over {base.rows} rows they add up as {word} "
        f"from one base value, {base.base:.3g}, to within {base.spread:.2g}."
    )


def _drivers(
    model: PlatformFolder, answer: Answer, columns: dict[str, np.ndarray], i: int, factors: tuple[float, float]
) -> tuple[CaseDriver, ...]:
    by_feature: dict[str, float] = {}
    for wire, value in answer.shap.items():
        name = feature_of(model, wire)
        by_feature[name] = by_feature.get(name, 0.0) + value
    known = {f.name: f for f in model.link.features}
    drivers = []
    for name, value in sorted(by_feature.items(), key=lambda item: -abs(item[1])):
        feature = known.get(name)
        cell = _cell(columns[name][i], feature.kind) if feature is not None else None
        lower, higher = _shares(model, name, cell) if type(cell) is float else (None, None)
        drivers.append(
            CaseDriver(
                feature=name,
                label=feature.label if feature else name,
                value=cell,
                unit=feature.unit if feature else None,
                contribution=value * factors[0],
                margin=value * factors[1],
                lower_share=lower,
                higher_share=higher,
            )
        )
    return tuple(drivers)


def _cell(value: Any, kind: str) -> float | str | bool | None:
    cell = plain(value)
    return bool(cell) if kind == "boolean" and cell is not None else cell


def feature_of(model: PlatformFolder, wire: str) -> str:
    """The feature that a column of the platform's belongs to: its own, or one made of it by an encoding."""
    names = {f.wire: f.name for f in model.link.wire.features}
    if wire in names:
        return names[wire]
    owner = max((w for w in names if wire.startswith(f"{w}_")), key=len, default=None)
    return names[owner] if owner else wire


def _shares(model: PlatformFolder, name: str, value: float) -> tuple[float | None, float | None]:
    known = read_columns(columns_of(model.training, [name]), tuple(f for f in model.link.features if f.name == name))[name]
    present = known[~np.isnan(known)]
    return (float((present < value).mean()), float((present > value).mean())) if len(present) else (None, None)


def explain_global(session: Session, model: PlatformFolder, of_rows: int) -> GlobalExplanation:
    """Importance as the platform computed it at training. It gives no values per row, so there are no points to draw."""
    project = opened(session, model.link.project)
    results = session.call(
        "reading the model's summary", lambda: dict(project.model_summary(model_name=model.link.model).model_results)
    )
    global_importance: Any = results.get("GFI") or {}
    found = next(
        ((n, global_importance[f"{n}_gfi"]) for n in ("shap", "lime") if global_importance.get(f"{n}_gfi")), None
    )
    if found is None:
        raise PlatformFailed(
            "The platform has no importance of features for this model.", where="Lexsi, overall explanation",
            to_do='Train it with xai_method=["shap"], or explain single rows.',
        )  # fmt: skip
    by_feature: dict[str, float] = {}
    for wire, value in found[1].items():
        name = feature_of(model, str(wire))
        by_feature[name] = by_feature.get(name, 0.0) + abs(float(value))
    known = {f.name: f for f in model.link.features}
    features = tuple(
        BeeswarmFeature(
            feature=name,
            label=known[name].label if name in known else name,
            unit=known[name].unit if name in known else None,
            mean_abs=value,
            contributions=(),
            values=(),
            raw=(),
        )
        for name, value in sorted(by_feature.items(), key=lambda item: -item[1])
    )
    return GlobalExplanation(
        scale=PLATFORM, base_value=0.0, rows=0, of_rows=of_rows, case_ids=(), features=features,
        method=f"Importance ({found[0].upper()}) as the Lexsi platform gives it; it gives no values per row and no scale.",
    )  # fmt: skip


def similar_cases(session: Session, model: PlatformFolder, frame: pd.DataFrame, k: int) -> list[list[dict[str, Any]]]:
    """For each row the training rows that the platform calls similar, with their outcome."""
    if k < 1:
        raise BadInput("At least one similar row must be asked for.", to_do="Give k as 1 or more.")
    need_columns(frame, [model.task.entity_column, *(f.name for f in model.link.features)], "The rows")
    if frame.empty:
        return []
    sent = Uploaded.of(session, model, frame)
    asker = Asker(session, sent.project, sent.tag, model.link.model)
    places = {key: i for i, key in enumerate(model.training[KEYS].tolist()) if key}
    own = model.places(entity_keys(column(frame, model.task.entity_column)))
    found = []
    for i, key in enumerate(sent.keys):
        rows = asker.ask(key, shap=False).similar
        hits = [(p, row) for row in rows if (p := _place_of(row, places)) is not None and p != own[i]]
        if rows and not hits and not any(_place_of(row, places) is not None for row in rows):
            raise session.failed("similar rows", "The platform's similar rows are none that trained this model")
        found.append([_similar(model, p, row) for p, row in hits[:k]])
    return found


def _place_of(row: dict[str, Any], places: dict[str, int]) -> int | None:
    return next((places[str(v)] for v in row.values() if isinstance(v, str) and v in places), None)


def _similar(model: PlatformFolder, place: int, row: dict[str, Any]) -> dict[str, Any]:
    task, known = model.task, model.training.iloc[place]
    score, distance = known[SCORE], row.get("distance")
    outcome = float(known[TARGET])
    return {
        "entity": plain(known[task.entity_column]),
        "distance": float(distance) if isinstance(distance, (int, float)) else None,
        "outcome": outcome if task.kind == "regression" else int(outcome),
        "probability": float(score) if task.kind == "binary" and np.isfinite(score) else None,
        "display": {name: plain(known[name]) for name in task.display_columns if name in known.index},
    }
