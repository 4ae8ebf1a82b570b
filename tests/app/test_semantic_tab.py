"""The tab with a source's semantic model, on the real application: shown, changed, refused, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import remembered, session
from components.turn import fold
from lexsi_ds.agent.events import parse
from lexsi_ds.application import Application
from lexsi_ds.knowledge.model import LearnedWord
from lexsi_ds.services.access import LOCAL
from lexsi_ds.settings import Settings
from tests.app.conftest import settled, words
from tests.app.test_catalog_page import tab, write_shop

pytestmark = pytest.mark.xdist_group("pages")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Application]:
    write_shop(tmp_path / "shop", 200)
    running = Application(Settings(home=tmp_path / "home", sql_workers=1))
    handle = running.catalog.import_source(LOCAL, "files", "Shop", [tmp_path / "shop"])
    running.set_active_source(LOCAL, handle.source_id)
    yield running
    running.close()


def source(app: Application) -> str:
    found = app.active_source(LOCAL)
    assert found is not None
    return found


def opened(app: Application, open_page, part: str) -> Any:
    at = tab(app, open_page, "Semantic model")
    key = session.wkey("semantic", source(app), "part")
    at.session_state[key] = part
    return settled(at.run(timeout=60))


def key(app: Application, *parts: object) -> str:
    return session.wkey("semantic", source(app), *parts)


def test_a_fresh_source_shows_what_was_derived_and_says_so(app, open_page) -> None:
    at = tab(app, open_page, "Semantic model")
    said = words(at)
    assert "As derived from the data; nothing was changed yet" in said
    assert "One row is one customer" in said.replace("*", "")
    (frame,) = [d.value for d in at.dataframe if "Read as" in d.value.columns]
    assert list(frame["Column"]) == ["customer_id", "email", "region"]
    assert list(frame["Role"]) == ["key", "text", "category"]
    assert list(frame["Meanings"])[1] == "masked"
    joins = words(opened(app, open_page, "Joins"))
    assert "the order's customer" in joins and "orders" in joins
    assert "Nothing was saved yet" in words(opened(app, open_page, "History"))
    assert "None yet." in words(opened(app, open_page, "Taught words"))


def test_a_column_is_changed_by_form_and_the_change_is_in_the_history(app, open_page) -> None:
    at = tab(app, open_page, "Semantic model")
    at.radio(key(app, "table")).set_value("orders").run(timeout=60)
    at.selectbox(key(app, 0, "orders", "pick")).set_value("amount").run(timeout=60)
    at.text_input(key(app, 0, "orders", "amount", "unit")).set_value("EUR")
    at.text_input(key(app, 0, "orders", "amount", "label")).set_value("order value")
    at = settled(at.button(key(app, 0, "orders", "amount", "save")).click().run(timeout=60))
    assert "Saved as version 1." in words(at)
    column = app.knowledge(app.catalog.handle(LOCAL, source(app))).model.column("orders", "amount")
    assert column is not None and (column.unit, column.label) == ("EUR", "order value")
    said = words(opened(app, open_page, "History"))
    assert "orders.amount: unit EUR, was none" in said and "In force" in said


def test_a_metric_that_does_not_run_is_refused_with_its_reason(app, open_page) -> None:
    at = opened(app, open_page, "Metrics")
    place = ("metric",)
    at.text_input(key(app, 0, *place, "label")).set_value("Mean order")
    at.selectbox(key(app, 0, *place, "table")).set_value("orders")
    at.text_input(key(app, 0, *place, "sql")).set_value("AVG(amont)")
    at = settled(at.button(key(app, 0, *place, "save")).click().run(timeout=60))
    assert "nothing was saved" in words(at) and "amont" in words(at)
    assert app.semantics.view(LOCAL, source(app)).version == 0
    at.text_input(key(app, 0, *place, "sql")).set_value("AVG(amount)")
    at = settled(at.button(key(app, 0, *place, "save")).click().run(timeout=60))
    assert "Saved as version 1" in words(at)
    assert "mean_order" in app.semantics.text(LOCAL, source(app))


def test_the_file_is_checked_before_it_is_saved_and_errors_name_their_lines(app, open_page) -> None:
    at = opened(app, open_page, "File")
    place = key(app, 0, "yaml")
    text = at.text_area(place).value
    at.text_area(place).set_value(text.replace("expression: amount\n", "expression: amont\n"))
    at = settled(at.run(timeout=60))
    at = settled(at.button(session.wkey(place, "save")).click().run(timeout=60))
    said = words(at)
    assert "did you mean 'amount'" in said and "Line " in said
    assert app.semantics.view(LOCAL, source(app)).version == 0
    at.text_area(place).set_value(text.replace("label: amount\n", "label: order value\n"))
    at = settled(at.run(timeout=60))
    at = settled(at.button(session.wkey(place, "save")).click().run(timeout=60))
    assert app.semantics.view(LOCAL, source(app)).version == 1
    said = words(opened(app, open_page, "History"))
    assert "orders.amount: label order value, was amount" in said
    at = opened(app, open_page, "History")
    settled(at.button(key(app, "derived")).click().run(timeout=60))
    assert not app.semantics.view(LOCAL, source(app)).saved


def test_a_taught_word_is_listed_and_forgotten(app, open_page) -> None:
    word = app.semantics.learn(LOCAL, source(app), "exposure", LearnedWord(id="", words="", table="orders", column="amount"))
    at = opened(app, open_page, "Taught words")
    assert "exposure means orders.amount" in words(at).replace("*", "")
    settled(at.button(session.wkey("word", word.id, "forget")).click().run(timeout=60))
    assert app.semantics.view(LOCAL, source(app)).words == ()


@pytest.mark.parametrize(
    ("learns", "choice", "taught"),
    [
        ([{"words": "x", "table": "a"}, {"words": "x", "table": "b"}], "two", {"words": "x", "table": "b"}),
        ([{"words": "x", "table": "a"}], "one", None),
        ([{}, {"words": "x"}], "one", None),
        ([], "one", None),
        ([{"words": "x"}, {"words": "x"}], "three", None),
    ],
)
def test_an_option_teaches_only_what_belongs_to_it(learns, choice: str, taught) -> None:
    assert remembered.chosen(["one", "two"], learns, choice) == taught


def test_a_question_back_carries_what_its_options_teach(app) -> None:
    events = [{"type": "ask", "seq": 1, "ts": 1.0, "question": "Which column is exposure?", "options": ["a", "b"],
               "learns": [{"words": "exposure", "table": "orders", "column": "amount", "value": ""}, {}]}]  # fmt: skip
    view = fold("run_1", "exposure by region", events)
    assert remembered.chosen(view.options, view.learns, "a") == events[0]["learns"][0]
    assert remembered.chosen(view.options, view.learns, "b") is None
    old = fold("run_2", "q", [{"type": "ask", "seq": 1, "ts": 1.0, "question": "?", "options": ["a"]}])
    assert old.learns == [] and parse({**events[0], "run_id": "run_1"}).model_dump()["learns"] == events[0]["learns"]
