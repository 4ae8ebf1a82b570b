"""The settings of the language model on the screen, with the real application: what is kept, what is shown, and what never is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.llm.server import Say, Server

pytestmark = pytest.mark.xdist_group("settings")
KEY = "typed-secret-key-42"


def script() -> None:
    from components.settings_dialog import dialog
    from lexsi_ds import application

    dialog(application.get_application(), application.get_application().person())


@pytest.fixture
def app(tmp_path: Path, monkeypatch):
    made = Application(Settings(home=tmp_path))
    monkeypatch.setattr("lexsi_ds.application._application", made)
    yield made
    made.close()


def test_an_endpoint_is_saved_tested_and_left_again_and_its_key_is_never_shown(app, tmp_path: Path) -> None:
    with Server([Say('{"tool": "count_rows", "args": {"table": "loan"}}')]) as server:
        at = AppTest.from_function(script, default_timeout=30).run()
        assert not at.exception, at.exception
        at.text_input(key="settings-llm-url").set_value(server.url)
        at.text_input(key="settings-llm-model").set_value("scripted")
        at.text_input(key="settings-llm-key").set_value(KEY)
        at.button(key="settings-llm-test").click().run()
        assert not at.exception and at.success[0].value.startswith("scripted answers"), [e.value for e in at.error]
        assert server.keys[0] == f"Bearer {KEY}"
        assert at.text_input(key="settings-llm-key").value == "" and KEY not in str(at)
        assert app.llm.label(LOCAL) == "scripted" and not app.llm.verdict(LOCAL).native
    assert KEY.encode() not in b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    at.toggle(key="settings-llm-private").set_value(True).run()
    assert app.llm.aggregates_only(LOCAL)
    at.button(key="settings-llm-off").click().run()
    assert app.llm.of(LOCAL) is None and not at.exception


def test_an_address_that_is_none_is_said_and_nothing_is_kept(app) -> None:
    at = AppTest.from_function(script, default_timeout=30).run()
    at.text_input(key="settings-llm-url").set_value("nowhere")
    at.text_input(key="settings-llm-model").set_value("m")
    at.button(key="settings-llm-save").click().run()
    assert app.llm.of(LOCAL) is None and not at.exception


def test_a_turn_keeps_what_left_and_what_it_cost(app) -> None:
    """Asked through the chat, as the page does: the ledger is the request word for word, and belongs to the person."""
    handle = app.catalog.ensure_demo(LOCAL)
    decide = ['{"tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM account"}}', '{"final_answer": "There are 4,500."}']
    with Server([Say(d, usage=(1000, 100)) for d in decide]) as server:
        app.llm.choose(LOCAL, server.url, "scripted", key=KEY, tools="json")
        app.llm.set_prices(LOCAL, {"scripted": {"prompt": 2, "completion": 10}})
        talk = app.chats.new(LOCAL, handle.source_id)
        run, events = app.chats.ask(LOCAL, talk, "How many accounts?", handle.source_id), []
        ends = time.monotonic() + 60
        while (not events or events[-1]["type"] != "done") and time.monotonic() < ends:
            events += app.chats.events(LOCAL, run, events[-1]["seq"] if events else 0, 1.0)
        last, sent = events[-1], app.ledgers.of_run(LOCAL, run)
        assert last["answer"] == "There are 4,500." and last["cost"] == pytest.approx(2 * (1000 * 2 + 100 * 10) / 1e6)
        assert len(sent) == len(server.requests) == 2 and "How many accounts?" in sent[0].body and KEY not in repr(sent)
    (used,) = app.ledgers.recent(LOCAL)
    assert (used.requests, used.prompt_tokens, used.completion_tokens) == (2, 2000, 200)
