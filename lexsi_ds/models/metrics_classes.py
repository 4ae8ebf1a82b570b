"""Figures of a classifier of several classes, with 95% bootstrap intervals over rows. Point values are scikit-learn's:
``roc_auc_score(multi_class="ovr")``, ``balanced_accuracy_score``, ``f1_score(average="macro")`` and the rest.

Must never weigh a resample that lost a class: it does not count for the figures that need all.
"""

from __future__ import annotations

import numpy as np

from lexsi_ds.models.figures import Interval, MulticlassMetrics
from lexsi_ds.models.metrics import Resamples, Scored, interval

_CELLS = 400_000_000
"""Most cells (rows x classes x resamples) of one bootstrap."""
_EPSILON = float(np.finfo(np.float64).eps)


def measure_classes(y: np.ndarray, shares: np.ndarray, resamples: Resamples) -> tuple[MulticlassMetrics, np.ndarray]:
    """Metrics with intervals, and the mean ROC AUC of each resample. ``y`` (n,) positions, ``shares`` (n, K)."""
    n, classes = shares.shape
    ranked = [Scored((y == k).astype(float), shares[:, k]) for k in range(classes)]
    guess = shares.argmax(axis=1)
    hit = (guess == y).astype(float)
    one = np.eye(classes)[y.astype(int)]
    loss = -np.log(np.clip(shares[np.arange(n), y.astype(int)], _EPSILON, 1.0))
    squared = ((shares - one) ** 2).sum(axis=1)
    guessed = np.eye(classes)[guess]
    pieces = np.concatenate([one, guessed, one * guessed], axis=1)

    def figures(counts: np.ndarray) -> np.ndarray:
        weights = counts.astype(np.float64)
        total = weights.sum(axis=1)
        auc = np.stack([s.figures(counts).roc_auc for s in ranked], axis=1).mean(axis=1)
        actual, told, both = np.split(weights @ pieces, 3, axis=1)
        recall = np.divide(both, actual, out=np.full_like(both, np.nan), where=actual > 0)
        either = actual + told
        f1 = np.divide(2 * both, either, out=np.zeros_like(both), where=either > 0)
        parts = (auc, weights @ hit / total, recall.mean(axis=1), f1.mean(axis=1), weights @ loss / total)
        return np.stack((*parts, weights @ squared / total), axis=1)

    point = figures(np.ones((1, n)))[0]
    drawn = resamples.each(figures, limit=int(np.clip(_CELLS // (n * classes), 50, 1_000)))
    names = ("roc_auc", "accuracy", "balanced_accuracy", "macro_f1", "log_loss", "brier")
    found: dict[str, Interval] = {name: interval(point[i], drawn[:, i]) for i, name in enumerate(names)}
    return MulticlassMetrics(**found), drawn[:, 0]
