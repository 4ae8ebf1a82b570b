"""What a pair of columns does together beyond what each does alone: the additive fit of a pair table and its exact errors.

Cell means are projected on rows and columns by least squares weighted by counts; the residual of a cell is ``M y`` and its
variance ``sum M^2 v / n`` with each cell's own variance, whatever the counts. (An approximate leverage is wrong where the two
columns are dependent, and there it makes discoveries of noise.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import stats

from lexsi_ds.insights.coding import Numbers, PairTable

_MIN_SHARE = 0.1
"""A cell of which its own row and column leave less than this to see cannot be tested."""
_PRIOR = 5
"""Rows of the pooled variance that are mixed into each cell's."""
_MIN_EXPECTED = 10
"""Expected rows with and without the value, for a share's cell."""


@dataclass
class Residuals:
    """Of each cell of a pair: what is left of its mean. Arrays have the shape of the pair table; NaN where untestable."""

    effect: Numbers
    error: Numbers
    p: Numbers
    """Two-sided."""
    z: Numbers
    slopes: list[tuple[float, float]] = field(default_factory=list)
    """(value, standard error) of each extra regressor."""
    left: Numbers = field(default_factory=lambda: np.zeros(0))
    """The residual means themselves."""


def residuals(
    table: PairTable, *, min_rows: int, binary: bool, extra: list[Numbers] | None = None
) -> Residuals:
    """Fit rows, columns and ``extra`` regressors (each of the table's shape); give what is left of every cell."""
    shape, occupied = table.n.shape, table.n > 0
    n, means = table.n[occupied], table.s[occupied] / table.n[occupied]
    within = table.q[occupied] - n * means**2
    pooled = max(float(within.sum()) / max(float(n.sum()) - len(n), 1.0), 1e-300)
    variances = (np.maximum(within, 0) + _PRIOR * pooled) / (n - 1 + _PRIOR)
    design = _design(occupied, extra or [])
    estimate = _estimator(design, n)
    projected = np.eye(len(n)) - design @ estimate
    seen = np.diag(projected)
    left = projected @ means
    ok = (n >= min_rows) & (seen > _MIN_SHARE)
    if binary:
        raw = table.raw[occupied] / n
        rate = np.clip(raw - np.divide(left, seen, out=np.zeros_like(left), where=seen > _MIN_SHARE), 0, 1)
        variances = np.maximum(rate * (1 - rate), variances * 0.5)
        ok &= (n * rate >= _MIN_EXPECTED) & (n * (1 - rate) >= _MIN_EXPECTED)
    errors = np.sqrt(np.maximum((projected**2) @ (variances / n), 1e-300))
    z = left / errors
    out = {name: np.full(shape, np.nan) for name in ("effect", "error", "p", "z", "left")}
    share = np.where(seen > _MIN_SHARE, seen, np.nan)
    for name, values in (("effect", left / share), ("error", errors / share), ("z", z),
                         ("p", 2 * stats.t.sf(np.abs(z), np.maximum(n - 1, 1)))):
        out[name][occupied] = np.where(ok, values, np.nan)
    out["left"][occupied] = left
    slopes = [
        (float(estimate[row] @ means), float(np.sqrt(estimate[row] ** 2 @ (variances / n))))
        for row in range(design.shape[1] - len(extra or []), design.shape[1])
    ]
    return Residuals(out["effect"], out["error"], out["p"], out["z"], slopes, out["left"])


def _design(occupied: npt.NDArray[np.bool_], extra: list[Numbers]) -> Numbers:
    rows, columns = np.nonzero(occupied)
    first = (rows[:, None] == np.arange(occupied.shape[0])).astype(float)
    second = (columns[:, None] == np.arange(occupied.shape[1])).astype(float)
    return np.hstack([first, second, *(e[occupied][:, None] for e in extra)])


def _estimator(design: Numbers, weights: Numbers) -> Numbers:
    """(X'WX)^+ X'W."""
    weighted = design * weights[:, None]
    return np.linalg.pinv(design.T @ weighted, hermitian=True, rcond=1e-10) @ weighted.T
