"""Surprises as people meet them: searched in a worker, kept, worded anew, deleted for good, made a finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, Conflict, NotFound
from lexsi_ds.settings import Settings


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    home = tmp_path_factory.mktemp("home")
    made = Application(Settings(home=home, _env_file=None))  # type: ignore[call-arg]
    yield made
    made.close()


@pytest.fixture(scope="module")
def dataset(app: Application, tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"region": rng.choice(["North", "South", "East"], 12_000),
                          "plan": rng.choice(["basic", "plus", "pro"], 12_000), "visits": rng.poisson(4, 12_000)})
    frame["spend"] = (rng.normal(100, 10, 12_000) + 6 * ((frame.region == "East") & (frame.plan == "pro"))).round(2)
    path = tmp_path_factory.mktemp("files") / "sales.csv"
    frame.to_csv(path, index=False)
    handle = app.catalog.import_source(app.person(), "files", "sales", [path])
    app.datasets.set_target(app.person(), handle.tables[0].dataset_id, "spend")
    return handle.tables[0].dataset_id


def test_nothing_is_said_before_anybody_searched(app: Application, dataset: str) -> None:
    assert app.surprises.get(app.person(), dataset) == {
        "datasetId": dataset, "status": "none", "surprises": [], "count": 0,
    }


def test_a_search_keeps_what_it_found_and_a_finding_of_it_holds(app: Application, dataset: str) -> None:
    me = app.person()
    found = app.surprises.search(me, dataset)
    assert found == app.surprises.get(me, dataset)
    (only,) = found["surprises"]
    assert {(g["column"], g["level"]) for g in only["groups"]} == {("region", "East"), ("plan", "pro")}
    assert only["interval"][0] < 6 < only["interval"][1]
    assert found["stale"] is False and found["targetColumn"] == "spend" and found["testsRun"] > 10
    described = app.datasets.describe_dataset(me, dataset)["semanticLayer"]
    assert "surprises" in described["availableComponents"]
    assert "surprises" in [c["name"] for c in described["manifest"]["components"]]
    finding = app.surprises.accept(me, only["id"])
    assert (finding.review, finding.verdict, finding.origin) == ("pending", "holds", f"surprise:{only['id']}")
    assert set(finding.columns) == {"region", "plan", "spend"}
    source = app.datasets.resolve(me, dataset)[1].id
    assert finding.id in {f.id for f in app.findings.list(me, source_id=source)}, "the page of the source in use lists it"
    assert app.surprises.accept(me, only["id"]).id == finding.id
    assert app.surprises.get(me, dataset)["surprises"][0]["findingId"] == finding.id


def test_words_pins_and_stale_pages(app: Application, dataset: str) -> None:
    me = app.person()
    (only,) = app.surprises.search(me, dataset)["surprises"]
    edited = app.surprises.edit(me, only["id"], only["version"], " Pro customers in the East\x07 spend more. ")
    assert edited["sentence"] == "Pro customers in the East spend more." and edited["edited"]
    with pytest.raises(Conflict):
        app.surprises.pin(me, only["id"], only["version"], pinned=True)
    assert app.surprises.pin(me, only["id"], edited["version"], pinned=True)["pinned"]
    with pytest.raises(BadInput):
        app.surprises.edit(me, only["id"], edited["version"] + 1, "x" * 501)
    (later,) = app.surprises.search(me, dataset)["surprises"]
    assert later["id"] != only["id"] and later["pinned"] and later["sentence"] == edited["sentence"]
    assert later["findingId"] == only["findingId"] is not None, "no second finding of the same surprise"
    with pytest.raises(NotFound):
        app.surprises.edit(me, "srp_' OR 1=1", 1, "x")


def test_what_is_deleted_stays_away_in_later_searches_until_it_is_taken_back(app: Application, dataset: str) -> None:
    me = app.person()
    (only,) = app.surprises.search(me, dataset)["surprises"]
    app.surprises.delete(me, only["id"])
    assert app.surprises.get(me, dataset)["count"] == 0
    assert app.surprises.search(me, dataset)["count"] == 0
    app.surprises.restore(me, only["id"])
    assert app.surprises.get(me, dataset)["count"] == 1


def test_a_masked_column_is_neither_searched_nor_shown(app: Application, dataset: str) -> None:
    me = app.person()
    assert app.surprises.search(me, dataset)["count"] == 1
    app.catalog.mark_column(me, dataset, "region", masked=True)
    try:
        assert app.surprises.get(me, dataset)["count"] == 0
        again = app.surprises.search(me, dataset)
        assert again["count"] == 0 and "region is left out: it is masked." in again["notes"]
    finally:
        app.catalog.mark_column(me, dataset, "region", masked=False)


def test_another_target_makes_them_stale_and_one_that_cannot_be_measured_is_refused(app: Application, dataset: str) -> None:
    me = app.person()
    app.surprises.search(me, dataset)
    app.datasets.set_target(me, dataset, "plan")
    try:
        assert app.surprises.get(me, dataset)["stale"]
        with pytest.raises(BadInput, match="neither a number nor a choice of two"):
            app.surprises.search(me, dataset)
    finally:
        app.datasets.set_target(me, dataset, "spend")


def test_rows_that_belong_together_are_warned_of(app: Application, tmp_path: Path) -> None:
    me = app.person()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"household_id": np.repeat(range(500), 8), "region": rng.choice(["N", "S"], 4_000),
                          "kind": rng.choice(["a", "b"], 4_000), "spend": rng.normal(100, 10, 4_000).round(2)})
    frame.to_csv(tmp_path / "homes.csv", index=False)
    handle = app.catalog.import_source(me, "files", "homes", [tmp_path / "homes.csv"])
    table = handle.tables[0]
    app.catalog.mark_column(me, table.dataset_id, "household_id", identifier=True)
    assert "Each household_id has several rows." in " ".join(app.surprises.search(me, table.dataset_id)["notes"])


def test_a_component_is_sliced_by_columns_and_says_what_is_left(
    app: Application, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = app.person()
    app.surprises.search(me, dataset)
    whole = app.semantic_data.get(me, dataset, "column_stats")
    assert [c["name"] for c in whole["columns"]] == ["region", "plan", "visits", "spend"] and not whole["truncated"]
    one = app.semantic_data.get(me, dataset, "column_stats", columns=["SPEND"])
    assert [c["name"] for c in one["columns"]] == ["spend"] and one["total"] == 1
    assert app.semantic_data.get(me, dataset, "surprises", columns=["plan"], kinds=["unexpected_effect"])["count"] == 1
    assert app.semantic_data.get(me, dataset, "surprises", kinds=["trend_shift"])["count"] == 0
    page = app.semantic_data.get(me, dataset, "feature_metadata", offset=1, limit=2)
    assert [c["name"] for c in page["columns"]] == ["plan", "visits"] and page["truncated"] and "offset 3" in page["hint"]
    monkeypatch.setattr("lexsi_ds.services.semantic_data.MOST_BYTES", 1_450)
    cut = app.semantic_data.get(me, dataset, "feature_metadata")
    assert 0 < cut["count"] < 4 and cut["truncated"] and f"offset {cut['count']}" in cut["hint"]


def test_components_that_are_not_there_and_parameters_that_do_not_fit_are_refused(app: Application, dataset: str) -> None:
    me = app.person()
    with pytest.raises(NotFound, match="no such component"):
        app.semantic_data.get(me, dataset, "umap_embedding")
    with pytest.raises(NotFound, match="no such column"):
        app.semantic_data.get(me, dataset, "column_stats", columns=["nope"])
    with pytest.raises(BadInput):
        app.semantic_data.get(me, dataset, "column_stats", kinds=["trend_shift"])
