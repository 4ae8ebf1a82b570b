"""What a person keeps of an answer, on the real application: pins on Home, thumbs, verified questions, own SQL, a chart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import session
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words

pytestmark = pytest.mark.xdist_group("pages")
ROWS = "sale_id,region,amount\n1,north,10\n2,south,20\n3,north,30\n4,west,40\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("board-page")
    (folder / "sales.csv").write_text(ROWS, encoding="utf-8")
    running = Application(Settings(home=folder / "home", sql_workers=1))
    handle = running.catalog.import_source(running.person(), "files", "Shop", [folder / "sales.csv"])
    running.set_active_source(running.person(), handle.source_id)
    yield running
    running.close()


def asked(app: Application, question: str, given: dict[str, Any] | None = None) -> tuple[str, str]:
    """Conversation and run of a question that is over."""
    actor, source_id = app.person(), str(app.active_source(app.person()))
    conversation = app.chats.new(actor, source_id)
    run_id = app.chats.ask(actor, conversation, question, source_id, given=given)
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != "done":
        events = app.chats.events(actor, run_id, 0, 5)
    assert events[-1]["state"] == "answered"
    return conversation, run_id


def opened(app: Application, open_page, conversation: str, popover: str) -> Any:
    at = open_page(app, "chat", conversation=conversation)
    at.session_state[popover] = True
    return settled(at.run(timeout=60))


def test_a_result_is_pinned_and_stands_on_home_until_it_is_taken_off(app: Application, open_page, tmp_path: Path) -> None:
    assert "Board" not in words(open_page(app, "home"))
    conversation, run_id = asked(app, "Total amount by region")
    key = session.wkey("pin", run_id)
    at = opened(app, open_page, conversation, key)
    at.get_by_key(session.wkey(key, "title")).set_value("Amounts of regions")
    settled(at.get_by_key(session.wkey(key, "save")).click().run(timeout=60))
    pin = app.board.list(app.person())[0]
    home = open_page(app, "home")
    assert "Amounts of regions" in words(home) and "3 rows, data version 1" in words(home) and home.get("plotly_chart")
    settled(home.get_by_key(session.wkey("pin", pin.id, "menu", "off")).click().run(timeout=60))
    assert app.board.list(app.person()) == ()


def test_a_question_with_parameters_is_asked_from_home(app: Application, open_page) -> None:
    actor, source_id = app.person(), str(app.active_source(app.person()))
    pin = app.board.pin_question(actor, source_id, "How many sales above {amount} are there?", "Large sales", {"amount": "15"})
    at = open_page(app, "home")
    at.get_by_key(session.wkey("pin", pin.id, "value", "amount")).set_value("25")
    at.get_by_key(session.wkey("pin", pin.id, "ask")).click().run(timeout=60)
    turns = [t.question for c in app.chats.list(actor) for t in app.chats.turns(actor, c.id)]
    assert "How many sales above 25 are there?" in turns
    assert app.board.get(actor, pin.id).parameters == {"amount": "25"}
    app.board.unpin(actor, pin.id)


def test_a_thumb_and_its_reason_stay_after_a_reload(app: Application, open_page) -> None:
    conversation, run_id = asked(app, "Total amount by region")
    app.feedback.rate(app.person(), run_id, "down")
    key = session.wkey("thumb", run_id)
    at = open_page(app, "chat", conversation=conversation)
    at.get_by_key(session.wkey(key, "words")).set_value("South is missing")
    settled(at.get_by_key(session.wkey(key, "keep")).click().run(timeout=60))
    assert app.feedback.of_runs(app.person(), [run_id])[run_id].reason == "South is missing"
    again = open_page(app, "chat", conversation=conversation)
    assert "South is missing" in [b.proto.popover.label for b in again.get("popover")]


def test_a_verified_question_answers_near_ones_first_with_a_badge(app: Application, open_page) -> None:
    conversation, run_id = asked(app, "How many sales above 15 are there?")
    key = session.wkey("verify", run_id)
    at = opened(app, open_page, conversation, key)
    at.get_by_key(session.wkey(key, "params")).set_value(["amount = 15"])
    at.run(timeout=60)
    settled(at.get_by_key(session.wkey(key, "save")).click().run(timeout=60))
    verified = app.semantics.view(app.person(), str(app.active_source(app.person()))).model.verified
    assert [v.question for v in verified] == ["How many sales above {amount} are there?"]
    near, _ = asked(app, "number of sales above 35")
    said = words(open_page(app, "chat", conversation=near))
    assert "As checked by a person: How many sales above 35 are there?" in said and "Verified" in said


def test_sql_of_a_person_is_drawn_as_a_turn_with_a_default_chart_and_kept_as_a_data_set(app: Application, open_page) -> None:
    sql = "SELECT region, SUM(amount) AS total FROM sales GROUP BY 1 ORDER BY 1"
    conversation, run_id = asked(app, "Sums (SQL edited)", {"kind": "sql", "sql": sql})
    at = open_page(app, "chat", conversation=conversation)
    assert "Your own SQL" in words(at) and len(at.get("plotly_chart")) == 1
    app.chats.draw_as(app.person(), run_id, {"kind": "none"})
    assert not open_page(app, "chat", conversation=conversation).get("plotly_chart")
    key = session.wkey("derive", run_id)
    at = opened(app, open_page, conversation, key)
    settled(at.get_by_key(session.wkey(key, "save")).click().run(timeout=60))
    source_id = str(app.active_source(app.person()))
    assert [(t.name, t.rows) for t in app.catalog.derived(app.person(), source_id)] == [("Sums", 3)]


def test_conversations_are_searched_from_the_list(app: Application, open_page) -> None:
    for question in ("Total amount by region", "How many sales are there?", "Number of sales by region"):
        asked(app, question)
    at = open_page(app, "chat")
    at.get_by_key(session.CHAT_SEARCH).set_value("how many").run(timeout=60)
    assert "How many sales are there?" in words(settled(at)) and "Number of sales by region" not in words(at)
    at.get_by_key(session.CHAT_SEARCH).set_value("zebra").run(timeout=60)
    assert "No conversation has these words." in words(settled(at))
