"""Digits that a source itself calls text: strings of JSON, TEXT of SQLite, cells of a workbook formatted as text."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
from pathlib import Path

import pytest
import xlsxwriter

from tests.data.conftest import Importing


def test_strings_of_digits_stay_text_beside_numbers(csv: Importing) -> None:
    read = csv(json.dumps([{"n": 5, "group": "12", "amount": "12.50"}, {"n": 6, "group": "7", "amount": "3.25"}]), "t.json")
    assert read.types() == {"n": "BIGINT", "group": "VARCHAR", "amount": "DOUBLE"}
    assert read.rows() == [(5, "12", 12.5), (6, "7", 3.25)]
    assert "group was kept as text: its source holds it as text, and other columns as numbers" in read.notes()


def test_where_all_are_strings_codes_are_told_by_their_name_or_length(csv: Importing) -> None:
    first, second = ("9001", "412", "7", "2021-04-03"), ("10002", "733", "1204", "2021-04-04")
    rows = [dict(zip(("zip", "branch", "n", "d"), row, strict=True)) for row in (first, second)]
    read = csv(json.dumps(rows), "t.json")
    assert read.types() == {"zip": "VARCHAR", "branch": "VARCHAR", "n": "BIGINT", "d": "DATE"}
    assert [row[:3] for row in read.rows()] == [("9001", "412", 7), ("10002", "733", 1204)]
    assert "branch was kept as text: its source holds it as text, and all values have 3 digits, as codes do" in read.notes()


def test_a_number_among_strings_makes_them_numbers(csv: Importing) -> None:
    read = csv('{"id": 1, "v": "12"}\n{"id": 2, "v": 7}\n', "t.jsonl")
    assert read.rows() == [(1, 12), (2, 7)]


def test_codes_among_texts_of_sqlite_stay_text(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE t (n INTEGER, branch TEXT, zip_code VARCHAR(9), day TEXT, people TEXT)")
        rows = [(1, "412", "900", "2021-04-03", "1204"), (2, "733", "71", "2021-04-04", "88")]
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    read = importing("files", path)
    assert read.types() == {"n": "BIGINT", "branch": "VARCHAR", "zip_code": "VARCHAR", "day": "DATE", "people": "BIGINT"}
    assert [(row[1], row[2], row[4]) for row in read.rows()] == [("412", "900", 1204), ("733", "71", 88)]
    assert "people: its source holds it as text; all values are numbers and were read as such." in read.notes()


def _workbook(text: list[object], plain: list[object]) -> bytes:
    """A column of cells formatted as text, and one of texts in cells without a format."""
    held = io.BytesIO()
    with xlsxwriter.Workbook(held) as book:
        sheet, as_text = book.add_worksheet(), book.add_format({"num_format": "@"})
        sheet.write_row(0, 0, ["ref", "v", "n"])
        for i, (a, b) in enumerate(zip(text, plain, strict=True), start=1):
            (sheet.write_string if isinstance(a, str) else sheet.write_number)(i, 0, a, as_text)
            sheet.write_string(i, 1, str(b))
            sheet.write_number(i, 2, i)
    return held.getvalue()


@pytest.mark.parametrize("text", [["12", "7", "130"], [12, 7, 130]])
def test_cells_formatted_as_text_are_text_and_others_go_by_their_looks(csv: Importing, text: list[object]) -> None:
    read = csv(_workbook(text, ["12", "7", "130"]), "t.xlsx")
    assert read.types() == {"ref": "VARCHAR", "v": "BIGINT", "n": "BIGINT"}
    assert read.rows() == [("12", 12, 1), ("7", 7, 2), ("130", 130, 3)]


def test_amounts_in_cells_formatted_as_text_are_numbers(csv: Importing) -> None:
    read = csv(_workbook(["$1,234", "$2,345", "$3"], [1, 2, 3]), "t.xlsx")
    assert [row[0] for row in read.rows()] == [1234, 2345, 3] and "amounts in $" in read.notes()


def test_a_format_of_letters_and_zeros_is_shown_as_in_the_sheet(csv: Importing) -> None:
    held = io.BytesIO()
    with xlsxwriter.Workbook(held) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["invoice", "weight"])
        for i in (1, 2):
            sheet.write_number(i, 0, 16 + i, book.add_format({"num_format": '"INV-"0000'}))
            sheet.write_number(i, 1, 4 + i, book.add_format({"num_format": '0" kg"'}))
    assert csv(held.getvalue(), "t.xlsx").rows() == [("INV-0017", 5), ("INV-0018", 6)]
