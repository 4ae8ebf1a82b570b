"""What is compared within a budget, which one predicts, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.models.estimators import SIMPLICITY, Outcome, probability, recipe
from lexsi_ds.models.folds import Folds, make_folds
from lexsi_ds.models.plan import cost, make_plan
from lexsi_ds.models.selection import choose
from lexsi_ds.models.validation import OutOfFold, joined, out_of_fold
from tests.models.frames_for_tests import loan_task, loans, task_of, train_in

FIVE = Folds(5, np.zeros((10, 5), dtype=np.int8))


def names(**more: object) -> dict[str, int]:
    """Model types of a plan and how many repeats each has."""
    args = {
        "asked": None,
        "outcome": Outcome(),
        "rows": 1_000,
        "columns": 20,
        "flagged": (),
        "folds": FIVE,
        "budget_s": 60.0,
    }
    plan = make_plan(**{**args, **more})  # type: ignore[arg-type]
    return {entry.model_type: entry.repeats for entry in plan.entries}


def test_all_are_compared_where_the_budget_allows_and_fewer_where_it_does_not() -> None:
    assert names() == {"Logistic": 5, "XGBoost": 5, "LightGBM": 5, "EBM": 5}
    assert names(budget_s=0.01) == {"Logistic": 5, "XGBoost": 1}
    some = names(budget_s=6.0)
    assert 0 < some["EBM"] < 5
    assert names(outcome=Outcome("regression", 0))["Linear"] == 5
    assert names(asked="EBM", budget_s=0.01) == {"Logistic": 5, "EBM": 5}
    assert names(asked="Logistic") == {"Logistic": 5, "XGBoost": 5}


def test_what_is_not_tried_has_its_reason() -> None:
    once = Folds(3, np.zeros((10, 1), dtype=np.int8))
    plan = make_plan(None, Outcome(), 1_000_000, 30, (), once, 60.0)
    assert [e.model_type for e in plan.entries] == ["Logistic", "XGBoost"]
    assert [n.model_type for n in plan.not_tried] == ["LightGBM", "EBM"]
    assert all("of the budget of 60 s would be needed" in n.reason for n in plan.not_tried)
    assert plan.fits(once) == 6


def test_more_rows_cost_more() -> None:
    for name in ("XGBoost", "LightGBM", "EBM", "Logistic"):
        costs = [cost(recipe(name, n, ()), n, 30) for n in (500, 5_000, 50_000)]  # type: ignore[arg-type]
        assert costs == sorted(costs)


def tried(margins: dict[str, np.ndarray]) -> dict[str, OutOfFold]:
    folds = Folds(5, np.zeros((400, 1), dtype=np.int8))
    return {name: OutOfFold(recipe(name, 400, ()), m, (), folds) for name, m in margins.items()}  # type: ignore[arg-type]


def drawn() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    margin = rng.normal(size=400) * 2
    return margin, (rng.random(400) < probability(margin)).astype(float)


def test_the_simplest_that_is_as_good_predicts() -> None:
    margin, y = drawn()
    rng = np.random.default_rng(1)
    near = margin + rng.normal(0, 0.1, 400)
    bad = margin + rng.normal(0, 6, 400)
    found = choose(y, tried({"Logistic": bad, "XGBoost": near, "LightGBM": margin, "EBM": near}), None, 7, Outcome())  # type: ignore[arg-type]
    assert found.model_type == "EBM"
    assert "a simple model that is as good wins" in found.why
    assert "The logistic baseline is behind by more than the noise" in found.why
    beyond = {c.other: c.beyond_noise for c in found.comparisons}
    assert beyond == {"XGBoost": False, "Logistic": True, "LightGBM": False}
    assert SIMPLICITY.index("Logistic") < SIMPLICITY.index("EBM") < SIMPLICITY.index("XGBoost")


def test_the_strongest_predicts_where_it_leads_all_simpler_ones() -> None:
    margin, y = drawn()
    bad = margin + np.random.default_rng(1).normal(0, 6, 400)
    found = choose(y, tried({"Logistic": bad, "XGBoost": margin, "EBM": bad}), None, 7, Outcome())  # type: ignore[arg-type]
    assert found.model_type == "XGBoost"
    assert "more than the noise of these rows" in found.why
    assert found.auc_difference.low > 0
    same = choose(y, tried({"Logistic": margin, "XGBoost": margin}), None, 7, Outcome())  # type: ignore[arg-type]
    assert same.model_type == "Logistic"
    assert same.comparisons[0].difference.value == 0


def test_repeats_done_in_two_lots_are_the_same_as_in_one() -> None:
    margin, y = drawn()
    x = np.stack([margin, np.zeros(400)], axis=1)
    folds = make_folds(y, 2, 7)
    how = recipe("Logistic", 400, ())
    whole = out_of_fold(how, x, y, folds, 7, 1, lambda number: None)
    first = out_of_fold(how, x, y, folds.first(1), 7, 1, lambda number: None)
    rest = out_of_fold(how, x, y, Folds(folds.count, folds.of[:, 1:]), 7, 1, lambda number: None)
    both = joined(first, rest)
    assert np.allclose(both.margin, whole.margin)
    assert len(both.models) == len(whole.models) == 25
    assert (both.folds.of == whole.folds.of).all()


def test_a_candidate_far_behind_stops_after_one_round_and_the_card_says_so(tmp_path: Path) -> None:
    frame = loans()
    card = train_in(tmp_path, frame, loan_task(frame), budget_s=60).card
    repeats = {c.model_type: c.repeats for c in card.candidates}
    assert repeats["XGBoost"] == repeats["Logistic"] == 5
    behind = next(c for c in card.candidates if c.model_type == "EBM")
    assert behind.repeats == 1
    assert behind.main.value < card.baseline.main.value


@pytest.mark.parametrize("name", ["LightGBM", "EBM"])
def test_what_was_asked_for_predicts_is_kept_and_scores_again(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(id=np.arange(200))
    frame["y"] = (frame["a"] + rng.normal(0, 0.5, 200) > 0).astype(int)
    model = train_in(tmp_path, frame, task_of(frame, entity="id", target="y"), model_type=name.lower())
    assert (model.card.model_type, model.card.name) == (name, f"{name}_v1")
    assert [c.model_type for c in model.card.candidates] == ["Logistic", name]
    files = {p.suffix for p in model.folder.rglob("*") if p.is_file()}
    assert files == {".json", ".arrow"}
    rows = model.prepare(frame)
    assert np.allclose(model.margin(rows), model.training["_lexsi_margin"], atol=1e-9)
