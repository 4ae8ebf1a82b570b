from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.models.engine import ModelRef
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import Models
from lexsi_ds.store.db import Store

from .cards import card, scored, trained
from .conftest import ADA, BEN

ROWS = 1_000


@pytest.fixture
def models(store: Store, home: Path) -> Models:
    return Models(store, home)


@pytest.fixture
def model_id(models: Models, home: Path) -> str:
    made = card()
    models.register(ADA, trained(home, made), made, new_id("run"))
    return made.id


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame({
        "loan_id": np.arange(5000, 5000 + ROWS), "probability": rng.permutation(np.linspace(0.001, 0.999, ROWS)),
        "segment": np.where(np.arange(ROWS) % 10 == 0, "apart", "ranked"),
        "status": np.where(np.arange(ROWS) % 10 == 0, "D", "C"), "city": rng.choice(["Ústí", "Brno", "Praha"], ROWS),
        "granted": pd.date_range("1994-01-01", periods=ROWS, freq="D"),
    })


@pytest.fixture
def predictions_id(models: Models, model_id: str, home: Path, frame: pd.DataFrame) -> str:
    return models.save_predictions(ADA, model_id, scored(home, frame), new_id("run"), "snap_a")


# -- models ----------------------------------------------------------------------------------------------------------


def test_a_registered_model_is_found_by_id_and_by_name(models: Models, home: Path) -> None:
    first, second = card(), card()
    handle = DatasetHandle(
        source_id="con_b", name="Bank", kind="demo", snapshot_id="snap_b", snapshot_number=3, tables=()
    )
    kept = [models.register(ADA, trained(home, each), each, "run_x", handle) for each in (first, second)]
    assert [c.name for c in kept] == ["XGBoost_v1", "XGBoost_v2"]
    assert (kept[0].source_id, kept[0].snapshot_number, kept[0].run_id) == ("con_b", 3, "run_x")
    assert models.get(ADA, second.id) == kept[1] == models.latest(ADA, "con_b")
    found = models.find(ADA, "XGBoost_v1")
    assert found == (ModelRef(id=first.id, folder=home / "models" / first.id), kept[0])
    assert models.find(ADA, first.id) == found
    assert [c.id for c in models.list(ADA, "con_b")] == [second.id, first.id]
    assert models.latest(ADA, "con_a") is None and models.find(ADA, "XGBoost_v9") is None


def test_a_model_survives_a_restart_and_a_moved_home(models: Models, store: Store, home: Path, model_id: str) -> None:
    moved = home / "moved"
    moved.mkdir()
    (home / "models").rename(moved / "models")
    again = Models(Store(store.url.render_as_string(hide_password=False)), moved)
    assert again.ref(ADA, model_id).folder == moved / "models" / model_id


def test_a_model_outside_of_the_home_is_refused(models: Models, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = card()
    with pytest.raises(BadInput):
        models.register(ADA, trained(tmp_path_factory.mktemp("elsewhere"), made), made, None)


def test_training_rows_come_back_without_the_outcome(models: Models, model_id: str) -> None:
    rows = models.training_rows(ADA, model_id, ["2", "99"])
    assert list(rows) == ["2"]
    assert rows["2"].to_dict("records") == [{"loan_id": 2, "amount": 20.0, "status": "B"}]


def test_a_model_whose_files_are_gone_is_told(models: Models, home: Path, model_id: str) -> None:
    (home / "models").rename(home / "lost")
    with pytest.raises(NotFound, match="not there any more"):
        models.ref(ADA, model_id)
    assert models.find(ADA, model_id) is None


@pytest.mark.parametrize("bad", [
    "", "mdl_1", "mdl_../../etc", "../models", "mdl_01900000-0000-7000-8000-000000000000",
    "pred_01900000-0000-7000-8000-000000000000",
])
def test_an_id_that_is_none_of_ours_is_not_found(models: Models, predictions_id: str, bad: str) -> None:
    for call in (
        lambda: models.get(ADA, bad), lambda: models.ref(ADA, bad), lambda: models.latest_predictions(ADA, bad),
        lambda: models.page(ADA, bad), lambda: models.predictions_csv(ADA, bad), lambda: models.case(ADA, bad, "1"),
    ):
        with pytest.raises(NotFound):
            call()


def test_models_and_predictions_are_their_owners_alone(models: Models, model_id: str, predictions_id: str) -> None:
    assert models.list(BEN) == () and models.find(BEN, model_id) is None
    for call in (
        lambda: models.get(BEN, model_id), lambda: models.page(BEN, predictions_id),
        lambda: models.predictions_csv(BEN, predictions_id), lambda: models.training_rows(BEN, model_id, ["1"]),
    ):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(Denied):
        models.page(Actor("ada", "Ada", frozenset()), predictions_id)


# -- predictions -----------------------------------------------------------------------------------------------------


def test_the_first_page_is_the_top_of_the_ranking(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    page, total = models.page(ADA, predictions_id, limit=10)
    ranked = frame[frame["segment"] == "ranked"].nlargest(10, "probability")
    assert total == ROWS
    assert page["loan_id"].tolist() == ranked["loan_id"].tolist() and page["rank"].tolist() == list(range(1, 11))
    assert page.columns[0] == "loan_id" and page.columns[-3:].tolist() == ["status", "city", "granted"]


def test_pages_put_together_are_all_rows_once(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    for sort, descending in (("rank", False), ("rank", True), ("city", False), ("status", True), ("granted", True)):
        pages = [
            models.page(ADA, predictions_id, sort=sort, descending=descending, offset=o, limit=90)[0]
            for o in range(0, ROWS, 90)
        ]
        assert sorted(pd.concat(pages)["loan_id"]) == frame["loan_id"].tolist()


def test_deep_pages_go_on_where_the_shallow_ones_end(models: Models, predictions_id: str) -> None:
    asked = [{"sort": "city"}, {"sort": "rank"}, {"sort": "status", "descending": True, "filters": {"city": "Brno"}}]
    whole = [models.page(ADA, predictions_id, limit=ROWS, **each)[0]["loan_id"].tolist() for each in asked]
    for each, expected in zip(asked, whole, strict=True):
        for offset in (99, 100, 250, 990, 1_500):
            page, _ = models.page(ADA, predictions_id, offset=offset, limit=30, **each)
            assert page["loan_id"].tolist() == expected[offset : offset + 30]


def test_equal_values_keep_the_order_of_the_ranking(models: Models, predictions_id: str) -> None:
    page, _ = models.page(ADA, predictions_id, sort="status", limit=ROWS)
    assert page["status"].is_monotonic_increasing
    assert page[page["status"] == "C"]["rank"].tolist() == list(range(1, 901))


def test_sorting_reads_the_column_that_is_asked_for(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    page, _ = models.page(ADA, predictions_id, sort="Probability", descending=True, limit=5)
    assert page["probability"].tolist() == frame["probability"].nlargest(5).tolist()
    last, _ = models.page(ADA, predictions_id, sort="rank", descending=True, limit=1)
    assert last["rank"].tolist() == [900] and last["segment"].tolist() == ["ranked"]


@pytest.mark.parametrize("sort", ["risk", "rank; DROP TABLE predictions", 'rank" DESC --', "_row", "1"])
def test_an_unknown_sort_column_is_told(models: Models, predictions_id: str, sort: str) -> None:
    with pytest.raises(BadInput, match="no column"):
        models.page(ADA, predictions_id, sort=sort)
    with pytest.raises(BadInput, match="no column"):
        models.page(ADA, predictions_id, filters={sort: 1})


def test_a_search_reads_entity_and_display_columns_whatever_case_and_accents(
    models: Models, predictions_id: str, frame: pd.DataFrame
) -> None:
    page, total = models.page(ADA, predictions_id, search="usti", limit=ROWS)
    assert total == len(page) == (frame["city"] == "Ústí").sum() and set(page["city"]) == {"Ústí"}
    page, total = models.page(ADA, predictions_id, search="5123")
    assert total == 1 and page["loan_id"].tolist() == [5123]
    both = models.page(ADA, predictions_id, search="D BRNO")[1]
    assert both == ((frame["city"] == "Brno") & (frame["status"] == "D")).sum()
    assert models.page(ADA, predictions_id, search="ranked")[1] == 0
    assert models.page(ADA, predictions_id, search="' OR 1=1 --")[1] == 0


def test_filters_narrow_by_value(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    assert models.page(ADA, predictions_id, filters={"status": "D"})[1] == 100
    assert models.page(ADA, predictions_id, filters={"segment": "apart", "Status": ["C", "D"]})[1] == 100
    assert models.page(ADA, predictions_id, filters={"loan_id": 5001})[1] == 1
    assert models.page(ADA, predictions_id, filters={"city": None})[1] == 0
    assert models.page(ADA, predictions_id, filters={"prediction": 1})[1] == (frame["probability"] >= 0.5).sum()
    assert models.page(ADA, predictions_id, filters={"loan_id": "x' OR '1'='1"})[1] == 0


def test_a_page_after_the_end_is_empty_and_still_says_the_total(models: Models, predictions_id: str) -> None:
    page, total = models.page(ADA, predictions_id, offset=5_000)
    assert (len(page), total) == (0, ROWS) and "loan_id" in page.columns


def test_one_case_is_found_by_its_id(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    row = models.case(ADA, predictions_id, "5123")
    assert row["loan_id"] == 5123 and row["probability"] == frame["probability"].iloc[123]
    with pytest.raises(NotFound):
        models.case(ADA, predictions_id, "1' OR '1'='1")


def test_the_newest_predictions_of_a_model_are_described(
    models: Models, model_id: str, predictions_id: str, home: Path, frame: pd.DataFrame
) -> None:
    newer = models.save_predictions(ADA, model_id, scored(home, frame.head(20)), None, "snap_b")
    found = models.latest_predictions(ADA, model_id)
    assert found is not None
    assert (found.id, found.rows, found.ranked, found.snapshot_id) == (newer, 20, 18, "snap_b")
    assert found.entity_column == "loan_id" and "probability" in found.columns and "_row" not in found.columns
    assert models.predictions(ADA, predictions_id).rows == ROWS


def test_whole_numbers_stay_whole_when_some_are_missing(models: Models, model_id: str, home: Path) -> None:
    frame = pd.DataFrame({"loan_id": [1, 2], "probability": [0.2, 0.1], "segment": "ranked"})
    frame["payments"] = pd.array([12, None], dtype="Int64")
    page, _ = models.page(ADA, models.save_predictions(ADA, model_id, scored(home, frame), None, "s"))
    assert page["payments"].tolist() == [12, pd.NA]


def test_a_file_that_holds_no_predictions_is_refused(models: Models, model_id: str, home: Path, frame: pd.DataFrame) -> None:
    from lexsi_ds.models.engine import Predictions
    from lexsi_ds.models.frames import write_frame

    write_frame(frame, home / "wrong.arrow")
    with pytest.raises(BadInput, match="lacks rank"):
        models.save_predictions(ADA, model_id, Predictions(path=home / "wrong.arrow", rows=1, ranked=1, top_overlap=1), None, "s")
    assert models.latest_predictions(ADA, model_id) is None
    assert not list((home / "predictions").iterdir())


# -- the download ----------------------------------------------------------------------------------------------------


def _read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def test_the_download_holds_all_rows_in_rank_order(models: Models, predictions_id: str, frame: pd.DataFrame) -> None:
    data = models.predictions_csv(ADA, predictions_id)
    rows = _read(data)
    assert len(rows) == ROWS and not data.startswith(b"\xef\xbb\xbf")
    assert [int(r["rank"]) for r in rows[:900]] == list(range(1, 901))
    by_id = {int(r["loan_id"]): r for r in rows}
    assert set(by_id) == set(frame["loan_id"])
    for _, source in frame.sample(50, random_state=0).iterrows():
        row = by_id[source["loan_id"]]
        assert float(row["probability"]) == pytest.approx(source["probability"], abs=5e-7)
        assert pd.Timestamp(row["granted"]) == source["granted"] and row["city"] == source["city"]


def test_the_download_of_a_filter_holds_just_its_rows(models: Models, predictions_id: str) -> None:
    rows = _read(models.predictions_csv(ADA, predictions_id, search="brno", filters={"status": "D"}))
    total = models.page(ADA, predictions_id, search="brno", filters={"status": "D"})[1]
    assert len(rows) == total > 0 and {r["status"] for r in rows} == {"D"}


def test_no_cell_of_the_download_starts_a_formula(models: Models, model_id: str, home: Path) -> None:
    texts = [
        "=cmd|' /C calc'!A0", "+SUM(A1)", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-5", "+1.5e3", "-.5", "plain, text",
        'quo"ted', "", None, "Ústí", "＝1+1",
    ]
    frame = pd.DataFrame({"loan_id": range(len(texts)), "probability": 0.5, "segment": "ranked", "=note": texts})
    frame["negative"] = -1.5
    frame["tiny"], frame["holes"], frame["one_third"] = 1.23456789e-9, np.nan, 1 / 3
    rows = _read(models.predictions_csv(ADA, models.save_predictions(ADA, model_id, scored(home, frame), None, "s")))
    cells = [r["'=note"] for r in sorted(rows, key=lambda r: int(r["loan_id"]))]
    assert cells == [
        "'=cmd|' /C calc'!A0", "'+SUM(A1)", "'-2+3", "'@SUM(A1)", "'\t=1", "'\r=1", "'\n=1", "-5", "+1.5e3", "-.5",
        "plain, text", 'quo"ted', "", "", "Ústí", "'＝1+1",
    ]
    assert {(r["negative"], r["tiny"], r["holes"], r["one_third"]) for r in rows} == {("-1.5", "1.23457e-09", "", "0.333333")}
    assert not list((home / "tmp").iterdir())
