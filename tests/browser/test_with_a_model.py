"""Turns of a scripted language model in a real browser: words and tool lines while they come, Stop, an answer to what is asked
back, a reload in the middle, and two tabs at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.browser.conftest import Server, Watched, running
from tests.browser.test_live_turn import stop_button
from tests.browser.test_main_job import ask
from tests.llm.server import Say
from tests.llm.server import Server as Endpoint

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser-model")]
ACCOUNTS = ("run_sql", {"sql": "SELECT count(*) AS n FROM account", "label": "accounts"})
LOANS = ("run_sql", {"sql": "SELECT count(*) AS n FROM loan", "label": "loans"})
READ = ("read_document", {"source": "library", "path": "handbook.md"})
FIRST, SECOND = "There are 4,500 accounts.", "No account is left out of this count."
LABELS = """window.labels = []; new MutationObserver(() => { for (const e of document.querySelectorAll('summary'))
  if (window.labels.at(-1) !== e.innerText) window.labels.push(e.innerText); })
  .observe(document, {subtree: true, childList: true, characterData: true});"""


class Model:
    """Plays what the question asks for."""

    def __call__(self, body: dict[str, Any]) -> Say:
        texts = [str(m.get("content") or "") for m in body["messages"]]
        question, looks = texts[1], sum(m["role"] == "tool" for m in body["messages"])
        if "which" in question:
            return self._asking_back(texts, looks)
        if "fee" in question and not looks:
            return Say(calls=(READ,))
        if "fee" in question:
            return Say("The late fee is 45 CZK, says the handbook.", pause=0.15)
        if not looks:
            return Say(calls=(LOANS if "loans" in question else ACCOUNTS,))
        if "held" in question:
            return Say(f"{FIRST} {SECOND} " + "And so on. " * 400, piece=12, pause=0.1)
        if "loans" in question:
            return Say("There are 682 loans. That is all.", piece=3, pause=0.05)
        return Say(f"{FIRST} {SECOND}", piece=3, pause=0.1)

    def _asking_back(self, texts: list[str], looks: int) -> Say:
        if not any("The user answered: " in t for t in texts):
            return Say(calls=(("ask_user", {"question": "Which ones do you mean?", "options": ["All accounts", "All loans"]}),))
        chosen = LOANS if any("The user answered: All loans" in t for t in texts) else ACCOUNTS
        return Say(calls=(chosen,)) if not looks else Say("There are 682 loans." if chosen is LOANS else FIRST)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """The scripted model, over real HTTP."""
    with Endpoint([Model()]) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint) -> Iterator[Server]:
    """A server whose planner is the scripted model, with a handbook in its library."""
    folder = tmp_path_factory.mktemp("model")
    app = Application(Settings(home=folder / "home"))
    app.catalog.ensure_demo(app.person())
    (folder / "handbook.md").write_text("# Handbook\n\nThe late fee is 45 CZK.\n")
    app.documents.add(app.person(), folder / "handbook.md", "handbook.md")
    app.close()
    named = {"LEXSI_DS_LLM_BASE_URL": endpoint.url, "LEXSI_DS_LLM_MODEL": "scripted", "LEXSI_DS_LLM_TOOLS": "native"}
    with running(folder, env=named) as made:
        yield made


def begin(server: Server, page: Page, question: str) -> None:
    page.goto(f"{server.url}/Chat")
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible(timeout=60_000)
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def words(page: Page, text: str):
    """A paragraph of an answer."""
    return page.get_by_test_id("stChatMessage").get_by_text(text).last


def test_words_are_shown_while_they_come_and_a_reload_goes_on(server: Server, tab: Watched, endpoint: Endpoint) -> None:
    page = tab.page
    begin(server, page, "How many accounts, held?")
    expect(words(page, FIRST)).to_be_visible()
    expect(stop_button(page)).to_be_visible()
    page.reload()
    expect(words(page, FIRST)).to_be_visible()
    expect(page.get_by_text(re.compile(r"^run_sql.*accounts")).first).to_be_visible()
    endpoint.hung_up.clear()
    stop_button(page).click()
    expect(page.get_by_text("You stopped this run. The words above are not the whole answer.")).to_be_visible()
    assert endpoint.hung_up.wait(10), "Stop ends the reply too"
    ask(tab, "How many accounts?")
    expect(words(page, f"{FIRST} {SECOND}")).to_be_visible()
    expect(page.get_by_role("button", name="Pin")).to_be_visible()
    tab.settle()


def test_the_tool_at_work_is_named_beside_thinking_and_its_line_comes_back(server: Server, tab: Watched) -> None:
    page = tab.page
    page.add_init_script(LABELS)
    begin(server, page, "What is the late fee?")
    for again in (False, True):
        expect(words(page, "The late fee is 45 CZK")).to_be_visible()
        tab.settle()
        if not again:
            seen = page.evaluate("window.labels.join('|')")
            assert "Calling read_document…" in seen and "Thinking…" in seen, seen
        page.get_by_text(re.compile("^1 step")).last.click()
        expect(page.get_by_text(re.compile("read_document.*library/handbook.md")).last).to_be_visible()
        expect(page.get_by_text("library/handbook.md").first).to_be_visible()
        page.reload()


def test_an_answer_to_what_was_asked_back_resumes_the_question(server: Server, tab: Watched, endpoint: Endpoint) -> None:
    page = tab.page
    begin(server, page, "How many are there, and which?")
    expect(words(page, "Which ones do you mean?")).to_be_visible()
    option = page.get_by_role("radio", name="All loans")
    option.click()
    expect(words(page, "There are 682 loans.")).to_be_visible()
    tab.settle()
    sent = json.dumps(endpoint.requests[-1]["messages"])
    assert "How many are there, and which?" in sent and "The user answered: All loans" in sent
    expect(page.get_by_role("radio", name="All accounts")).to_be_disabled()


def test_two_tabs_at_once_keep_their_turns_apart(server: Server, tab: Watched) -> None:
    page = tab.page
    second = page.context.new_page()
    begin(server, page, "How many accounts?")
    begin(server, second, "How many loans?")
    expect(words(page, SECOND)).to_be_visible()
    expect(words(second, "There are 682 loans. That is all.")).to_be_visible()
    assert page.get_by_text("682").count() == 0 and second.get_by_text("4,500 accounts").count() == 0
    assert page.url != second.url
