"""What may not be a feature is found in the data and left out with a reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.models.screen import screen
from lexsi_ds.models.task import TaskSpec
from tests.models.frames_for_tests import loan_task, loans, task_of


def left_out(frame: pd.DataFrame, task: TaskSpec) -> dict[str, str]:
    found = screen(frame, task, frame["y"].to_numpy(dtype=float))
    assert all(out.detail.endswith(".") for out in found.left_out)
    assert not {f.name for f in found.features} & {out.name for out in found.left_out}
    return {out.name: out.reason for out in found.left_out}


def planted(**columns: object) -> tuple[pd.DataFrame, TaskSpec]:
    """Loans with planted columns, and an undated task over all of them."""
    frame = loans(400).drop(columns="status").assign(**columns)
    return frame, task_of(frame, entity="loan_id", target="y")


def test_clean_columns_all_stay() -> None:
    frame, task = planted()
    assert left_out(frame, task) == {}


def test_a_near_copy_of_the_outcome_is_a_leak() -> None:
    frame = loans(400)
    noise = np.random.default_rng(1).normal(0, 0.2, 400)
    frame, task = planted(repaid_after=100 - 40 * (frame["y"] + noise))
    assert left_out(frame, task) == {"repaid_after": "leak"}


def test_words_that_nearly_tell_the_outcome_are_a_leak() -> None:
    frame = loans(400)
    words = np.where(frame["y"] == 1, "written off", np.where(frame["x00"] > 0, "closed", "paid back")).astype(object)
    words[3] = "written off"
    assert left_out(*planted(outcome_text=words)) == {"outcome_text": "leak"}


def test_codes_that_tell_the_outcome_without_order_are_a_leak() -> None:
    frame = loans(400)
    codes = np.where(frame["y"] == 1, 2, np.where(frame["x00"] > 0, 1, 3))
    assert left_out(*planted(state_code=codes)) == {"state_code": "leak"}


@pytest.mark.parametrize("copy", ["same", "turned", "words", "truth"])
def test_the_outcome_under_another_name_is_the_target(copy: str) -> None:
    y = loans(400)["y"]
    columns = {"same": y, "turned": 1 - y, "words": np.where(y == 1, "bad", "good"), "truth": y == 1}
    assert left_out(*planted(copy=columns[copy])) == {"copy": "target"}


def test_a_column_filled_only_with_the_outcome_is_a_leak() -> None:
    y = loans(400)["y"]
    days = np.random.default_rng(2).integers(1, 90, 400).astype(float)
    assert left_out(*planted(days_to_writeoff=np.where(y == 1, days, np.nan))) == {"days_to_writeoff": "leak"}


def test_a_column_filled_for_part_of_one_class_is_a_leak_only_where_no_date_proves_it_earlier() -> None:
    frame = loans(400)
    bad = np.flatnonzero(frame["y"] == 1)[:25]
    values = np.full(400, np.nan)
    values[bad] = np.arange(25) % 7
    undated, task = planted(court_days=values)
    assert left_out(undated, task) == {"court_days": "leak"}
    assert left_out(undated, task.model_copy(update={"cutoff_column": "granted"})) == {}


def test_constants_empty_columns_and_duplicates_go_and_the_first_of_two_stays() -> None:
    frame = loans(400)
    found = left_out(*planted(one=1, nothing=np.nan, no_words=None, again=frame["x05"], same_words=frame["frequency"]))
    assert found == {
        "one": "constant",
        "nothing": "all_null",
        "no_words": "all_null",
        "again": "duplicate",
        "same_words": "duplicate",
    }


def test_keys_go_and_measures_stay() -> None:
    rng = np.random.default_rng(3)
    whole = rng.permutation(np.arange(1000, 9000, 20))
    found = left_out(
        *planted(
            client_id=whole,
            EmployeeNumber=whole[::-1].copy(),
            counter=np.arange(400),
            note=[f"text {i}" for i in range(400)],
            street=[f"street {i % 150}" for i in range(400)],
            income=whole + 1,
            region=rng.choice(["N", "S"], 400),
        )
    )
    assert found == {
        "client_id": "identifier",
        "EmployeeNumber": "identifier",
        "counter": "identifier",
        "note": "identifier",
        "street": "high_cardinality",
    }


def test_dates_go_whatever_they_are_stored_as() -> None:
    days = pd.date_range("1995-01-01", periods=400)
    found = left_out(*planted(when=days, day=list(days.date)))
    assert found == {"when": "date", "day": "date"}


def test_entity_and_target_among_the_features_are_not_learnt_from() -> None:
    frame = loans(100)
    task = task_of(frame, entity="loan_id", target="y", features=["loan_id", "y", "x01"])
    assert left_out(frame, task) == {"loan_id": "identifier", "y": "target"}


def test_a_strong_column_stays_with_a_warning() -> None:
    frame = loans(400)
    noise = np.random.default_rng(1).normal(0, 0.42, 400)
    frame, task = planted(strong=frame["y"] + noise)
    found = screen(frame, task, frame["y"].to_numpy(dtype=float))
    assert "strong" in {f.name for f in found.features}
    assert any(w.startswith("strong alone ranks default") for w in found.warnings)


def test_few_unreadable_numbers_count_as_missing_and_many_make_words() -> None:
    frame = loans(400)
    few = frame["x00"].astype(str).where(frame.index >= 4, "n/a")
    many = pd.Series(np.where(np.arange(400) % 2, "low", "12"), dtype=object)
    frame = frame.assign(few=few, many=many)
    task = loan_task(frame)
    kinds = {"few": "numeric", "many": "numeric"}
    task = task.model_copy(
        update={"features": tuple(f.model_copy(update={"kind": kinds.get(f.name, f.kind)}) for f in task.features)}
    )
    found = screen(frame, task, frame["y"].to_numpy(dtype=float))
    assert np.isnan(found.columns["few"]).sum() == 4
    assert next(f for f in found.features if f.name == "many").kind == "categorical"
    assert any("4 of 400 values of few" in note for note in found.notes)
    assert any("many was taken as words" in note for note in found.notes)
