"""Conformal intervals hold what they promise, widen where errors do, and never look at the row's own outcome."""

from __future__ import annotations

import numpy as np
import pytest

from lexsi_ds.models.conformal import Widths, intervals, learn_widths


def draw(seed: int, n: int, uneven: bool) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and honest predictions; errors may grow with the prediction."""
    rng = np.random.default_rng(seed)
    told = rng.uniform(1, 10, n)
    scale = told / 3 if uneven else np.ones(n)
    return told + scale * rng.standard_t(5, n), told


def covered(seeds: range, n: int, uneven: bool) -> float:
    shares = []
    for seed in seeds:
        y, told = draw(seed, n, uneven)
        new_y, new_told = draw(10_000 + seed, 2_000, uneven)
        shares.append(np.mean(np.abs(new_y - new_told) <= learn_widths(y, told).at(new_told)))
    return float(np.mean(shares))


@pytest.mark.parametrize(("n", "uneven"), [(120, False), (800, True)])
def test_nine_in_ten_new_rows_are_inside_over_some_seeds(n: int, uneven: bool) -> None:
    assert covered(range(20), n, uneven) == pytest.approx(0.9, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "uneven"), [(60, False), (300, False), (800, True), (3_000, True)])
def test_nine_in_ten_new_rows_are_inside_over_two_hundred_seeds(n: int, uneven: bool) -> None:
    assert covered(range(200), n, uneven) == pytest.approx(0.9, abs=0.02)


@pytest.mark.slow
def test_the_intervals_of_trained_models_cover_over_two_hundred_seeds() -> None:
    from lexsi_ds.models.estimators import Outcome, recipe
    from lexsi_ds.models.validation import make_folds, out_of_fold

    outcome, shares = Outcome("regression", 0), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1_300, 4))
        y = x @ [2.0, -1.0, 0.5, 0.0] + np.abs(x[:, 0]) + rng.normal(size=1_300)
        how = recipe("XGBoost", 300, (), outcome)
        folds = make_folds(y[:300], 4, 7, outcome=outcome).first(1)
        found = out_of_fold(how, x[:300], y[:300], folds, 7, 1, lambda number: None)
        told = how.fit(x[:300], y[:300], 7).margin(x[300:])
        shares.append(np.mean(np.abs(y[300:] - told) <= learn_widths(y[:300], found.margin).at(told)))
    assert float(np.mean(shares)) == pytest.approx(0.9, abs=0.02)


def test_the_card_says_the_share_that_intervals_learnt_elsewhere_held() -> None:
    y, told = draw(1, 1_000, True)
    found = intervals(y, told, np.arange(1_000) % 5)
    assert found.card.coverage == pytest.approx(0.9, abs=0.03)
    assert found.card.half_width == pytest.approx(float(np.median(found.widths.at(told))))
    low, high = found.widths.at(np.array([1.5, 9.5]))
    assert high > 3 * low
    assert Widths.model_validate_json(found.widths.model_dump_json()) == found.widths
