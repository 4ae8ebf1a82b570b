"""Numbers that a sheet of xls or ods shows as codes, texts of digits in them, and cells that became missing."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
import xlsxwriter
import xlwt

from lexsi_ds.data.sheet_codes import code_mask, masked
from tests.data.conftest import Importing

_SPACE = "urn:oasis:names:tc:opendocument:xmlns"
_NAMES = " ".join(
    [f'xmlns:{short}="{_SPACE}:{long}:1.0"' for short, long in
     (("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"), ("number", "datastyle"))]
    + ['xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"']
)  # fmt: skip
_FORMATS = {
    "N5": '<number:number number:decimal-places="0" number:min-integer-digits="5"/>',
    "NI": '<number:text>INV-</number:text><number:number number:min-integer-digits="4"/>',
    "NA": '<number:number number:decimal-places="2" number:min-integer-digits="2"/>',
}
_STYLES = "".join(
    [f'<number:number-style style:name="{name}">{held}</number:number-style>' for name, held in _FORMATS.items()]
    + ['<number:text-style style:name="NT"><number:text-content/></number:text-style>']
    + [f'<style:style style:name="c{n}" style:family="table-cell" style:data-style-name="N{n}"/>' for n in "5IAT"]
)


def _number(value: float, style: str = "", more: str = "") -> str:
    named = f'table:style-name="{style}" ' if style else ""
    held = f'office:value-type="float" office:value="{value}"'
    return f"<table:table-cell {named}{more} {held}><text:p>{value}</text:p></table:table-cell>"


def _text(value: str, style: str = "") -> str:
    named = f'table:style-name="{style}" ' if style else ""
    return f'<table:table-cell {named}office:value-type="string"><text:p>{value}</text:p></table:table-cell>'


def _ods(path: Path, rows: list[str], columns: str = "") -> Path:
    body = "".join(row if row.startswith("<table:table-row") else f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = (
        f'<?xml version="1.0"?><office:document-content {_NAMES}><office:automatic-styles>{_STYLES}</office:automatic-styles>'
        f'<office:body><office:spreadsheet><table:table table:name="S">{columns}{body}</table:table></office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{_SPACE}:manifest:1.0"/>')
    return path


@pytest.mark.parametrize("rows", [3, 3_000])
def test_codes_of_an_old_workbook_are_read_as_shown(csv: Importing, rows: int) -> None:
    book = xlwt.Workbook()
    for sheet in (book.add_sheet("First"), book.add_sheet("Žluť")):
        for column, name in enumerate(["zip", "part", "ref", "share"]):
            sheet.write(0, column, name)
        formats = [xlwt.easyxf(num_format_str=f) for f in ("00000", "000-00", "@", "0.00")]
        for row in range(1, rows):
            for column, value in enumerate([row, 12_300 + row, 40 + row, row / 4]):
                sheet.write(row, column, value, formats[column])
    held = io.BytesIO()
    book.save(held)
    read = csv(held.getvalue(), "t.xls")
    for table in ("t_first", "t_žluť"):
        assert read.rows(table)[:2] == [("00001", "123-01", "41", 0.25), ("00002", "123-02", "42", 0.5)]
        assert len(read.rows(table)) == rows - 1


def test_errors_of_an_old_workbook_are_counted(csv: Importing) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("S")
    for row, (a, b) in enumerate([("id", "v"), (1, 2.5), (2, None), (3, 4.5)]):
        sheet.write(row, 0, a)
        sheet.row(row).set_cell_error(1, "#DIV/0!") if b is None else sheet.write(row, 1, b)
    held = io.BytesIO()
    book.save(held)
    read = csv(held.getvalue(), "t.xls")
    assert read.rows() == [(1, 2.5), (2, None), (3, 4.5)]
    assert "1 cell with an error such as #DIV/0! became missing" in " ".join(read.result["notes"])


def test_codes_of_an_open_document_are_read_as_shown(tmp_path: Path, importing: Importing) -> None:
    names = "".join(map(_text, ["zip", "invoice", "ref", "dose"]))
    rows = [names, *(_number(i, "c5") + _number(i, "cI") + _text(f"{4 * i}", "cT") + _number(i, "cA") for i in (7, 8))]
    read = importing("files", _ods(tmp_path / "t.ods", rows))
    assert read.rows() == [("00007", "INV-0007", "28", 7), ("00008", "INV-0008", "32", 8)]


def test_a_column_s_style_and_repeated_cells_hold_in_an_open_document(tmp_path: Path, importing: Importing) -> None:
    columns = '<table:table-column table:number-columns-repeated="2"/><table:table-column table:default-cell-style-name="c5"/>'
    twice = f'<table:table-row table:number-rows-repeated="2">{_number(1)}{_text("x")}{_number(42)}</table:table-row>'
    wide = _number(5, "c5", 'table:number-columns-repeated="2"')
    rows = ["".join(map(_text, ["n", "w", "code"])), twice, _number(2) + wide]
    read = importing("files", _ods(tmp_path / "t.ods", rows, columns))
    assert read.rows() == [(1, "x", "00042"), (1, "x", "00042"), (2, "00005", "00005")]


def test_errors_and_formulas_without_a_result_of_an_open_document_are_counted(tmp_path: Path, importing: Importing) -> None:
    held = 'table:formula="of:=1/0" calcext:value-type="error" office:value-type="string"'
    error = f"<table:table-cell {held}><text:p>#DIV/0!</text:p></table:table-cell>"
    bare = '<table:table-cell table:formula="of:=[.A2]*2"/>'
    rows = ["".join(map(_text, ["n", "v"])), _number(1) + error, _number(2) + bare, _number(3) + _number(4)]
    read = importing("files", _ods(tmp_path / "t.ods", rows))
    assert read.rows() == [(1, None), (2, None), (3, 4)]
    said = " ".join(read.result["notes"])
    assert "1 cell with an error such as #DIV/0! became missing" in said and "1 formula has no stored result" in said


def test_a_duration_beyond_a_day_is_written_alike_in_all_workbooks(tmp_path: Path, importing: Importing) -> None:
    long = '<table:table-cell office:value-type="time" office:time-value="PT26H30M05S"><text:p>26:30:05</text:p></table:table-cell>'
    rows = ["".join(map(_text, ["n", "t"])), _number(1) + long, _number(2) + _text("x")]
    read = importing("files", _ods(tmp_path / "t.ods", rows))
    assert read.rows() == [(1, "26:30:05"), (2, "x")]


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ('"Q"0', "3", "Q3"), ('"FY"0', "25", "FY25"), ('"KW"0', "7", "KW7"), ('"R"0', "3", None), ('"RM"0', "3", None),
        ('"kr"0', "3", None), ('"EUR"0', "3", None), ("0", "3", None), ('0"Q"', "3", None), ('"Q"0.0', "3", None),
    ],
)  # fmt: skip
def test_one_zero_behind_capitals_is_a_code_and_no_amount(code: str, number: str, shown: str | None) -> None:
    mask = code_mask(code)
    assert (mask and masked(number, mask)) == shown


def test_quarters_of_a_workbook_are_read_as_shown(importing: Importing, tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "q.xlsx")) as book:
        sheet, quarter = book.add_worksheet("S"), book.add_format({"num_format": '"Q"0'})
        sheet.write_row(0, 0, ["quarter", "sales"])
        for i in range(4):
            sheet.write_number(i + 1, 0, i + 1, quarter)
            sheet.write_number(i + 1, 1, i * 10.5)
    read = importing("files", tmp_path / "q.xlsx")
    assert read.rows() == [("Q1", 0.0), ("Q2", 10.5), ("Q3", 21.0), ("Q4", 31.5)]
