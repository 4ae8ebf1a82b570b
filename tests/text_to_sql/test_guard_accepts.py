"""Every SQL that is written here passes the guard that all queries pass, and still gives the same rows afterwards."""

from __future__ import annotations

import pytest

from lexsi_ds.data.guard import check
from tests.text_to_sql.sources import Asked

ANALYTIC = [
    "How many accounts?",
    "Total loan amount by sex of the account owner",
    "Which district has the worst default rate with at least 10 loans?",
    "Is our default rate falling, by year granted?",
    "total order amount per receiving bank",
    "top 5 districts by number of accounts",
    "number of loans by month in 1997",
    "loans granted between 1994 and 1996 in Prague, count",
    "clients born before 1950: how many",
    "median loan amount by loan status",
    "five largest loans",
    "What is the population of Brno - mesto?",
    "accounts opened by weekday",
]


@pytest.mark.parametrize("question", ANALYTIC)
def test_analytic_sql_passes(bank: Asked, question: str) -> None:
    sql = bank.analytic(question).sql
    passed = check(sql, [t.name for t in bank.source.handle.tables])
    assert sorted(map(str, bank.source.rows(passed))) == sorted(map(str, bank.source.rows(sql)))


def test_the_predictive_frames_pass(bank: Asked, telco: Asked, staff: Asked) -> None:
    for source, question in (
        (bank, "Which running loans are likely to default?"),
        (telco, "Which customers are likely to churn?"),
        (staff, "Which employees are likely to leave?"),
    ):
        task = source.predictive(question).task
        for sql in (task.context_sql, task.predict_sql):
            passed = check(sql, [t.name for t in source.source.handle.tables])
            assert source.source.query(passed).equals(source.source.query(sql))


def test_every_query_that_reading_needs_passes_too(bank: Asked, telco: Asked) -> None:
    for source in (bank, telco):
        names = [t.name for t in source.source.handle.tables]
        for sql in source.source.asked:
            check(sql, names)
