"""Readings that must not turn into a plausible wrong number, on the demo bank and on a file of one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.scripted import context, done

pytestmark = pytest.mark.xdist_group("demo")


def answer(application, handle, folder: Path, question: str):
    ctx = context(application, handle, folder)
    return done(list(application.answering.loop(ctx).stream(question, ctx))), ctx


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("how many loans between 1994 and 1996", "SELECT count(*) AS n FROM loan WHERE year(date) BETWEEN 1994 AND 1996"),
        ("number of loans where duration = 12", "SELECT count(*) AS n FROM loan WHERE duration = 12"),
        ("how many loans above 100000", "SELECT count(*) AS n FROM loan WHERE amount > 100000"),
    ],
)
def test_a_number_is_compared_with_what_it_is_said_of(application, demo_handle, tmp_path, question: str, sql: str) -> None:
    end, ctx = answer(application, demo_handle, tmp_path, question)
    assert end.state == "answered"
    assert ctx.cache["last_sql_result"].iloc[0, 0] == application.sql.frame(demo_handle, sql).iloc[0, 0]


@pytest.mark.parametrize("question", ["how many loans between 12 and 24", "loans over 12"])
def test_a_bare_number_that_no_value_is_near_is_not_compared(application, demo_handle, tmp_path, question: str) -> None:
    end, _ = answer(application, demo_handle, tmp_path, question)
    assert end.state == "cannot_answer" and "figure" in str(end.answer)


def test_a_count_before_a_superlative_is_no_case(application, demo_handle, tmp_path) -> None:
    ctx = context(application, demo_handle, tmp_path)
    reading = application.answering.loop(ctx).planner
    from lexsi_ds.agent.tools.text_to_sql import read_question

    read = read_question("Score loans for default risk and explain the 20 highest", "auto", ctx)
    assert reading.name == "Offline" and (read.kind, read.top_k) == ("predictive", 20)


def test_rows_of_the_only_table_go_by_its_noun(application, tmp_path) -> None:
    (tmp_path / "kc_house_data.csv").write_text("id,price\n1,10\n2,30\n", encoding="utf-8")
    handle = application.catalog.throwaway(tmp_path / "kc_house_data.csv")
    end, _ = answer(application, handle, tmp_path, "how many houses are there")
    assert end.answer == "Number of kc houses: 2."
