"""Computed components as programs meet them: made in a worker, kept with their version, stale when the target moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, Denied, NotFound, Stopped
from lexsi_ds.insights import embedding, layer_worker
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor, rights_of_role
from lexsi_ds.settings import Settings

ROWS = 3_000
MADE = {"ebm_model", "ebm_graphs", "umap_embedding", "semantic_metadata"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("home"), _env_file=None))  # type: ignore[call-arg]
    yield made
    made.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "id": [f"c{i}" for i in range(ROWS)], "tenure": rng.integers(18, 90, ROWS).astype(float),
        "plan": rng.choice(["basic", "plus", "pro"], ROWS), "noise": rng.normal(0, 1, ROWS).round(3),
        "city": rng.choice(["Rome", "Oslo", "Lima", "Bonn"], ROWS),
    })
    odds = 0.08 * (frame.tenure - 54) + 1.5 * (frame.plan == "pro")
    frame["left"] = np.where(rng.random(ROWS) < 1 / (1 + np.exp(-odds)), "yes", "no")
    frame["spend"] = (50 + 10 * (frame.plan == "plus") + rng.normal(0, 2, ROWS)).round(2)
    frame.loc[:29, "noise"] = -999
    found = tmp_path_factory.mktemp("files") / "customers.csv"
    frame.to_csv(found, index=False)
    return found


@pytest.fixture(scope="module")
def dataset(app: Application, path: Path) -> str:
    me = app.person()
    handle = app.catalog.import_source(me, "files", "customers", [path])
    dataset_id = handle.tables[0].dataset_id
    app.datasets.set_target(me, dataset_id, "left")
    app.components.compute(me, dataset_id)
    return dataset_id


def states(app: Application, dataset: str) -> dict[str, str]:
    return {c["name"]: c["status"] for c in app.components.manifest(app.person(), dataset)["manifest"]["components"]}


def test_a_run_lists_every_component_with_its_size_type_and_parameters(app: Application, dataset: str) -> None:
    layer = app.datasets.describe_dataset(app.person(), dataset)["semanticLayer"]
    assert set(layer["availableComponents"]) >= MADE | {"feature_metadata", "column_stats"}
    by_name = {c["name"]: c for c in layer["manifest"]["components"]}
    assert {by_name[n]["status"] for n in MADE} == {"ready"}
    assert [n for n, c in by_name.items() if c["required"]] == ["feature_metadata", "semantic_metadata"]
    for name in MADE:
        body = app.datasets.components.of(app.datasets.table(app.datasets.resolve(app.person(), dataset)[0]), name)
        assert body is not None and by_name[name]["sizeBytes"] > 100 and by_name[name]["contentType"] == "application/json"
    assert by_name["ebm_model"]["parameters"]["interactions"] == 5


def test_the_additive_model_finds_what_was_put_in(app: Application, dataset: str) -> None:
    model = app.semantic_data.get(app.person(), dataset, "ebm_model")
    assert (model["task"], model["target"], model["scale"], model["stale"]) == ("binary", "left", "log-odds", False)
    assert model["positive"] in ("yes", "no") and 0.7 < model["holdout"]["value"] < 0.95 and model["holdout"]["n"] == 600
    assert [f["name"] for f in model["features"] if f["type"] != "interaction"][:2] == ["tenure", "plan"]
    assert "id" not in {c for f in model["features"] for c in f["columns"]}


def test_graphs_are_sliced_by_column_and_their_curves_go_the_right_way(app: Application, dataset: str) -> None:
    me = app.person()
    graphs = app.semantic_data.get(me, dataset, "ebm_graphs", columns=["TENURE"])["graphs"]
    assert all("tenure" in g["columns"] for g in graphs)
    tenure = next(g for g in graphs if g["columns"] == ["tenure"])
    way = 1 if app.semantic_data.get(me, dataset, "ebm_model")["positive"] == "yes" else -1
    assert len(tenure["names"]) == len(tenure["scores"]) + 1 and tenure["names"][0] == 18
    assert way * (tenure["scores"][-1] - tenure["scores"][0]) > 2
    (plan,) = [g for g in app.semantic_data.get(me, dataset, "ebm_graphs", columns=["plan"])["graphs"] if g["columns"] == ["plan"]]
    assert sorted(plan["names"]) == ["basic", "plus", "pro"]
    scores = dict(zip(plan["names"], plan["scores"], strict=True))
    assert way * (scores["pro"] - scores["basic"]) > 0.7
    assert sum(plan["counts"]) == 2_400


def test_rows_are_points_and_the_method_is_said(app: Application, dataset: str) -> None:
    got = app.semantic_data.get(app.person(), dataset, "umap_embedding", limit=7)
    assert got["method"] == ("umap" if embedding.has_umap() else "pca") and bool(got["note"]) == (got["method"] == "pca")
    assert got["count"] == 7 and got["truncated"] and "offset 7" in got["hint"] and got["total"] == ROWS
    assert set(got["points"][0]) == {"x", "y", "target"} and got["points"][0]["target"] in ("yes", "no")
    with pytest.raises(BadInput):
        app.semantic_data.get(app.person(), dataset, "umap_embedding", columns=["tenure"])


def test_a_persons_text_beats_the_generated_one_and_marks_for_missing_are_told(app: Application, dataset: str) -> None:
    me = app.person()
    app.datasets.describe(me, dataset, columns={"plan": "What they pay for"})
    found = {c["name"]: c for c in app.semantic_data.get(me, dataset, "feature_metadata")["columns"]}
    assert (found["plan"]["description"], found["plan"]["descriptionSource"]) == ("What they pay for", "user")
    assert found["tenure"]["descriptionSource"] == "generated" and "from 18" in found["tenure"]["description"]
    assert found["noise"]["artifacts"] == [{"value": -999.0, "count": 30, "kind": "sentinel"}]
    assert found["spend"]["artifacts"] == []


def test_another_target_marks_what_rests_on_it_stale_until_it_is_computed_again(
    app: Application, dataset: str, path: Path
) -> None:
    me = app.person()
    handle = app.catalog.import_source(me, "files", "moved", [path])
    moved = handle.tables[0].dataset_id
    assert states(app, moved) == {"column_stats": states(app, moved)["column_stats"], "feature_metadata": "ready"}
    app.components.compute(me, moved)
    assert states(app, moved)["ebm_model"] == "not_available" and states(app, moved)["umap_embedding"] == "ready"
    assert "ebm_model" not in app.components.manifest(me, moved)["availableComponents"]
    app.datasets.set_target(me, moved, "spend")
    assert states(app, moved)["umap_embedding"] == "stale"
    first = app.datasets.components.manifests(moved)[0]
    app.components.compute(me, moved)
    assert states(app, moved)["ebm_model"] == "ready"
    model = app.semantic_data.get(me, moved, "ebm_model")
    assert model["task"] == "regression" and model["holdout"]["metric"] == "r2" and model["holdout"]["value"] > 0.7
    app.datasets.set_target(me, moved, "city")
    assert states(app, moved)["ebm_graphs"] == "stale" and app.semantic_data.get(me, moved, "ebm_model")["stale"]
    app.components.compute(me, moved)
    assert states(app, moved)["ebm_model"] == "not_available", "several classes are refused"
    assert "ebm_model" in app.components.manifest(me, moved)["availableComponents"], "an earlier run has it"
    assert first in app.datasets.components.manifests(moved), "a manifest never changes"
    later = app.versions.refresh(me, handle.source_id, [path]).handle
    assert later.tables[0].version == 2 and "ebm_model" in app.components.manifest(me, moved)["availableComponents"]
    assert app.semantic_data.get(me, moved, "ebm_model")["version"] == 1
    with pytest.raises(NotFound):
        app.semantic_data.get(me, moved, "ebm_model", version=2)
    app.catalog.delete(me, handle.source_id)
    assert not app.datasets.components.manifests(moved)


def test_what_rests_on_a_column_that_is_masked_now_is_not_given(app: Application, dataset: str) -> None:
    me = app.person()
    app.catalog.mark_column(me, dataset, "city", masked=True)
    try:
        with pytest.raises(NotFound):
            app.semantic_data.get(me, dataset, "ebm_graphs")
        assert not MADE & set(app.components.manifest(me, dataset)["availableComponents"])
        app.components.compute(me, dataset)
        text = str([app.semantic_data.get(me, dataset, name) for name in (*MADE, "feature_metadata")])
        assert "Oslo" not in text and "'tenure'" in text
    finally:
        app.catalog.mark_column(me, dataset, "city", masked=False)


def test_a_required_component_that_fails_ends_the_run_and_leaves_nothing(
    app: Application, dataset: str, tmp_path: Path
) -> None:
    me = app.person()
    table = app.datasets.table(app.datasets.resolve(me, dataset)[0])
    args = {"path": str(table.path), "columns": [{"name": "not there", "type": "DOUBLE", "distinct": 20}], "rows": ROWS,
            "version": 1, "target": None, "threads": 1, "into": str(tmp_path)}
    optional = [{"name": "umap_embedding", "required": False}]
    assert layer_worker.build(args | {"components": optional}, lambda m: None)["components"][0]["status"] == "failed"
    with pytest.raises(Exception, match="not there"):
        layer_worker.build(args | {"components": [{"name": "feature_metadata", "required": True}]}, lambda m: None)
    before, stop = app.datasets.components.manifests(dataset), Cancel()
    stop.set()
    with pytest.raises(Stopped):
        app.components.compute(me, dataset, cancel=stop)
    assert app.datasets.components.manifests(dataset) == before
    assert not list((app.settings.home / "components" / dataset).glob(".*"))


def test_only_who_may_edit_computes(app: Application, dataset: str) -> None:
    me, bob = app.person(), Actor("per_bob", "Bob", rights_of_role("member"))
    source = app.datasets.resolve(me, dataset)[1].id
    with pytest.raises(NotFound):
        app.components.compute(bob, dataset)
    app.sharing.set_visibility(me, source, "showcase")
    with pytest.raises(Denied):
        app.components.compute(bob, dataset)
    assert app.semantic_data.get(bob, dataset, "semantic_metadata")["targetColumn"] == "left"
    with pytest.raises(Denied):
        app.semantic_data.get(bob, dataset, "umap_embedding")
