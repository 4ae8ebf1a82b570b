"""Calibration helps where it is kept, says so, keeps the order of scores, and stays away where it does not help."""

from __future__ import annotations

import numpy as np
import pytest

from lexsi_ds.models.calibrate import Calibrator, calibrate
from lexsi_ds.models.estimators import probability


def scores(n: int, factor: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes drawn from true log-odds, margins that exaggerate them, and folds."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-1, 1.2, n)
    y = (rng.random(n) < probability(truth)).astype(float)
    return y, truth * factor, np.arange(n) % 5


@pytest.mark.parametrize(("n", "method"), [(800, "platt"), (6_000, "isotonic")])
def test_exaggerated_scores_are_calibrated_and_brier_falls_on_new_rows(n: int, method: str) -> None:
    y, margin, fold = scores(n, 3.0)
    found = calibrate(y, margin, fold)
    assert found.change.method == method
    assert found.change.before is not None
    assert found.change.after is not None
    assert found.change.after < found.change.before
    assert "Calibrated by" in found.change.sentence
    new_y, new_margin, _ = scores(20_000, 3.0, seed=5)
    raw, told = probability(new_margin), found.calibrator(new_margin)
    assert np.mean((told - new_y) ** 2) < np.mean((raw - new_y) ** 2)
    assert abs(told.mean() - new_y.mean()) < 0.02
    order = np.argsort(new_margin)
    assert (np.diff(told[order]) >= 0).all()
    assert ((told >= 0) & (told <= 1)).all()
    assert Calibrator.model_validate_json(found.calibrator.model_dump_json()) == found.calibrator


def test_honest_scores_are_left_alone_and_it_is_said() -> None:
    y, margin, fold = scores(1_500, 1.0)
    found = calibrate(y, margin, fold)
    assert found.change.method == "none"
    assert found.change.sentence.startswith("Not calibrated: Platt scaling inside the folds does not help")
    assert np.array_equal(found.calibrator(margin), probability(margin))


def test_the_kept_figure_comes_from_rows_that_the_calibration_did_not_see() -> None:
    y, margin, fold = scores(800, 3.0)
    found = calibrate(y, margin, fold)
    assert found.change.after == pytest.approx(float(np.mean((found.unseen - y) ** 2)))
    assert not np.allclose(found.unseen, found.calibrator(margin), atol=1e-6)
