"""The intervals of a binary classifier in closed form, for so many rows that resampling them would take longer than
fitting.

ROC AUC by DeLong et al. (1988) in the fast form of Sun & Xu (2014), means by their standard error, KS and average
precision by resampling the counts of 2,000 bins of the score. Point values are exact. Must never be used for few rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from lexsi_ds.models.figures import Curve, Interval, Metrics

MANY = 50_000
_BINS, _DRAWS = 2_000, 200
_Z = 1.959963984540054
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Placements:
    """DeLong's structural components: of each positive row, how many negatives lie below it, and the other way round."""

    positive: np.ndarray
    negative: np.ndarray

    @property
    def auc(self) -> float:
        """The ROC AUC."""
        return float(self.positive.mean())

    def minus(self, other: Placements) -> Interval:
        """Difference of two ROC AUCs on the same rows, with its interval."""
        return _normal(self.auc - other.auc, self.positive - other.positive, self.negative - other.negative)


def placements(y: np.ndarray, p: np.ndarray) -> Placements:
    """The components of scores ``p`` for outcomes ``y`` of 0 and 1, both (n,)."""
    positive, negative = p[y == 1], p[y == 0]
    among_all = rankdata(np.concatenate([positive, negative]))
    m, n = len(positive), len(negative)
    above = (among_all[:m] - rankdata(positive)) / n
    below = 1.0 - (among_all[m:] - rankdata(negative)) / m
    return Placements(above, below)


def measure_large(y: np.ndarray, p: np.ndarray, point: np.ndarray, seed: int) -> tuple[Metrics, Placements]:
    """Metrics with intervals. ``point`` holds ROC AUC, KS, average precision, Brier and log loss of all rows."""
    placed = placements(y, p)
    auc = _normal(float(point[0]), placed.positive, placed.negative)
    tp, fp = _drawn(y, p, seed)
    base = _cumulated(*_counts(y, p))
    ks = _shifted(float(point[1]), _ks(tp, fp), float(_ks(*base)[0]))
    precision = _shifted(float(point[2]), _average_precision(tp, fp), float(_average_precision(*base)[0]))
    inside = np.clip(p, _EPSILON, 1 - _EPSILON)
    loss = -(y * np.log(inside) + (1 - y) * np.log1p(-inside))
    gini = Interval(value=2 * auc.value - 1, low=2 * auc.low - 1, high=2 * auc.high - 1)
    figures = Metrics(
        roc_auc=auc, gini=gini, ks=ks, average_precision=precision,
        brier=_mean(float(point[3]), (p - y) ** 2), log_loss=_mean(float(point[4]), loss),
    )  # fmt: skip
    return figures, placed


def roc_band(y: np.ndarray, p: np.ndarray, x: np.ndarray, line: np.ndarray, seed: int) -> Curve:
    """The curve through ``x`` and ``line`` with its 95% pointwise band."""
    tp, fp = _drawn(y, p, seed)
    rates = [np.interp(x, np.append(0.0, f / f[-1]), np.append(0.0, t / t[-1])) for t, f in zip(tp, fp, strict=True)]
    low, high = np.quantile(np.array(rates), [0.025, 0.975], axis=0)
    low[0], high[-1] = 0.0, 1.0
    sides = (x, line, np.minimum(low, line), np.maximum(high, line))
    return Curve(**{name: tuple(v.tolist()) for name, v in zip(("x", "y", "low", "high"), sides, strict=True)})


def _counts(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positives and negatives by bin of the score, highest first; bins hold about as many rows each. Shape (1, bins)."""
    edges = np.unique(np.quantile(p, np.linspace(0, 1, _BINS + 1)[1:-1]))
    place = len(edges) - np.searchsorted(edges, p, side="right")
    size = len(edges) + 1
    return np.bincount(place[y == 1], minlength=size)[None, :], np.bincount(place[y == 0], minlength=size)[None, :]


def _cumulated(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum(positive, axis=1, dtype=float), np.cumsum(negative, axis=1, dtype=float)


def _drawn(y: np.ndarray, p: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    positive, negative = _counts(y, p)
    cells = np.concatenate([positive[0], negative[0]])
    drawn = np.random.default_rng([seed, 2, len(y)]).multinomial(len(y), cells / cells.sum(), size=_DRAWS)
    return _cumulated(*np.split(drawn, 2, axis=1))


def _ks(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    return np.abs(tp / tp[:, -1:] - fp / fp[:, -1:]).max(axis=1)


def _average_precision(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    seen = tp + fp
    precision = np.divide(tp, seen, out=np.zeros_like(tp), where=seen > 0)
    return (np.diff(tp, axis=1, prepend=0.0) * precision).sum(axis=1) / tp[:, -1]


def _shifted(point: float, drawn: np.ndarray, base: float) -> Interval:
    low, high = np.quantile(drawn - base, [0.025, 0.975])
    return Interval(value=point, low=point + float(low), high=point + float(high))


def _normal(value: float, positive: np.ndarray, negative: np.ndarray) -> Interval:
    half = _Z * float(np.sqrt(positive.var(ddof=1) / len(positive) + negative.var(ddof=1) / len(negative)))
    return Interval(value=value, low=value - half, high=value + half)


def _mean(value: float, parts: np.ndarray) -> Interval:
    half = _Z * float(parts.std(ddof=1) / np.sqrt(len(parts)))
    return Interval(value=value, low=value - half, high=value + half)
