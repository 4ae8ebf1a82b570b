"""Numbers of prose against facts: units, rounding, percent, thousands marks, words."""

from __future__ import annotations

import pytest

from lexsi_ds.facts import Facts, check

FACTS: Facts = {"row_count": 12, "rows.trans": 1_056_320, "row[0].share": 0.4531, "row[0].amount": 4523.75, "rate": 11.14, "n": 682}


@pytest.mark.parametrize(
    "text",
    [
        "There are 1,056,320 of them.", "There are 1 056 320 of them.", "There are 1'056'320 of them.",
        "There are 1\u202f056\u202f320.",
        "About 1.06 million.", "About 1.1m rows.", "Some 1,056k rows.", "A share of 45.3%.", "A share of 45 %.",
        "It is 45.31 percent.",
        "It is 0.45 of all.", "An amount of 4,523.75.", "An amount of 4,524 CZK.", "CZK 4523.8 each.", "About 4.5 thousand.",
        "A rate of 11.1%.", "A rate of 11%.", "Of 682 loans, 12 rows.", "Forty-five percent of them.", "Two of them stand out.",
    ],
)  # fmt: skip
def test_a_number_said_another_way_is_the_same_number(text: str) -> None:
    assert check(text, FACTS).text == text


@pytest.mark.parametrize(
    "text",
    [
        "There are 1,056,321 of them.", "There are 1 056 321 of them.", "About 1.2 million.", "A share of 46%.",
        "It is 0.46 of all.",
        "An amount of 4,525.", "A rate of 12.1%.", "It grew by 12%.", "It is 682 percent.", "Ninety-nine percent of them.",
        "Two thousand of them.", "Some 7k rows.",
    ],
)  # fmt: skip
def test_a_number_that_is_in_no_fact_takes_its_sentence_along(text: str) -> None:
    checked = check(f"Of 682 loans. {text}", FACTS)
    assert checked.text == "Of 682 loans." and checked.removed == (text,)
