"""A question back in a real browser: a click answers it and teaches the word, which is used, shown and taken back; and a
question that is not understood is finished by point and click."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.browser.conftest import Server, Watched, running
from tests.browser.test_main_job import ask

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
QUESTION = "average exposure by status"
MEANT = "average loan amount by status"
UNKNOWN = "“exposure” is not known here"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what is taught here must not be known elsewhere."""
    folder = tmp_path_factory.mktemp("asking")
    app = Application(Settings(home=folder / "home"))
    app.catalog.ensure_demo(app.person())
    app.close()
    with running(folder) as made:
        yield made


def begin(server: Server, tab: Watched, question: str) -> None:
    tab.page.goto(f"{server.url}/Chat")
    expect(tab.page.get_by_role("heading", name="New conversation")).to_be_visible(timeout=60_000)
    ask(tab, question)


def test_a_click_teaches_the_word_and_undo_takes_it_back(server: Server, tab: Watched) -> None:
    page = tab.page
    begin(server, tab, QUESTION)
    expect(page.get_by_text(UNKNOWN).first).to_be_visible()
    page.get_by_role("button", name=MEANT).or_(page.get_by_role("radio", name=MEANT)).first.click()
    expect(page.get_by_text("Remembered: exposure means").first).to_be_visible()
    tab.settle()
    begin(server, tab, QUESTION)
    reading = page.get_by_text("exposure").last
    expect(reading).to_be_visible()
    tab.settle()
    assert page.get_by_text(UNKNOWN).count() == 0, "the taught word is used in a new conversation"
    tab.go("Connect data")
    tab.settle()


def test_what_is_undone_is_asked_again(server: Server, tab: Watched) -> None:
    page = tab.page
    begin(server, tab, "average outlay by status")
    page.get_by_role("button", name=MEANT).or_(page.get_by_role("radio", name=MEANT)).first.click()
    undo = page.get_by_role("button", name="Undo").first
    expect(undo).to_be_visible()
    tab.settle()
    undo.click()
    expect(page.get_by_text("Forgotten: outlay.").first).to_be_visible()
    begin(server, tab, "average outlay by status")
    expect(page.get_by_text("“outlay” is not known here").first).to_be_visible()


def test_a_chip_asks_once_and_stays_marked(server: Server, tab: Watched) -> None:
    page = tab.page
    begin(server, tab, "average spending by status")
    page.get_by_role("radio", name=MEANT).click()
    expect(page.get_by_text("Average loan amount by loan status").first).to_be_visible()
    tab.settle()
    page.wait_for_timeout(3_000)  # long enough for a second question to have been asked
    page.reload()
    expect(page.get_by_text("Average loan amount by loan status").first).to_be_visible()
    tab.settle()
    asked = page.get_by_role("group", name="Chat message from user").filter(has_text=MEANT)
    assert asked.count() == 1, asked.all_inner_texts()
