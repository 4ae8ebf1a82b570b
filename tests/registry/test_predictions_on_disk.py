"""Predictions on disk: pages across batches, orders kept in files, files of the earlier form, what a sweep takes."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from lexsi_ds.errors import NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.models import Models
from lexsi_ds.services.prediction_file import PredictionFile, PredictionFiles
from lexsi_ds.services.prediction_write import write_predictions
from lexsi_ds.store.conversations import Conversations
from lexsi_ds.store.db import Store
from tests.services.cards import card, scored, trained

from .conftest import ADA

ROWS = 1_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    opened.migrate()
    return opened


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({
        "loan_id": rng.permutation(np.arange(ROWS)), "probability": np.round(rng.random(ROWS), 2),
        "segment": np.where(np.arange(ROWS) % 10 == 0, "apart", "ranked"), "city": rng.choice(["Ústí", "Brno", None], ROWS),
        "kind": pd.Categorical(rng.choice(["a", "b"], ROWS)),
    })


@pytest.fixture
def file(tmp_path: Path, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> PredictionFile:
    monkeypatch.setattr("lexsi_ds.services.prediction_write.BATCH", 64)
    write_predictions(scored(tmp_path, frame).path, tmp_path / "pred_a")
    return PredictionFile(tmp_path / "pred_a")


def _expected(frame: pd.DataFrame) -> pd.DataFrame:
    rank = frame.groupby("segment")["probability"].rank(ascending=False, method="first").astype("int64")
    apart = frame["segment"] == "apart"
    return frame.assign(rank=rank, apart=apart).sort_values(["apart", "rank"]).reset_index(drop=True)


def test_any_slice_of_any_order_equals_the_frame_sorted_at_once(file: PredictionFile, frame: pd.DataFrame) -> None:
    ranked = _expected(frame)
    orders = {
        ("rank", False): ranked,
        ("city", False): ranked.sort_values("city", kind="stable", na_position="last"),
        ("probability", True): ranked.sort_values("probability", ascending=False, kind="stable"),
        ("loan_id", False): ranked.sort_values("loan_id"),
    }
    for (sort, descending), whole in orders.items():
        for offset, limit in ((0, 50), (60, 10), (63, 200), (970, 50), (1_200, 5), (0, ROWS)):
            page, total = file.page("", sort, descending, offset, limit, None)
            assert total == ROWS
            assert page["loan_id"].tolist() == whole["loan_id"].tolist()[offset : offset + limit]


def test_searched_and_filtered_rows_keep_the_order_that_is_asked_for(file: PredictionFile, frame: pd.DataFrame) -> None:
    ranked = _expected(frame)
    wanted = ranked[(ranked["city"] == "Ústí") & (ranked["kind"] == "a")]
    page, total = file.page("usti", "rank", False, 10, 30, {"kind": "a"})
    assert total == len(wanted) and page["loan_id"].tolist() == wanted["loan_id"].tolist()[10:40]
    page, total = file.page("USTI", "loan_id", True, 0, 30, {"kind": ["a"]})
    assert total == len(wanted) and page["loan_id"].tolist() == sorted(wanted["loan_id"], reverse=True)[:30]


def test_an_order_is_sorted_once_and_read_by_the_next_process(
    file: PredictionFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = file.page("", "probability", True, 500, 20, None)
    assert [p.name for p in (tmp_path / "pred_a").glob("order-*")] == ["order-4-desc.npy"]
    again = PredictionFile(tmp_path / "pred_a")
    monkeypatch.setattr(again, "_ids", lambda *_: pytest.fail("it was sorted again"))
    pd.testing.assert_frame_equal(again.page("", "probability", True, 500, 20, None)[0], first)


def test_a_threshold_decides_what_prediction_reads_filters_and_sorts_by(file: PredictionFile, frame: pd.DataFrame) -> None:
    over = int((frame["probability"] >= 0.8).sum())
    page, total = file.page("", "rank", False, 0, ROWS, {"prediction": 1}, 0.8)
    assert total == over and (page["probability"] >= 0.8).all() and set(page["prediction"]) == {1}
    page, _ = file.page("", "prediction", True, over - 1, 2, None, 0.8)
    assert page["prediction"].tolist() == [1, 0]
    assert file.page("", "rank", False, 0, 1, {"prediction": 1})[1] == int((frame["probability"] >= 0.5).sum())
    case = str(frame.loc[frame["probability"].between(0.5, 0.79), "loan_id"].iloc[0])
    assert (file.case(case)["prediction"], file.case(case, 0.8)["prediction"]) == (1, 0)
    lines = file.csv("", None, tmp_path_of(file), 0.8).decode().splitlines()
    place = lines[0].split(",").index("prediction")
    assert sum(line.split(",")[place] == "1" for line in lines[1:]) == over


def tmp_path_of(file: PredictionFile) -> Path:
    return file._folder.parent


def test_every_case_is_found_by_its_id_and_no_other(file: PredictionFile, frame: pd.DataFrame) -> None:
    by_id = frame.set_index("loan_id")["probability"]
    for case in (0, 9, 10, 100, 999, 512):
        assert file.case(str(case))["probability"] == by_id[case]
    for case in ("1000", "-1", "", "01", "5 OR 1=1"):
        with pytest.raises(NotFound):
            file.case(case)


def test_a_file_of_the_earlier_form_reads_as_before(tmp_path: Path, frame: pd.DataFrame, file: PredictionFile) -> None:
    source = scored(tmp_path, frame).path
    import pyarrow as pa

    with pa.memory_map(str(source)) as mapped:
        rows = pa.ipc.open_stream(mapped).read_all()
    old = tmp_path / "pred_old.duckdb"
    with duckdb.connect(str(old)) as db:
        db.register("incoming", rows)
        db.execute(
            "CREATE TABLE predictions AS SELECT *, row_number() OVER (ORDER BY (segment = 'ranked') DESC, segment, rank, "
            "loan_id) - 1 AS _row, lower(strip_accents(concat_ws(' ', loan_id, city, kind))) AS _text FROM incoming ORDER BY _row"
        )
    opened = PredictionFiles().open(old)
    for ask in (("", "rank", False, 100, 50, None), ("brno", "city", True, 0, 50, {"segment": "apart"})):
        mine, its = opened.page(*ask), file.page(*ask)
        pd.testing.assert_frame_equal(mine[0], its[0])
        assert mine[1] == its[1]
    assert PredictionFiles().open(old).case("7") == file.case("7")


def _aged(path: Path) -> None:
    os.utime(path, (1, 1))


def test_a_sweep_takes_files_that_nothing_names_and_leaves_the_rest(tmp_path: Path, store: Store, frame: pd.DataFrame) -> None:
    models = Models(store, tmp_path)
    made = card()
    models.register(ADA, trained(tmp_path, made), made, None)
    kept = models.save_predictions(ADA, made.id, scored(tmp_path, frame), None, "snap_a")
    folder = tmp_path / "predictions"
    chats = Conversations(store)
    memory = {"alive": made.id, "gone": new_id("mdl")}
    paths = {name: folder / f"{new_id('prd')}.arrow" for name in (*memory, "forgotten", "young")}
    for path in paths.values():
        path.write_bytes(b"x")
    for name, model_id in memory.items():
        chat_id = new_id("conv")
        chats.insert(chat_id, "ada", name)
        chats.remember(chat_id, {"kept": {"model_id": model_id, "predictions_path": str(paths[name])}})
    orphan = folder / new_id("pred")
    orphan.mkdir()
    for path in (*(paths[n] for n in ("alive", "gone", "forgotten")), orphan, folder / kept):
        _aged(path)
    assert models.sweep() == 3
    assert {n for n, p in paths.items() if p.exists()} == {"alive", "young"}
    assert not orphan.exists() and models.page(ADA, kept)[1] == ROWS
    models.delete(ADA, made.id)
    assert models.sweep() == 1 and not paths["alive"].exists() and not (folder / kept).exists()
