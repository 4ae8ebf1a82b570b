"""Public files within what careful public work reports of them, with the same types compared as in the app; and leaks
planted in them refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.task import TaskSpec
from tests.models.frames_for_tests import attrition, data_file, task_of, telco, titanic, train_in

BUDGET_S = 6.0


def houses() -> tuple[pd.DataFrame, TaskSpec]:
    """House sales with the logarithm of the price as the amount; the zip code is a word, the date dates a row."""
    frame = pd.read_csv(data_file("kc_house_data.csv"))
    frame["log_price"] = np.log(frame["price"])
    frame["zipcode"] = "z" + frame["zipcode"].astype(str)
    frame["sale"] = [f"s{i}" for i in range(len(frame))]
    features = [c for c in frame.columns if c not in ("price", "log_price", "sale", "date")]
    more: dict[str, Any] = {"task_type": "regression", "time_column": "date", "group_column": "id"}
    return frame, task_of(frame, entity="sale", target="log_price", features=features, **more)


@pytest.fixture(scope="module")
def model_of_houses(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    return train_in(tmp_path_factory.mktemp("houses"), *houses(), budget_s=BUDGET_S)


def test_house_prices_are_explained_as_public_work_does(model_of_houses: SavedModel) -> None:
    card = model_of_houses.card
    assert 0.875 <= card.chosen.main.value <= 0.91
    assert card.model_type in ("XGBoost", "LightGBM")
    assert card.baseline.main.value < card.chosen.main.value
    assert card.conformal is not None
    assert card.conformal.coverage == pytest.approx(0.9, abs=0.02)
    assert card.groups == 21_436
    assert {out.name: out.reason for out in card.left_out}["id"] == "identifier"


def test_house_prices_of_later_months_are_reported_beside_the_folds(model_of_houses: SavedModel) -> None:
    later = model_of_houses.card.out_of_time
    assert later is not None
    assert later.last == "2015-05-27"
    assert later.trained + later.tested == 21_613
    assert 0.8 < later.metrics.r2.value < 0.92  # type: ignore[union-attr]
    assert later.sentence in model_of_houses.card.headlines


@pytest.mark.parametrize(
    ("data", "low", "high"), [(telco, 0.84, 0.855), (attrition, 0.80, 0.865), (titanic, 0.855, 0.885)]
)
def test_churn_attrition_and_survival_rank_as_public_work_does(
    data: Any, low: float, high: float, tmp_path: Path
) -> None:
    card = train_in(tmp_path, *data(), budget_s=BUDGET_S).card
    assert low <= card.chosen.main.value <= high
    best = max(c.main.value for c in card.candidates)
    assert card.chosen.main.value >= best - 0.01 or "within the noise" in card.why_chosen
    assert card.credit is not None
    assert sum(d.rows for d in card.credit.deciles) == card.rows


def test_leaks_planted_in_telco_are_refused_with_the_reason(tmp_path: Path) -> None:
    frame, task = telco()
    rng = np.random.default_rng(0)
    churned = frame["churned"] == 1
    planted = {
        "refund": np.where(churned, rng.gamma(2, 30, len(frame)) + 20, rng.gamma(1, 3, len(frame))),
        "exit_note": np.where(churned, "left", np.where(rng.random(len(frame)) < 0.5, "fine", "happy")),
        "exit_code": np.where(churned, 7, rng.integers(0, 5, len(frame))),
        "last_day": pd.Series(pd.Timestamp("2020-01-01"), index=frame.index).where(churned),
        "left_on": np.where(churned, "2020-03-01", None),
        "Churned again": frame["Churn"].map({"Yes": "y", "No": "n"}),
    }
    frame = frame.assign(**planted)
    more = task_of(frame, entity="customerID", target="churned", features=list(planted)).features
    task = task.model_copy(update={"features": (*task.features, *more)})
    card = train_in(tmp_path, frame, task, model_type="Logistic").card
    reasons = {out.name: out for out in card.left_out}
    assert {name: reasons[name].reason for name in planted} == {
        "refund": "leak", "exit_note": "leak", "exit_code": "leak", "last_day": "leak", "left_on": "leak",
        "Churned again": "target",
    }  # fmt: skip
    assert "ROC AUC" in reasons["refund"].detail
    assert card.chosen.main.value < 0.86
