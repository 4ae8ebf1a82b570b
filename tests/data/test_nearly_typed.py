"""Columns that nearly are numbers or dates say what is in the way; what is no table, or names a person, is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan
from lexsi_ds.errors import BadInput
from tests.data.conftest import Importing


def _plan(path: Path, content: str) -> ReadPlan:
    path.write_text(content)
    return ReadPlan.model_validate(plan([path], {})["plans"][0])


def test_a_day_that_is_none_is_named_and_can_be_taken_as_missing(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    found = _plan(path, "id;d\n1;31.01.2024\n2;30.02.2024\n3;15.03.2024\n4;28.02.2024\n")
    assert [(s.kind, s.column, s.values, s.count) for s in found.suggestions] == [("missing", "d", ("30.02.2024",), 1)]
    read = importing("files", path, **plan_options([found.take(found.suggestions[0])]))
    assert [d for _, d in read.rows()] == [date(2024, 1, 31), None, date(2024, 3, 15), date(2024, 2, 28)]


def test_words_among_few_dates_and_numbers_are_named(csv: Importing) -> None:
    assert "because of 2 values" in csv("id,d\n1,2024-01-31\n2,unknown\n3,2024-02-28\n4,tbd\n5,2023-12-31\n").notes()
    assert "because of 1 value: see note" in csv("id,n\n1,5\n2,see note\n3,7\n4,9\n").notes()
    assert "because of" not in csv("id,k\n1,A1\n2,B2\n3,7\n4,C9\n").notes()


def test_eight_digits_can_be_dates_and_are_suggested(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    found = _plan(path, "id,iso\n1,20240131\n2,20240229\n3,20240301\n")
    assert [(s.kind, s.column, s.values) for s in found.suggestions] == [("type", "iso", ("date",))]
    read = importing("files", path, **plan_options([found.change_column(1, type="date")]))
    assert [d for _, d in read.rows()] == [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 1)]
    assert not _plan(path, "id,n\n1,20241331\n2,20240229\n3,20240301\n").suggestions


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("50%", "0.5", "25%"), "some are in percent and some are not"),
        (("$5.00", "€7.00", "$9.00"), "amounts are in"),
        (("1. Januar 2024", "15. März 2024", "3. Dezember 2024"), "its dates have names of months that are not English"),
    ],
)
def test_values_that_look_like_numbers_or_dates_say_why_they_are_text(csv: Importing, cells: tuple[str, ...], said: str) -> None:
    read = csv("id;v\n" + "".join(f"{i};{cell}\n" for i, cell in enumerate(cells)))
    assert [v for _, v in read.rows()] == list(cells) and f"v was kept as text: {said}" in read.notes()


def test_a_comma_in_one_text_of_a_single_column_is_text(csv: Importing) -> None:
    assert csv("name\nAnn\nBob\nCy, the third\n").rows() == [("Ann",), ("Bob",), ("Cy, the third",)]


@pytest.mark.parametrize("content", ["<html><body>Login</html>\n", '<?xml version="1.0"?>\n<rows/>\n', "\n<!DOCTYPE html>\n"])
def test_a_web_page_is_no_table(csv: Importing, content: str) -> None:
    with pytest.raises(BadInput, match="web page or XML"):
        csv(content)


def test_numbers_of_payment_cards_are_masked_whatever_their_name(csv: Importing) -> None:
    read = csv("a,b\n4111111111111111,1000000000000001\n5500000000000004,1000000000000002\n")
    assert read.column("a")["masked"] and not read.column("b")["masked"]
