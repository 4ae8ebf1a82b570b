"""Numbers of prose are held to facts: what is there stays, what is not goes, visibly."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexsi_ds.facts import check, facts_of, mentions


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("There are 4,500 accounts.", {"n": 4500}),
        ("The rate is 13.9%.", {"rate": 0.13888}),
        ("The rate is 13.9%.", {"rate": 13.888}),
        ("AUC is 0.81 (0.77 to 0.85).", {"auc": 0.8134521, "low": 0.7712, "high": 0.8498}),
        ("It fell by 3,120 CZK.", {"change": -3120.0}),
        ("It is −3,120 CZK.", {"change": -3120.0}),
        ("Loan 4959 is at 0.71.", {"id": "4959", "p": 0.7081}),
        ("Dates end on 1998-12-31.", {"today": "1998-12-31"}),
        ("About 1.06 million rows.", {"rows": 1_056_320}),
        ("It began on 1995-10-22.", {"row.date": "1995-10-22T00:00:00"}),
        ("In 1998 it was 2.5%.", {"year": 1998, "rate": 2.53}),
        ("No number at all.", {}),
    ],
)
def test_a_grounded_sentence_stays(text: str, facts: dict) -> None:
    assert check(text, facts).text == text


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("There are 4,501 accounts.", {"n": 4500}),
        ("The rate is 14.9%.", {"rate": 0.13888}),
        ("AUC is 0.82.", {"auc": 0.8134}),
        ("Dates end on 1999-12-31.", {"today": "1998-12-31"}),
        ("It is 12.", {"n": 12.4}),
        ("It rose threefold to 900.", {}),
        ("About 2.06 million rows.", {"rows": 1_056_320}),
    ],
)
def test_an_invented_number_takes_its_sentence_with_it(text: str, facts: dict) -> None:
    checked = check(f"All is well. {text} The end.", facts)
    assert checked.removed == (text,)
    assert checked.text == "All is well. The end."


def test_numbers_of_the_question_may_be_repeated() -> None:
    assert check("The top 25 are listed.", {}, allow="show me the top 25").removed == ()


def test_decimals_do_not_end_a_sentence() -> None:
    assert check("It is 0.81 now. It was 0.79 then.", {"a": 0.81}).text == "It is 0.81 now."


def test_lines_stay_lines() -> None:
    assert check("First 1.\n\nSecond 2.\n- third 3", {"a": 1, "b": 3}).text == "First 1.\n\n- third 3"


def test_facts_of_nested_values() -> None:
    facts = facts_of(
        "r", {"a": [1, Decimal("2.5")], "d": date(1998, 12, 31), "none": None, "nan": float("nan"), "flag": True}
    )
    assert facts == {"r.a[0]": 1, "r.a[1]": 2.5, "r.d": "1998-12-31"}


@given(st.floats(-1e9, 1e9, allow_nan=False), st.integers(0, 4))
def test_a_fact_printed_at_any_precision_is_recognised(value: float, decimals: int) -> None:
    text = f"The value is {value:,.{decimals}f} today."
    if decimals == 0 and abs(value) < 100:
        return  # a bare small integer must be the fact itself, not a rounding of it
    assert check(text, {"v": value}).removed == ()


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    mentions(text)
    check(text, {"a": 1.0})
