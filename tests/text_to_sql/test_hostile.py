"""Hostile text: long questions, quotes, odd letters, values that look like SQL. A clear reading or a clear no, and quickly over."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.text_to_sql.sources import Asked, asked

KINDS = {"analytic", "predictive", "explain", "next", "clarify", "cannot_answer", "off_topic"}


@pytest.mark.parametrize(
    "question",
    [
        "a" * 4000,
        "how many accounts " * 220,
        "accounts and " * 300,
        "not " * 900,
        "1 " * 1900,
        "(" * 4000,
        "by year and month and district and status " * 90,
        "\u202ehow many accounts\u202c",
        "how many accounts\x00?",
        "how many accounts' OR '1'='1",
        'how many accounts where "name" = "x"',
        "how many loans in '); DROP TABLE loan; --'",
        "сколько счетов?",
        "how many 👩 accounts",
    ],
)
def test_long_and_odd_questions_end_in_a_reading(bank: Asked, question: str) -> None:
    reading = bank.read(question)
    assert reading.kind in KINDS
    if reading.kind == "analytic":
        bank.source.rows(reading.sql)


def test_a_question_beyond_the_limit_is_refused_with_its_length(bank: Asked) -> None:
    reading = bank.read("how many accounts? " * 1100)
    assert reading.kind == "cannot_answer"
    assert "20,900 characters" in reading.reason


_WORDS = (
    "how many accounts loans by year in 1997 above 100 top 5 not or and the average of amount district Prague women with per"
    " which highest default rate percentage 'x' \" ; only status B between 1 last since"
)


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=9))
def test_any_mix_of_words_gives_sql_that_runs_or_a_no(bank: Asked, words: list[str]) -> None:
    reading = bank.read(" ".join(words))
    assert reading.kind in KINDS
    if reading.kind == "analytic":
        bank.source.rows(reading.sql)


def test_values_with_quotes_and_percent_signs_are_filtered_exactly(tmp_path) -> None:
    rows = (
        "SELECT n AS item_id, CASE n % 3 WHEN 0 THEN 'O''Brien' WHEN 1 THEN '50% off; DROP TABLE items' ELSE 'ÉCLAIR' END AS label"
        " FROM range(30) AS t(n)"
    )
    source = asked(tmp_path, {"items": rows})
    assert source.number("how many items are O'Brien") == 10
    assert source.number('how many items with label "50% off; drop table items"') == 10
    assert source.number("how many items are eclair") == 10


def test_column_names_that_look_like_words_or_sql_stay_names(tmp_path) -> None:
    rows = (
        'SELECT n AS "id", n % 4 AS "select", CASE WHEN n % 2 = 0 THEN \'a;b\' ELSE \'c--d\' END AS "group by", n * 1.5 AS "total"'
        " FROM range(1, 41) AS t(n)"
    )
    source = asked(tmp_path, {"things": rows})
    assert source.number("how many things?") == 40
    assert len(source.answer("number of things by select")) == 4
    assert source.number("average total") == pytest.approx(1.5 * 20.5)
