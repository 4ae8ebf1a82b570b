"""The figures that groups are compared by, and how far each would move with other rows of the same group.

A yes/no answer has four outcomes a row, so a bootstrap of rows is a multinomial draw of their counts: exact and quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from fairlearn.metrics import false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, mean_absolute_error, precision_score, root_mean_squared_error

from lexsi_ds.explain.shap_values import link_of
from lexsi_ds.explain.targets import outcomes
from lexsi_ds.models.bundle import SavedModel

RESAMPLES = 500
_NONE_FLAGGED: Any = 0.0
Metric = Callable[..., float]


@dataclass(frozen=True)
class Judged:
    """Outcomes and out-of-fold answers (n,), and the figures that fit them."""

    kind: str
    y: np.ndarray
    answers: np.ndarray
    metrics: Mapping[str, Metric]

    def only(self, here: np.ndarray) -> Judged:
        """Some of the rows."""
        return Judged(self.kind, self.y[here], self.answers[here], self.metrics)


def judge(model: SavedModel, threshold: float | None) -> Judged:
    """The training rows by the models that did not see them; flagged from ``threshold`` on, where there are two outcomes."""
    kind, y = model.card.task.kind, outcomes(model, model.training)
    margin = model.margin(model.prepare(model.training))
    if kind == "regression":
        return Judged(kind, y, margin, {
            "mean error": _mean_error, "mean absolute error": mean_absolute_error,
            "root mean squared error": root_mean_squared_error,
        })  # fmt: skip
    if kind == "multiclass":
        return Judged(kind, y.astype(int), margin.argmax(axis=1), {"accuracy": accuracy_score})
    flagged = (link_of(model)(margin) >= threshold).astype(int)
    return Judged(kind, y.astype(int), flagged, {
        "share flagged": partial(selection_rate, pos_label=1),
        "true positive rate": partial(true_positive_rate, pos_label=1),
        "false positive rate": partial(false_positive_rate, pos_label=1),
        "precision": partial(precision_score, zero_division=_NONE_FLAGGED),
        "accuracy": accuracy_score,
        "share with the outcome": _share_of_ones,
    })  # fmt: skip


def resampled(judged: Judged, seed: int) -> dict[str, np.ndarray]:
    """Each figure on bootstrap samples of these rows; NaN where a sample does not have it. Arrays of (resamples,)."""
    rng, n = np.random.default_rng([7, seed]), len(judged.y)
    if judged.kind == "binary":
        return _of_counts(rng.multinomial(n, _cells(judged) / n, size=RESAMPLES).astype(float))
    if judged.kind == "multiclass":
        right = float((judged.y == judged.answers).mean())
        return {"accuracy": rng.binomial(n, right, size=RESAMPLES) / n}
    errors = judged.answers - judged.y
    draws = np.stack([errors[rng.integers(0, n, n)] for _ in range(RESAMPLES)])
    return {
        "mean error": draws.mean(axis=1), "mean absolute error": np.abs(draws).mean(axis=1),
        "root mean squared error": np.sqrt((draws**2).mean(axis=1)),
    }  # fmt: skip


def _cells(judged: Judged) -> np.ndarray:
    """Counts of true positives, false positives, false negatives, true negatives."""
    hit, flagged = judged.y == 1, judged.answers == 1
    return np.array([(flagged & hit).sum(), (flagged & ~hit).sum(), (~flagged & hit).sum(), (~flagged & ~hit).sum()])


def _of_counts(counts: np.ndarray) -> dict[str, np.ndarray]:
    tp, fp, fn, tn = counts.T
    n = counts.sum(axis=1)
    return {
        "share flagged": (tp + fp) / n,
        "true positive rate": _over(tp, tp + fn),
        "false positive rate": _over(fp, fp + tn),
        "precision": _over(tp, tp + fp),
        "accuracy": (tp + tn) / n,
        "share with the outcome": (tp + fn) / n,
    }


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _mean_error(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    return float(np.mean(np.asarray(y_pred) - np.asarray(y_true)))


def _share_of_ones(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    return float(np.mean(y_true))
