"""Simpson's reversals: a difference between two groups that turns round within the levels of another column.

Three things must hold at once, so the largest of their p-values is the p-value of all: the difference over all rows; the
opposite difference within levels, averaged; and the opposite in at least two levels (Benjamini and Heller's 2008 partial
conjunction: the second smallest, times their number less one).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from lexsi_ds.insights.coding import PairTable
from lexsi_ds.insights.hypotheses import Scene, Tested

_MAX_GROUPS = 8


def family(scene: Scene, a: int, b: int, table: PairTable) -> list[Tested]:
    """A hypothesis for each two groups of dimension ``a`` within the levels of ``b``. ``table`` has a by b."""
    if table.n.shape[0] > _MAX_GROUPS:
        return []
    tested = (_test(scene, a, b, i, j, table) for i, j in combinations(range(table.n.shape[0]), 2))
    return [t for t in tested if t is not None]


def confirmed(chosen: list[Tested]) -> list[Tested]:
    """The strongest of each dimension whose groups are compared."""
    best: dict[int, Tested] = {}
    for tested in sorted(chosen, key=lambda t: (t.p, -abs(t.effect))):
        best.setdefault(tested.key[0][0], tested)
    return list(best.values())


def _test(scene: Scene, a: int, b: int, i: int, j: int, table: PairTable) -> Tested | None:
    n1, n2 = table.n[i], table.n[j]
    both = (n1 >= 20) & (n2 >= 20)
    if min(n1.sum(), n2.sum()) < scene.min_rows or both.sum() < 2:
        return None
    overall, wide = _difference(*(np.array([t[g].sum()]) for t in (table.n, table.raw, table.raw_q) for g in (i, j)))
    inside, errors = _difference(*(t[g][both] for t in (table.n, table.raw, table.raw_q) for g in (i, j)))
    weights = n1[both] * n2[both] / (n1[both] + n2[both])
    weights /= weights.sum()
    adjusted, error = float(weights @ inside), float(np.sqrt(weights**2 @ errors**2))
    total, spread = float(overall[0]), float(wide[0])
    if spread <= 0 or error <= 0 or total * adjusted >= 0:
        return None if spread <= 0 or error <= 0 else _as_tested(scene, a, b, i, j, table, 1.0, adjusted, error, total)
    opposite = np.sort(stats.norm.sf(np.sign(adjusted) * inside / np.maximum(errors, 1e-300)) * 2)
    p = max(2 * stats.norm.sf(abs(total) / spread), 2 * stats.norm.sf(abs(adjusted) / error),
            min(1.0, float(opposite[1]) * (len(opposite) - 1)))
    return _as_tested(scene, a, b, i, j, table, float(p), adjusted, error, total)


def _difference(
    n1: np.ndarray, n2: np.ndarray, s1: np.ndarray, s2: np.ndarray, q1: np.ndarray, q2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Difference of means of two groups, and its standard error."""
    m1, m2 = s1 / n1, s2 / n2
    v1, v2 = ((np.maximum(q - n * m**2, 0) + 1e-12) / np.maximum(n - 1, 1) for q, n, m in ((q1, n1, m1), (q2, n2, m2)))
    return m1 - m2, np.sqrt(v1 / n1 + v2 / n2)


def _as_tested(
    scene: Scene, a: int, b: int, i: int, j: int, table: PairTable, p: float, adjusted: float, error: float, total: float
) -> Tested:
    n = int(table.n[i].sum() + table.n[j].sum())
    return Tested("simpson_reversal", scene.number, ((a, i), (a, j), (b, -1)), p, adjusted, error, n, total, adjusted)
