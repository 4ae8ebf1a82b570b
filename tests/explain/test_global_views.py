"""Importance, dependence, interactions, profiles and cohorts: what they show is what the model and the rows say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from lexsi_ds.errors import BadInput
from lexsi_ds.explain import shap_values
from lexsi_ds.explain.cases import explain_global
from lexsi_ds.explain.dependence import dependence
from lexsi_ds.explain.importance import importance, shuffled
from lexsi_ds.explain.interactions import interactions
from lexsi_ds.explain.profiles import profile
from lexsi_ds.explain.results import Cohort, Condition, Dependence, ImportanceView, Interactions, Profile
from lexsi_ds.explain.rows import cohort_rows, holds, sample_rows
from lexsi_ds.explain.scales import classes_to_scale, softmax, to_scale
from lexsi_ds.explain.shap_values import explain_rows
from lexsi_ds.explain.shared_credit import association, shared_credit
from lexsi_ds.explain.targets import held_out
from lexsi_ds.models.bundle import MARGIN, TARGET
from lexsi_ds.models.permutation import auc_parts
from tests.explain.models_for_tests import model, rows
from tests.models.frames_for_tests import silent


def test_the_parts_of_the_auc_make_scikit_learns_and_delongs_error() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(float)
    score = np.round(y + rng.normal(0, 1, 300), 1)
    parts = auc_parts(y, score)
    assert parts.mean() == pytest.approx(roc_auc_score(y, score))
    drawn = []
    for _ in range(400):
        here = rng.integers(0, 300, 300)
        drawn.append(roc_auc_score(y[here], score[here]))
    assert parts.std(ddof=1) / np.sqrt(300) == pytest.approx(np.std(drawn), rel=0.15)


def test_shuffling_costs_what_shuffling_the_feature_itself_costs() -> None:
    found = model("binary")
    loss = held_out(found, Cohort(), 2_000)
    assert loss.measured == pytest.approx(roc_auc_score(found.training[TARGET], found.training[MARGIN]), abs=1e-6)
    drops = dict(zip(found.encoding.names, shuffled(found, loss, 5, silent), strict=True))
    frame, by_hand = found.training, []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(frame))
        moved = frame.assign(district=frame["district"].to_numpy()[order])
        margin = found.margin(found.prepare(moved))
        by_hand.append(loss.measured - roc_auc_score(frame[TARGET], margin))
    assert drops["district"].low <= np.mean(by_hand) <= drops["district"].high
    assert drops["size"].low > 0
    assert drops["noise"].low <= 0.01


def test_importance_has_intervals_and_says_what_it_rests_on() -> None:
    found, frame = model("binary"), rows(150, seed=5, first=1_000)
    view = importance(found, frame, "probability", silent, repeats=3)
    sizes = np.abs(explain_rows(found, frame).on("probability").contributions)
    for item in view.features:
        place = found.encoding.names.index(item.feature)
        assert item.mean_abs == pytest.approx(sizes[:, place].mean())
        assert item.mean_abs_interval.low <= item.mean_abs <= item.mean_abs_interval.high
        assert item.loss.low <= item.loss.value <= item.loss.high
    assert [f.rank for f in view.features] == list(range(1, 9))
    assert (view.basis.rows, view.basis.of_rows, view.loss_rows, view.repeats) == (150, 150, 300, 3)
    assert "rescaled" in view.basis.method
    assert ImportanceView.model_validate_json(view.model_dump_json()) == view


def test_a_feature_that_moves_the_model_without_helping_it_is_named() -> None:
    from lexsi_ds.explain.importance import _disagreeing, _ranks
    from lexsi_ds.models.figures import Interval

    mean = np.array([1.0, 0.8, 0.3, 0.3, 0.3, 0.2, 0.2, 0.1])
    drop = [0.2, 0.0, 0.1, 0.1, 0.1, 0.1, 0.05, 0.01]
    drops = [Interval(value=d, low=d - 0.005, high=d + 0.005) for d in drop]
    apart = _disagreeing(mean, drops, _ranks(mean), _ranks(np.array(drop)))
    assert apart == {1}


def test_dependence_is_coloured_by_the_strongest_interaction() -> None:
    found, frame = model("binary"), rows(150, seed=5, first=1_000)
    view = dependence(found, frame, "size", "probability")
    matrix = np.array(interactions(found, frame, most=300).matrix)
    place = found.encoding.names.index("size")
    strengths = matrix[place].copy()
    strengths[place] = 0
    assert view.partner == found.encoding.names[int(strengths.argmax())]
    assert view.partner_share == pytest.approx(strengths.max() / strengths.sum(), rel=1e-6)
    values = frame["size"].tolist()
    assert [v for v in view.x if v is not None] == [v for v in values if v == v]
    assert len(view.colour) == len(view.x) == len(view.case_ids) == 150
    assert Dependence.model_validate_json(view.model_dump_json()) == view


def test_a_linear_model_has_no_partner_and_no_pairs() -> None:
    found, frame = model("binary", "Logistic"), rows(60, seed=5, first=1_000)
    assert dependence(found, frame, "size", "probability").partner is None
    view = interactions(found, frame)
    assert view.pairs == ()
    assert "no interactions" in view.basis.method


def test_rows_of_the_interaction_matrix_are_the_contributions() -> None:
    found, frame = model("binary"), rows(80, seed=5, first=1_000)
    from lexsi_ds.explain.interactions import pair_values

    values, count, _ = pair_values(found, frame)
    assert count == 80
    assert np.abs(values.sum(axis=2) - explain_rows(found, frame).values).max() < 1e-4
    view = interactions(found, frame)
    assert view.pairs[0].strength == pytest.approx(2 * np.triu(np.array(view.matrix), k=1).max())
    assert Interactions.model_validate_json(view.model_dump_json()) == view


def test_a_profile_is_the_mean_answer_with_one_feature_set() -> None:
    found, frame = model("binary"), rows(60, seed=5, first=1_000)
    view = profile(found, frame, "district", "probability")
    for value, mean, low, high in zip(view.grid, view.mean, view.low, view.high, strict=True):
        answers = found.link(found.margin(found.prepare(frame.assign(district=value))))
        assert mean == pytest.approx(answers.mean(), abs=1e-6)
        assert low <= mean <= high or answers.std() > 0
    assert None in view.grid
    numbers = profile(found, frame, "size", "log-odds")
    known = [v for v in numbers.grid if v is not None]
    assert known == sorted(known)
    assert numbers.grid[-1] is None
    assert numbers.shares[-1] == pytest.approx(rows()["size"].isna().mean())
    assert known[0] >= rows()["size"].min()
    assert known[-1] <= rows()["size"].max()
    at = [float(v) for v in numbers.ice[0]]
    first = frame[frame["home_id"].astype(str) == numbers.ice_ids[0]]
    assert at[3] == pytest.approx(float(found.margin(found.prepare(first.assign(size=numbers.grid[3])))[0]), abs=1e-6)
    assert set(profile(found, frame, "lift", "probability").grid) == {True, False}
    assert Profile.model_validate_json(view.model_dump_json()) == view


def test_a_profile_of_a_training_row_asks_the_model_on_all_rows() -> None:
    found = model("binary")
    own = profile(found, rows().head(20), "rooms", "probability")
    new = profile(found, rows().head(20).assign(home_id=lambda f: f["home_id"] + 50_000), "rooms", "probability")
    assert own.mean == new.mean


@pytest.mark.parametrize(
    ("condition", "by_hand"),
    [
        (Condition(column="size", operator=">", value=90), lambda f: f["size"] > 90),
        (Condition(column="size", operator="<=", value=90), lambda f: f["size"] <= 90),
        (Condition(column="district", operator="=", value="north"), lambda f: f["district"] == "north"),
        (Condition(column="district", operator="!=", value="north"), lambda f: f["district"].notna() & (f["district"] != "north")),
        (Condition(column="district", operator="in", value=("north", "west")), lambda f: f["district"].isin(["north", "west"])),
        (Condition(column="district", operator="missing"), lambda f: f["district"].isna()),
        (Condition(column="size", operator="present"), lambda f: f["size"].notna()),
        (Condition(column="rooms", operator="=", value=3), lambda f: f["rooms"] == 3),
        (Condition(column="lift", operator="=", value=True), lambda f: f["lift"]),
    ],
)
def test_a_cohort_holds_the_rows_that_meet_its_conditions(condition: Condition, by_hand) -> None:
    frame = rows(200, seed=5, first=1_000)
    assert holds(frame, condition).tolist() == by_hand(frame).tolist()
    view = explain_global(model("binary"), frame, "probability", cohort=Cohort(conditions=(condition,)))
    assert set(view.case_ids) == set(frame.loc[by_hand(frame), "home_id"].astype(str))


def test_a_lasso_is_a_cohort_and_an_empty_or_senseless_one_is_refused() -> None:
    frame = rows(50, seed=5, first=1_000)
    kept = cohort_rows(frame, Cohort(case_ids=("1003", "1001")), "home_id")
    assert kept["home_id"].tolist() == [1_001, 1_003]
    for cohort, word in (
        (Cohort(case_ids=("7",)), "No row"),
        (Cohort(conditions=(Condition(column="size", operator=">", value=9_000),)), "No row"),
        (Cohort(conditions=(Condition(column="nothing", operator="missing"),)), "no column"),
        (Cohort(conditions=(Condition(column="district", operator="<", value=3),)), "no order"),
        (Cohort(conditions=(Condition(column="size", operator="<", value="big"),)), "no number"),
    ):
        with pytest.raises(BadInput, match=word):
            cohort_rows(frame, cohort, "home_id")


def test_a_sample_is_even_along_the_score() -> None:
    found, frame = model("binary"), rows(400, seed=5, first=1_000)
    drawn = sample_rows(found, frame, 40)
    score = pd.Series(found.margin(found.prepare(frame)), index=frame["home_id"]).rank(pct=True)
    places = np.sort(score.loc[drawn["home_id"]].to_numpy())
    assert np.abs(places - (np.arange(40) + 0.5) / 40).max() < 0.03


def test_features_that_move_together_are_named_and_others_are_not() -> None:
    found = model("binary")
    together = shared_credit(found)
    names = found.encoding.names
    assert "high" in together["low"]
    assert "rooms" in together["total"]
    assert "noise" not in together
    strengths = association(found)
    assert np.allclose(strengths, strengths.T)
    low, high = names.index("low"), names.index("high")
    expected = abs(rows()["low"].corr(rows()["high"], method="spearman"))
    assert strengths[low, high] == pytest.approx(expected, abs=1e-9)


def test_two_classes_are_rescaled_as_one_margin_and_several_add_up() -> None:
    rng = np.random.default_rng(0)
    base, values = rng.normal(size=(50, 2)), rng.normal(size=(50, 6, 2))
    ones = np.ones(50, dtype=int)
    both = classes_to_scale(base, values, ones, "probability")
    single = to_scale(base[:, 1] - base[:, 0], values[:, :, 1] - values[:, :, 0], "probability")
    assert np.abs(both.contributions - single.contributions).max() < 1e-6
    assert np.abs(both.prediction - single.prediction).max() < 1e-9
    base, values = rng.normal(size=(50, 4)), 2 * rng.normal(size=(50, 6, 4))
    output = rng.integers(0, 4, 50)
    scaled = classes_to_scale(base, values, output, "probability")
    assert np.abs(scaled.base + scaled.contributions.sum(axis=1) - scaled.prediction).max() < 1e-9
    assert scaled.prediction == pytest.approx(softmax(base + values.sum(axis=1))[np.arange(50), output])


def test_views_of_the_same_rows_share_their_values_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = model("multiclass")
    found.__dict__.pop("_explained_samples", None)
    asked: list[int] = []
    real = shap_values.explain_rows
    monkeypatch.setattr(shap_values, "explain_rows", lambda m, frame, *more: asked.append(len(frame)) or real(m, frame, *more))
    frame = found.training
    first = dependence(found, frame, "size", "probability", output="dear")
    dependence(found, frame, "rooms", "probability", output="dear")
    beeswarm = explain_global(found, frame, "probability", "dear")
    assert len(asked) == 1
    size = next(f for f in beeswarm.features if f.feature == "size")
    assert first.y == size.contributions
    dependence(found, frame, "size", "probability", output="cheap")
    part = Cohort(conditions=(Condition(column="rooms", operator=">", value=3),))
    narrowed = dependence(found, frame, "size", "probability", output="dear", cohort=part)
    again = dependence(found, frame.head(50).copy(), "size", "probability", output="dear")
    assert asked == [300, 300, int((frame["rooms"] > 3).sum()), 50]
    assert (narrowed.basis.of_rows, again.basis.of_rows) == (asked[2], 50)
