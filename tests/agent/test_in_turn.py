"""Several questions in one turn: each is answered, none with what belongs to another; what does not fit is asked about first."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.agent.planners.offline import OfflinePlanner
from lexsi_ds.agent.report import report
from lexsi_ds.text_to_sql.reading import Analytic
from tests.agent.scripted import context, done, returned

pytestmark = pytest.mark.xdist_group("demo")


def _ask(application, handle, folder: Path, question: str):
    ctx = context(application, handle, folder)
    return ctx, list(AgentLoop(OfflinePlanner(ctx)).stream(question, ctx))


def test_each_question_is_answered_under_its_own_words(application, demo_handle, tmp_path: Path) -> None:
    ctx, events = _ask(application, demo_handle, tmp_path, "How many accounts? How many loans by status?")
    end = done(events)
    assert end.state == "answered" and end.answer is not None
    first, second = end.answer.split("How many loans by status?")
    assert "4,500" in first and "682" not in first and "C: 403" in second and "4,500" not in second
    assert "Read as: Number of accounts" in first and "Read as: Number of loans by loan status" in second
    assert end.reading is None, "no one reading stands for both"
    parts = report("both", events, ctx)["parts"]
    assert parts[0]["result"]["rows"] == [[4500]] and [p["result"]["row_count"] for p in parts] == [1, 4]
    assert all(p["sql"].startswith("SELECT") and p["question"].startswith("How many") for p in parts)
    assert [r.name for r in returned(events)] == ["query_kg", *["text_to_sql", "run_sql", "summarize_result"] * 2]
    previous = ctx.session.previous
    assert isinstance(previous, Analytic) and previous.reading == "Number of loans by loan status", "a follow-up changes the last"


def test_a_ranking_may_come_last(application, demo_handle, tmp_path: Path) -> None:
    question = "How many loans by status? Which loans currently being repaid are likely to default?"
    _, events = _ask(application, demo_handle, tmp_path, question)
    end = done(events)
    assert end.state == "answered" and end.answer is not None and end.tool_calls == 11
    first, second = end.answer.split("Which loans currently being repaid are likely to default?")
    assert "C: 403" in first and "ranked loans with the highest probability of default" in second


@pytest.mark.parametrize("question", [
    "How many accounts? How many loans? How many clients? How many cards?",
    "Which loans currently being repaid are likely to default? How many accounts?",
])  # fmt: skip
def test_what_does_not_fit_into_a_turn_is_asked_about_first(application, demo_handle, tmp_path: Path, question: str) -> None:
    _, events = _ask(application, demo_handle, tmp_path, question)
    assert done(events).state == "needs_clarification" and done(events).tool_calls == 0
    assert list(done(events).suggestions) == [q.strip() + "?" for q in question.split("?")[:-1]]


@pytest.mark.parametrize(("question", "parts"), [
    ("How many accounts. How many loans by status.", 2),
    ("Total loan amount by region and number of clients by gender", 2),
    ("Total loan amount and average loan amount by region", 0),
    ("Number of loans and total amount by year", 0),
    ("How many loans? And by year?", 0),
    ("Which district has the worst default rate? With at least 10 loans", 0),
])  # fmt: skip
def test_two_figures_of_one_table_are_one_query_two_questions_are_two(application, demo_handle, tmp_path, question, parts) -> None:
    _, events = _ask(application, demo_handle, tmp_path, question)
    assert done(events).state == "answered"
    assert sum(r.name == "run_sql" for r in returned(events)) == (parts or 1)


@pytest.mark.parametrize("question", ["How many accounts and how many loans?", "Number of accounts and number of loans"])
def test_single_figures_of_two_tables_are_one_row(application, demo_handle, tmp_path: Path, question: str) -> None:
    ctx, events = _ask(application, demo_handle, tmp_path, question)
    assert ctx.cache["last_sql_result"].to_dict("records") == [{"accounts": 4500, "loans": 682}]
    assert "4,500" in (done(events).answer or "") and "682" in (done(events).answer or "")


def test_a_grouping_that_may_be_meant_of_both_is_asked_about(application, demo_handle, tmp_path: Path) -> None:
    _, events = _ask(application, demo_handle, tmp_path, "How many accounts and how many loans by status?")
    assert done(events).state == "needs_clarification" and done(events).tool_calls == 0


def test_a_question_that_is_not_understood_stops_all(application, demo_handle, tmp_path: Path) -> None:
    _, events = _ask(application, demo_handle, tmp_path, "How many accounts? How many cats?")
    assert done(events).state == "cannot_answer" and "cats" in (done(events).answer or "")
