"""Choices for columns hold for every format, also for those that say their types themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path

import duckdb
import pytest
import xlsxwriter

from lexsi_ds.data.plan import ReadPlan, plan_options
from lexsi_ds.data.planning import plan, preview
from tests.data.conftest import Importing

_ROWS = [(1, "5", "2020-01-31", -200.0, "x"), (2, "six", "2020-02-01", 1.5, "y"), (3, "7", "?", 2.5, "z")]
_NAMES = ("id", "qty", "day", "level", "junk")


def _parquet(path: Path) -> None:
    values = ", ".join(f"({i}, '{q}', '{d}', {v}::DOUBLE, '{j}')" for i, q, d, v, j in _ROWS)
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {values}) t({', '.join(_NAMES)})) TO '{path}' (FORMAT parquet)")


def _duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t (id INTEGER, qty VARCHAR, day VARCHAR, level DOUBLE, junk VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", _ROWS)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (id INTEGER, qty TEXT, day TEXT, level REAL, junk TEXT)")
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", _ROWS)


def _excel(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("t")
        for n, row in enumerate([_NAMES, *_ROWS]):
            sheet.write_row(n, 0, row)


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.parquet", _parquet), ("t.duckdb", _duckdb), ("t.sqlite", _sqlite), ("t.xlsx", _excel)],
)
def test_choices_for_columns_hold_in_every_format(
    tmp_path: Path, importing: Importing, name: str, write: Callable[[Path], None]
) -> None:
    path = tmp_path / name
    write(path)
    (found,) = plan([path], {})["plans"]
    chosen = (
        ReadPlan.model_validate(found)
        .change_column(0, name="key", identifier=True)
        .change_column(1, type="integer")
        .change_column(2, type="date")
        .change_column(3, missing=("-200",))
        .change_column(4, include=False)
    )
    read = importing("files", path, **plan_options([chosen]))
    assert list(read.types()) == ["key", "qty", "day", "level"]
    assert read.rows() == [
        (1, 5, date(2020, 1, 31), None), (2, None, date(2020, 2, 1), 1.5), (3, 7, None, 2.5),
    ]  # fmt: skip
    assert read.column("key")["identifier"]
    assert "Left out by choice: junk." in read.notes() and "1 value of level such as -200" in read.notes()
    kept = Path(read.table()["rejected_path"]).read_text().splitlines()
    assert kept[1:] == [",NO INTEGER: THE CELL IS MISSING IN THE TABLE,six,2,qty"]
    shown = preview(path, chosen)
    assert shown.columns == ("key", "qty", "day", "level") and shown.rows[1] == (2, None, "2020-02-01", 1.5)
    assert shown.plan.columns[1].chosen == ("type",)


def test_a_code_chosen_for_the_whole_file_is_missing_in_every_column(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT unnest([1, -200, 3]) AS a, unnest(['x', '-200', 'z']) AS b) TO '{path}' (FORMAT parquet)")
    (found,) = plan([path], {})["plans"]
    read = importing("files", path, **plan_options([ReadPlan.model_validate(found).change(missing=("-200",))]))
    assert read.rows() == [(1, "x"), (None, None), (3, "z")] and read.types() == {"a": "INTEGER", "b": "VARCHAR"}


@pytest.mark.parametrize("ending", ["parquet", "sqlite", "duckdb"])
def test_a_masked_mark_chosen_before_the_import_holds(tmp_path: Path, importing: Importing, ending: str) -> None:
    path = tmp_path / f"m.{ending}"
    if ending == "parquet":
        duckdb.sql("SELECT 1 AS id, 'x' AS sec").write_parquet(str(path))
    elif ending == "duckdb":
        with duckdb.connect(str(path)) as db:
            db.execute("CREATE TABLE m AS SELECT 1 AS id, 'x' AS sec")
    else:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("CREATE TABLE m AS SELECT 1 AS id, 'x' AS sec")
    found = ReadPlan.model_validate(plan([path], {})["plans"][0]).change_column(1, masked=True)
    assert not importing("files", path).column("sec")["masked"]
    column = importing("files", path, **plan_options([found])).column("sec")
    assert column["masked"] and column["minimum"] is None and column["maximum"] is None
