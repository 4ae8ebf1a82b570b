"""Explanations, next pages and follow-ups."""

from __future__ import annotations

import pytest

from lexsi_ds.text_to_sql.reading import Explain, NextPage
from tests.text_to_sql.sources import Asked


@pytest.mark.parametrize(
    "question",
    [
        "Explain loan 4959",
        "why is loan 4959 risky?",
        "what drives 4959's score",
        "Why was loan 4959 scored like that?",
        "can you explain the score of loan 4959 please",
        "tell me why loan 4959 is ranked so high",
    ],
)
def test_a_case_is_explained_by_its_key(bank: Asked, question: str) -> None:
    reading = bank.read(question)
    assert isinstance(reading, Explain), reading
    assert (reading.case_ids, reading.entity_table) == (("4959",), "loan")


def test_several_cases_and_keys_that_are_text(bank: Asked, telco: Asked) -> None:
    both = bank.read("explain loans 4959 and 4961")
    assert isinstance(both, Explain)
    assert both.case_ids == ("4959", "4961")
    customer = telco.read("Why is customer 7590-VHVEG at risk?")
    assert isinstance(customer, Explain), customer
    assert customer.case_ids == ("7590-VHVEG",)


def test_a_case_that_does_not_exist_is_named(bank: Asked) -> None:
    reading = bank.read("Explain loan 999999")
    assert reading.kind == "cannot_answer"
    assert reading.words == ("999999",)
    assert "there is no loan 999999" in reading.reason


def test_what_is_no_case_is_not_explained(bank: Asked) -> None:
    assert bank.read("Why did 30 loans default in 1997?").kind != "explain"
    assert bank.read("explain the universe").kind in ("off_topic", "cannot_answer")


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("and the next ten?", 10),
        ("show the next 20", 20),
        ("more", 10),
        ("next page please", 10),
        ("show me 5 more", 5),
        ("continue", 10),
        ("what about the next 10 loans?", 10),
    ],
)
def test_the_next_rows_are_asked_for(bank: Asked, question: str, count: int) -> None:
    reading = bank.read(question)
    assert isinstance(reading, NextPage), reading
    assert reading.count == count


@pytest.mark.parametrize(
    "question", ["How many loans are there with more than 5 orders?", "next year's loans", "more accounts than loans"]
)
def test_next_and_more_inside_a_question_are_no_page(bank: Asked, question: str) -> None:
    assert bank.read(question).kind != "next"


def test_a_follow_up_regroups_the_query_before_it(bank: Asked) -> None:
    first = bank.analytic("Total loan amount by sex of the account owner")
    rows = bank.answer("by year", previous=first)
    assert len(rows) == 6
    both = bank.answer("and by year?", previous=first)
    assert len(both) == 12
    assert round(sum(r[-1] for r in both)) == 103_261_740
    assert round(sum(r[-1] for r in rows)) == 103_261_740
    reading = bank.analytic("by region", previous=first)
    assert reading.group_columns == ("region",)
    assert "the account's district" in reading.reading


def test_a_follow_up_restricts_the_query_before_it(bank: Asked) -> None:
    first = bank.analytic("How many loans were granted in 1997?")
    assert bank.answer("and only for women?", previous=first) == [(102,)]
    second = bank.analytic("only women", previous=first)
    assert bank.answer("only men", previous=second) == [(94,)]
    assert bank.answer("in 1996", previous=first) == [(117,)]


def test_without_an_earlier_query_a_follow_up_is_not_guessed(bank: Asked) -> None:
    assert bank.read("by year").kind == "cannot_answer"
    assert bank.read("and only for women?").kind in ("cannot_answer", "clarify", "analytic")
    assert bank.read("by year", previous=bank.read("Explain loan 4959")).kind == "cannot_answer"


def test_a_new_question_is_not_taken_for_a_follow_up(bank: Asked) -> None:
    first = bank.analytic("Total loan amount by sex of the account owner")
    assert bank.answer("How many accounts?", previous=first) == [(4500,)]
