"""Concentrated anomalies: groups that hold far more than their share of the rows that are farthest from what is expected.

The hundredth of rows with the largest residual is fixed first; then their number in a group is hypergeometric if the group
has nothing to do with it, which is the permutation test of that number, exactly.
"""

from __future__ import annotations

from scipy import stats

from lexsi_ds.insights.hypotheses import Scene, Tested

SHARE = 0.01
_MIN_EXTREMES = 5


def family(scene: Scene) -> list[Tested]:
    """A hypothesis for each level of each dimension; none for shares, whose residuals have two values, and none for "missing",
    whose rows are of all levels and so spread more than any."""
    if scene.measure.binary or scene.rows * SHARE < 4 * _MIN_EXTREMES:
        return []
    rows, extreme, counted = scene.coded.extremes(SHARE)
    out = []
    for d, (n, k) in enumerate(counted):
        if scene.dims[d].column == scene.measure.column:
            continue
        for level in range(len(n)):
            told = scene.dims[d].sides[level].level != "missing"
            if told and scene.min_rows <= n[level] <= rows / 2:
                out.append(_tested(scene, d, level, rows, extreme, float(n[level]), float(k[level])))
    return out


def confirmed(chosen: list[Tested]) -> list[Tested]:
    """The strongest group of each dimension: the others of it have the fewer for that."""
    best: dict[int, Tested] = {}
    for tested in sorted(chosen, key=lambda t: t.p):
        best.setdefault(tested.key[0][0], tested)
    return list(best.values())


def _tested(scene: Scene, d: int, level: int, rows: int, extreme: int, n: float, k: float) -> Tested:
    p = float(stats.hypergeom.sf(k - 1, rows, extreme, n)) if k >= _MIN_EXTREMES else 1.0
    share, expected = k / n, extreme / rows
    error = (max(share * (1 - share), expected * (1 - expected)) / n) ** 0.5
    return Tested("concentrated_anomaly", scene.number, ((d, level),), p, share - expected, error, int(n), share, expected)
