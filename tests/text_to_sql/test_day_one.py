"""The first questions of people who do this job, with values computed apart from this code."""

from __future__ import annotations

import pytest

from tests.text_to_sql.sources import Asked


def test_loan_amount_by_sex_counts_each_loan_once_for_its_owner(bank: Asked) -> None:
    question = "Total loan amount by sex of the account owner"
    assert {(sex, n, int(total)) for sex, n, total in bank.answer(question)} == {
        ("F", 348, 53_996_160),
        ("M", 334, 49_265_580),
    }
    reading = bank.analytic(question)
    assert "the account's owner, disponents left out" in reading.reading
    assert (reading.value_column, reading.unit, reading.group_columns) == ("total_loan_amount", "CZK", ("sex",))


@pytest.mark.parametrize(
    "question",
    [
        "Sum of loan amounts by gender",
        "total amount lent per sex of the owner",
        "loan volume in total, split by men and women",
        "What is the total loan amount for each sex?",
    ],
)
def test_other_ways_to_ask_it_never_double_the_loans(bank: Asked, question: str) -> None:
    reading = bank.read(question)
    assert reading.kind == "analytic", reading
    assert round(sum(row[-1] for row in bank.answer(question))) == 103_261_740


def test_the_worst_default_rate_keeps_ties_says_n_and_names_the_role(bank: Asked) -> None:
    question = "Which district has the worst default rate?"
    assert bank.answer(question) == [
        ("Bruntal", 6, 3, 50.0),
        ("Domazlice", 2, 1, 50.0),
        ("Sokolov", 2, 1, 50.0),
        ("Strakonice", 6, 3, 50.0),
    ]
    reading = bank.analytic(question)
    assert "the account's district" in reading.reading
    assert "ties kept" in reading.reading
    assert any("differ in size" in c for c in reading.caveats)
    assert ("loan", "status", "B") in reading.string_filters
    assert ("loan", "status", "D") in reading.string_filters


def test_the_suggested_minimum_is_understood_and_changes_the_answer(bank: Asked) -> None:
    suggestion = bank.analytic("Which district has the worst default rate?").suggestions[0]
    assert bank.answer(suggestion) == [("Svitavy", 12, 3, 25.0)]
    ranked = bank.answer("top 2 districts by default rate with at least 10 loans")
    assert [(d, n, k) for d, n, k, _ in ranked] == [("Svitavy", 12, 3), ("Brno - mesto", 24, 5)]


def test_the_default_rate_by_year_warns_of_years_that_are_not_over(bank: Asked) -> None:
    question = "Is our default rate falling, by year granted?"
    rows = bank.answer(question)
    assert [(int(y), round(rate, 1)) for y, _, _, rate, _ in rows] == [
        (1993, 20.0), (1994, 13.9), (1995, 13.3), (1996, 13.7), (1997, 13.3), (1998, 2.5),
    ]  # fmt: skip
    reading = bank.analytic(question)
    warning = next(c for c in reading.caveats if c.startswith("1998"))
    assert "154 of its 158 loans are still running" in warning
    assert "2.5%" in warning
    assert not any(c.startswith(("1993", "1994", "1995")) for c in reading.caveats)
    assert reading.chart == "line"


def test_default_over_all_loans_is_b_or_d(bank: Asked) -> None:
    assert bank.number("What percentage of loans defaulted?") == pytest.approx(100 * 76 / 682)
    assert bank.number("How many defaulted loans are there?") == 76
    assert bank.answer("default rate")[0][:2] == (682, 76)
