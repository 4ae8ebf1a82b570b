"""A count is a count however it is asked, on the bank and on a file of one table."""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked

ACCOUNTS = [
    "How many accounts?",
    "number of accounts",
    "count the accounts please",
    "accounts: how many do we have",
    "tell me how many accounts there are",
    "what's the total number of accounts",
    "HOW MANY ACCOUNTS DO WE HAVE",
    "I'd like to know the number of accounts.",
    "Could you please tell me how many bank accounts exist?",
    "account count",
    "Can you count all accounts?",
    "total accounts",
    "how many acounts are there?",
    "how many accounts are there in the bank",
]
CUSTOMERS = [
    "How many customers?",
    "how many customers do we have",
    "number of customers",
    "count the customers please",
    "customers: how many are there",
    "What's the total number of customers?",
    "How many clients are there?",
    "how many subscribers",
    "customer count",
    "I want to know how many people we have",
    "How many rows?",
]


@pytest.mark.parametrize("question", ACCOUNTS)
def test_accounts_are_counted(bank: Asked, question: str) -> None:
    reading = bank.analytic(question)
    assert reading.sql == "SELECT\n  COUNT(*) AS accounts\nFROM account"
    assert bank.number(question) == 4500
    assert (reading.reading, reading.value_column, reading.group_columns) == ("Number of accounts", "accounts", ())


@pytest.mark.parametrize("question", CUSTOMERS)
def test_customers_are_counted_as_rows_of_the_one_table(telco: Asked, telco_text: Asked, question: str) -> None:
    assert telco.number(question) == 7043
    assert telco_text.number(question) == 7043


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many women are among our clients?", 2645),
        ("number of men", 2724),
        ("how many running loans", 448),
        ("How many finished loans were not repaid?", 31),
        ("loans granted in 1997, just the number", 196),
        ("How many accounts were opened before 1994?", 1139),
        ("how many accounts have weekly statements", 240),
        ("How many loans are over 300000 CZK?", 82),
        ("How many loans have a duration of at least 4 years?", 283),
        ("how many different regions are there", 8),
        ("number of cards that are not gold", 804),
        ("How many loans were granted to women in 1996?", 58),
    ],
)
def test_filtered_counts_give_the_right_number(bank: Asked, question: str, expected: int) -> None:
    assert bank.number(question) == expected


def test_spelling_is_repaired_only_where_one_word_is_near_and_it_is_said(bank: Asked) -> None:
    reading = bank.analytic("how many acounts are there")
    assert reading.caveats == ("“acounts” was read as “accounts”.",)
    assert any(e.became == "accounts (spelling)" for e in reading.evidence)
    assert bank.read("how many brunches are there").kind == "cannot_answer"


def test_the_same_question_is_read_the_same_five_times(bank: Asked) -> None:
    question = "Total loan amount by sex of the account owner"
    assert len({bank.analytic(question).model_dump_json() for _ in range(5)}) == 1
