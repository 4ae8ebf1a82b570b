"""Model results in a real browser: a decision by costs is looked at, saved, and still there after a reload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lexsi_ds.application import Application
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings
from tests.app.test_model_results import write_clients
from tests.browser.conftest import Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose home has one source and one model of it."""
    folder: Path = tmp_path_factory.mktemp("browser-models")
    app = Application(Settings(home=folder / "home", sql_workers=1))
    actor = app.person()
    handle = app.catalog.import_source(actor, "files", "Clients", [write_clients(folder / "clients.csv")])
    app.training.train(actor, handle, TrainRequest(target="churn", model_type="Logistic", exclude=("spent",)))
    app.close()
    running = Server(folder / "home", log=folder / "server.log")
    running.start()
    try:
        yield running
    finally:
        running.stop()
    assert not running.troubles(), running.log.read_text()[-4000:]


def test_a_threshold_by_cost_is_saved_and_survives_a_reload(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.url}/Model_results")
    expect(page.get_by_role("heading", name="Prediction of churn")).to_be_visible()
    page.get_by_role("tab", name="Decision").click()
    expect(page.get_by_text("Who would be flagged")).to_be_visible()
    miss = page.get_by_role("spinbutton", name="A miss costs")
    miss.fill("20")
    miss.press("Enter")
    save = page.get_by_role("button", name=re.compile("Save 0\\."))
    expect(page.get_by_text("The cheapest threshold is", exact=False)).to_be_visible()
    tab.settle()
    save.click()
    expect(page.get_by_text("by cost (a false alarm 1, a miss 20)", exact=False)).to_be_visible()
    tab.settle()
    page.reload()
    page.get_by_role("tab", name="Decision").click()
    expect(page.get_by_text("by cost (a false alarm 1, a miss 20)", exact=False)).to_be_visible()
    tab.settle()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
