"""Bringing an untidy file in as a person does it: upload, see how it was read, change it, load, query, ask."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
UNTIDY = "Sales of the shop\nprinted 2026-01-31\n\ncode;day;amount;temp\n" + "".join(
    f"{i:05d};{1 + i % 28:02d}.03.2025;{i},{i % 10};{-200 if i % 9 == 0 else 20 + i % 5}\n" for i in range(200)
)


def test_an_untidy_upload_is_checked_changed_loaded_and_asked(server: Server, tab: Watched) -> None:
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_role("button", name="Check how they are read")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("1,079,680 rows").first).to_be_visible(timeout=120_000)
    tab.settle()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": "sales.csv", "mimeType": "text/csv", "buffer": UNTIDY.encode("cp1252")}
    )
    page.get_by_role("button", name="Check how they are read").click()
    expect(page.get_by_text(re.compile("semicolon.*decimal comma.*header on line 4")).first).to_be_visible(timeout=60_000)
    tab.settle()
    codes = page.get_by_role("combobox", name="Codes for missing")
    codes.fill("-200")
    codes.press("Enter")
    expect(page.get_by_text(re.compile("-200 missing")).first).to_be_visible(timeout=60_000)
    tab.settle()
    page.get_by_role("button", name="Go on to name and load").click()
    page.get_by_label("Name of the source").first.fill("Shop")
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_text(re.compile("Shop is loaded and active"))).to_be_visible(timeout=60_000)
    tab.settle()
    page.get_by_role("tab", name="SQL").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    tab.settle()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("100 rows", exact=False).first).to_be_visible(timeout=60_000)
    tab.settle()
    page.locator('[class*="st-key-desk-"][class*="-download"] button').first.click()
    with page.expect_download() as download:
        page.locator('[class*="st-key-desk-"][class*="-csv"] button').click()
    with download.value.path().open(encoding="utf-8") as file:
        assert len(file.readlines()) == 101
    page.keyboard.press("Escape")
    tab.go("Chat")
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill("Average temp")
    box.press("Enter")
    expect(page.get_by_test_id("stChatMessage").nth(1)).to_be_visible(timeout=60_000)
    expect(page.get_by_text(re.compile(r"\b22\b|\b2[12]\.\d")).first).to_be_visible(timeout=60_000)
    tab.settle()
