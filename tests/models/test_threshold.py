"""Thresholds by cost and by rate against the slow way, ties and all."""

from __future__ import annotations

import numpy as np
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.models.threshold import cost_curve, flagged, threshold_by_cost, threshold_by_rate


@pytest.fixture(params=[0, 1])
def scores(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(float)
    return y, p.round(1) if request.param else p


def cost(y: np.ndarray, p: np.ndarray, value: float, alarm: float, miss: float) -> float:
    told = p >= value
    return alarm * float((told & (y == 0)).sum()) + miss * float((~told & (y == 1)).sum())


@pytest.mark.parametrize(("alarm", "miss"), [(1, 1), (1, 10), (5, 1)])
def test_no_other_threshold_costs_less(scores: tuple[np.ndarray, np.ndarray], alarm: float, miss: float) -> None:
    y, p = scores
    found = threshold_by_cost(y, p, alarm, miss)
    everywhere = [cost(y, p, value, alarm, miss) for value in np.linspace(0, 1.01, 2_000)]
    assert cost(y, p, found.value, alarm, miss) <= min(everywhere) + 1e-9
    edges, totals = cost_curve(y, p, alarm, miss)
    assert [cost(y, p, edge, alarm, miss) for edge in edges] == pytest.approx(totals.tolist())
    assert (found.how, found.cost_false_positive, found.cost_false_negative) == ("cost", alarm, miss)


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.1, 0.5, 1.0])
def test_a_rate_is_never_passed_and_missed_only_by_ties(scores: tuple[np.ndarray, np.ndarray], rate: float) -> None:
    _, p = scores
    found = flagged(p, threshold_by_rate(p, rate))
    assert found.mean() <= rate + 1e-12
    rest = p[~found]
    if len(rest):
        tied = (p == rest.max()).sum()
        assert (found.sum() + tied) / len(p) > rate


def test_impossible_costs_and_rates_are_refused(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    for alarm, miss in ((0, 1), (1, -1), (float("nan"), 1), (float("inf"), 1)):
        with pytest.raises(BadInput, match="Costs"):
            threshold_by_cost(y, p, alarm, miss)
    for rate in (0, -0.1, 1.5):
        with pytest.raises(BadInput, match="share to flag"):
            threshold_by_rate(p, rate)
