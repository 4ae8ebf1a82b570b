"""Explanations as the screens and the agent take them: single cases with their drivers, and the beeswarm over many
rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.scales import check_scale
from lexsi_ds.explain.shap_values import Explained, Scaled, explain_rows, explain_sample
from lexsi_ds.explain.shared_credit import shared_credit
from lexsi_ds.explain.wording import case_sentence
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.engine import BeeswarmFeature, CaseDriver, CaseExplanation, GlobalExplanation
from lexsi_ds.models.frames import column, plain


def explain_cases(
    model: SavedModel, frame: pd.DataFrame, scale: str, output: str | None = None
) -> list[CaseExplanation]:
    """Each row of the frame explained, in its order, with a plain reading. ``output``: one of several classes, else each
    row's likeliest."""
    scale = check_scale(scale, model.card.task.kind)
    explained = explain_rows(model, frame, output)
    scaled = explained.on(scale)
    together = shared_credit(model)
    lower, higher = _places(model, frame)
    shown = [name for name in model.card.task.display_columns if name in frame.columns]
    display = [{name: plain(frame[name].iloc[i]) for name in shown} for i in range(len(frame))]
    cases = []
    for i, key in enumerate(explained.rows.keys):
        case = CaseExplanation(
            case_id=str(key),
            scale=scale,
            base_value=float(scaled.base[i]),
            prediction=float(scaled.prediction[i]),
            base_margin=float(explained.base[i]),
            margin=float(explained.margin[i]),
            drivers=_drivers(model, explained, scaled, (lower, higher), together, i),
            scored="out_of_fold" if explained.rows.trained[i] else "model",
            display=display[i],
            output=explained.words[i],
            method=explained.told(scale),
        )
        summary, facts = case_sentence(case, model.card.task)
        cases.append(case.model_copy(update={"summary": summary, "facts": facts}))
    return cases


def explain_global(
    model: SavedModel, frame: pd.DataFrame, scale: str, output: str | None = None, cohort: Cohort | None = None
) -> GlobalExplanation:
    """Importance and beeswarm of a frame or a cohort of it; past 2,000 rows of a sample that is even along the score.

    Of several classes one is explained over all rows: ``output``, else the most frequent."""
    scale = check_scale(scale, model.card.task.kind)
    explained, of_rows = explain_sample(model, frame, cohort or Cohort(), output or usual_class(model))
    scaled = explained.on(scale)
    raw = explained.data
    importance = np.abs(scaled.contributions).mean(axis=0)
    features = []
    for place in np.argsort(-importance, kind="stable"):
        feature = model.features[place]
        features.append(
            BeeswarmFeature(
                feature=feature.name,
                label=feature.label,
                unit=feature.unit,
                mean_abs=float(importance[place]),
                contributions=tuple(float(v) for v in scaled.contributions[:, place]),
                values=_colours(raw[:, place]),
                raw=tuple(raw[:, place]),
            )
        )
    return GlobalExplanation(
        scale=scale,
        base_value=float(scaled.base.mean()),
        rows=len(explained.rows.keys),
        of_rows=of_rows,
        output=explained.words[0],
        method=explained.told(scale),
        case_ids=tuple(str(key) for key in explained.rows.keys),
        features=tuple(features),
    )


def usual_class(model: SavedModel) -> str | None:
    """The class that global views of several explain when none is asked for: the most frequent in training."""
    counts = model.card.class_counts
    return max(counts, key=lambda c: c.rows).name if model.card.task.kind == "multiclass" and counts else None


def _drivers(
    model: SavedModel, explained: Explained, scaled: Scaled, places: tuple[np.ndarray, np.ndarray],
    together: dict[str, tuple[str, ...]], i: int,
) -> tuple[CaseDriver, ...]:
    lower, higher = places
    labels = {feature.name: feature.label for feature in model.features}
    order = np.argsort(-np.abs(scaled.contributions[i]), kind="stable")
    return tuple(
        CaseDriver(
            feature=model.features[j].name,
            label=model.features[j].label,
            value=explained.data[i, j],
            unit=model.features[j].unit,
            contribution=float(scaled.contributions[i, j]),
            margin=float(explained.values[i, j]),
            lower_share=_share(lower[i, j]),
            higher_share=_share(higher[i, j]),
            shares_with=tuple(labels[name] for name in together.get(model.features[j].name, ())[:3]),
        )
        for j in order
    )


def _share(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _places(model: SavedModel, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """For each numeric value the shares of the training rows (with a value) below and above it; NaN elsewhere. Shape
    (n, features)."""
    lower = np.full((len(frame), len(model.features)), np.nan)
    higher = lower.copy()
    for place, feature in enumerate(model.features):
        if feature.kind != "numeric":
            continue
        known, _ = read_column(column(model.training, feature.name), "numeric")
        known = np.sort(known[np.isfinite(known)])
        values, _ = read_column(column(frame, feature.name), "numeric")
        here = np.isfinite(values)
        lower[here, place] = np.searchsorted(known, values[here], side="left") / len(known)
        higher[here, place] = 1 - np.searchsorted(known, values[here], side="right") / len(known)
    return lower, higher


def _colours(raw: np.ndarray) -> tuple[float | None, ...]:
    """Values scaled to 0..1 by rank; None for missing values and for words, which have no order."""
    numbers = pd.Series([np.nan if v is None or isinstance(v, str) else float(v) for v in raw], dtype=float)
    ranks = numbers.rank(method="average")
    low, high = ranks.min(), ranks.max()
    spread = high - low if high > low else 1.0
    return tuple(None if np.isnan(r) else float((r - low) / spread) for r in ranks)
