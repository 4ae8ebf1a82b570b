"""With a language model configured, a question that a person has checked is answered by what was checked: no model is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.results import MemorySink
from lexsi_ds.application import Application
from lexsi_ds.ids import new_id
from lexsi_ds.settings import Settings
from lexsi_ds.text_to_sql.verified import candidates, with_parameters
from tests.agent.endpoint import Endpoint, Entry

SQL = "SELECT COUNT(*) AS n FROM sales WHERE amount > 15"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("verified")
    (folder / "sales.csv").write_text("sale_id,amount\n1,10\n2,20\n3,30\n", encoding="utf-8")
    made = Application(Settings(home=folder / "home", sql_workers=1))
    handle = made.catalog.import_source(made.person(), "files", "Shop", [folder / "sales.csv"])
    checked = with_parameters("How many sales above 15?", SQL, candidates("How many sales above 15?", SQL))
    made.semantics.verify(made.person(), handle.source_id, checked.question, checked.sql, 0, checked.parameters)
    made.set_active_source(made.person(), handle.source_id)
    yield made
    made.close()


def ask(app: Application, folder: Path, question: str, *script: Entry) -> tuple[ev.Done, str]:
    """The end of a run, and all that the endpoint was told."""
    with Endpoint(script) as endpoint:
        more = {"llm_base_url": endpoint.url, "llm_model": "scripted", "llm_tools": "json"}
        its = app.settings.model_copy(update=more)
        mine = dataclasses.replace(app.answering, settings=its, choices=None)
        handle = app.active_handle(app.person())
        assert handle is not None
        ctx = mine.context(handle, new_id("run"), folder)
        done = list(mine.loop(ctx, MemorySink()).stream(question, ctx))[-1]
        assert isinstance(done, ev.Done)
        return done, endpoint.prompts()


@pytest.mark.parametrize(("question", "n"), [("How many sales above 15?", 2), ("Please give me the number of sales above 25.", 1)])
def test_exact_and_near_questions_take_the_checked_sql(app: Application, tmp_path: Path, question: str, n: int) -> None:
    done, told = ask(app, tmp_path, question, f"The count is {n}.")
    assert done.state == "answered" and (done.reading or "").startswith("As checked by a person: How many sales above")
    assert done.answer == f"The count is {n}." and done.removed == [], "the number is a fact of the checked query"
    assert "You plan the work" not in told and "DuckDB" not in told, "a model is asked for the words only"


def test_another_question_is_planned_by_the_model(app: Application, tmp_path: Path) -> None:
    done, told = ask(app, tmp_path, "How many sales below 25?", {"thought": "", "final_answer": "I would rather not."})
    assert "You plan the work" in told and not (done.reading or "").startswith("As checked")
