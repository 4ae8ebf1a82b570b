"""Scores of a frame: no row lost, training rows out of fold, bands, ranks, segments, and clear refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import PROBABILITY, SavedModel
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.models.estimators import probability
from lexsi_ds.models.frames import read_frame, write_frame
from lexsi_ds.models.scoring import ScoredFrame, score
from lexsi_ds.models.stability import bands
from lexsi_ds.models.task import Apart
from tests.models.frames_for_tests import loan_task, loans, silent, train_in


@pytest.fixture(scope="module", params=["XGBoost", "Logistic"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    frame = loans()
    task = loan_task(frame, apart=Apart(column="status", value="D", label="in debt already"))
    return train_in(tmp_path_factory.mktemp("models"), frame, task, model_type=request.param)


@pytest.fixture(scope="module")
def running() -> pd.DataFrame:
    return loans(120, seed=5, first=1_000).drop(columns="y")


def scored(model: SavedModel, frame: pd.DataFrame, threads: int = 2) -> ScoredFrame:
    return score(model, frame, threads, silent)


def test_every_row_is_scored_once_with_the_promised_columns(model: SavedModel, running: pd.DataFrame) -> None:
    found = scored(model, running).frame
    assert list(found.columns) == ["loan_id", *PREDICTION_COLUMNS, "status"]
    assert sorted(found["loan_id"]) == sorted(running["loan_id"])
    assert found["probability"].between(0, 1).all()
    assert not found.isna().any().any()
    assert (found["scored"] == "model").all()
    assert ((found["probability"] >= 0.5) == (found["prediction"] == 1)).all()


def test_rows_in_debt_stand_apart_and_each_segment_is_ranked_for_itself(
    model: SavedModel, running: pd.DataFrame
) -> None:
    result = scored(model, running)
    assert result.ranked == int((running["status"] == "C").sum())
    for segment, status in (("ranked", "C"), ("apart", "D")):
        part = result.frame[result.frame["segment"] == segment]
        assert set(part["status"]) == {status}
        assert list(part["rank"]) == list(range(1, len(part) + 1))
        assert part["probability"].is_monotonic_decreasing
    assert list(result.frame["segment"]) == sorted(result.frame["segment"], reverse=True)


def test_bands_hold_the_score_and_say_how_stable_the_top_is(model: SavedModel, running: pd.DataFrame) -> None:
    result = scored(model, running)
    found = result.frame
    assert (found["probability_low"] <= found["probability"]).all()
    assert (found["probability"] <= found["probability_high"]).all()
    assert (found["rank_low"] <= found["rank"]).all()
    assert (found["rank"] <= found["rank_high"]).all()
    top = found[(found["segment"] == "ranked") & (found["rank"] <= 10)]
    assert result.top_overlap == pytest.approx(top["top_share"].mean())
    assert 0.1 < result.top_overlap < 1
    ranked = found[found["segment"] == "ranked"]
    assert ranked["top_share"].sum() == pytest.approx(10)
    assert result.refits == 50


def test_training_rows_are_scored_out_of_fold_with_the_kept_scores(model: SavedModel) -> None:
    frame = loans()
    mixed = pd.concat([frame.head(40), loans(20, seed=6, first=2_000)], ignore_index=True)
    result = scored(model, mixed)
    known = result.frame.set_index("loan_id")
    kept = model.training.set_index("loan_id")[PROBABILITY]
    ids = list(frame["loan_id"].head(40))
    assert (known.loc[ids, "scored"] == "out_of_fold").all()
    assert (known.loc[list(range(2_000, 2_020)), "scored"] == "model").all()
    assert np.allclose(known.loc[ids, "probability"], kept.loc[ids], atol=1e-7)
    assert any(note.startswith("40 of 60 rows trained the model") for note in result.notes)
    assert known["top_share"].notna().all()


def test_bands_of_a_training_row_come_only_from_refits_that_did_not_draw_it(model: SavedModel) -> None:
    frame = loans().assign(status="C")
    found = scored(model, frame).frame.set_index("loan_id")
    rows = model.prepare(frame)
    for i in range(0, 40, 5):
        unseen = np.flatnonzero(~model.refits.drawn[i])
        assert 5 < len(unseen) < 40
        own = np.array([probability(model.refits.models[b].margin(rows.x[[i]]))[0] for b in unseen])
        row = found.loc[frame["loan_id"][i]]
        assert row["probability_low"] == pytest.approx(min(np.quantile(own, 0.1), row["probability"]), abs=1e-9)
        assert row["probability_high"] == pytest.approx(max(np.quantile(own, 0.9), row["probability"]), abs=1e-9)


def test_an_id_is_known_as_number_or_text(model: SavedModel) -> None:
    frame = loans().head(5)
    as_text = scored(model, frame.assign(loan_id=frame["loan_id"].astype(str))).frame
    as_float = scored(model, frame.assign(loan_id=frame["loan_id"].astype(float))).frame
    assert (as_text["scored"] == "out_of_fold").all()
    assert (as_float["scored"] == "out_of_fold").all()


def test_order_of_rows_and_columns_threads_and_an_empty_target_change_nothing(
    model: SavedModel, running: pd.DataFrame
) -> None:
    first = scored(model, running).frame
    mixed = running.sample(frac=1, random_state=1)[list(reversed(running.columns))].assign(y=None)
    pd.testing.assert_frame_equal(scored(model, mixed, threads=1).frame, first)


def test_equal_scores_are_ranked_by_id(model: SavedModel, running: pd.DataFrame) -> None:
    same = pd.concat([running.head(1)] * 12, ignore_index=True)
    same["loan_id"] = [30, 4, 100, 7, 8, 9, 1_000, 11, 12, 13, 14, 2]
    same["loan_id"] += 10_000
    assert list(scored(model, same).frame["loan_id"]) == sorted(same["loan_id"])


def test_one_row_doubled_ids_and_missing_ids_are_all_kept(model: SavedModel, running: pd.DataFrame) -> None:
    assert len(scored(model, running.head(1)).frame) == 1
    doubled = pd.concat([running.head(3), running.head(3)], ignore_index=True)
    doubled["loan_id"] = doubled["loan_id"].astype(object).where(doubled.index != 1)
    assert len(scored(model, doubled).frame) == 6


def test_words_never_seen_are_scored_and_said(model: SavedModel, running: pd.DataFrame) -> None:
    odd = running.assign(frequency=["yearly", "never", *running["frequency"].iloc[2:]])
    result = scored(model, odd)
    assert len(result.frame) == len(odd)
    assert any(note.startswith("2 rows have a value of frequency that training never saw") for note in result.notes)


def test_missing_values_are_scored_even_where_training_had_none(model: SavedModel, running: pd.DataFrame) -> None:
    holes = running.assign(x00=None, has_card=None, frequency=None, duration=np.inf)
    assert scored(model, holes).frame["probability"].notna().all()


def test_numbers_as_text_are_read_and_other_text_is_refused(model: SavedModel, running: pd.DataFrame) -> None:
    as_text = running.assign(x01=running["x01"].map(repr), has_card=running["has_card"].map({True: "Yes", False: "no"}))
    pd.testing.assert_frame_equal(scored(model, as_text).frame, scored(model, running).frame)
    with pytest.raises(BadInput, match=r"3 of 120 values of x01 are not a number"):
        scored(model, running.assign(x01=["?"] * 3 + running["x01"].map(repr).tolist()[3:]))


def test_missing_features_are_named_and_no_rows_are_refused(model: SavedModel, running: pd.DataFrame) -> None:
    with pytest.raises(BadInput, match="columns duration, x03"):
        scored(model, running.drop(columns=["x03", "duration"]))
    with pytest.raises(BadInput, match="loan_id"):
        scored(model, running.drop(columns="loan_id"))
    with pytest.raises(BadInput, match="status"):
        scored(model, running.drop(columns="status"))
    with pytest.raises(BadInput, match="no rows"):
        scored(model, running.head(0))


def test_a_display_column_with_a_taken_name_keeps_its_data(tmp_path: Path) -> None:
    frame = loans().assign(segment="retail")
    features = [c for c in loans().columns if c not in ("loan_id", "y", "status")]
    task = loan_task(frame).model_copy(update={"display_columns": ("segment", "status")})
    task = task.model_copy(update={"features": tuple(f for f in task.features if f.name in features)})
    found = scored(train_in(tmp_path, frame, task), frame.head(9)).frame
    assert list(found["segment (data)"]) == ["retail"] * 9
    assert list(found["segment"]) == ["ranked"] * 9


def test_a_saved_model_scores_the_same_in_a_fresh_process(
    model: SavedModel, running: pd.DataFrame, tmp_path: Path
) -> None:
    write_frame(running, tmp_path / "rows.arrow")
    args: dict[str, Any] = {
        "folder": str(model.folder),
        "frame": str(tmp_path / "rows.arrow"),
        "out": str(tmp_path / "scores.arrow"),
        "threads": 1,
    }
    code = f"from lexsi_ds.models.worker import predict; predict({args!r}, lambda m: None)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])
    pd.testing.assert_frame_equal(read_frame(tmp_path / "scores.arrow"), scored(model, running).frame)


def test_bands_of_a_known_case() -> None:
    points = np.array([0.9, 0.5, 0.1])
    refits = np.array([[0.8, 0.6, 0.2], [0.7, 0.9, 0.1], [0.9, 0.4, 0.3], [0.95, 0.5, 0.05], [0.9, 0.6, 0.2]])
    found = bands(points, refits, np.arange(3))
    assert list(found.rank) == [1, 2, 3]
    assert list(found.low) == pytest.approx(np.quantile(refits, 0.1, axis=0).tolist())
    assert list(found.high) == pytest.approx(np.quantile(refits, 0.9, axis=0).tolist())
    assert list(found.rank_low) == [1, 1, 3]
    assert list(found.rank_high) == [2, 2, 3]
    assert found.top_overlap == 1


def test_refits_that_drew_a_row_do_not_judge_it() -> None:
    rng = np.random.default_rng(0)
    points = np.sort(rng.random(40))[::-1]
    refits = np.repeat(points[None, :], 30, axis=0)
    refits[rng.random(refits.shape) < 0.6] = np.nan
    refits[:5, 0], refits[5:, 0] = np.nan, 0.0
    found = bands(points, refits, np.arange(40))
    assert found.low[0] == 0
    assert found.top_share[0] == 0
    assert found.rank_high[0] == 40
    assert found.low[1] == found.high[1] == points[1]
