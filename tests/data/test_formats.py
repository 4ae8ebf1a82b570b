"""JSON, workbooks, DuckDB files and archives: what is in them becomes tables, and what would do harm is refused."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import xlsxwriter
import xlwt

from lexsi_ds.errors import BadInput
from tests.data.conftest import Importing

_PEOPLE = [
    {"id": 1, "name": "Ana", "address": {"city": "Brno", "geo": {"lat": 49.2}}, "tags": ["a", "b"], "zip": "00123"},
    {"id": 2, "name": "Bob", "address": {"city": "Linz", "street": "Weg"}, "active": True, "since": "2020-05-01"},
]


def _zip(path: Path, files: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


# -- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [True, False])
def test_objects_are_rows_and_inner_objects_are_flattened_once(csv: Importing, lines: bool) -> None:
    text = "\n".join(map(json.dumps, _PEOPLE)) if lines else json.dumps(_PEOPLE, indent=1)
    read = csv(text, "people.jsonl" if lines else "people.json")
    assert read.types() == {
        "id": "BIGINT", "name": "VARCHAR", "address_city": "VARCHAR", "address_geo": "VARCHAR", "address_street": "VARCHAR",
        "tags": "VARCHAR", "zip": "VARCHAR", "active": "BOOLEAN", "since": "DATE",
    }  # fmt: skip
    assert read.rows()[0] == (1, "Ana", "Brno", '{"lat":49.2}', None, '["a","b"]', "00123", None, None)
    assert read.rows()[1] == (2, "Bob", "Linz", None, "Weg", None, None, True, date(2020, 5, 1))


def test_lines_that_are_no_objects_are_rejected_with_their_number(csv: Importing) -> None:
    read = csv('{"a": 1}\n{"a": 2\n[3]\n\n{"a": 4}\n', "t.jsonl")
    assert read.rows() == [(1,), (4,)] and read.table()["rejected"] == 2
    kept = Path(read.table()["rejected_path"]).read_text()
    assert "2,NOT A JSON OBJECT" in kept and "3,NOT A JSON OBJECT" in kept


@pytest.mark.parametrize(
    "shape",
    [
        {"a": [1, 2], "b": ["x", "y"]},
        {"meta": "report", "rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]},
        {"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [2, "y"]]},
        {"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}},
        [["a", "b"], [1, "x"], [2, "y"]],
    ],
)
def test_other_shapes_that_hold_a_table_are_read(csv: Importing, shape: Any) -> None:
    read = csv(json.dumps(shape), "t.json")
    assert read.types() == {"a": "BIGINT", "b": "VARCHAR"} and read.rows() == [(1, "x"), (2, "y")]


def test_mixed_values_stay_text_and_numbers_keep_their_kind(csv: Importing) -> None:
    read = csv(json.dumps([{"m": 1, "x": 1.5, "n": None}, {"m": "two", "x": 2, "n": None}]), "t.json")
    assert read.rows() == [("1", 1.5, None), ("two", 2.0, None)]


@pytest.mark.parametrize("content", ['[{"a": 1}, {"a": ', "[" * 100_000, "not json", "[]", '[{"a":1}] trailing'])
def test_broken_json_is_refused(csv: Importing, content: str) -> None:
    with pytest.raises(BadInput, match="JSON"):
        csv(content, "t.json")


# -- workbooks ------------------------------------------------------------------------------------------------------


def test_each_sheet_is_a_table_and_empty_ones_are_said(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "Book One.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        sheet = book.add_worksheet("Sales")
        sheet.merge_range(0, 0, 0, 3, "Sales report 2020")
        for column, name in enumerate(["Code", "Day", "At", "Amount", "Paid"]):
            sheet.write(2, column, name)
        for i, row in enumerate([("007", 1.5, True), ("042", 2, False)]):
            sheet.write_string(3 + i, 0, row[0])
            sheet.write_datetime(3 + i, 1, datetime(2020, 1, 2 + i), day)
            sheet.write_datetime(3 + i, 2, datetime(2020, 1, 2 + i, 13, 30), moment)
            sheet.write(3 + i, 3, row[1])
            sheet.write_boolean(3 + i, 4, row[2])
        book.add_worksheet("Empty")
        other = book.add_worksheet("Two heads")
        heads = [["", 2019, "", 2020, ""], ["Region", "Q1", "Q2", "Q1", "Q2"]]
        for r, line in enumerate([*heads, ["N", 1, 2, 3, 4], ["S", 5, 6, 7, 8]]):
            for c, value in enumerate(line):
                other.write(r, c, value)
    read = importing("files", path)
    assert [t["name"] for t in read.result["tables"]] == ["book_one_sales", "book_one_two_heads"]
    assert read.types("book_one_sales") == {
        "Code": "VARCHAR", "Day": "DATE", "At": "TIMESTAMP", "Amount": "DOUBLE", "Paid": "BOOLEAN"
    }  # fmt: skip
    assert read.rows("book_one_sales")[0] == ("007", date(2020, 1, 2), datetime(2020, 1, 2, 13, 30), 1.5, True)
    assert read.table("book_one_sales")["options"]["said"] == "Excel, header on row 3"
    assert list(read.types("book_one_two_heads")) == ["Region", "2019 Q1", "2019 Q2", "2020 Q1", "2020 Q2"]
    assert read.rows("book_one_two_heads") == [("N", 1, 2, 3, 4), ("S", 5, 6, 7, 8)]
    assert "Empty, not read: sheet Empty" in " ".join(read.result["notes"])


def test_old_workbooks_and_open_document_sheets_are_read(tmp_path: Path, importing: Importing) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("One")
    for r, line in enumerate([["a", "b"], [1, "x"], [2.5, "y"]]):
        for c, value in enumerate(line):
            sheet.write(r, c, value)
    book.save(str(tmp_path / "old.xls"))
    assert importing("files", tmp_path / "old.xls").rows() == [(1.0, "x"), (2.5, "y")]
    cells = "".join(
        "<table:table-row>" + "".join(cell for cell in row) + "</table:table-row>"
        for row in (
            ('<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>',
             '<table:table-cell office:value-type="string"><text:p>d</text:p></table:table-cell>'),
            ('<table:table-cell office:value-type="float" office:value="3"><text:p>3</text:p></table:table-cell>',
             '<table:table-cell office:value-type="date" office:date-value="2020-01-31"><text:p>31.1.</text:p></table:table-cell>'),
        )
    )  # fmt: skip
    space = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{space}:office:1.0" xmlns:table="{space}:table:1.0" '
        f'xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet><table:table table:name="S">{cells}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{space}:manifest:1.0"/>'
    parts = {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content}
    ods = _zip(tmp_path / "new.ods", parts | {"META-INF/manifest.xml": manifest})
    assert importing("files", ods).rows() == [(3, date(2020, 1, 31))]


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path, importing: Importing) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "good.xlsx")) as book:
        book.add_worksheet().write(0, 0, "x")
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good:
        parts = {name: good.read(name) for name in good.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    blown = sheet.replace(b"</worksheet>", b" " * (64 << 20) + b"</worksheet>")
    bomb = _zip(tmp_path / "bomb.xlsx", parts | {"xl/worksheets/sheet1.xml": blown})
    with pytest.raises(BadInput, match="250 times its size"):
        importing("files", bomb)
    far = sheet.replace(b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')
    with pytest.raises(BadInput, match="spans 17,179,869,184 cells"):
        importing("files", _zip(tmp_path / "far.xlsx", parts | {"xl/worksheets/sheet1.xml": far}))


# -- DuckDB ---------------------------------------------------------------------------------------------------------


def test_tables_and_views_of_a_duckdb_file_come_over_with_their_types(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        con.execute(
            "CREATE TABLE a AS SELECT 1::BIGINT AS i, 12.50::DECIMAL(9,2) AS d, 'ok'::mood AS m, 5::HUGEINT AS h, "
            "DATE '2020-01-01' AS t"
        )
        con.execute("CREATE VIEW v AS SELECT i * 2 AS twice FROM a")
    read = importing("files", path)
    assert read.types("a") == {"i": "BIGINT", "d": "DECIMAL(9,2)", "m": "VARCHAR", "h": "DECIMAL(38,0)", "t": "DATE"}
    assert read.rows("v") == [(2,)]


def test_a_view_that_reads_other_files_reads_nothing(tmp_path: Path, importing: Importing) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhidden\n")
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE a AS SELECT 1 AS i")
        con.execute(f"CREATE VIEW spy AS SELECT * FROM read_csv('{secret}')")
    read = importing("files", path)
    assert [t["name"] for t in read.result["tables"]] == ["a"]
    assert "The view spy" in " ".join(read.result["notes"])


def test_a_torn_duckdb_file_is_refused(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE a AS SELECT range AS i FROM range(100000)")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(BadInput, match="DuckDB file"):
        importing("files", path)


# -- archives -------------------------------------------------------------------------------------------------------


def test_a_zip_holds_files_of_any_kind_and_one_zip_within(tmp_path: Path, importing: Importing) -> None:
    inner = _zip(tmp_path / "inner.zip", {"deep.csv": "x;y\n1;2,5\n"})
    path = _zip(
        tmp_path / "all.zip",
        {"data/one.csv": "a,b\n1,2\n", "two.json": '[{"k": 1}]', "three.csv.gz": gzip.compress(b"p\tq\n1\t2\n"),
         "inner.zip": inner.read_bytes(), "readme.txt.md": "hello", "__MACOSX/._one.csv": "junk", "none.csv": ""},
    )  # fmt: skip
    read = importing("files", path)
    assert {t["name"]: t["rows"] for t in read.result["tables"]} == {"deep": 1, "one": 1, "three": 1, "two": 1}
    assert read.rows("deep") == [(1, 2.5)] and read.rows("three") == [(1, 2)]
    assert "readme.txt.md" in read.result["notes"][0] and "none.csv (empty)" in read.result["notes"][0]


def test_a_third_level_of_archives_is_refused(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "z0.zip"
    _zip(path, {"t.csv": "a\n1\n"})
    for level in (1, 2):
        path = _zip(tmp_path / f"z{level}.zip", {f"z{level - 1}.zip": path.read_bytes()})
    with pytest.raises(BadInput, match="one level deep"):
        importing("files", path)


@pytest.mark.parametrize("name", ["../up.csv", "/etc/abs.csv", "a/../../up.csv", "C:\\x.csv", "..\\up.csv"])
def test_names_that_point_outside_are_refused(tmp_path: Path, importing: Importing, name: str) -> None:
    path = _zip(tmp_path / "t.zip", {"ok.csv": "a\n1\n"})
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("x")
        info.filename = name
        archive.writestr(info, "a\n1\n")
    with pytest.raises(BadInput, match="points outside"):
        importing("files", path)


def test_links_encrypted_members_and_too_many_files_are_refused(tmp_path: Path, importing: Importing) -> None:
    link = zipfile.ZipInfo("passwd.csv")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="holds a link"):
        importing("files", tmp_path / "link.zip")
    with pytest.raises(BadInput, match="1,001 files"):
        importing("files", _zip(tmp_path / "many.zip", {f"{i}.csv": "a\n1\n" for i in range(1001)}))


def test_bombs_are_refused_by_what_comes_out(tmp_path: Path, importing: Importing) -> None:
    zeros = b"0,0\n" * (16 << 20)
    with pytest.raises(BadInput, match="250 times its size"):
        importing("files", _zip(tmp_path / "bomb.zip", {"t.csv": zeros}))
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(zeros))
    with pytest.raises(BadInput, match="250 times its size"):
        importing("files", tmp_path / "bomb.csv.gz")


def test_broken_archives_are_refused(tmp_path: Path, importing: Importing) -> None:
    good = _zip(tmp_path / "t.zip", {"t.csv": os.urandom(5000).hex()}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(good[: len(good) // 2])
    with pytest.raises(BadInput, match="zip archive cannot be read"):
        importing("files", tmp_path / "cut.zip")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 1000)[:-12])
    with pytest.raises(BadInput, match="gzip file cannot be read"):
        importing("files", tmp_path / "cut.csv.gz")


def test_a_folder_of_mixed_files_is_read_and_links_in_it_are_not_followed(tmp_path: Path, importing: Importing) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n1\n")
    (folder / "b.json").write_text('[{"y": 2}]')
    duckdb.sql("SELECT 3 AS z").write_parquet(str(folder / "c.parquet"))
    (tmp_path / "outside.csv").write_text("secret\n1\n")
    (folder / "d.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "e.csv").mkdir()
    os.mkfifo(folder / "f.csv")
    read = importing("files", folder)
    assert {t["name"] for t in read.result["tables"]} == {"a", "b", "c"}
    assert all(name in read.result["notes"][0] for name in ("d.csv", "e.csv", "f.csv"))
    with pytest.raises(BadInput, match="not a file"):
        importing("files", folder / "f.csv")
