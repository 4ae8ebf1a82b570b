"""Values that look like numbers and are told apart by how they are written; numbers of more digits than floating point holds."""

from __future__ import annotations

import pytest

from tests.data.conftest import Importing


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("code", ["1E5", "2E3", "7E1", "12E4"]),
        ("h", ["0e12", "1e10", "00e5", "5e99"]),
        ("release", ["1.9", "1.10", "1.1", "1.11"]),
        ("section", ["1.1", "1.2", "1.10", "2.10"]),
        ("balance", ["12345678901234567.89", "98765432109876543.21"]),
        ("x", ["0.1234567890123456789", "0.2"]),
        ("balance", ["123456789012345.67", "999999999999999.99"]),
    ],
)
def test_what_a_number_would_not_write_back_stays_text(csv: Importing, name: str, values: list[str]) -> None:
    read = csv(f"{name},n\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values)))
    assert [row[0] for row in read.rows()] == values
    assert f"{name} was kept as text" in read.notes() or f"{name} has leading zeros" in read.notes()


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["0.30000000000000004", "1e-05", "2.5"], [0.30000000000000004, 1e-05, 2.5]),
        (["0.10000000000000001", "0.00012345678901234567"], [0.1, 0.00012345678901234567]),
        (["1e5", "2.5e3"], [1e5, 2500.0]),
        (["1.50", "2.25", "3.00"], [1.5, 2.25, 3.0]),
    ],
)
def test_numbers_as_programs_write_them_are_numbers(csv: Importing, values: list[str], numbers: list[float]) -> None:
    read = csv("x,n\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values)))
    assert read.types()["x"] == "DOUBLE" and [row[0] for row in read.rows()] == numbers


def test_zeros_that_are_dropped_are_said(csv: Importing) -> None:
    read = csv("dose,n\n1.10,1\n2.5,2\n")
    assert read.rows() == [(1.1, 1), (2.5, 2)]
    assert "dose: zeros at the ends of decimals were not kept" in read.notes()


def test_a_late_value_of_too_many_digits_is_seen(csv: Importing) -> None:
    read = csv("x,n\n" + "1.5,1\n" * 11_000 + "12345678901234567.89,2\n")
    assert read.rows(sql="SELECT x FROM data WHERE n = 2") == [("12345678901234567.89",)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("phone", ["777 123 456", "602 123 457"]),
        ("Mobile No", ["777123456", "602123457"]),
        ("street no", ["12 123", "4 500"]),
    ],
)
def test_telephone_numbers_and_numbers_in_groups_stay_text(csv: Importing, name: str, values: list[str]) -> None:
    read = csv(f"id,{name}\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    assert [row[1] for row in read.rows()] == values
    assert f"{name} was kept as text" in read.notes()


@pytest.mark.parametrize(
    ("name", "values", "numbers"),
    [("people", ["12 123", "4 500"], [12123, 4500]), ("calls per phone", ["1", "12"], [1, 12])],
)
def test_thousands_and_counts_are_numbers(csv: Importing, name: str, values: list[str], numbers: list[int]) -> None:
    read = csv(f"id,{name}\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    assert [row[1] for row in read.rows()] == numbers
