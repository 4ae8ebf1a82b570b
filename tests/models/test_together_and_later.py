"""Rows of one group stay together, later rows are reported beside the folds, and rows to score are held against known ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.folds import make_folds
from lexsi_ds.models.out_of_time import cut
from lexsi_ds.models.scoring import score
from lexsi_ds.models.task import TaskSpec
from tests.models.frames_for_tests import silent, task_of, train_in


def months(clients: int = 80, each: int = 5, seed: int = 0) -> pd.DataFrame:
    """Clients with a row a month; a client's own habit, not the features, tells its outcome."""
    rng = np.random.default_rng(seed)
    client = np.repeat(np.arange(clients), each)
    frame = pd.DataFrame({"client_id": client, "month": pd.Timestamp("2024-01-01")})
    frame["month"] = [pd.Timestamp("2024-01-01") + pd.DateOffset(months=i) for i in np.tile(np.arange(each), clients)]
    own = rng.normal(size=(clients, 3))
    for j in range(3):
        frame[f"x{j}"] = own[client, j] + rng.normal(0, 0.01, len(frame))
    habit = rng.random(clients) < 0.4
    frame["y"] = (habit[client] ^ (rng.random(len(frame)) < 0.05)).astype(int)
    frame["row"] = [f"r{i}" for i in range(len(frame))]
    return frame


def month_task(frame: pd.DataFrame, entity: str = "client_id", **more: Any) -> TaskSpec:
    return task_of(frame, entity=entity, target="y", features=["x0", "x1", "x2"], **more)


def test_rows_of_one_client_never_help_to_predict_its_other_rows(tmp_path: Path) -> None:
    frame = months()
    apart = train_in(tmp_path, frame, month_task(frame, "row"), model_type="XGBoost", name="apart").card
    held = month_task(frame, "row", group_column="client_id")
    model = train_in(tmp_path, frame, held, model_type="XGBoost", name="held")
    assert apart.chosen.main.value > 0.75
    assert model.card.chosen.main.value < 0.65
    assert model.card.groups == 80
    fold = pd.Series([tuple(f) for f in model.training["_lexsi_folds"]])
    assert (fold.groupby(model.training["client_id"].to_numpy()).nunique() == 1).all()
    assert any("400 rows fall into 80 groups by client_id" in note for note in model.card.notes)


def test_a_repeated_entity_trains_where_a_date_tells_its_rows_apart_and_is_refused_otherwise(tmp_path: Path) -> None:
    frame = months()
    with pytest.raises(BadInput, match="400 rows for 80 different values of client_id"):
        train_in(tmp_path, frame, month_task(frame), name="no")
    model = train_in(tmp_path, frame, month_task(frame, time_column="month"), model_type="Logistic")
    assert model.card.groups == 80
    known = frame.head(10)
    next_month = frame.tail(10).assign(month=pd.Timestamp("2025-01-01"))
    found = score(model, pd.concat([known, next_month], ignore_index=True), 2, silent).frame
    assert sorted(found["scored"]) == ["model"] * 10 + ["out_of_fold"] * 10
    shuffled = train_in(tmp_path, frame.sample(frac=1, random_state=1), month_task(frame, time_column="month"),
                        model_type="Logistic", name="shuffled")  # fmt: skip
    assert shuffled.card.chosen.metrics == model.card.chosen.metrics


def test_groups_that_cross_are_joined() -> None:
    from lexsi_ds.models.training_rows import training_rows

    frame = months(30, 2).assign(home=lambda f: f["client_id"] // 3)
    frame.loc[0, "home"] = 9
    rows = training_rows(frame, month_task(frame, group_column="home", time_column="month"))
    assert rows.group_count == 9
    groups = pd.Series(rows.groups)
    assert (groups.groupby(rows.frame["client_id"].to_numpy()).nunique() == 1).all()
    assert (groups.groupby(rows.frame["home"].to_numpy()).nunique() == 1).all()


@pytest.mark.parametrize("kind", ["multiclass", "regression"])
def test_folds_of_classes_and_amounts_hold_their_range(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = (
        rng.choice(4, 400, p=[0.7, 0.2, 0.06, 0.04]).astype(float)
        if kind == "multiclass"
        else rng.exponential(size=400)
    )
    folds = make_folds(y, 5, 7, outcome=Outcome(kind, 4))  # type: ignore[arg-type]
    for fold in range(5):
        here = y[folds.of[:, 0] == fold]
        assert len(here) == pytest.approx(80, abs=4)
        assert here.mean() == pytest.approx(y.mean(), rel=0.12)


def test_too_few_groups_are_refused() -> None:
    y = np.arange(100) % 2 * 1.0
    with pytest.raises(ModelRefused, match="3 groups; 5 folds need"):
        make_folds(y, 3, 7, groups=np.arange(100) % 3)


def drifting(n: int = 900, seed: int = 0) -> pd.DataFrame:
    """Rows over three years; what counted in the first two years counts the other way in the third."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": range(n), "x": rng.normal(size=n), "z": rng.normal(size=n)})
    frame["day"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n) * 1.2, unit="D")).strftime("%Y-%m-%d")
    sign = np.where(np.arange(n) < 0.75 * n, 1.0, -1.0)
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-(2 * sign * frame["x"] + 0.8 * frame["z"])))).astype(int)
    return frame


def test_later_rows_are_reported_beside_the_folds_even_when_it_hurts(tmp_path: Path) -> None:
    frame = drifting()
    task = task_of(frame, entity="id", target="y", features=["x", "z", "day"], time_column="day")
    card = train_in(tmp_path, frame, task, model_type="Logistic").card
    later = card.out_of_time
    assert later is not None
    assert later.tested == pytest.approx(225, abs=3)
    assert later.trained + later.tested == 900
    assert later.first == frame["day"].sort_values().iloc[-later.tested]
    assert later.difference < -0.05
    assert later.metrics.roc_auc.value < 0.5  # type: ignore[union-attr]
    assert "more than it keeps over time" in later.sentence
    assert card.headlines == (later.sentence,)
    assert {out.name: out.reason for out in card.left_out} == {"day": "date"}


def test_a_stable_signal_says_that_later_rows_are_as_good(tmp_path: Path) -> None:
    frame = drifting()
    rng = np.random.default_rng(1)
    frame["y"] = (rng.random(len(frame)) < 1 / (1 + np.exp(-2 * frame["x"]))).astype(int)
    task = task_of(frame, entity="id", target="y", features=["x", "z"], time_column="day")
    later = train_in(tmp_path, frame, task, model_type="Logistic").card.out_of_time
    assert later is not None
    assert "within the noise" in later.sentence


def test_days_that_do_not_part_the_rows_are_not_forced() -> None:
    assert cut(np.array(["2020-01-01"] * 500, dtype="datetime64[D]")) is None
    mixed = np.array([np.datetime64("NaT")] * 200 + ["2020-01-01"] * 50, dtype="datetime64[D]")
    assert cut(mixed) is None
    days = np.repeat(np.arange("2020-01-01", "2020-01-11", dtype="datetime64[D]"), 50)
    assert cut(days) == np.datetime64("2020-01-08")


def test_dates_written_after_the_moment_are_found(tmp_path: Path) -> None:
    frame = drifting()
    day = pd.to_datetime(frame["day"])
    frame["closed"] = day + pd.Timedelta(days=90)
    frame["joined"] = day - pd.Timedelta(days=400)
    task = task_of(frame, entity="id", target="y", features=["x", "z", "closed", "joined"], time_column="day")
    card = train_in(tmp_path, frame, task, model_type="Logistic").card
    assert {out.name: out.reason for out in card.left_out} == {"closed": "post_outcome", "joined": "date"}


def loans_of_years(n: int, years: tuple[int, int], shift: float, seed: int, first: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"loan_id": range(first, first + n), "amount": rng.normal(1000 + shift, 200, n)})
    frame["region"] = rng.choice(["n", "s"], n, p=[0.5 - shift / 4000, 0.5 + shift / 4000])
    frame["x"] = rng.normal(size=n)
    start, end = pd.Timestamp(f"{years[0]}-01-01"), pd.Timestamp(f"{years[1]}-12-31")
    frame["granted"] = start + pd.to_timedelta(rng.integers(0, (end - start).days, n), unit="D")
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-frame["x"]))).astype(int)
    return frame


@pytest.fixture(scope="module")
def known() -> pd.DataFrame:
    return loans_of_years(400, (1993, 1996), 0, 0, 1)


def compared(known: pd.DataFrame, scored: pd.DataFrame, tmp_path: Path) -> tuple[Any, Any]:
    task = task_of(known, entity="loan_id", target="y", features=["amount", "region", "x"], cutoff_column="granted")
    model = train_in(tmp_path, known, task, model_type="Logistic")
    return model, score(model, scored.drop(columns="y"), 2, silent).comparability


def test_rows_unlike_the_known_ones_are_said_with_what_differs(known: pd.DataFrame, tmp_path: Path) -> None:
    scored = loans_of_years(300, (1996, 1998), 600, 1, 5_000)
    model, found = compared(known, scored, tmp_path)
    assert (found.known, found.scored) == (400, 300)
    assert found.auc.low > 0.9
    assert found.drivers[0].feature == "amount"
    assert found.drivers[0].known.startswith("median 9") or found.drivers[0].known.startswith("median 1,0")
    assert "have little in common" in found.sentences[0]
    assert found.sentences[1].startswith("What differs most: amount (median")
    years = {c.period: (c.known, c.unknown) for c in found.unfinished}
    assert set(years) >= {"1997", "1998"}
    assert years["1998"][0] == 0
    assert found.sentences[2].startswith("Unfinished: ")
    assert "Only granted loans are in the data" in found.sentences[-1]
    assert "Only granted loans" in " ".join(model.card.warnings)


def test_rows_like_the_known_ones_are_called_alike(known: pd.DataFrame, tmp_path: Path) -> None:
    _, found = compared(known, loans_of_years(300, (1993, 1996), 0, 2, 5_000), tmp_path)
    assert found.auc.low < 0.6
    assert "are alike" in found.sentences[0]


def test_the_known_rows_themselves_are_not_compared_with_themselves(known: pd.DataFrame, tmp_path: Path) -> None:
    _, found = compared(known, known, tmp_path)
    assert found is None


def test_training_compares_where_it_is_told_what_to_score(known: pd.DataFrame, tmp_path: Path) -> None:
    from lexsi_ds.models.training import Origin, train_model

    scored = loans_of_years(300, (1996, 1998), 600, 1, 5_000)
    task = task_of(known, entity="loan_id", target="y", features=["amount", "region", "x"], cutoff_column="granted")
    card = train_model(known, task, "Logistic", Origin("mdl_1"), 2, silent, budget_s=1, to_score=scored).card
    assert card.comparability is not None
    assert card.headlines[0] == card.comparability.sentences[0]
