"""The tab with the computed components, on the real application: taught, computed, drawn, stale."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from components import session
from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words
from tests.app.test_catalog_page import tab

pytestmark = pytest.mark.xdist_group("pages")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"size": rng.normal(0, 1, 1_200).round(3), "kind": rng.choice(["<b>a</b>", "b"], 1_200)})
    frame["price"] = (10 * frame["size"] + 5 * (frame["kind"] == "b") + rng.normal(0, 1, 1_200)).round(2)
    frame.to_csv(tmp_path / "flats.csv", index=False)
    running = Application(Settings(home=tmp_path / "home", sql_workers=1, _env_file=None))  # type: ignore[call-arg]
    handle = running.catalog.import_source(LOCAL, "files", "Flats", [tmp_path / "flats.csv"])
    running.set_active_source(LOCAL, handle.source_id)
    yield running
    running.close()


def test_components_are_taught_computed_drawn_and_marked_stale(app: Application, open_page) -> None:
    at = tab(app, open_page, "Components")
    assert "What shapes the target" in words(at)
    handle = app.active_handle(LOCAL)
    assert handle is not None
    dataset = handle.tables[0].dataset_id
    app.datasets.set_target(LOCAL, dataset, "price")
    at.button(key=session.wkey("components-start", dataset)).click().run(timeout=60)
    task = next(t for t in app.background._tasks.values() if t.kind == "components")
    while task.state == "running":
        time.sleep(0.05)
    assert task.state == "done", task.error
    at = tab(app, open_page, "Components")
    (listed,) = [d.value for d in at.dataframe if "Component" in d.value.columns]
    assert dict(zip(listed["Component"], listed["Status"], strict=True))["ebm_graphs"] == "ready"
    key = session.wkey("components", dataset, "part")
    at.session_state[key] = "Additive model"
    settled(at.run(timeout=60))
    assert not at.exception and "R²" in words(at) and "no cause" in words(at)
    app.datasets.set_target(LOCAL, dataset, "kind")
    at.session_state[key] = "Map of rows"
    settled(at.run(timeout=60))
    assert not at.exception and "target was changed since" in words(at) and "near each other" in words(at)
