"""Model results and the explorer in a real browser: a decision by costs is saved and still there after a reload; a click in a
chart opens its case, a drag chooses a cohort, a value is moved, the scale is switched.
"""

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
from tests.browser.conftest import Server, Watched, running

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
    with running(folder) as made:
        yield made


def test_a_threshold_by_cost_is_saved_and_survives_a_reload(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.url}/Model_results")
    expect(page.get_by_role("heading", name="Prediction of churn")).to_be_visible()
    page.get_by_role("tab", name="Decision").click()
    expect(page.get_by_text("Who would be flagged")).to_be_visible()
    miss = page.get_by_role("spinbutton", name="A miss costs")
    miss.fill("20")
    miss.press("Enter")
    expect(page.get_by_text("1 miss = 20")).to_be_visible()  # the costs have arrived; before, Save is still that of the old ones
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


POINT = """i => {
  const plot = document.querySelector('.js-plotly-plot'), full = plot._fullLayout, box = plot.getBoundingClientRect();
  const trace = plot._fullData[1], x = full.xaxis, y = full.yaxis;
  return {x: box.x + x._offset + x.d2p(trace.x[i]), y: box.y + y._offset + y.d2p(trace.y[i])}; }"""
"""Where the point of row i stands on the screen, in the second feature of the beeswarm."""


def test_a_click_opens_a_case_and_a_drag_chooses_a_cohort(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.url}/XAI_explorer")
    expect(page.get_by_text("What moves the model", exact=False).first).to_be_visible()
    expect(page.locator(".js-plotly-plot").nth(1)).to_be_visible()
    tab.settle()
    at = page.evaluate(POINT, 7)
    page.mouse.move(at["x"], at["y"])
    page.mouse.click(at["x"], at["y"])
    page.wait_for_url(re.compile("case="))
    opened = page.url.split("case=")[1].split("&")[0]
    expect(page.get_by_text(re.compile(rf"Why \w+ {opened}\b")).first).to_be_visible()
    tab.settle()

    page.get_by_text("Drag chooses a cohort").click()
    tab.settle()
    at = page.evaluate(POINT, 7)
    page.mouse.move(at["x"] - 25, at["y"] - 25)
    page.mouse.down()
    page.mouse.move(at["x"], at["y"], steps=4)
    page.mouse.move(at["x"] + 25, at["y"] + 25, steps=4)
    page.mouse.up()
    expect(page.get_by_text(re.compile(r"chosen in Beeswarm"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"Cohort: \d+ of ")).first).to_be_visible()
    tab.settle()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text(re.compile("Cohort: all ")).first).to_be_visible()

    expect(page.get_by_text("Move a value to see the prediction move.")).to_be_visible()
    slider = page.get_by_test_id("stSlider").get_by_role("slider").first
    slider.focus()
    slider.press("End")
    expect(page.get_by_role("button", name="Reset", exact=False).first).to_be_enabled()
    expect(page.get_by_text("Move a value to see the prediction move.")).to_have_count(0)
    tab.settle()

    axis = page.locator(".js-plotly-plot text").filter(has_text=re.compile("^Log-odds of churn"))
    expect(axis).to_have_count(0)
    page.get_by_text("Log-odds", exact=True).click()
    expect(axis).to_have_count(2)
    tab.settle()
