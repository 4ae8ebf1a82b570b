"""Cells of a workbook that are missing without being empty are counted and said."""

from __future__ import annotations

import zipfile
from pathlib import Path

import xlsxwriter

from tests.data.conftest import Importing


def test_formulas_without_a_result_are_counted(tmp_path: Path, importing: Importing) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "computed.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", "v"])
        sheet.write_column(1, 0, [1, 2, 3])
        sheet.write_formula(1, 1, "=A2*2", None, 99)
        sheet.write_formula(2, 1, "=A3*2", None, 99)
        sheet.write_number(3, 1, 7)
    with zipfile.ZipFile(tmp_path / "computed.xlsx") as there, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as to:
        for name in there.namelist():
            to.writestr(name, there.read(name).replace(b"<v>99</v>", b"<v></v>"))
    read = importing("files", tmp_path / "a.xlsx")
    assert "2 formulas have no stored result" in str(read.result) and read.rows()[2] == (3, 7)


def test_errors_are_counted_and_results_are_not(tmp_path: Path, importing: Importing) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "b.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", "v"])
        sheet.write_row(1, 0, [1, 2])
        sheet.write_number(2, 0, 2)
        sheet.write_formula(2, 1, "=1/0", None, "#DIV/0!")
        sheet.write_number(3, 0, 3)
        sheet.write_formula(3, 1, "=1+4", None, 5)
    read = importing("files", tmp_path / "b.xlsx")
    assert "1 cell with an error" in str(read.result) and "no stored result" not in str(read.result)
    assert read.rows() == [(1, 2), (2, None), (3, 5)]
