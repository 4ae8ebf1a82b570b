"""A handbook is added, a question answered through it with its tool line, and the same screen comes back after a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser-documents")]
HANDBOOK = b"# Handbook\n\nPremium loans are loans above 300000.\n\n![x](http://evil.example/p.png)\n"


def test_a_document_is_added_read_by_an_answer_and_named_after_a_reload(server: Server, tab: Watched) -> None:
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_text("Active: Demo bank")).to_be_visible(timeout=120_000)
    page.get_by_role("tab", name="Documents").click()
    expect(page.get_by_text("Add documents")).to_be_visible()
    tab.settle()
    files = [
        {"name": "handbook.md", "mimeType": "text/markdown", "buffer": HANDBOOK},
        {"name": "broken.docx", "mimeType": "application/octet-stream", "buffer": b"PK broken"},
    ]
    page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(files)  # pyright: ignore[reportArgumentType]
    add = page.get_by_role("button", name="Add to the library")
    expect(add).to_be_enabled()
    add.click()
    expect(page.get_by_text("broken.docx was not added.")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("1 document. Select one to read it.")).to_be_visible()
    tab.go("Chat")
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_visible()
    tab.settle()
    box.fill("How many premium loans are there?")
    box.press("Enter")
    for _ in range(2):
        expect(page.get_by_role("button", name="Pin")).to_be_visible(timeout=60_000)
        expect(page.get_by_role("paragraph").filter(has_text="Number of loans: 80.").first).to_be_visible()
        expect(page.get_by_text("library/handbook.md").first).to_be_visible()
        tab.settle()
        page.get_by_text(re.compile(r"^4 steps")).click()
        expect(page.get_by_text(re.compile("read_document")).first).to_be_visible()
        page.reload()


def test_a_result_is_pinned_run_again_on_home_and_its_sql_edited_into_a_turn(server: Server, tab: Watched) -> None:
    page = tab.page
    page.goto(f"{server.url}/Chat")
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_visible(timeout=120_000)
    tab.settle()
    box.fill("Number of loans by status")
    box.press("Enter")
    pin = page.get_by_role("button", name="Pin")
    expect(pin).to_be_visible(timeout=60_000)
    tab.settle()
    pin.click()
    page.get_by_role("button", name="Pin to Home").click()
    expect(page.get_by_text("Pinned to the board on Home.")).to_be_visible()
    expect(page.get_by_role("button", name="Pin to Home")).to_be_hidden()
    tab.settle()
    page.get_by_role("button", name="Edit and run").click()
    sql = page.locator("#sql")
    expect(sql).to_be_visible()
    sql.fill("SELECT status, AVG(amount) AS average_amount FROM loan GROUP BY 1 ORDER BY 1")
    sql.press("Control+Enter")
    for _ in range(2):
        expect(page.get_by_role("button", name="Pin")).to_have_count(2, timeout=60_000)
        tab.settle()
        expect(page.get_by_text("Your own SQL, run as it stands.").last).to_be_visible()
        page.reload()
    expect(page.get_by_role("button", name="Pin")).to_have_count(2, timeout=60_000)
    tab.settle()
    tab.go("Home")
    expect(page.get_by_role("heading", name="Board")).to_be_visible()
    expect(page.get_by_text(re.compile("4 rows, data version 1"))).to_be_visible()
    tab.settle()
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text(re.compile("4 rows, data version 1"))).to_be_visible()
    tab.settle()
