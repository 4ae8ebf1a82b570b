"""Figures and intervals against scikit-learn, scipy and resampling done the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ks_2samp
from sklearn import metrics as sk

from lexsi_ds.models.metrics import Resamples, Scored, calibration, measure, roc_curve, wilson


@pytest.fixture(params=[0, 1, 2])
def scores(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    y = (rng.random(300) < 0.2).astype(float)
    p = np.clip(0.2 + 0.25 * y + rng.normal(0, 0.2, 300), 0.001, 0.999)
    return y, p.round(2) if request.param == 1 else p


def test_point_values_are_those_of_scikit_learn(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    found, _ = measure(y, p, Resamples(len(y), 7))
    assert found.roc_auc.value == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
    assert found.gini.value == pytest.approx(2 * sk.roc_auc_score(y, p) - 1, abs=1e-12)
    assert found.ks.value == pytest.approx(ks_2samp(p[y == 1], p[y == 0]).statistic, abs=1e-12)
    assert found.average_precision.value == pytest.approx(sk.average_precision_score(y, p), abs=1e-12)
    assert found.brier.value == pytest.approx(sk.brier_score_loss(y, p), abs=1e-12)
    assert found.log_loss.value == pytest.approx(sk.log_loss(y, p), abs=1e-12)


def test_a_resample_has_the_figures_of_the_rows_it_drew(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    rows = np.random.default_rng(5).integers(0, len(y), len(y))
    counts = np.bincount(rows, minlength=len(y))[None, :]
    found = Scored(y, p).figures(counts)
    assert found.roc_auc[0] == pytest.approx(sk.roc_auc_score(y[rows], p[rows]), abs=1e-12)
    assert found.average_precision[0] == pytest.approx(sk.average_precision_score(y[rows], p[rows]), abs=1e-12)
    assert found.ks[0] == pytest.approx(ks_2samp(p[rows][y[rows] == 1], p[rows][y[rows] == 0]).statistic, abs=1e-12)
    assert found.log_loss[0] == pytest.approx(sk.log_loss(y[rows], p[rows]), abs=1e-12)


def test_the_interval_covers_what_slow_resampling_covers(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    found, _ = measure(y, p, Resamples(len(y), 7))
    rng = np.random.default_rng(11)
    slow = []
    for _ in range(1_000):
        rows = rng.integers(0, len(y), len(y))
        slow.append(sk.roc_auc_score(y[rows], p[rows]))
    low, high = np.quantile(slow, [0.025, 0.975])
    assert found.roc_auc.low == pytest.approx(low, abs=0.01)
    assert found.roc_auc.high == pytest.approx(high, abs=0.01)
    assert found.roc_auc.low < found.roc_auc.value < found.roc_auc.high


def test_resamples_without_both_classes_do_not_spoil_the_interval() -> None:
    y = np.r_[np.ones(1), np.zeros(29)]
    p = np.linspace(0.9, 0.1, 30)
    found, drawn = measure(y, p, Resamples(30, 7))
    assert np.isnan(drawn).any()
    assert 0 <= found.roc_auc.low <= found.roc_auc.high <= 1


def test_the_roc_curve_runs_through_scikit_learns_points_inside_its_band(
    scores: tuple[np.ndarray, np.ndarray],
) -> None:
    y, p = scores
    curve = roc_curve(y, p, Resamples(len(y), 7))
    fpr, tpr, _ = sk.roc_curve(y, p, drop_intermediate=False)
    known = set(zip(fpr.round(12), tpr.round(12), strict=True))
    assert all((round(x, 12), round(v, 12)) in known for x, v in zip(curve.x, curve.y, strict=True))
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)
    assert len(curve.x) == len(curve.y) == len(curve.low) == len(curve.high) <= 201
    assert all(low <= v <= high for low, v, high in zip(curve.low, curve.y, curve.high, strict=True))
    assert max(h - low for low, h in zip(curve.low, curve.high, strict=True)) > 0.05


def test_wilson_intervals_are_scipys() -> None:
    for k, n in [(0, 20), (3, 23), (31, 234), (20, 20)]:
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_calibration_bins_hold_every_row_once_in_rising_order(scores: tuple[np.ndarray, np.ndarray]) -> None:
    y, p = scores
    bins = calibration(y, p)
    assert sum(b.n for b in bins) == len(y)
    assert sum(b.observed * b.n for b in bins) == pytest.approx(y.sum())
    assert [b.predicted for b in bins] == sorted(b.predicted for b in bins)
    assert all(b.low <= b.observed <= b.high and b.n >= 20 for b in bins)
