"""Results as files, read back by other programs: whole, in the locale's way, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date, datetime
from typing import Any

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.exports import CSV_STYLES, CsvStyle, Export
from tests.catalog.conftest import ADA, BEN, Importing

_ODD = (
    "SELECT * FROM (VALUES (1, 1.5::DOUBLE, 12.30::DECIMAL(9,2), DATE '2020-02-29', TIMESTAMP '2020-01-02 03:04:05', true, "
    "'plain', 9007199254740993::HUGEINT), "
    "(-2, 'nan'::DOUBLE, NULL, DATE '1800-01-01', NULL, NULL, '=1+1', 5), "
    "(3, 'inf'::DOUBLE, -0.05, NULL, NULL, false, '-3.5', NULL), "
    "(4, 1e-9, 0, NULL, NULL, NULL, '@x;\"y\"', NULL), (5, -0.1, 0, NULL, NULL, NULL, 'žluťoučký\nkůň', NULL)) "
    "AS t(i, f, d, day, moment, ok, \"=txt\", big)"
)


@pytest.fixture
def handle(importing: Importing) -> DatasetHandle:
    return importing({"people": "id,day\n1,2020-01-01\n2,2021-06-30\n"}, "Staff")


def _export(app: Application, handle: DatasetHandle, sql: str, kind: Any, **given: Any) -> Export:
    return app.exports.result(ADA, app.sql.run(handle, sql), handle, sql, kind, **given)


def _rows(made: Export, delimiter: str = ",") -> list[list[str]]:
    text = made.path.read_bytes().decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_a_csv_holds_every_value_whole_and_starts_no_formula(app: Application, handle: DatasetHandle) -> None:
    made = _export(app, handle, _ODD, "csv")
    assert made.rows == 5 and made.mime == "text/csv" and made.file_name == "Result.csv"
    assert not made.path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert _rows(made) == [
        ["i", "f", "d", "day", "moment", "ok", "'=txt", "big"],
        ["1", "1.5", "12.30", "2020-02-29", "2020-01-02 03:04:05", "true", "plain", "9007199254740993"],
        ["-2", "", "", "1800-01-01", "", "", "'=1+1", "5"],
        ["3", "inf", "-0.05", "", "", "false", "-3.5", ""],
        ["4", "1e-09", "0.00", "", "", "", "'@x;\"y\"", ""],
        ["5", "-0.1", "0.00", "", "", "", "žluťoučký\nkůň", ""],
    ]


def test_a_csv_goes_by_the_locale_that_was_chosen(app: Application, handle: DatasetHandle) -> None:
    made = _export(app, handle, _ODD, "csv", style=CSV_STYLES["Semicolon, decimal comma, for Excel"])
    assert made.path.read_bytes().startswith(b"\xef\xbb\xbf")
    rows = _rows(made, ";")
    assert rows[1][:3] == ["1", "1,5", "12,30"] and rows[5][1] == "-0,1" and rows[4][6] == "'@x;\"y\""
    read = pd.read_csv(made.path, sep=";", decimal=",", encoding="utf-8-sig")
    assert read["f"].tolist()[0] == 1.5 and read["d"].tolist()[2] == -0.05
    with pytest.raises(BadInput, match="decimal mark"):
        _export(app, handle, _ODD, "csv", style=CsvStyle(delimiter=",", decimal=","))


def test_a_parquet_file_holds_the_rows_with_their_types_also_when_a_name_comes_twice(
    app: Application, handle: DatasetHandle
) -> None:
    made = _export(app, handle, "SELECT 1 AS n, 2 AS n, DATE '2020-01-01' AS d FROM range(0, 200000)", "parquet")
    table = pq.read_table(made.path)
    assert table.num_rows == made.rows == 200_000 and table.column_names == ["n", "n (2)", "d"]
    assert str(table.schema.field("d").type).startswith("date")


def test_a_workbook_holds_values_as_they_are_and_says_what_they_are(app: Application, handle: DatasetHandle) -> None:
    made = _export(app, handle, _ODD, "xlsx", title="Odd / values?")
    assert made.file_name == "Odd_values.xlsx"
    book = CalamineWorkbook.from_path(str(made.path))
    assert book.sheet_names == ["Result", "About"]
    rows = book.get_sheet_by_name("Result").to_python()
    assert rows[0] == ["i", "f", "d", "day", "moment", "ok", "=txt", "big"]
    assert rows[1] == [1, 1.5, 12.3, date(2020, 2, 29), datetime(2020, 1, 2, 3, 4, 5), True, "plain", "9007199254740993"]
    assert rows[2][:4] == [-2, "", "", "1800-01-01"] and rows[2][6] == "=1+1"
    assert rows[3][1:3] == ["inf", -0.05] and rows[3][6] == "-3.5" and rows[5][6] == "žluťoučký\nkůň"
    with zipfile.ZipFile(made.path) as packed:
        sheets = b"".join(packed.read(name) for name in packed.namelist() if "worksheets/" in name)
    assert b"<f>" not in sheets and b"hyperlink" not in sheets
    about = dict(book.get_sheet_by_name("About").to_python())
    assert about["SQL"] == _ODD and about["Source"] == "Staff" and about["Data date"] == "2021-06-30"
    assert about["Data version"] == f"1 ({handle.snapshot_id})" and (about["Rows"], about["Columns"]) == ("5", "8")
    assert about["Kept as text"].startswith("2 values")


def test_what_a_sheet_cannot_hold_is_an_error_and_never_a_cut(app: Application, handle: DatasetHandle) -> None:
    folder = app.settings.home / "tmp" / "exports"
    before = set(folder.glob("*"))
    too_many = "SELECT i FROM range(0, 1048576) AS t(i)"
    with pytest.raises(BadInput, match="1,048,576 rows") as refused:
        _export(app, handle, too_many, "xlsx")
    assert "CSV or Parquet" in refused.value.to_do
    with pytest.raises(BadInput, match="40,000 characters") as refused:
        _export(app, handle, "SELECT repeat('x', 40000) AS t", "xlsx")
    assert refused.value.where == "column t, row 1"
    assert set(folder.glob("*")) == before
    assert _export(app, handle, too_many, "csv").rows == 1_048_576
    long_sql = "SELECT 1 AS n -- " + "x" * 40_000
    made = app.exports.result(ADA, app.sql.run(handle, "SELECT 1 AS n"), handle, long_sql, "xlsx")
    about = CalamineWorkbook.from_path(str(made.path)).get_sheet_by_name("About").to_python()
    assert "".join(text for name, text in about if name in ("SQL", "SQL (continued)")) == long_sql


def test_the_largest_sheet_is_written_whole(app: Application, handle: DatasetHandle) -> None:
    from lexsi_ds.data import workbook

    made = _export(app, handle, "SELECT i FROM range(0, 60000) AS t(i)", "xlsx")
    rows = CalamineWorkbook.from_path(str(made.path)).get_sheet_by_name("Result").to_python()
    assert len(rows) == 60_001 and rows[-1] == [59_999]
    workbook.check_size(workbook.MAX_ROWS - 1, workbook.MAX_COLUMNS)
    for rows_, columns in ((workbook.MAX_ROWS, 1), (1, workbook.MAX_COLUMNS + 1)):
        with pytest.raises(BadInput):
            workbook.check_size(rows_, columns)


def test_an_answer_is_exported_with_its_question_reading_and_version(app: Application, handle: DatasetHandle) -> None:
    conversation = app.chats.new(ADA, handle.source_id)
    run_id = app.chats.ask(ADA, conversation, "How many people are there?", handle.source_id)
    while not any(e["type"] == "done" for e in app.chats.events(ADA, run_id, wait=1.0)):
        pass
    frame = next(a for a in app.artifacts.of_run(ADA, run_id) if a.kind == "frame")
    made = app.exports.artifact(ADA, frame.id, "xlsx")
    about = dict(CalamineWorkbook.from_path(str(made.path)).get_sheet_by_name("About").to_python())
    assert about["Question"] == "How many people are there?" and about["Data version"] == f"1 ({handle.snapshot_id})"
    assert "SELECT" in about["SQL"] and about["Reading"] and about["Source"] == "Staff"
    with duckdb.connect() as db:
        path = app.exports.artifact(ADA, frame.id, "parquet").path
        assert db.execute(f"SELECT * FROM '{path}'").fetchall() == [(2,)]
    other = next(a for a in app.artifacts.of_run(ADA, run_id) if a.kind == "json")
    with pytest.raises(BadInput):
        app.exports.artifact(ADA, other.id, "csv")
    with pytest.raises(NotFound):
        app.exports.artifact(BEN, frame.id, "csv")
    with pytest.raises(Denied):
        app.exports.artifact(Actor("ada", "Ada", frozenset()), frame.id, "csv")
