"""A table is searched for surprises, one is opened with its rows, made a finding, and another deleted for good."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser-documents")]


def test_a_planted_effect_is_found_opened_and_made_a_finding(server: Server, tab: Watched, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"region": rng.choice(["North", "South", "East"], 12_000)})
    frame["plan"] = rng.choice(["basic", "plus", "pro"], 12_000)
    frame["spend"] = (rng.normal(100, 10, 12_000) + 6 * ((frame.region == "East") & (frame.plan == "pro"))).round(2)
    frame.to_csv(tmp_path / "customers.csv", index=False)
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_text("Active: Demo bank")).to_be_visible(timeout=120_000)
    tab.settle()
    box = page.get_by_role("textbox", name="Path of a folder")
    box.fill(str(tmp_path / "customers.csv"))
    box.press("Enter")
    page.get_by_role("button", name="Check how it is read").click()
    page.get_by_role("button", name="Go on to name and load").click(timeout=60_000)
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_text("is loaded and active")).to_be_visible(timeout=90_000)
    tab.settle()
    page.get_by_role("tab", name="Surprises").click()
    page.get_by_role("button", name="Look for surprises").click()
    expect(page.get_by_text("Where region is East and plan is pro")).to_be_visible(timeout=120_000)
    tab.settle()
    page.get_by_text("Figures, rows and SQL").first.click()
    expect(page.get_by_text("showing 200 of")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Make it a finding").first.click()
    expect(page.get_by_role("link", name="In findings").first).to_be_visible()
