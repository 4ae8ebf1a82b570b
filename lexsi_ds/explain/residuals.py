"""What a model of an amount gets wrong: out-of-fold residuals along the prediction, and the largest ones.

Must never show residuals of rows that the scoring model trained on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.results_decision import ResidualBin, ResidualPoint, Residuals
from lexsi_ds.explain.targets import outcomes
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.figures import Interval

_BINS, _LEAST_IN_BIN = 10, 20
_MOST_POINTS, _LARGEST = 2_000, 20
_Z = 1.959963984540054
_TELLING = 0.2


def residuals(model: SavedModel) -> Residuals:
    """Residuals (actual minus predicted) of the training rows, out of fold."""
    if model.card.task.kind != "regression":
        raise BadInput("Only a model of an amount has residuals.", to_do="Look at the confusion of a threshold instead.")
    rows = model.prepare(model.training)
    predicted, actual = model.margin(rows), outcomes(model, model.training)
    errors = actual - predicted
    points = [
        ResidualPoint(case_id=str(key), predicted=float(p), actual=float(a))
        for key, p, a in zip(rows.keys, predicted, actual, strict=True)
    ]
    kept = np.arange(len(errors))
    if len(errors) > _MOST_POINTS:
        kept = np.sort(np.random.default_rng(7).choice(len(errors), _MOST_POINTS, replace=False))
    bins = _bins(predicted, errors)
    return Residuals(
        rows=len(errors),
        mean=_mean(errors),
        rmse=float(np.sqrt((errors**2).mean())),
        median_absolute=float(np.median(np.abs(errors))),
        quantiles={f"{q:g}": float(np.quantile(errors, q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)},
        bins=bins,
        points=tuple(points[i] for i in kept),
        largest=tuple(points[i] for i in np.argsort(-np.abs(errors), kind="stable")[:_LARGEST]),
        warnings=_warnings(predicted, errors, bins),
    )


def _bins(predicted: np.ndarray, errors: np.ndarray) -> tuple[ResidualBin, ...]:
    count = int(np.clip(len(errors) // _LEAST_IN_BIN, 1, _BINS))
    made = []
    for here in np.array_split(np.argsort(predicted, kind="stable"), count):
        own = errors[here]
        made.append(ResidualBin(
            low=float(predicted[here].min()), high=float(predicted[here].max()), rows=len(here), mean=_mean(own),
            spread=float(own.std(ddof=1)) if len(own) > 1 else 0.0,
        ))  # fmt: skip
    return tuple(made)


def _mean(errors: np.ndarray) -> Interval:
    reach = _Z * float(errors.std(ddof=1)) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    value = float(errors.mean())
    return Interval(value=value, low=value - reach, high=value + reach)


def _warnings(predicted: np.ndarray, errors: np.ndarray, bins: tuple[ResidualBin, ...]) -> tuple[str, ...]:
    said = []
    grows = _rank_correlation(predicted, np.abs(errors)) if len(errors) > 50 else 0.0
    if grows >= _TELLING:
        said.append("Errors grow with the prediction: one width of interval for all rows is too narrow for the large ones.")
    off = [b for b in bins if b.mean.low > 0 or b.mean.high < 0]
    if len(bins) >= 5 and len(off) >= 3:
        said.append(
            f"In {len(off)} of {len(bins)} bands of the prediction the mean residual is not 0: the model is systematically off."
        )
    return tuple(said)


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    found: Any = spearmanr(first, second)
    return float(np.nan_to_num(found.statistic))
