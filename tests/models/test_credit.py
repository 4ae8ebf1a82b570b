"""Gini, KS, deciles, bands and a challenger, against the definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from lexsi_ds.models.credit import challenge, credit, points
from lexsi_ds.models.metrics import Resamples, measure


@pytest.fixture(scope="module")
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    margin = rng.normal(-2, 1, 1_000)
    p = 1 / (1 + np.exp(-margin))
    return (rng.random(1_000) < p).astype(float), p


def test_tables_hold_every_row_once_and_add_up(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    found = credit(y, p, measure(y, p, Resamples(len(y), 7))[0], None)
    assert found.gini.value == pytest.approx(2 * roc_auc_score(y, p) - 1)
    assert found.ks.value == pytest.approx(ks_2samp(p[y == 1], p[y == 0]).statistic)
    told = p >= found.ks_at
    assert abs(told[y == 1].mean() - told[y == 0].mean()) == pytest.approx(found.ks.value)
    assert [d.decile for d in found.deciles] == list(range(1, 11))
    assert sum(d.rows for d in found.deciles) == len(y)
    assert sum(d.events for d in found.deciles) == y.sum()
    assert found.deciles[-1].captured == pytest.approx(1.0)
    top = np.argsort(-p)[:100]
    assert found.deciles[0].lift == pytest.approx(y[top].mean() / y.mean())
    assert all(a.low >= b.high for a, b in zip(found.deciles, found.deciles[1:], strict=False))
    assert sum(b.rows for b in found.bands) == len(y)
    assert sum(b.events for b in found.bands) == y.sum()
    rates = [b.rate for b in found.bands if b.rows > 100]
    assert rates == sorted(rates, reverse=True)


def test_twenty_points_double_the_odds() -> None:
    at = points(np.array([1 / 31, 1 / 61, 0.0, 1.0]))
    assert list(at) == [600, 620, 850, 300]


def test_an_existing_score_is_compared_whichever_way_it_runs(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    rng = np.random.default_rng(1)
    weak = pd.Series(700 - 40 * np.log(p / (1 - p)) + rng.normal(0, 80, len(p)))
    weak[:100] = np.nan
    found = challenge(y, p, weak, "bureau", 7)
    assert found is not None
    here = weak.notna().to_numpy()
    assert found.rows == 900
    assert found.auc.value == pytest.approx(roc_auc_score(y[here], -weak[here]))
    assert found.model_auc.value == pytest.approx(roc_auc_score(y[here], p[here]))
    assert found.difference.low > 0
    assert "bureau (lower is riskier)" in found.sentence
    assert "the model ranks better" in found.sentence
    same = challenge(y, p, pd.Series(p), "copy", 7)
    assert same is not None
    assert "within the noise" in same.sentence
    assert challenge(y, p, pd.Series(np.full(len(p), np.nan)), "empty", 7) is None
