"""Figures of a candidate whatever its outcome, and the paired difference of two on the same rows.

Must never compare two candidates on different rows or different resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexsi_ds.models.estimators import Outcome, probability, softmax
from lexsi_ds.models.figures import AnyMetrics, Curve, Interval, Metrics
from lexsi_ds.models.metrics import Resamples, Scored, interval, measure, roc_curve, stack
from lexsi_ds.models.metrics_amounts import measure_amounts
from lexsi_ds.models.metrics_classes import measure_classes
from lexsi_ds.models.metrics_large import MANY, Placements, measure_large, roc_band


@dataclass(frozen=True)
class Measured:
    """Figures, and what a paired comparison of the main one needs."""

    metrics: AnyMetrics
    main: float
    drawn: np.ndarray
    placed: Placements | None = None

    def minus(self, other: Measured) -> Interval:
        """Main figure minus another candidate's on the same rows, with its paired 95% interval."""
        if self.placed is not None and other.placed is not None:
            return self.placed.minus(other.placed)
        return interval(self.main - other.main, self.drawn - other.drawn)


def predicted(outcome: Outcome, margin: np.ndarray) -> np.ndarray:
    """What margins say: probabilities (n,), a probability a class (n, K), or amounts (n,)."""
    if outcome.kind == "regression":
        return margin
    return softmax(margin) if outcome.kind == "multiclass" else probability(margin)


def measured(outcome: Outcome, y: np.ndarray, told: np.ndarray, seed: int) -> Measured:
    """Figures of what was told about rows that were held out."""
    resamples = Resamples(len(y), seed)
    if outcome.kind == "regression":
        amounts, drawn = measure_amounts(y, told, resamples)
        return Measured(amounts, amounts.r2.value, drawn)
    if outcome.kind == "multiclass":
        several, drawn = measure_classes(y, told, resamples)
        return Measured(several, several.roc_auc.value, drawn)
    if len(y) > MANY:
        point = stack(Scored(y, told).figures(np.ones((1, len(y)))))[0]
        large, placed = measure_large(y, told, point, seed)
        return Measured(large, large.roc_auc.value, np.zeros(0), placed)
    two, drawn = measure(y, told, resamples)
    return Measured(two, two.roc_auc.value, drawn)


def main_figure(outcome: Outcome, y: np.ndarray, told: np.ndarray) -> float:
    """ROC AUC (mean over classes) or R2 alone, without an interval."""
    if outcome.kind == "regression":
        return 1 - float(((y - told) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    columns = (
        [(y, told)]
        if outcome.kind == "binary"
        else [((y == k).astype(float), told[:, k]) for k in range(told.shape[1])]
    )
    return float(np.mean([Scored(a, p).figures(np.ones((1, len(y)))).roc_auc[0] for a, p in columns]))


def roc(y: np.ndarray, p: np.ndarray, seed: int) -> Curve:
    """The ROC curve with its band, however many rows."""
    if len(y) <= MANY:
        return roc_curve(y, p, Resamples(len(y), seed))
    fpr, tpr = Scored(y, p).roc()
    kept = np.unique(np.linspace(0, len(fpr) - 1, 201).round().astype(int))
    return roc_band(y, p, fpr[kept], tpr[kept], seed)


def with_probability_figures(ranked: Metrics, told: Metrics) -> Metrics:
    """Figures of the ranking from one, those of the probabilities from the other (calibrated inside the folds)."""
    return ranked.model_copy(update={"brier": told.brier, "log_loss": told.log_loss})
