"""Unexpected effects: cells of two columns whose mean is not what the two columns by themselves give."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lexsi_ds.insights.additive import Residuals, residuals
from lexsi_ds.insights.coding import Numbers, PairTable
from lexsi_ds.insights.hypotheses import Scene, Tested


def family(scene: Scene, a: int, b: int, table: PairTable) -> list[Tested]:
    """A hypothesis for each cell of the pair that can be tested."""
    found = residuals(table, min_rows=scene.min_rows, binary=scene.measure.binary)
    return [_tested(scene, a, b, i, j, table, found) for i, j in np.argwhere(np.isfinite(found.p))]


def confirmed(
    scene: Scene, a: int, b: int, table: PairTable, chosen: Iterable[Tested], cut: float, given: list[Numbers]
) -> list[Tested]:
    """Those of the chosen cells that stand beside the stronger ones: a real cell leaks into its row's and column's others.

    ``given`` are regressors that are known already (trends of the same pair). The strongest goes first; each that stands is
    fitted as well before the next is looked at.
    """
    waiting = {t.key: t for t in chosen}
    kept: list[Tested] = []
    extra = list(given)
    while waiting:
        found = residuals(table, min_rows=scene.min_rows, binary=scene.measure.binary, extra=extra)
        standing = {
            key: abs(found.z[key[0][1], key[1][1]]) for key in waiting
            if np.isfinite(found.p[key[0][1], key[1][1]]) and found.p[key[0][1], key[1][1]] <= cut
        }
        if not standing:
            break
        best = max(standing, key=lambda key: standing[key])
        (_, i), (_, j) = best
        del waiting[best]
        kept.append(_tested(scene, a, b, i, j, table, found))
        cell = np.zeros(table.n.shape)
        cell[i, j] = 1
        extra.append(cell)
    return kept


def _tested(scene: Scene, a: int, b: int, i: int, j: int, table: PairTable, found: Residuals) -> Tested:
    n = int(table.n[i, j])
    observed = float(table.raw[i, j] / table.n[i, j])
    effect = float(found.effect[i, j])
    return Tested("unexpected_effect", scene.number, ((a, int(i)), (b, int(j))), float(found.p[i, j]), effect,
                  float(found.error[i, j]), n, observed, observed - effect)
