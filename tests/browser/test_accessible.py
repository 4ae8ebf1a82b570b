"""Every page, light and dark, behind the app's security headers: axe finds nothing serious, the browser refuses nothing of the
policy, charts are drawn and speak, and the keyboard alone reaches what a page is for.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from lexsi_ds.application import Application
from lexsi_ds.services.model_training import TrainRequest
from lexsi_ds.settings import Settings
from tests.app.test_model_results import write_clients
from tests.browser.conftest import IDLE, REPO, Server, running

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
AXE = REPO / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
HARD = ("serious", "critical")
FRAMEWORK: dict[str, str] = {}
"""Rules that the framework itself breaks, each with why nothing here can mend it. None is known."""
PAGES = {
    "": ["Findings"],
    "Connect_data": ["Files"],
    "Chat": ["Ask"],
    "Model_results": ["Performance"],
    "XAI_explorer": ["Case"],
    "Findings_review": ["Accept"],
}
"""Each page, and what of its own the Tab key must reach, by the beginning of its name."""


@dataclass(frozen=True)
class Filled:
    """A server with something on every page."""

    server: Server
    conversation: str

    def address(self, page: str) -> str:
        """Where a page is, with what it shows."""
        return f"{self.server.url}/{page}" + (f"?conversation={self.conversation}" if page == "Chat" else "")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """One source, a model of it, an answered question with a chart and a finding, served through `web.py`."""
    folder: Path = tmp_path_factory.mktemp("accessible")
    app = Application(Settings(home=folder / "home", sql_workers=1))
    actor = app.person()
    handle = app.catalog.import_source(actor, "files", "Clients", [write_clients(folder / "clients.csv")])
    app.training.train(actor, handle, TrainRequest(target="churn", model_type="Logistic", exclude=("spent",)))
    table = handle.tables[0]
    app.findings.propose(
        actor, dataset_id=table.dataset_id, title="Churn is known", statement="Every client has a known churn.",
        columns=("churn",), check_sql=f"SELECT * FROM {table.name} WHERE churn IS NULL", source_id=handle.source_id,
    )
    conversation = app.chats.new(actor, handle.source_id)
    run, seen = app.chats.ask(actor, conversation, "How many clients by churn?", handle.source_id), 0
    while not (events := app.chats.events(actor, run, seen, 5.0)) or events[-1]["type"] != "done":
        seen += len(events)
    assert events[-1]["state"] == "answered"
    app.close()
    with running(folder, script="web.py") as made:
        yield Filled(made, conversation)


@pytest.mark.parametrize("tabs", [0, pytest.param(8, marks=pytest.mark.slow)], ids=["pages", "pages and tabs"])
def test_no_page_breaks_a_serious_rule_or_the_policy_in_either_theme(browser: Browser, filled: Filled, tabs: int) -> None:
    assert AXE.is_file(), "scripts/need_axe.sh installs what judges the pages"
    for theme in ("light", "dark"):
        context = browser.new_context(color_scheme=theme, reduced_motion="reduce", viewport={"width": 1280, "height": 1000})  # type: ignore[arg-type]
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda m, refused=refused: refused.append(m.text) if "Content Security Policy" in m.text else None)
        for name in PAGES:
            _open(page, filled.address(name))
            for tab in page.get_by_role("tab").all()[:tabs]:
                tab.click()
                _rest(page)
                _judge(page, f"{theme} {name or 'Home'}, {tab.text_content()}")
            _judge(page, f"{theme} {name or 'Home'}")
            for chart in page.locator(".js-plotly-plot").all():
                said = chart.evaluate("e => e.closest('[aria-label]')?.getAttribute('aria-label') || ''")
                assert len(said) > 10, f"a chart on {name} says nothing to who cannot see it"
        assert not refused, refused
        context.close()


def test_the_keyboard_reaches_what_each_page_is_for(browser: Browser, filled: Filled) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    for name, wanted in PAGES.items():
        _open(page, filled.address(name))
        reached: list[str] = []
        for _ in range(120):
            page.keyboard.press("Tab")
            said = page.evaluate(
                """() => { const e = document.activeElement;
                  return [e.getAttribute('aria-label'), e.getAttribute('placeholder'), e.innerText].filter(Boolean).join(' '); }"""
            )
            reached.append(" ".join(said.split()))
            if all(any(word in each for each in reached) for word in wanted):
                break
        else:
            pytest.fail(f"{name or 'Home'}: Tab never reaches {wanted}: {reached}")
    page.context.close()


def test_headers_stand_on_every_answer_and_figures_hold_no_names(filled: Filled) -> None:
    for path in ("/", "/_stcore/health", "/nothing-here"):
        headers = _get(filled.server.url + path)[1]
        assert "script-src 'self' 'sha256-" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
        assert "unsafe-eval" not in headers["content-security-policy"]
    status, _, body = _get(filled.server.url + "/metrics")
    assert status == 200 and "lexsi_sessions" in body and "lexsi_http_requests_total" in body
    assert not any(word in body for word in ("churn", "Clients", "clients", "con_", "conv_"))
    assert _get(filled.server.url + "/metrics", **{"x-forwarded-for": "192.0.2.7"})[0] == 404, "a proxy passed it on"


def _open(page: Page, address: str) -> None:
    page.goto(address)
    _rest(page)
    if page.locator("[data-testid=stPlotlyChart]").count():
        page.locator(".js-plotly-plot").first.wait_for()


def _rest(page: Page) -> None:
    page.wait_for_function(IDLE, timeout=60_000)
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')", timeout=60_000)
    page.wait_for_timeout(500)  # colours of what was clicked fade
    page.wait_for_function(IDLE, timeout=60_000)


def _judge(page: Page, place: str) -> None:
    page.context.new_cdp_session(page).send("Runtime.evaluate", {"expression": AXE.read_text()})  # the policy lets no script in
    found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    hard = [
        (v["id"], v["impact"], [n["html"][:200] for n in v["nodes"][:4]])
        for v in found if v["impact"] in HARD and v["id"] not in FRAMEWORK
    ]
    assert not hard, f"{place}: {json.dumps(hard, indent=1)}"


def _get(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, {k.casefold(): v for k, v in answer.headers.items()}, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, {k.casefold(): v for k, v in error.headers.items()}, error.read().decode()
