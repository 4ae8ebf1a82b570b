"""Values as people and programs write them, each with its right reading worked out by hand; and choices that must hold."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan, preview
from tests.data.conftest import Importing


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["−5.5", "2", "−3"], [-5.5, 2.0, -3.0]),
        (['"12,34,567.50"', '"1,00,000"', '"5,250"'], [1234567.5, 100000.0, 5250.0]),
        (['"(1,234.56)"', '"2,000.00"', "(3.10)"], [-1234.56, 2000.0, -3.1]),
        (['"1,234.56-"', '"2,000.00"', "3.10-"], [-1234.56, 2000.0, -3.1]),
        (["CHF 1’234.50", "CHF 12’345.00", "CHF 5.25"], [1234.5, 12345.0, 5.25]),
        (['"1\u202f234,50"', '"12\u202f345"', '"5,25"'], [1234.5, 12345.0, 5.25]),
        (["n/a", ":", "7"], [None, None, 7]),
        (["(5%)", "7%", "-1.5%"], [-5.0, 7.0, -1.5]),
        (['"USD 1,234"', "USD 15", "USD 3"], [1234, 15, 3]),
        (["2020-01-31 10:00 PM", "2020-01-31 9:05 AM"], [datetime(2020, 1, 31, 22), datetime(2020, 1, 31, 9, 5)]),
        (["+420777123456", "+420777123457", "+4930123456"], ["+420777123456", "+420777123457", "+4930123456"]),
    ],
)
def test_numbers_are_read_as_they_are_meant(csv: Importing, cells: list[str], values: list[object]) -> None:
    read = csv("id,v\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    assert [row[1] for row in read.rows()] == values


def test_dates_written_in_several_ways_are_read_where_day_and_month_are_certain(csv: Importing) -> None:
    read = csv("id,d\n1,2020-01-31\n2,15/02/2020\n3,3 March 2020\n4,2020-04-30\n5,05/06/2020\n")
    assert [row[1] for row in read.rows()] == [
        date(2020, 1, 31), date(2020, 2, 15), date(2020, 3, 3), date(2020, 4, 30), date(2020, 6, 5),
    ]  # fmt: skip
    assert "d: dates are written in several ways; all were read, day first." in read.notes()


@pytest.mark.parametrize(
    "cells",
    [("2020-01-31", "5/6/2020", "7/8/2020"), ("15/02/2020", "02/15/2020", "2020-01-31"),
     ("2020-01-31 10:00", "2020-01-31T10:00+02:00")],
)  # fmt: skip
def test_dates_that_may_mean_another_day_stay_text(csv: Importing, cells: tuple[str, ...]) -> None:
    read = csv("id,d\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    assert tuple(row[1] for row in read.rows()) == cells


def test_days_numbered_by_a_spreadsheet_are_suggested_and_read_when_chosen(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,date\n1,43831\n2,43862\n3,43891.5\n")
    found = _plan(path)
    assert [(s.kind, s.column, s.values) for s in found.suggestions] == [("type", "date", ("date",))]
    assert found.columns[1].type == "decimal"
    read = importing("files", path, **plan_options([found.change_column(1, type="timestamp")]))
    assert [row[1] for row in read.rows()] == [datetime(2020, 1, 1), datetime(2020, 2, 1), datetime(2020, 3, 1, 12)]


@pytest.mark.parametrize(
    ("thousands", "decimal", "kind", "first"),
    [(",", None, "BIGINT", 1234), (".", None, "DOUBLE", 1.234), ("", ".", "VARCHAR", "1,234")],
)
def test_a_chosen_thousands_mark_holds(
    csv: Importing, thousands: str, decimal: str | None, kind: str, first: object
) -> None:
    chosen = {"thousands": thousands} | ({"decimal": decimal} if decimal else {})
    read = csv('k;v\na;1,234\nb;5,678\n', **chosen)
    assert (read.types()["v"], read.rows()[0][1]) == (kind, first)


def test_numbers_with_another_thousands_mark_than_the_chosen_one_stay_text(csv: Importing) -> None:
    read = csv("k;v\na;1.234,50\nb;5.678,00\n", thousands=" ")
    assert read.types()["v"] == "VARCHAR" and "another thousands mark" in read.notes()


def test_cells_that_do_not_fit_a_chosen_type_are_kept_with_row_column_text_and_reason(
    tmp_path: Path, importing: Importing
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,qty,day\n1,5,2020-01-01\n\n2,five,2020-01-02\n3,,soon\n4,7.5,2020-01-04\n")
    chosen = _plan(path).change_column(1, type="integer").change_column(2, type="date")
    read = importing("files", path, **plan_options([chosen]))
    assert read.rows() == [(1, 5, date(2020, 1, 1)), (2, None, date(2020, 1, 2)), (3, None, None), (4, None, date(2020, 1, 4))]
    kept = Path(read.table()["rejected_path"]).read_text().splitlines()
    assert kept == [
        "line,reason,text,row,column",
        ",NO INTEGER: THE CELL IS MISSING IN THE TABLE,five,2,qty",
        ",NO DATE: THE CELL IS MISSING IN THE TABLE,soon,3,day",
        ",NO INTEGER: THE CELL IS MISSING IN THE TABLE,7.5,4,qty",
    ]
    assert read.table()["rejected"] == 0 and read.table()["options"]["flagged"] == 3
    assert "2 values of qty did not fit the chosen type: missing in the table" in read.notes()
    shown = preview(path, chosen)
    assert shown.plan.flagged == 3 and shown.rejected[0][2] == "row 2, qty: five"


def test_yes_and_no_become_a_boolean_when_that_is_chosen(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nyes,J\nNo,n\nYES,J\nmaybe,N\n")
    found = _plan(path)
    assert [c.type for c in found.columns] == ["text", "text"]
    chosen = found.change_column(0, type="boolean").change_column(1, type="boolean")
    read = importing("files", path, **plan_options([chosen]))
    assert read.rows() == [(True, True), (False, False), (True, True), (None, False)]
    assert read.table()["options"]["flagged"] == 1


def test_russian_and_czech_letters_are_told_apart(csv: Importing) -> None:
    assert csv("id;jméno\n1;Dvořák\n2;čeština\n".encode("cp1250")).rows() == [(1, "Dvořák"), (2, "čeština")]
    assert csv("id;имя\n1;Иван Петров\n2;Анна\n".encode("cp1251")).rows() == [(1, "Иван Петров"), (2, "Анна")]


def _plan(path: Path) -> ReadPlan:
    (found,) = plan([path], {})["plans"]
    return ReadPlan.model_validate(found)
