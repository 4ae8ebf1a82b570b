"""The SQL editor as a person types in it: names offered at the cursor, by keyboard and mouse, spoken, in both themes and narrow."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import REPO, Server, Watched

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SCRIPT = (REPO / "components" / "assets" / "sql_box.js").read_text()
WORDS = {
    "tables": [
        {"name": "orders", "sql": "orders", "columns": [
            {"name": "order_id", "sql": "order_id", "type": "bigint"}, {"name": "Ship Date", "sql": '"Ship Date"', "type": "date"},
            {"name": "amount", "sql": "amount", "type": "double"}]},
        {"name": "t_01_x", "sql": "t_01_x", "columns": [{"name": "amort", "sql": "amort", "type": "double"}]},
        {"name": "order", "sql": '"order"', "columns": [{"name": "k", "sql": "k", "type": "varchar"}]},
    ],
    "keywords": ["SELECT", "FROM", "WHERE", "ORDER BY", "AND"],
}  # fmt: skip


@pytest.fixture(scope="module")
def script(browser: Browser) -> Any:
    """``script(text, asked)``: what is offered at the ``|`` of the text."""
    page = browser.new_page()
    address = "data:text/javascript;base64," + base64.b64encode(SCRIPT.encode()).decode()

    def offered(text: str, asked: bool = False) -> list[str] | None:
        cursor = text.index("|")
        found = page.evaluate(
            "async ([address, text, at, words, asked]) => (await import(address)).offersAt(text, at, words, asked)",
            [address, text.replace("|", ""), cursor, WORDS, asked],
        )
        return None if found is None else [o["text"] for o in found["offers"]]

    yield offered
    page.close()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SELECT am| FROM orders", ["amount", "amort"]),
        ("SELECT am| FROM t_01_x", ["amort", "amount"]),
        ("SELECT * FROM o|", ["orders", '"order"']),
        ("SELECT * FROM orders o WHERE o.|", ["order_id", '"Ship Date"', "amount"]),
        ("SELECT * FROM orders AS z JOIN t_01_x USING (k) WHERE z.sh|", ['"Ship Date"']),
        ('SELECT "Sh| FROM orders', ['"Ship Date"']),
        ("SELECT date| FROM orders", ['"Ship Date"']),
        ("SELECT * fr|", ["from"]),
        ("SELECT * FR|", ["FROM"]),
        ("SELECT * FROM |", ["orders", "t_01_x", '"order"']),
        ('SELECT * FROM "order" x WHERE x.|', ["k"]),
        ("SELECT order_id, amount FROM orders\nWHERE a|", ["amount"]),
        ("SELECT 1 FROM orders o, t_01_x AS t WHERE t.|", ["amort"]),
        ("SELECT a| FROM (SELECT * FROM t_01_x) JOIN orders ON true", ["amort", "amount"]),
    ],
)
def test_the_nearest_names_come_first(script: Any, text: str, first: list[str]) -> None:
    assert (script(text) or [])[: len(first)] == first


@pytest.mark.parametrize(
    "text", ["SELECT 'am|'", "SELECT 1 -- am|", "SELECT /* am| */ 1", "SELECT |", "SELECT 12|", "SELECT nope.|"]
)
def test_nothing_is_offered_inside_texts_and_comments_or_for_nothing(script: Any, text: str) -> None:
    assert not script(text)


def test_asking_offers_everything(script: Any) -> None:
    assert (script("SELECT | FROM orders", True) or [])[0] == "order_id"


def open_editor(server: Server, page: Page) -> Any:
    """The editor of the demo bank; its text area."""
    page.goto(f"{server.url}/Connect_data")
    expect(page.get_by_text("1,079,680 rows").first).to_be_visible(timeout=120_000)
    page.get_by_role("tab", name="SQL").click()
    area = page.get_by_label("One SELECT on the tables of this source")
    expect(area).to_be_visible()
    return area


def test_a_query_is_typed_with_offered_names_and_run_by_keyboard(server: Server, tab: Watched) -> None:
    page = tab.page
    area = open_editor(server, page)
    tab.settle()
    area.press("Control+A")
    area.press_sequentially("select du")
    offers = page.get_by_role("listbox", name="Names and words that go on from here")
    expect(offers.get_by_role("option", name="duration")).to_have_attribute("aria-selected", "true")
    assert area.get_attribute("aria-activedescendant") == "offer-0"
    expect(page.get_by_role("status").filter(has_text="duration")).to_be_attached()
    area.press("Tab")
    expect(area).to_have_value("select duration")
    expect(offers).to_be_hidden()
    area.press_sequentially(" from loa")
    area.press("Enter")
    expect(area).to_have_value("select duration from loan")
    area.press_sequentially(" l where l.amo")
    area.press("ArrowDown")
    area.press("Escape")
    expect(offers).to_be_hidden()
    area.press("Control+Space")
    area.press("Enter")
    expect(area).to_have_value("select duration from loan l where l.amount")
    area.press("Control+Z")
    expect(area).to_have_value("select duration from loan l where l.amo")
    area.press_sequentially("unt > 400000")
    area.press("Control+Enter")
    expect(page.get_by_text("Result", exact=False).first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("rows,").first).to_be_visible(timeout=60_000)
    tab.settle()
    expect(area).to_have_value("select duration from loan l where l.amount > 400000")
    tab.go("Chat")
    tab.go("Connect data")
    page.get_by_role("tab", name="SQL").click()
    expect(area).to_have_value("select duration from loan l where l.amount > 400000")


def test_a_click_on_a_name_writes_it_at_the_cursor(server: Server, tab: Watched) -> None:
    page = tab.page
    area = open_editor(server, page)
    tab.settle()
    area.fill("SELECT  FROM account LIMIT 5")
    area.evaluate("a => a.setSelectionRange(7, 7)")
    names = page.get_by_role("group", name="Tables and columns of this source")
    names.locator("summary", has_text="account").first.wait_for()
    names.get_by_role("button", name="account_id").first.click()
    expect(area).to_have_value("SELECT account_id FROM account LIMIT 5")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("5 rows").first).to_be_visible(timeout=60_000)
    tab.settle()


def test_what_is_refused_is_said_and_the_text_stays(server: Server, tab: Watched) -> None:
    area = open_editor(server, tab.page)
    tab.settle()
    area.fill("DROP TABLE account")
    area.press("Control+Enter")
    expect(tab.page.get_by_text("It did not run.")).to_be_visible(timeout=60_000)
    tab.settle()
    expect(area).to_have_value("DROP TABLE account")


def test_tab_leaves_the_editor_when_no_list_is_open(server: Server, tab: Watched) -> None:
    area = open_editor(server, tab.page)
    tab.settle()
    area.focus()
    area.press("Tab")
    expect(tab.page.get_by_role("button", name="Run", exact=True)).to_be_focused()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 480)])
def test_the_list_is_readable_and_stays_in_the_window(
    browser: Browser, server: Server, tmp_path: Path, scheme: Any, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    area = open_editor(server, page)
    area.fill("")
    area.press_sequentially("SELECT a")
    offers = page.get_by_role("listbox", name="Names and words that go on from here")
    expect(offers).to_be_visible()
    box = offers.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= 900
    ink, ground = offers.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    assert contrast(ink, ground) > 7
    chosen = offers.get_by_role("option").first.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    assert contrast(*chosen) > 4.4
    page.close()


def contrast(one: str, other: str) -> float:
    """Of two ``rgb(…)`` colours, as WCAG counts it."""

    def light(text: str) -> float:
        parts = [float(p) / 255 for p in text[text.index("(") + 1 : -1].split(",")[:3]]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
