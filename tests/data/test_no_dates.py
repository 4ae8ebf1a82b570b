"""Codes, scores and addresses that could be dates; and coordinates beside numbers with a decimal comma."""

from __future__ import annotations

import pytest

from tests.data.conftest import Importing


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("part", ["01-01-00", "02-02-01", "03-03-02"]),
        ("score", ["21-10-05", "11-09-03"]),
        ("ip", ["10.1.20", "31.12.99"]),
        ("d", ["21-03-04", "28-02-05", "15-12-30"]),
    ],
)
def test_what_may_be_no_date_or_begin_with_the_year_stays_text(csv: Importing, name: str, values: list[str]) -> None:
    read = csv(f"{name},n\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values)))
    assert [row[0] for row in read.rows()] == values and f"{name} was kept as text" in read.notes()


@pytest.mark.parametrize(("name", "values"), [("day", ["31.12.99", "01.02.03"]), ("d", ["25/12/98", "24/11/97"])])
def test_dates_with_years_of_two_digits_are_dates(csv: Importing, name: str, values: list[str]) -> None:
    assert csv(f"{name},n\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values))).types()[name] == "DATE"


def test_coordinates_have_a_decimal_point_whatever_other_columns_have(csv: Importing) -> None:
    read = csv("lat;lon;area\n50.075;14.437;1,5\n49.195;16.606;2,5\n50.210;15.832;3,5\n")
    assert read.rows()[0] == (50.075, 14.437, 1.5)


def test_thousands_with_a_point_stay_thousands_beside_a_decimal_comma(csv: Importing) -> None:
    assert csv("people;area\n1.234;1,5\n12.345;2,5\n").rows() == [(1234, 1.5), (12345, 2.5)]
