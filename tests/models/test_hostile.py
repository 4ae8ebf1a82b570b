"""Frames as they come: a right answer or a clear refusal, never a crash and never a quiet wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frame_task import ROW, Wanted, numbered, task_of_frame
from lexsi_ds.models.scoring import score
from tests.models.frames_for_tests import silent, task_of, train_in


def people(n: int = 300, seed: int = 0, first: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.lognormal(10, 0.5, n).round(2)})
    frame["town"] = rng.choice(["Brno", "Praha", "Plzeň"], n)
    frame["member"] = rng.random(n) < 0.5
    odds = (frame["age"] - 50) / 15 + frame["member"]
    frame["left"] = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    frame.insert(0, "person", np.arange(first, first + n))
    return frame


def fit(frame: pd.DataFrame, tmp_path: Path, target: str = "left", **more: Any) -> SavedModel:
    """State a task from the frame and train a quick model on it."""
    found = task_of_frame(frame, Wanted(target=target, **more))
    return train_in(tmp_path, found.frame, found.task, model_type="Logistic")


def reasons(model: SavedModel) -> dict[str, str]:
    return {out.name: out.reason for out in model.card.left_out}


def test_infinities_count_as_missing_and_are_counted(tmp_path: Path) -> None:
    frame = people()
    frame.loc[:4, "income"] = [np.inf, -np.inf, np.inf, np.nan, np.inf]
    model = fit(frame, tmp_path)
    assert any("4 infinite values of income count as missing" in note for note in model.card.notes)
    assert next(s for s in model.card.features if s.feature.name == "income").missing == 5
    found = score(model, people(3, 5, 900).assign(income=np.inf), 1, silent).frame
    assert found["probability"].notna().all()


@pytest.mark.parametrize("text", ["2024-03-{:02}", "{:02}/03/2024", "2024-03-{:02} 10:15:00"])
def test_dates_as_text_are_dates_and_date_the_rows(tmp_path: Path, text: str) -> None:
    frame = people()
    frame["joined"] = [text.format(1 + i % 28) for i in range(len(frame))]
    model = fit(frame, tmp_path)
    assert reasons(model) == {"joined": "date"}
    assert model.card.task.time_column == "joined"


def test_columns_that_are_all_missing_are_left_out_and_may_be_missing_again(tmp_path: Path) -> None:
    frame = people().assign(nothing=None, nan=np.nan, blank=" ")
    model = fit(frame, tmp_path)
    assert reasons(model) == {"nothing": "all_null", "nan": "all_null", "blank": "all_null"}
    assert len(score(model, people(5, 3, 900), 1, silent).frame) == 5


def test_only_missing_columns_are_a_refusal(tmp_path: Path) -> None:
    frame = people()[["person", "left"]].assign(nothing=None)
    with pytest.raises(ModelRefused, match="No feature is left"):
        fit(frame, tmp_path)


def test_two_columns_of_one_name_are_refused_by_name(tmp_path: Path) -> None:
    frame = people()
    doubled = pd.concat([frame, frame[["age"]]], axis=1)
    with pytest.raises(BadInput, match="two columns of one name: age"):
        fit(doubled, tmp_path)
    model = fit(frame, tmp_path)
    with pytest.raises(BadInput, match="two columns of one name: age"):
        score(model, doubled, 1, silent)


def test_five_thousand_values_of_a_target_are_refused_with_a_way_out(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"id": range(10_000), "x": np.arange(10_000) % 7, "code": [f"c{i % 5_000}" for i in range(10_000)]}
    )
    with pytest.raises(ModelRefused, match=r"5,000 classes; at most 50 .*Merge rare classes"):
        fit(frame, tmp_path, "code")
    with pytest.raises(BadInput, match=r"5,000 different values.*regression"):
        fit(frame.assign(code=np.arange(10_000) % 5_000), tmp_path, "code")


def test_five_thousand_levels_of_a_feature_are_left_out(tmp_path: Path) -> None:
    frame = people(600).assign(code=[f"c{i % 500}" for i in range(600)])
    assert reasons(fit(frame, tmp_path)) == {"code": "high_cardinality"}


def test_one_class_and_ten_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match=r"nothing to tell apart: 300 rows .* 0 with left, 300 without"):
        fit(people().assign(left=0), tmp_path)
    with pytest.raises(ModelRefused, match="Too few rows"):
        fit(people(10).assign(left=[0, 1] * 5), tmp_path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    return fit(people(), tmp_path_factory.mktemp("hostile"))


def test_one_row_is_scored(model: SavedModel) -> None:
    found = score(model, people(1, 5, 900), 1, silent)
    assert list(found.frame["rank"]) == [1]
    assert found.comparability is None


def test_columns_missing_new_and_turned_are_named_ignored_and_read(model: SavedModel) -> None:
    new = people(40, 5, 900)
    with pytest.raises(BadInput, match=r"lacks the columns age, town"):
        score(model, new.drop(columns=["age", "town"]), 1, silent)
    same = score(model, new, 1, silent)
    more = score(model, new.assign(extra=1, another="x")[["another", *reversed(new.columns), "extra"]], 1, silent)
    pd.testing.assert_frame_equal(more.frame, same.frame)
    assert any("ignored: another, extra" in note or "ignored: extra, another" in note for note in more.notes)


def test_retyped_columns_are_read_where_they_mean_the_same_and_refused_where_not(model: SavedModel) -> None:
    new = people(40, 5, 900)
    same = score(model, new, 1, silent).frame
    retyped = new.assign(age=new["age"].astype(str), member=new["member"].map({True: "yes", False: "no"}),
                         income=new["income"].map(repr), person=new["person"].astype(float))  # fmt: skip
    pd.testing.assert_frame_equal(
        score(model, retyped, 1, silent).frame.drop(columns="person"), same.drop(columns="person")
    )
    with pytest.raises(BadInput, match="40 of 40 values of age are not a number"):
        score(model, new.assign(age="old"), 1, silent)
    with pytest.raises(BadInput, match="values of member are not true or false"):
        score(model, new.assign(member="perhaps"), 1, silent)
    days = new.assign(age=pd.Timestamp("2024-01-01"))
    with pytest.raises(BadInput, match="40 of 40 values of age are not a number"):
        score(model, days, 1, silent)


def test_words_never_seen_count_as_none_of_the_known_ones_and_are_said(model: SavedModel) -> None:
    new = people(6, 5, 900).assign(town=["Ostrava", "Brno", "Praha", None, "Ostrava", "Plzeň"])
    found = score(model, new, 1, silent)
    assert found.frame["probability"].between(0, 1).all()
    assert any("2 rows have a value of town that training never saw" in note for note in found.notes)


def test_an_outcome_of_two_words_is_read_and_the_rarer_counts(tmp_path: Path) -> None:
    frame = people()
    frame["state"] = np.where(frame["left"] == 1, "gone", "here")
    rarer = frame["state"].value_counts().index[-1]
    model = fit(frame.drop(columns="left"), tmp_path, "state")
    assert model.card.task.positive_meaning == f"state is {rarer}"
    assert model.card.positives == int((frame["state"] == rarer).sum())


def test_marks_of_the_source_keep_columns_out(tmp_path: Path) -> None:
    from lexsi_ds.data.handle import Column

    frame = people().assign(sex="F", email="x")
    marks = {
        "sex": Column(name="sex", type="VARCHAR", protected=True),
        "email": Column(name="email", type="VARCHAR", masked=True),
        "age": Column(name="AGE", type="INTEGER", protected=True),
    }
    found = task_of_frame(frame, Wanted(target="left"), marks)
    assert {o.name: o.reason for o in found.task.left_out} == {
        "sex": "protected",
        "email": "masked",
        "age": "protected",
    }
    assert [f.name for f in found.task.features] == ["income", "town", "member"]


def test_a_frame_without_a_name_for_its_rows_is_numbered_for_training_and_for_scoring(tmp_path: Path) -> None:
    frame = people().drop(columns="person").astype({"age": float, "income": float})
    model = fit(frame, tmp_path)
    assert model.card.task.entity_column == ROW
    new = numbered(people(4, 5).drop(columns="person"), model.card.task)
    assert list(score(model, new, 1, silent).frame["scored"]) == ["model"] * 4


def test_a_key_that_repeats_groups_the_rows_and_is_no_number(tmp_path: Path) -> None:
    frame = people().assign(household_id=np.arange(300) // 3 + 1_000)
    model = fit(frame, tmp_path)
    assert model.card.task.group_column == "household_id"
    assert model.card.groups == 100
    found = task_of(frame, entity="person", target="left")
    plain = train_in(tmp_path, frame, found, model_type="Logistic", name="plain")
    assert reasons(plain) == {"household_id": "identifier"}


def test_an_amount_is_predicted_where_it_is_asked_for(tmp_path: Path) -> None:
    model = fit(people(), tmp_path, "income", task_type="regression")
    assert model.card.task.kind == "regression"
    assert model.card.model_type == "Linear"
