"""Figures of several classes, of amounts and of very many rows are scikit-learn's, with honest intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.figures import Metrics, MulticlassMetrics, RegressionMetrics
from lexsi_ds.models.measuring import main_figure, measured, roc
from lexsi_ds.models.metrics import Resamples, measure
from lexsi_ds.models.metrics_large import placements


def classes(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.choice(3, n, p=[0.6, 0.3, 0.1]).astype(float)
    raw = np.exp(rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y.astype(int)])
    return y, raw / raw.sum(axis=1, keepdims=True)


def test_figures_of_classes_are_those_of_scikit_learn() -> None:
    y, shares = classes()
    found = measured(Outcome("multiclass", 3), y, shares, 7)
    m = found.metrics
    assert isinstance(m, MulticlassMetrics)
    guess = shares.argmax(axis=1)
    assert m.roc_auc.value == pytest.approx(sk.roc_auc_score(y, shares, multi_class="ovr"), abs=1e-12)
    assert m.accuracy.value == pytest.approx(sk.accuracy_score(y, guess), abs=1e-12)
    assert m.balanced_accuracy.value == pytest.approx(sk.balanced_accuracy_score(y, guess), abs=1e-12)
    assert m.macro_f1.value == pytest.approx(sk.f1_score(y, guess, average="macro"), abs=1e-12)
    assert m.log_loss.value == pytest.approx(sk.log_loss(y, shares), abs=1e-12)
    assert m.brier.value == pytest.approx(((shares - np.eye(3)[y.astype(int)]) ** 2).sum(axis=1).mean(), abs=1e-12)
    assert all(f.low < f.value < f.high for f in (m.roc_auc, m.accuracy, m.macro_f1, m.log_loss))
    assert main_figure(Outcome("multiclass", 3), y, shares) == pytest.approx(m.roc_auc.value)


@pytest.mark.parametrize("n", [500, 60_000])
def test_figures_of_amounts_are_those_of_scikit_learn(n: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(100, 20, n)
    told = y + rng.normal(0, 10, n)
    m = measured(Outcome("regression", 0), y, told, 7).metrics
    assert isinstance(m, RegressionMetrics)
    assert m.r2.value == pytest.approx(sk.r2_score(y, told), abs=1e-12)
    assert m.rmse.value == pytest.approx(sk.root_mean_squared_error(y, told), abs=1e-9)
    assert m.mae.value == pytest.approx(sk.mean_absolute_error(y, told), abs=1e-9)
    assert m.median_error.value == pytest.approx(sk.median_absolute_error(y, told), abs=1e-12)
    half = (m.mae.high - m.mae.low) / 2
    assert half == pytest.approx(1.96 * np.abs(y - told).std() / np.sqrt(n), rel=0.15)


def many(n: int = 60_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.1).astype(float)
    p = np.clip(0.1 + 0.1 * y + rng.normal(0, 0.1, n), 0.001, 0.999).round(3)
    return y, p, np.clip(p + rng.normal(0, 0.1, n), 0.001, 0.999)


def test_many_rows_have_exact_figures_and_the_intervals_that_resampling_gives() -> None:
    y, p, _ = many()
    large = measured(Outcome(), y, p, 7).metrics
    assert isinstance(large, Metrics)
    assert large.roc_auc.value == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
    assert large.average_precision.value == pytest.approx(sk.average_precision_score(y, p), abs=1e-12)
    assert large.log_loss.value == pytest.approx(sk.log_loss(y, p), abs=1e-12)
    slow, _ = measure(y, p, Resamples(len(y), 7))
    for name in Metrics.model_fields:
        mine, theirs = getattr(large, name), getattr(slow, name)
        assert mine.high - mine.low == pytest.approx(theirs.high - theirs.low, rel=0.25), name
        assert mine.low < mine.value < mine.high
    curve = roc(y, p, 7)
    assert all(low <= v <= high for low, v, high in zip(curve.low, curve.y, curve.high, strict=True))


def test_the_paired_difference_of_many_rows_is_delongs() -> None:
    y, p, worse = many()
    a, b = placements(y, p), placements(y, worse)
    assert a.auc == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
    found = measured(Outcome(), y, p, 7).minus(measured(Outcome(), y, worse, 7))
    assert found.value == pytest.approx(a.auc - b.auc)
    assert found.low > 0
    alone = measured(Outcome(), y, p, 7).metrics.roc_auc  # type: ignore[union-attr]
    assert found.high - found.low < alone.high - alone.low
