"""Figures of a model of an amount, with 95% bootstrap intervals over rows. Point values are scikit-learn's ``r2_score``,
``root_mean_squared_error``, ``mean_absolute_error`` and ``median_absolute_error``.

The interval of the median is that of order statistics (Thompson 1936), which needs no resampling.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from lexsi_ds.models.figures import Interval, RegressionMetrics
from lexsi_ds.models.metrics import Resamples, interval

_MANY = 50_000
_BLOCKS = 20_000
"""With more rows than ``_MANY`` a resample draws this many random blocks of rows rather than rows: as exact, and quick."""


def measure_amounts(y: np.ndarray, told: np.ndarray, resamples: Resamples) -> tuple[RegressionMetrics, np.ndarray]:
    """Metrics with intervals, and the R2 of each resample. Both of shape (n,)."""
    error = y - told
    centred = y - y.mean()
    sums = np.stack([np.ones(len(y)), centred, centred**2, error**2, np.abs(error)], axis=1)
    if len(y) > _MANY:
        place = np.random.default_rng([resamples.seed, 3]).permutation(len(y)) % _BLOCKS
        sums = np.stack([np.bincount(place, sums[:, j], _BLOCKS) for j in range(5)], axis=1)
        resamples = Resamples(_BLOCKS, resamples.seed)

    def figures(counts: np.ndarray) -> np.ndarray:
        total, first, second, squared, absolute = (counts.astype(np.float64) @ sums).T
        spread = second - first**2 / total
        r2 = 1 - np.divide(squared, spread, out=np.full_like(squared, np.nan), where=spread > 0)
        return np.stack([r2, np.sqrt(squared / total), absolute / total], axis=1)

    point = figures(np.ones((1, len(sums))))[0]
    drawn = resamples.each(figures)
    r2, rmse, mae = (interval(point[i], drawn[:, i]) for i in range(3))
    return RegressionMetrics(r2=r2, rmse=rmse, mae=mae, median_error=_median(np.abs(error))), drawn[:, 0]


def _median(values: np.ndarray) -> Interval:
    ordered, n = np.sort(values), len(values)
    low, high = (int(k) for k in binom.ppf([0.025, 0.975], n, 0.5))
    last = n - 1
    return Interval(
        value=float(np.median(values)), low=float(ordered[max(low - 1, 0)]), high=float(ordered[min(high, last)])
    )
