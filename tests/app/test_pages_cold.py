"""Every page opened cold, before any data or model exists: it says what it is for and what it needs, and never breaks."""

from __future__ import annotations

import threading

import pytest

from tests.app.conftest import PAGES, settled, words
from tests.app.fake_application import FakeApplication

PURPOSE = {
    "models": "It needs a model",
    "explorer": "It needs a model with predictions",
    "findings": "It needs a finding",
    "chat": "Ask about Demo bank in plain words",
    "home": "Nothing was asked yet",
    "connect": "Active: Demo bank",
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_data_says_that_the_demo_bank_is_being_built(open_page, page: str) -> None:
    app = FakeApplication(empty=True)
    gate = threading.Event()
    app.demo_task = app.background.start(
        "demo", "Building the demo bank", lambda cancel, tell: gate.wait(20), owner="local"
    )
    try:
        assert "The demo bank is being built" in words(open_page(app, page))
    finally:
        gate.set()


@pytest.mark.parametrize("page", PAGES)
def test_a_failed_first_start_says_so_and_can_be_tried_again(open_page, page: str) -> None:
    def fail(cancel: object, tell: object) -> None:
        raise OSError("no space left, secret=hunter2")

    app = FakeApplication(empty=True)
    app.demo_task = app.background.start("demo", "Building the demo bank", fail, owner="local")
    while app.demo_task.state == "running":
        pass
    at = open_page(app, page)
    assert "The demo bank was not built" in words(at)
    assert "hunter2" not in words(at)
    assert "Build it again" in [b.label for b in at.button]


@pytest.mark.parametrize(("page", "says"), PURPOSE.items())
def test_a_page_with_data_but_nothing_else_teaches(open_page, page: str, says: str) -> None:
    assert says in words(open_page(FakeApplication(), page))


@pytest.mark.parametrize("page", ["models", "explorer", "findings"])
def test_the_one_button_of_an_empty_page_leads_to_chat(open_page, page: str) -> None:
    at = open_page(FakeApplication(), page)
    settled(at.button(key=f"teach-{page}").click().run())
    assert "Ask about Demo bank" in words(at)


@pytest.mark.parametrize(
    "garbage", ["x", "mdl_", "' OR 1=1 --", "../../etc/passwd", "<script>", "mdl_0199aaaa-0000-7000-8000-00000000ffff"]
)
@pytest.mark.parametrize(
    ("page", "name"), [("chat", "conversation"), ("models", "model"), ("explorer", "model"), ("findings", "finding")]
)
def test_a_broken_link_gets_a_friendly_word(open_page, page: str, name: str, garbage: str) -> None:
    assert "is not there." in words(open_page(FakeApplication(), page, **{name: garbage}))


def test_a_store_that_cannot_be_opened_is_said_without_its_details(monkeypatch) -> None:
    from streamlit.testing.v1 import AppTest

    from tests.app.conftest import REPO

    def broken() -> None:
        raise RuntimeError("postgresql://admin:hunter2@db/lexsi refused")

    monkeypatch.setattr("lexsi_ds.application.get_application", broken)
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=30).run()
    assert not at.exception
    assert "cannot start" in words(at)
    assert "hunter2" not in words(at)
