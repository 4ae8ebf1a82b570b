"""Figures of a binary classifier with 95% intervals: a percentile bootstrap over rows (Efron 1979), vectorised, fixed
seed.

Point values are those of scikit-learn's functions of the same names (a test compares them). A resample is a vector of
row counts, so that one sort serves all resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lexsi_ds.models.card import CalibrationBin, Curve, Interval, Metrics

_CHUNK = 100_000
"""Most cells of one block of resamples: arrays of this size stay in the processor's cache, which is three times faster."""
_CURVE_POINTS = 201
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Figures:
    """Figures of each resample, shape (b,) each; NaN where a resample holds one class only."""

    roc_auc: np.ndarray
    ks: np.ndarray
    average_precision: np.ndarray
    brier: np.ndarray
    log_loss: np.ndarray


class Scored:
    """Outcomes and probabilities of the same rows, sorted once by falling probability, ties in one group."""

    def __init__(self, y: np.ndarray, p: np.ndarray) -> None:
        self._order = np.argsort(-p, kind="stable")
        ordered = p[self._order]
        self._y = y[self._order].astype(np.float64)
        self._ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        inside = np.clip(ordered, _EPSILON, 1 - _EPSILON)
        self._squared = (ordered - self._y) ** 2
        self._log = -(self._y * np.log(inside) + (1 - self._y) * np.log1p(-inside))

    def cumulated(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """True and false positives at each distinct score, highest first. Shapes (b, groups)."""
        return self._cumulated(counts[:, self._order].astype(np.float64))

    def _cumulated(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        positives = np.cumsum(weights * self._y, axis=1)[:, self._ends]
        return positives, np.cumsum(weights, axis=1)[:, self._ends] - positives

    def figures(self, counts: np.ndarray) -> Figures:
        """The figures of each resample; ``counts`` says how often it holds each row. Shape (b, n)."""
        weights = counts[:, self._order].astype(np.float64)
        tp, fp = self._cumulated(weights)
        n_pos, n_neg = tp[:, -1], fp[:, -1]
        both = (n_pos > 0) & (n_neg > 0)
        pos, neg = np.where(both, n_pos, np.nan), np.where(both, n_neg, np.nan)
        tp_step, fp_step = np.diff(tp, axis=1, prepend=0.0), np.diff(fp, axis=1, prepend=0.0)
        total = weights.sum(axis=1)
        precision = np.divide(tp, tp + fp, out=np.zeros_like(tp), where=(tp + fp) > 0)
        return Figures(
            roc_auc=(fp_step * (tp - tp_step / 2)).sum(axis=1) / (pos * neg),
            ks=np.abs(tp / pos[:, None] - fp / neg[:, None]).max(axis=1),
            average_precision=(tp_step * precision).sum(axis=1) / pos,
            brier=weights @ self._squared / total,
            log_loss=weights @ self._log / total,
        )

    def roc(self) -> tuple[np.ndarray, np.ndarray]:
        """False and true positive rates from (0, 0) to (1, 1)."""
        tp, fp = (c[0] for c in self.cumulated(np.ones((1, len(self._y)))))
        return np.append(0.0, fp / fp[-1]), np.append(0.0, tp / tp[-1])


@dataclass(frozen=True)
class Resamples:
    """Bootstrap resamples of n rows, the same each time they are drawn: two models on one set are compared in pairs."""

    n: int
    seed: int

    @property
    def size(self) -> int:
        """How many: 1,000 up to 20,000 rows, fewer for more, never under 200."""
        return int(np.clip(20_000_000 // max(self.n, 1), 200, 1_000))

    def each(self, work: Callable[[np.ndarray], np.ndarray], limit: int | None = None) -> np.ndarray:
        """Results of ``work`` on blocks of resamples (row counts, shape (b, n)), one row a resample."""
        rng = np.random.default_rng([self.seed, self.n])
        size, block = min(self.size, limit or self.size), max(1, _CHUNK // max(self.n, 1))
        results = []
        for start in range(0, size, block):
            b = min(block, size - start)
            drawn = rng.integers(0, self.n, size=(b, self.n)) + np.arange(b)[:, None] * self.n
            results.append(work(np.bincount(drawn.ravel(), minlength=b * self.n).reshape(b, self.n)))
        return np.concatenate(results, axis=0)


def measure(y: np.ndarray, p: np.ndarray, resamples: Resamples) -> tuple[Metrics, np.ndarray]:
    """Metrics with intervals, and the ROC AUC of each resample for paired comparison. ``y`` 0/1, ``p`` in [0, 1]; shape
    (n,)."""
    scored = Scored(y, p)
    point = stack(scored.figures(np.ones((1, len(y)))))[0]
    drawn = resamples.each(lambda counts: stack(scored.figures(counts)))
    auc, ks, precision, brier, loss = (interval(point[i], drawn[:, i]) for i in range(5))
    gini = Interval(value=2 * auc.value - 1, low=2 * auc.low - 1, high=2 * auc.high - 1)
    figures = Metrics(roc_auc=auc, gini=gini, ks=ks, average_precision=precision, brier=brier, log_loss=loss)
    return figures, drawn[:, 0]


def interval(value: float, drawn: np.ndarray) -> Interval:
    """The 95% percentile interval of resampled values; resamples without both classes do not count."""
    kept = drawn[np.isfinite(drawn)]
    low, high = np.quantile(kept, [0.025, 0.975]) if len(kept) else (value, value)
    return Interval(value=float(value), low=float(low), high=float(high))


def roc_curve(y: np.ndarray, p: np.ndarray, resamples: Resamples) -> Curve:
    """The ROC curve, thinned to at most 201 points, with a 95% pointwise band of the true positive rate."""
    scored = Scored(y, p)
    fpr, tpr = scored.roc()
    kept = np.unique(np.linspace(0, len(fpr) - 1, _CURVE_POINTS).round().astype(int))
    x, y_points = fpr[kept], tpr[kept]

    def band(counts: np.ndarray) -> np.ndarray:
        tp, fp = scored.cumulated(counts)
        usable = (tp[:, -1] > 0) & (fp[:, -1] > 0)
        curves = [
            np.interp(x, np.append(0.0, f / f[-1]), np.append(0.0, t / t[-1]))
            for t, f in zip(tp[usable], fp[usable], strict=True)
        ]
        return np.array(curves).reshape(-1, len(x))

    low, high = np.quantile(resamples.each(band, limit=200), [0.025, 0.975], axis=0)
    low[0], high[-1] = 0.0, 1.0
    return Curve(
        x=_floats(x),
        y=_floats(y_points),
        low=_floats(np.minimum(low, y_points)),
        high=_floats(np.maximum(high, y_points)),
    )


def calibration(y: np.ndarray, p: np.ndarray) -> tuple[CalibrationBin, ...]:
    """Bins of near equal size by predicted probability (about ten, at least 20 rows each), Wilson (1927) intervals."""
    order = np.argsort(p, kind="stable")
    bins = int(np.clip(len(p) // 20, 1, 10))
    return tuple(_bin(y[part], p[part]) for part in np.array_split(order, bins))


def wilson(successes: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson score interval of a share."""
    share = successes / n
    centre, spread = share + z * z / (2 * n), z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(0.0, (centre - spread) / (1 + z * z / n)), min(1.0, (centre + spread) / (1 + z * z / n))


def _bin(y: np.ndarray, p: np.ndarray) -> CalibrationBin:
    low, high = wilson(int(y.sum()), len(y))
    return CalibrationBin(predicted=float(p.mean()), observed=float(y.mean()), low=low, high=high, n=len(y))


def stack(figures: Figures) -> np.ndarray:
    """ROC AUC, KS, average precision, Brier and log loss, a row a resample. Shape (b, 5)."""
    parts = (figures.roc_auc, figures.ks, figures.average_precision, figures.brier, figures.log_loss)
    return np.stack(parts, axis=1)


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
