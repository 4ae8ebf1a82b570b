"""Point and click in the chat on the real application: a query is built, finished and changed, a task edited, help asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components import session
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from lexsi_ds.text_to_sql.reading import CannotAnswer
from tests.app.conftest import settled, words
from tests.app.test_pages_real import write_customers

pytestmark = pytest.mark.xdist_group("builder")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    home = tmp_path_factory.mktemp("builder") / "home"
    running = Application(Settings(home=home, sql_workers=1))
    actor = running.person()
    handle = running.catalog.import_source(actor, "files", "Customers", [write_customers(home.parent / "customers.csv")])
    running.set_active_source(actor, handle.source_id)
    yield running
    running.close()


def click(at: Any, label: str, timeout: int = 60) -> Any:
    """Press the last button of this label."""
    found = [b for b in at.button if b.label in (label, plain(label))]
    assert found, (label, [b.label for b in at.button])
    return settled(found[-1].click().run(timeout=timeout))


def pick(at: Any, part: str, value: Any) -> Any:
    """Choose in the last select box whose key holds these words."""
    found = [s for s in at.selectbox if part in str(s.key)]
    assert found, (part, [s.key for s in at.selectbox])
    return settled(found[-1].select(value).run(timeout=60))


def ask(at: Any, question: str, timeout: int = 120) -> Any:
    return settled(at.chat_input[0].set_value(question).run(timeout=timeout))


def last_turn(app: Application) -> Any:
    actor = app.person()
    newest = app.chats.list(actor)[0]
    return app.chats.turns(actor, newest.id)[-1]


def column(app: Application, name: str) -> str:
    handle = app.active_handle(app.person())
    assert handle is not None
    return f"{handle.tables[0].name}.{name}"


def test_a_question_is_built_in_an_empty_chat_and_answered(app: Application, open_page) -> None:
    at = open_page(app, "chat")
    click(at, "Build a question")
    assert "Reads as" in words(at)
    pick(at, "-measures-1-fn", "average")
    pick(at, "-column-average", column(app, "MonthlyCharges"))
    click(at, "Add a group")
    pick(at, "-groups-", column(app, "Contract"))
    assert "Average monthly charges of customers by contract" in words(at)
    click(at, "Run")
    turn = last_turn(app)
    assert turn.state == "answered"
    assert turn.given["kind"] == "query"
    assert "monthly charges of customers by contract" in turn.question
    assert "Month-to-month" in words(at)


def test_a_line_that_is_not_whole_keeps_run_shut_and_says_why(app: Application, open_page) -> None:
    at = open_page(app, "chat")
    click(at, "Build a question")
    click(at, "Add a filter")
    assert "A filter has no column" in words(at)
    assert [b.disabled for b in at.button if b.label == "Run"] == [True]
    out = next(b for b in at.button if "-filters-" in str(b.key) and str(b.key).endswith("-out"))
    settled(out.click().run(timeout=60))
    assert [b.disabled for b in at.button if b.label == "Run"] == [False]


def test_an_answered_query_is_changed(app: Application, open_page) -> None:
    at = open_page(app, "chat")
    ask(at, "How many customers are there?")
    click(at, "Change this query")
    click(at, "Add a filter")
    pick(at, "-filters-", column(app, "Contract"))
    values = [m for m in at.multiselect if "-value-" in str(m.key)][-1]
    assert values.options == ["Month-to-month", "Two year"]
    settled(values.select("Two year").run(timeout=60))
    click(at, "Run")
    turn = last_turn(app)
    assert turn.state == "answered"
    assert "Two year" in turn.question
    assert "Two year" in words(at)


def test_what_was_half_understood_is_finished_and_can_be_remembered(
    app: Application, open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = app.active_handle(app.person())
    assert handle is not None
    table = handle.tables[0].name
    partial = {"table": table, "measures": [{"fn": "count", "name": "customers", "label": "number of customers"}]}
    half = CannotAnswer(reason="Not understood: “plan”.", words=("plan",), partial=partial)
    with monkeypatch.context() as patch:
        patch.setattr("lexsi_ds.agent.tools.text_to_sql.interpret", lambda *_, **__: half)
        at = open_page(app, "chat")
        ask(at, "customers by plan")
    assert "Finish the question" in words(at)
    assert "Understood so far: Number of customers" in words(at)
    assert [b.disabled for b in at.button if b.label == "Run"] == [True]
    pick(at, "-word-0-plan-column", f"{table}.Contract")
    click(at, "Add")
    assert [b.disabled for b in at.button if b.label == "Run"] == [False]
    remember = next(c for c in at.checkbox if "Remember that" in c.label)
    settled(remember.check().run(timeout=60))
    click(at, "Run")
    assert last_turn(app).state == "answered"
    assert "Month-to-month" in words(at)
    ask(at, "customers by plan")
    assert last_turn(app).state == "answered"
    assert last_turn(app).given is None


def test_a_word_that_is_left_out_is_left_out_on_purpose(app: Application, open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = app.active_handle(app.person())
    assert handle is not None
    partial = {"table": handle.tables[0].name, "measures": [{"fn": "count", "name": "customers", "label": "number of customers"}]}
    half = CannotAnswer(reason="Not understood: “shoe”.", words=("shoe",), partial=partial)
    monkeypatch.setattr("lexsi_ds.agent.tools.text_to_sql.interpret", lambda *_, **__: half)
    at = open_page(app, "chat")
    ask(at, "customers by shoe")
    click(at, "Leave it out")
    assert [b.disabled for b in at.button if b.label == "Run"] == [False]
    click(at, "Close")
    assert "Finish the question" not in words(at)
    click(at, "Finish it by point and click")
    assert "Finish the question" in words(at)


def test_a_task_waits_where_the_person_wants_it_and_trains_as_edited(app: Application, open_page) -> None:
    actor = app.person()
    app.set_review(actor, always=True)
    try:
        at = open_page(app, "chat")
        ask(at, "Which customers are likely to churn?")
        assert last_turn(app).state == "needs_clarification"
        assert "nothing has been trained yet" in words(at)
        yes = next(m for m in at.multiselect if str(m.key).endswith("-yes"))
        no = next(m for m in at.multiselect if str(m.key).endswith("-no"))
        assert (len(yes.value), len(no.value)) == (1, 1)
        settled(no.set_value([*no.value, *yes.value]).run(timeout=60))
        assert "cannot count on both sides" in "\n".join(e.value for e in at.error)
        assert [b.disabled for b in at.button if b.label == "Train"] == [True]
        no = next(m for m in at.multiselect if str(m.key).endswith("-no"))
        settled(no.set_value([v for v in no.value if v not in yes.value]).run(timeout=60))
        used = session.wkey("task-edit", last_turn(app).run_id)
        at.session_state[f"{used}-used"] = {"edited_rows": {0: {"Use": False}}, "added_rows": [], "deleted_rows": []}
        click(at, "Train", timeout=180)
        turn = last_turn(app)
        assert turn.state == "answered"
        assert turn.given["draft"]["taken_out"]
        assert "Taken out by hand" in words(at)
        click(at, "Change and train again")
        assert "change it and train again" in words(at)
    finally:
        app.set_review(actor, always=False)


def test_a_column_that_nobody_declared_stops_with_its_card(app: Application, open_page) -> None:
    at = open_page(app, "chat")
    ask(at, "predict contract for each customer")
    assert last_turn(app).state == "needs_clarification"
    assert "rarest" in words(at)
    assert [b.disabled for b in at.button if b.label == "Train"] == [False]


def test_help_shows_forms_of_this_source_and_each_example_is_answered(app: Application, open_page) -> None:
    handle = app.active_handle(app.person())
    assert handle is not None
    at = open_page(app, "chat")
    click(at, "What can I ask?")
    found = app.forms(handle)
    assert {"Count", "Group", "Filter", "Predict"} <= {f.title for f in found}
    for form in found:
        assert form.title in words(at)
        for example in form.examples:
            assert example in words(at), example
    click(at, "How many customers are there?")
    assert last_turn(app).state == "answered"
    assert "ROWS" not in words(at)
    actor = app.person()
    conversation = app.chats.new(actor, handle.source_id)
    for form in found:
        if form.title == "Predict":
            continue
        for example in form.examples:
            run_id = app.chats.ask(actor, conversation, example, handle.source_id)
            while app.chats.events(actor, run_id, 0, 1.0)[-1]["type"] != "done":
                pass
            assert app.chats.events(actor, run_id)[-1]["state"] == "answered", example


def test_the_builder_closes_with_the_source_it_was_about(app: Application, open_page) -> None:
    at = open_page(app, "chat")
    click(at, "Build a question")
    assert session.BuilderState.__name__ in repr(at.session_state["lexsi.held"].builder)
    settled(next(b for b in at.button if b.label == "New conversation").click().run(timeout=60))
    assert at.session_state["lexsi.held"].builder is None
