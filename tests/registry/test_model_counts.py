"""Counts along the threshold: the same as counting rows one threshold at a time, ties and all."""

from __future__ import annotations

import numpy as np
import pytest

from lexsi_ds.models.threshold import threshold_by_cost, threshold_by_rate
from lexsi_ds.services.model_counts import counts_of

RNG = np.random.default_rng(11)
P = np.round(RNG.uniform(size=500), 2)  # many ties
Y = RNG.uniform(size=500) < P


@pytest.mark.parametrize("costs", [(1.0, 5.0), (3.0, 1.0), (0.5, 0.5), (1.0, 1000.0), (1000.0, 1.0)])
def test_the_cheapest_threshold_is_that_of_the_training(costs: tuple[float, float]) -> None:
    counts = counts_of(Y, P)
    best = counts.cheapest(*costs)
    assert best == threshold_by_cost(Y.astype(float), P, *costs).value
    brute = min(((t <= P) & ~Y).sum() * costs[0] + ((t > P) & Y).sum() * costs[1] for t in [*P, 2.0])
    assert counts.at(best, costs).cost == pytest.approx(brute)


@pytest.mark.parametrize("threshold", [0.0, 0.005, 0.37, 0.5, 0.995, 1.0])
def test_any_threshold_counts_as_its_rows_do(threshold: float) -> None:
    found, hit = counts_of(Y, P).at(threshold, (2.0, 7.0)), threshold <= P
    assert (found.true_positive, found.false_positive) == ((hit & Y).sum(), (hit & ~Y).sum())
    assert (found.false_negative, found.true_negative) == ((~hit & Y).sum(), (~hit & ~Y).sum())
    assert found.cost == 2.0 * found.false_positive + 7.0 * found.false_negative and found.rows == 500


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 1.0])
def test_a_share_is_that_of_the_threshold_by_rate(rate: float) -> None:
    assert counts_of(Y, P).for_rate(rate) == threshold_by_rate(P, rate).value
