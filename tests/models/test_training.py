"""Training on real files and on data with a known answer: the figures, the choice, the refusals, and sameness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.models.card import Interval, ModelCard
from lexsi_ds.models.selection import leads
from lexsi_ds.models.task import LeftOut
from tests.models.frames_for_tests import attrition, loan_task, loans, task_of, telco, titanic, train_in


def same_card(card: ModelCard) -> dict[str, Any]:
    """All of a card but its id, date and duration; features in any order."""
    found = card.model_dump(mode="json", exclude={"id", "created_at", "seconds", "task"})
    return {**found, "features": sorted(found["features"], key=lambda stats: stats["feature"]["name"])}


def test_telco_logistic_reaches_its_known_auc_and_predicts(tmp_path: Path) -> None:
    card = train_in(tmp_path, *telco()).card
    assert 0.83 < card.baseline.metrics.roc_auc.value < 0.86
    assert 0.83 < next(c for c in card.candidates if c.model_type == "XGBoost").metrics.roc_auc.value < 0.86
    assert (card.rows, card.positives, card.folds, card.repeats) == (7043, 1869, 5, 1)
    assert card.model_type == "Logistic"
    charges = next(s for s in card.features if s.feature.name == "TotalCharges")
    assert charges.missing == 11
    assert "Columns that the task does not name were ignored: gender." in card.notes


def test_titanic_ranks_well_without_names_tickets_and_cabins(tmp_path: Path) -> None:
    card = train_in(tmp_path, *titanic()).card
    assert {out.name: out.reason for out in card.left_out} == {
        "Name": "identifier",
        "Ticket": "high_cardinality",
        "Cabin": "high_cardinality",
    }
    assert card.chosen.metrics.roc_auc.value > 0.84
    assert next(s for s in card.features if s.feature.name == "Age").missing == 177


def test_attrition_reads_yes_and_no_and_drops_constants_and_the_employee_number(tmp_path: Path) -> None:
    card = train_in(tmp_path, *attrition()).card
    reasons = {out.name: out.reason for out in card.left_out}
    assert reasons == {
        "EmployeeCount": "constant",
        "Over18": "constant",
        "StandardHours": "constant",
        "EmployeeNumber": "identifier",
    }
    assert card.positives == 237
    assert card.chosen.metrics.roc_auc.value > 0.8


def test_the_kept_out_of_fold_scores_are_those_the_card_measures(tmp_path: Path) -> None:
    model = train_in(tmp_path, *(lambda f: (f, loan_task(f)))(loans()))
    kept = model.training
    auc = roc_auc_score(kept[TARGET], kept[PROBABILITY])
    assert model.card.chosen.metrics.roc_auc.value == pytest.approx(auc, abs=1e-9)
    assert list(kept["loan_id"]) == sorted(kept["loan_id"])


def test_out_of_fold_scores_know_nothing_of_noise(tmp_path: Path) -> None:
    frame = loans(300)
    frame["y"] = np.random.default_rng(9).permutation(frame["y"].to_numpy())
    card = train_in(tmp_path, frame, loan_task(frame)).card
    for candidate in card.candidates:
        assert candidate.metrics.roc_auc.low < 0.5
    assert any(w.startswith("Not shown to be better than chance") for w in card.warnings)


def test_the_baseline_predicts_where_the_signal_is_linear(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(600, 5))
    frame = pd.DataFrame(x, columns=list("abcde")).assign(id=np.arange(600))
    frame["y"] = (rng.random(600) < 1 / (1 + np.exp(-(x @ [1.2, -1.0, 0.8, 0.5, -0.5])))).astype(int)
    card = train_in(tmp_path, frame, task_of(frame, entity="id", target="y")).card
    assert card.model_type == "Logistic"
    assert card.auc_difference.low <= 0
    assert "a simple model that is as good wins" in card.why_chosen or "because it is better" in card.why_chosen
    assert f"{card.baseline.metrics.roc_auc.value:.3f}" in card.why_chosen


def test_trees_predict_where_the_signal_needs_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(600, 5))
    frame = pd.DataFrame(x, columns=list("abcde")).assign(id=np.arange(600))
    frame["y"] = ((x[:, 0] * x[:, 1] > 0) ^ (rng.random(600) < 0.1)).astype(int)
    card = train_in(tmp_path, frame, task_of(frame, entity="id", target="y")).card
    assert card.model_type in ("XGBoost", "LightGBM")
    assert card.auc_difference.low > 0
    assert card.name == f"{card.model_type}_v1"


def test_a_lead_counts_when_it_is_beyond_the_noise_and_large_enough_to_matter() -> None:
    assert leads(Interval(value=0.015, low=0.002, high=0.03))
    assert not leads(Interval(value=0.02, low=-0.001, high=0.04))
    assert not leads(Interval(value=0.003, low=0.001, high=0.006))
    assert not leads(Interval(value=-0.02, low=-0.03, high=-0.01))


@pytest.mark.parametrize("asked", ["XGBoost", "logistic"])
def test_a_model_type_that_is_asked_for_predicts_with_the_other_beside_it(tmp_path: Path, asked: str) -> None:
    frame = loans()
    card = train_in(tmp_path, frame, loan_task(frame), model_type=asked).card
    assert card.model_type.casefold() == asked.casefold()
    assert [c.model_type for c in card.candidates] == ["XGBoost", "Logistic"]
    assert sum(c.chosen for c in card.candidates) == 1
    assert "was asked for" in card.why_chosen


def test_small_data_balance_and_few_events_are_said_always(tmp_path: Path) -> None:
    frame = loans()
    card = train_in(tmp_path, frame, loan_task(frame)).card
    said = " ".join(card.warnings)
    assert card.warnings[0].startswith(f"Small data: 234 training rows, {card.positives} with default")
    assert "Few events" in said
    assert f"{card.positives} of 234 training rows ({card.positives / 234:.1%})" in said
    assert "no date" not in said


def test_rows_without_an_outcome_do_not_train_and_are_counted(tmp_path: Path) -> None:
    frame = loans(240)
    frame["y"] = frame["y"].astype(float).where(frame.index >= 6)
    card = train_in(tmp_path, frame, loan_task(frame)).card
    assert card.rows == 234
    assert card.notes[0] == "6 of 240 rows have no known outcome and did not train."


def test_what_the_task_left_out_stands_on_the_card_and_is_not_called_ignored(tmp_path: Path) -> None:
    frame = loans().assign(sex="F", comment="x")
    left = LeftOut(name="sex", table="client", reason="protected", detail="Protected.", approvable=True)
    features = [c for c in loans().columns if c not in ("loan_id", "y", "status")]
    task = task_of(
        frame, entity="loan_id", target="y", features=features, display_columns=("status",), left_out=(left,)
    )
    card = train_in(tmp_path, frame, task).card
    assert left in card.left_out
    assert "Columns that the task does not name were ignored: comment." in card.notes


@pytest.mark.parametrize("values", [[True, False], ["yes", "No"], ["1", "0"], [1.0, 0.0]])
def test_outcomes_are_read_as_truths_words_and_numbers(tmp_path: Path, values: list[Any]) -> None:
    frame = loans()
    outcomes = pd.Series([values[0] if v else values[1] for v in frame["y"]])
    card = train_in(tmp_path, frame.assign(y=outcomes), loan_task(frame)).card
    assert card.positives == int(frame["y"].sum())


def refused(tmp_path: Path, frame: pd.DataFrame, kind: type[Exception] = ModelRefused, **more: Any) -> str:
    task = more.pop("task", None) or loan_task(frame)
    with pytest.raises(kind) as caught:
        train_in(tmp_path, frame, task, **more)
    assert not (tmp_path / "mdl_test").exists()
    return str(caught.value)


def test_one_class_too_few_rows_and_too_few_of_a_class_are_refused_with_counts(tmp_path: Path) -> None:
    frame = loans()
    assert "234 rows with a known outcome: 0 with default, 234 without" in refused(tmp_path, frame.assign(y=0))
    assert "12 rows" in refused(tmp_path, frame.head(12).assign(y=[0, 1] * 6))
    few = frame.assign(y=[1] * 4 + [0] * 230)
    assert "4 with default, 230 without" in refused(tmp_path, few)
    assert "0 rows" in refused(tmp_path, frame.assign(y=None))


def test_an_outcome_of_many_values_is_refused(tmp_path: Path) -> None:
    frame = loans()
    assert "12 different values" in refused(tmp_path, frame.assign(y=np.arange(234) % 12))


def test_no_feature_left_is_refused_with_the_reasons(tmp_path: Path) -> None:
    frame = loans()[["loan_id", "y"]].assign(one=1, copy=lambda f: f["y"])
    message = refused(tmp_path, frame, task=task_of(frame, entity="loan_id", target="y"))
    assert "one: constant" in message
    assert "copy: target" in message


def test_an_unknown_model_type_is_told_what_there_is(tmp_path: Path) -> None:
    message = refused(tmp_path, loans(), BadInput, model_type="CatBoost")
    assert "CatBoost" in message
    assert "XGBoost, LightGBM, EBM, Logistic, TabPFN or TabICL" in message


def test_an_entity_that_occurs_twice_or_has_no_id_is_refused(tmp_path: Path) -> None:
    frame = loans()
    twice = pd.concat([frame, frame.head(3)], ignore_index=True)
    assert "237 rows for 234 different values" in refused(tmp_path, twice, BadInput)
    without = frame.assign(loan_id=frame["loan_id"].astype(object).where(frame.index > 1))
    assert "2 training rows have no loan_id" in refused(tmp_path, without, BadInput)


def test_a_missing_feature_is_named(tmp_path: Path) -> None:
    frame = loans()
    message = refused(tmp_path, frame.drop(columns=["x01", "x02"]), BadInput, task=loan_task(frame))
    assert "x01, x02" in message


@pytest.mark.parametrize("model_type", ["XGBoost", "Logistic"])
def test_five_runs_one_thread_or_two_and_any_row_or_column_order_give_the_same(tmp_path: Path, model_type: str) -> None:
    frame = loans(150)
    task = loan_task(frame)
    mixed = frame.sample(frac=1, random_state=3)[list(reversed(frame.columns))]
    turned = task.model_copy(update={"features": tuple(reversed(task.features))})
    runs = [(frame, task, 2), (frame, task, 2), (frame, task, 1), (mixed, task, 2), (mixed, turned, 1)]
    models = [
        train_in(tmp_path, rows, what, model_type=model_type, threads=threads, name=f"mdl_{i}")
        for i, (rows, what, threads) in enumerate(runs)
    ]
    new = models[0].prepare(loans(50, seed=8, first=5_000))
    for model in models[1:]:
        assert same_card(model.card) == same_card(models[0].card)
        assert np.array_equal(model.margin(new), models[0].margin(new))
        kept, first = model.training, models[0].training
        pd.testing.assert_frame_equal(kept[first.columns], first)
        assert (model.refits.drawn == models[0].refits.drawn).all()


def test_a_card_goes_to_json_and_back_unchanged(tmp_path: Path) -> None:
    frame = loans()
    card = train_in(tmp_path, frame, loan_task(frame)).card
    text = card.model_dump_json()
    assert "NaN" not in text
    assert ModelCard.model_validate_json(text) == card
    assert ModelCard.model_validate(json.loads(text)) == card
    assert set(card.versions) >= {"xgboost", "scikit-learn", "lexsi-ds"}


def test_a_model_folder_holds_json_and_arrow_only(tmp_path: Path) -> None:
    frame = loans()
    model = train_in(tmp_path, frame, loan_task(frame), model_type="XGBoost")
    files = [p for p in model.folder.rglob("*") if p.is_file()]
    assert {p.suffix for p in files} == {".json", ".arrow"}
    assert "learner" in json.loads((model.folder / "model.json").read_text())
    assert not list(tmp_path.glob(".tmp*"))
