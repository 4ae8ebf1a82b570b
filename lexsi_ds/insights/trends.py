"""Trend shifts: groups whose measure drifts against the other groups', period after period.

The slope of a group's residual means over the periods, beside the group's own level and the periods' own. Periods next to
each other resemble each other, so the error is widened by their first-order autocorrelation and by what scatter there is
beyond sampling; the test has as many degrees of freedom as there are periods, less two.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import stats

from lexsi_ds.insights.additive import residuals
from lexsi_ds.insights.coding import Numbers, PairTable
from lexsi_ds.insights.dimensions import MIN_PERIODS
from lexsi_ds.insights.hypotheses import Scene, Tested

_MOST_ALIKE = 0.9


def family(scene: Scene, group: int, time: int, table: PairTable) -> list[Tested]:
    """A hypothesis for each group that has rows in enough periods. ``table`` has groups by periods."""
    return [t for level in range(table.n.shape[0]) if (t := _test(scene, group, time, level, table, [])) is not None]


def confirmed(
    scene: Scene, group: int, time: int, table: PairTable, chosen: Iterable[Tested], cut: float
) -> tuple[list[Tested], list[Numbers]]:
    """Those that stand beside the stronger ones (one group's rise is the others' fall), with their regressors."""
    waiting = {t.key[0][1] for t in chosen}
    kept: list[Tested] = []
    given: list[Numbers] = []
    while waiting:
        found = [t for level in sorted(waiting) if (t := _test(scene, group, time, level, table, given)) and t.p <= cut]
        if not found:
            break
        best = min(found, key=lambda t: (t.p, -abs(t.effect)))
        waiting.discard(best.key[0][1])
        kept.append(best)
        given.append(_slope(table, best.key[0][1]))
    return kept, given


def _slope(table: PairTable, level: int) -> Numbers:
    """A regressor that rises by one from the first period to the last, for one group."""
    out = np.zeros(table.n.shape)
    out[level] = np.linspace(-0.5, 0.5, table.n.shape[1])
    return out


def _test(scene: Scene, group: int, time: int, level: int, table: PairTable, given: list[Numbers]) -> Tested | None:
    counts = table.n[level]
    periods = int((counts > 0).sum())
    total = int(counts.sum())
    elsewhere = table.n.sum(axis=0) - counts
    if periods < MIN_PERIODS or total < scene.min_rows or (elsewhere[counts > 0] > 0).sum() < MIN_PERIODS:
        return None
    fitted = residuals(table, min_rows=1, binary=False, extra=[*given, _slope(table, level)])
    effect, error = fitted.slopes[-1]
    if not np.isfinite(effect) or error <= 0:
        return None
    error *= _widening(table, level, fitted.left[level])
    mean = float(table.raw[level].sum() / total)
    p = 2 * stats.t.sf(abs(effect) / error, periods - 2)
    return Tested("trend_shift", scene.number, ((group, level), (time, -1)), float(p), effect, error, total, mean + effect / 2,
                  mean - effect / 2)


def _widening(table: PairTable, level: int, left: Numbers) -> float:
    """How much wider the error must be than independent rows would make it."""
    n = table.n[level]
    here = n > 1
    within = (table.q[level] - np.divide(table.s[level] ** 2, n, out=np.zeros_like(n), where=n > 0))[here]
    variance = max(float(within.sum()) / max(float((n[here] - 1).sum()), 1), 1e-300)
    scaled = left[here] / np.sqrt(variance / n[here])
    scatter = max(1.0, float((scaled**2).sum() / max(len(scaled) - 2, 1)))
    if len(scaled) < 4:
        return float(np.sqrt(scatter))
    alike = float(np.clip((scaled[1:] @ scaled[:-1]) / max(float(scaled @ scaled), 1e-300), 0, _MOST_ALIKE))
    return float(np.sqrt(scatter * (1 + alike) / (1 - alike)))
