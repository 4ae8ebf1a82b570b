"""Classes and amounts the whole way: trained, kept, scored with the promised columns, and refused in clear words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from lexsi_ds.errors import ModelRefused
from lexsi_ds.models.bundle import MARGIN, PREDICTION, TARGET, SavedModel
from lexsi_ds.models.card import MulticlassMetrics, RegressionMetrics
from lexsi_ds.models.engine import prediction_columns
from lexsi_ds.models.scoring import score
from lexsi_ds.models.task import TaskSpec
from tests.models.frames_for_tests import silent, task_of, train_in

CLASSES = ("basic", "gold", "silver")


def clients(n: int = 300, seed: int = 0, first: int = 1) -> pd.DataFrame:
    """Clients with a plan of three and an amount, both from the same columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    frame["region"] = rng.choice(["north", "south", "west"], n)
    frame.loc[rng.random(n) < 0.1, "c"] = np.nan
    signal = frame["a"] + 0.8 * frame["b"] + (frame["region"] == "west") + rng.normal(0, 0.6, n)
    frame["plan"] = np.array(CLASSES)[np.digitize(signal, [-0.2, 1.2])]
    frame["spend"] = (1_000 + 300 * signal).round(2)
    frame.insert(0, "client", np.arange(first, first + n))
    return frame


def plan_task(frame: pd.DataFrame, **more: Any) -> TaskSpec:
    features = ["a", "b", "c", "d", "region"]
    return task_of(frame, entity="client", target="plan", features=features, classes=CLASSES, **more)


def spend_task(frame: pd.DataFrame, **more: Any) -> TaskSpec:
    features = ["a", "b", "c", "d", "region"]
    kinds = {"task_type": "regression", "target_label": "spend"}
    return task_of(frame, entity="client", target="spend", features=features, **{**kinds, **more})


@pytest.fixture(scope="module", params=["Logistic", "XGBoost", "EBM"])
def plans(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = clients()
    return train_in(tmp_path_factory.mktemp("plans"), frame, plan_task(frame), model_type=request.param)


@pytest.fixture(scope="module", params=["Linear", "LightGBM"])
def spends(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = clients()
    return train_in(tmp_path_factory.mktemp("spends"), frame, spend_task(frame), model_type=request.param)


def test_classes_are_measured_out_of_fold_and_counted(plans: SavedModel) -> None:
    card, kept = plans.card, plans.training
    assert isinstance(card.chosen.metrics, MulticlassMetrics)
    assert {c.name: c.rows for c in card.class_counts} == clients()["plan"].value_counts().to_dict()
    assert (card.positives, card.credit, card.chosen.calibration) == (0, None, ())
    margin = np.stack(kept[MARGIN].tolist())
    shares = plans.link(margin)
    auc = roc_auc_score(kept[TARGET], shares, multi_class="ovr")
    assert card.chosen.main.value == pytest.approx(auc, abs=1e-9)
    assert auc > 0.8
    assert list(kept[PREDICTION]) == [CLASSES[i] for i in shares.argmax(axis=1)]
    assert any(w.startswith("Class balance: 3 classes") for w in card.warnings)


def test_scored_classes_have_a_word_and_a_probability_each(plans: SavedModel) -> None:
    found = score(plans, clients(80, 3, 1_000).drop(columns=["plan", "spend"]), 2, silent).frame
    assert list(found.columns) == ["client", *prediction_columns("multiclass", CLASSES)]
    shares = found[[f"p: {word}" for word in CLASSES]].to_numpy()
    assert np.allclose(shares.sum(axis=1), 1)
    assert list(found["prediction"]) == [CLASSES[i] for i in shares.argmax(axis=1)]
    assert np.allclose(found["probability"], shares.max(axis=1))
    assert found["probability"].is_monotonic_decreasing
    assert (found["probability_low"] <= found["probability"]).all()
    assert (found["probability"] <= found["probability_high"]).all()


def test_margins_of_classes_and_amounts_add_up_for_rows_old_and_new(plans: SavedModel, spends: SavedModel) -> None:
    frame = pd.concat([clients(20), clients(20, 4, 5_000)], ignore_index=True)
    for model in (plans, spends):
        rows = model.prepare(frame)
        assert rows.trained.sum() == 20
        base, values = model.contributions(rows)
        margin = model.margin(rows)
        assert np.allclose(base + values.sum(axis=1), margin, atol=1e-4 * max(1, float(np.abs(margin).max())))


def test_amounts_are_measured_in_their_units_and_scored_with_intervals(spends: SavedModel) -> None:
    card, kept = spends.card, spends.training
    assert isinstance(card.chosen.metrics, RegressionMetrics)
    assert card.chosen.main.value == pytest.approx(r2_score(kept[TARGET], kept[PREDICTION]), abs=1e-9)
    assert card.chosen.main.value > 0.5
    assert card.conformal is not None
    assert card.conformal.coverage == pytest.approx(0.9, abs=0.04)
    new = clients(400, 3, 1_000)
    found = score(spends, new.drop(columns=["plan", "spend"]), 2, silent).frame
    assert list(found.columns) == ["client", *prediction_columns("regression")]
    assert found["probability"].isna().all()
    assert found["prediction"].is_monotonic_decreasing
    truth = new.set_index("client")["spend"].loc[found["client"]].to_numpy()
    inside = (found["prediction_low"] <= truth) & (truth <= found["prediction_high"])
    assert inside.mean() == pytest.approx(0.9, abs=0.05)
    assert r2_score(truth, found["prediction"]) > 0.5


def test_all_compared_types_stand_on_the_card_of_an_amount(tmp_path: Path) -> None:
    frame = clients()
    card = train_in(tmp_path, frame, spend_task(frame), budget_s=60).card
    assert {c.model_type for c in card.candidates} == {"Linear", "XGBoost", "LightGBM", "EBM"}
    assert card.model_type == "Linear"
    assert "R2" in card.why_chosen
    assert {c.other for c in card.comparisons} == {"XGBoost", "LightGBM", "EBM"}
    assert card.baseline.model_type == "Linear"


def refusal(tmp_path: Path, frame: pd.DataFrame, task: TaskSpec) -> str:
    with pytest.raises(ModelRefused) as caught:
        train_in(tmp_path, frame, task)
    return str(caught.value)


def test_outcomes_that_cannot_be_learnt_are_refused_in_clear_words(tmp_path: Path) -> None:
    frame = clients()
    five_thousand = pd.DataFrame({"client": range(10_000), "a": 1.5, "plan": [f"c{i % 5_000}" for i in range(10_000)]})
    many = task_of(five_thousand, entity="client", target="plan", classes=tuple(f"c{i}" for i in range(5_000)))
    assert "5,000 classes; at most 50" in refusal(tmp_path, five_thousand, many)
    rare = frame.assign(plan=frame["plan"].where(frame.index > 2, "odd"))
    assert "none of its classes: odd" in refusal(tmp_path, rare, plan_task(rare))
    thin = plan_task(rare).model_copy(update={"classes": (*CLASSES, "odd")})
    assert "classes with too few: odd (3)" in refusal(tmp_path, rare, thin)
    one = frame.assign(plan="gold")
    assert "hold 1 of 3 classes" in refusal(tmp_path, one, plan_task(one))
    assert "Too few rows" in refusal(tmp_path, frame.head(10), spend_task(frame))
    same = frame.assign(spend=7.0)
    assert "spend is 7 in all 300 rows" in refusal(tmp_path, same, spend_task(same))
    words = frame.assign(spend=frame["region"])
    assert "300 of 300 values of spend are not numbers" in refusal(tmp_path, words, spend_task(words))
    days = frame.assign(spend=pd.date_range("2020-01-01", periods=300))
    assert "holds dates" in refusal(tmp_path, days, spend_task(days))


def test_infinite_and_missing_amounts_do_not_train_and_are_counted(tmp_path: Path) -> None:
    frame = clients()
    frame.loc[:3, "spend"] = [np.inf, -np.inf, np.nan, np.inf]
    card = train_in(tmp_path, frame, spend_task(frame), model_type="Linear").card
    assert card.rows == 296
    assert any(note.startswith("4 of 300 rows have no known outcome") for note in card.notes)
    assert any("3 values of spend are infinite" in note for note in card.notes)


@pytest.mark.parametrize("copy", ["line", "log", "words", "codes"])
def test_what_is_made_from_an_amount_is_a_leak(tmp_path: Path, copy: str) -> None:
    frame = clients(600)
    spend = frame["spend"]
    made = {
        "line": 3 * spend - 7 + np.random.default_rng(1).normal(0, 5, 600),
        "log": np.log(spend - spend.min() + 1),
        "words": pd.qcut(spend, 15, labels=[f"w{i}" for i in range(15)]).astype(str),
        "codes": np.random.default_rng(2).permutation(15)[pd.qcut(spend, 15, labels=False)],
    }
    frame["made"] = made[copy]
    features = ["a", "b", "c", "d", "region", "made"]
    task = task_of(frame, entity="client", target="spend", features=features, task_type="regression")
    card = train_in(tmp_path, frame, task, model_type="Linear").card
    found = {out.name: out.reason for out in card.left_out}
    said = " ".join(card.warnings)
    assert found == {"made": "leak"} or (copy in ("words", "codes") and "made alone explains" in said)


def test_what_recodes_classes_is_the_target(tmp_path: Path) -> None:
    frame = clients()
    frame["tier"] = frame["plan"].map({"basic": 10, "silver": 20, "gold": 30})
    frame["note"] = frame["plan"].str.upper().where(frame.index % 7 != 0, "none given")
    features = ["a", "b", "c", "tier", "note"]
    task = task_of(frame, entity="client", target="plan", features=features, classes=CLASSES)
    card = train_in(tmp_path, frame, task, model_type="Logistic").card
    assert {out.name: out.reason for out in card.left_out}["tier"] == "target"
    assert "note" in {out.name for out in card.left_out} or any(w.startswith("note alone") for w in card.warnings)
