"""Thresholds, error slices and groups are what counting by hand, planted faults and fairlearn say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate, true_positive_rate

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.fairness import fairness, protected_columns
from lexsi_ds.explain.results_decision import FairnessViews
from lexsi_ds.explain.slices import error_slices
from lexsi_ds.explain.threshold import threshold_view
from lexsi_ds.explain.views import VIEWS
from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.models.task import LeftOut
from tests.explain.models_for_tests import FEATURES, model, rows
from tests.models.frames_for_tests import silent, task_of, train_in


def _costs(y: np.ndarray, p: np.ndarray, threshold: float, fp: float, fn: float) -> float:
    return float(((p >= threshold) & (y == 0)).sum() * fp + ((p < threshold) & (y == 1)).sum() * fn)


def test_the_cheapest_threshold_is_that_of_trying_all() -> None:
    found = model("binary")
    y, p = found.training[TARGET].to_numpy(), found.training[PROBABILITY].to_numpy()
    for fp, fn in ((1, 5), (5, 1), (1, 0), (0, 1)):
        view = threshold_view(found, None, fp, fn)
        least = min(_costs(y, p, t, fp, fn) for t in [*p, 1.0, np.nextafter(p.max(), 2)])
        assert view.best.cost == least == _costs(y, p, view.best.threshold, fp, fn)
        assert view.best_interval[0] <= view.best_interval[1]
    cautious, eager = threshold_view(found, None, 5, 1), threshold_view(found, None, 1, 5)
    assert eager.best.threshold < cautious.best.threshold


def test_rows_of_one_probability_are_never_parted_by_a_threshold() -> None:
    from lexsi_ds.explain.threshold import _cheapest

    p, y = np.array([0.9, 0.5, 0.5, 0.5, 0.1]), np.array([True, True, False, False, False])
    assert _cheapest(p, y, np.ones((1, 5)), 1.0, 1.5).tolist() == [0.9]
    assert _cheapest(p, y, np.ones((1, 5)), 1.0, 5.0).tolist() == [0.5]


def test_confusion_costs_and_who_is_flagged_are_counted() -> None:
    found, new = model("binary"), rows(80, seed=5, first=1_000)
    y, p = found.training[TARGET].to_numpy(), found.training[PROBABILITY].to_numpy()
    view = threshold_view(found, new, 2, 3, chosen=0.4)
    at = view.chosen
    assert (at.true_positive, at.false_positive) == (int(((p >= 0.4) & (y == 1)).sum()), int(((p >= 0.4) & (y == 0)).sum()))
    assert at.true_positive + at.false_positive + at.true_negative + at.false_negative == view.rows == 300
    assert at.cost == _costs(y, p, 0.4, 2, 3)
    assert at.precision.low <= at.precision.value <= at.precision.high
    scores = pd.Series(found.link(found.margin(found.prepare(new))), index=new["home_id"].astype(str))
    assert {f.case_id for f in view.flagged_cases} == set(scores.index[scores >= 0.4])
    assert at.scored_flagged == len(view.flagged_cases)
    place = view.thresholds.index(0.4)
    assert view.costs[place] == pytest.approx(at.cost_per_row)
    assert view.near is not None
    assert abs(view.near.predicted - 0.4) < 0.3
    assert sum(b.n for b in view.calibration) == 300


@pytest.mark.parametrize("wrong", [(-1, 1, None), (0, 0, None), (float("nan"), 1, None), (1, 1, 1.5)])
def test_costs_and_thresholds_that_make_no_sense_are_refused(wrong: tuple[float, float, float | None]) -> None:
    with pytest.raises(BadInput):
        threshold_view(model("binary"), None, *wrong)


def _kept(frame: pd.DataFrame) -> Any:
    """The task over ``a`` and ``b``: ``part`` is protected and kept, ``answer`` is only shown."""
    left = (LeftOut(name="part", table="t", reason="protected", detail="It is protected."),)
    frame["answer"] = np.where(frame["y"] == 1, "yes", "no")
    return task_of(frame, entity="id", target="y", features=["a", "b"], left_out=left, display_columns=("answer",))


def _noisy_part(home: Path, planted: bool) -> Any:
    """600 rows whose outcome is a coin in one district, or nowhere."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(600), "a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["part"] = rng.choice(["east", "west", "home"], 600)
    score = frame["a"] * 3 + rng.normal(0, 0.3, 600)
    frame["y"] = (score > 0).astype(int)
    if planted:
        here = frame["part"] == "east"
        frame.loc[here, "y"] = (rng.random(int(here.sum())) < 0.5).astype(int)
    task = _kept(frame)
    return train_in(home, frame, task, model_type="XGBoost")


def test_a_planted_error_is_found_on_rows_it_was_not_looked_for_on(tmp_path: Path) -> None:
    found = error_slices(_noisy_part(tmp_path, planted=True), silent)
    first = found.slices[0]
    assert first.holds
    assert 'part is "east"' in first.label
    assert first.error.low > first.rest_error
    assert all(s.p_adjusted >= s.p_value for s in found.slices)
    assert not any("answer" in s.label for s in found.slices)
    assert first.rows <= 300


def test_no_slice_is_made_up_where_errors_are_even(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": range(600), "a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["part"] = rng.choice(["east", "west", "home"], 600)
    frame["y"] = (rng.random(600) < 0.5).astype(int)
    task = _kept(frame)
    found = error_slices(train_in(tmp_path, frame, task, model_type="Logistic"), silent)
    assert not any(s.holds for s in found.slices)
    assert found.sentence.startswith("No part of the rows was shown")


def test_groups_have_the_figures_of_fairlearn_with_intervals_around_them() -> None:
    found = model("binary")
    view = fairness(found, "sex", 0.4)
    y, p = found.training[TARGET].to_numpy().astype(int), found.training[PROBABILITY].to_numpy()
    expected: Any = MetricFrame(
        metrics={"share flagged": selection_rate, "true positive rate": true_positive_rate},
        y_true=y, y_pred=(p >= 0.4).astype(int), sensitive_features=found.training["sex"],
    ).by_group  # fmt: skip
    for group in view.groups:
        for name in expected.columns:
            figure = group.figures[name]
            assert figure.value == pytest.approx(expected.loc[group.group, name])
            assert figure.low < figure.value < figure.high
            error = np.sqrt(figure.value * (1 - figure.value) / (group.rows if name == "share flagged" else group.positives))
            assert figure.high - figure.low == pytest.approx(2 * 1.96 * error, rel=0.25)
    gap = view.differences["share flagged"]
    assert gap.low <= gap.value <= gap.high
    assert "not a feature" in view.sentences[0]


def test_small_groups_are_named_and_not_compared_and_numbers_are_banded() -> None:
    found = model("binary")
    view = fairness(found, "size")
    missing = int(rows()["size"].isna().sum())
    assert missing < 30
    assert view.small == ("missing",)
    assert len(view.groups) == 4
    assert sum(g.rows for g in view.groups) == 300 - missing
    assert any("not compared: missing" in s for s in view.sentences)
    with pytest.raises(BadInput, match="no column"):
        fairness(found, "age")


def test_protected_columns_are_kept_with_the_model_and_offered(tmp_path: Path) -> None:
    frame = rows()
    left = tuple(LeftOut(name=n, table="t", reason="protected", detail="It is protected.") for n in ("sex", "born"))
    task = task_of(frame, entity="home_id", target="dear", features=FEATURES, left_out=left)
    found = train_in(tmp_path, frame, task, model_type="Logistic")
    assert protected_columns(found) == ["sex"]
    assert "sex" not in found.encoding.names
    assert {g.group for g in fairness(found, "sex").groups} == {"f", "m"}
    views = VIEWS["fairness"](found, None, {"columns": ["sex", "born"]}, silent)  # as a page asks: all that is protected
    assert isinstance(views, FairnessViews)
    assert [c.column for c in views.columns] == ["sex"] and views.absent == ("born",), "one that was not kept takes none with it"


def test_rows_that_are_hard_to_tell_are_not_called_errors_of_the_model() -> None:
    from lexsi_ds.explain.results_decision import Slice
    from lexsi_ds.explain.slices import _sentence
    from lexsi_ds.models.figures import Interval

    def part(expected: float | None) -> Slice:
        return Slice(
            conditions=(), label="x is 1", rows=500, error=Interval(value=0.587, low=0.568, high=0.605), rest_error=0.199,
            expected=expected, p_value=1e-9, p_adjusted=1e-8, holds=True,
        )  # fmt: skip

    hard, wrong, amount = ([part(e)] for e in (0.59, 0.4, None))
    assert "hard rather than wrong" in _sentence(hard, hard, "log loss")
    assert _sentence(wrong, wrong, "log loss").startswith("The model errs more where x is 1")
    assert "errs more" in _sentence(amount, amount, "absolute error")
    both = [*hard, *wrong]
    assert "more than its own probabilities expect (0.4)" in _sentence(both, both, "log loss"), "a wrong part comes first"
