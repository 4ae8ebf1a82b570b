"""SQLite files: every table becomes a dataset, whatever its name, and loosely typed values lose nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lexsi_ds.errors import BadInput
from tests.data.conftest import Importing

Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """``made(*statements)``: a SQLite file."""

    def run(*statements: str, name: str = "t.sqlite") -> Path:
        path = tmp_path / name
        with closing(sqlite3.connect(path)) as con, con:
            for statement in statements:
                con.execute(statement)
        return path

    return run


def test_each_table_and_view_is_a_dataset(made: Made, importing: Importing) -> None:
    path = made(
        "CREATE TABLE a (x INTEGER)", "INSERT INTO a VALUES (1), (2)", "CREATE VIEW v AS SELECT x * 2 AS y FROM a"
    )
    read = importing("sqlite", path)
    assert read.rows("a") == [(1,), (2,)] and read.rows("v") == [(2,), (4,)]


def test_columns_without_a_declared_type_are_read_by_their_values(made: Made, importing: Importing) -> None:
    read = importing("sqlite", made("CREATE TABLE a (x, y)", "INSERT INTO a VALUES (1, 'u'), (2, 'v')"))
    assert read.rows() == [(1, "u"), (2, "v")]


def test_names_with_quotes_and_spaces_survive(made: Made, importing: Importing) -> None:
    name = 'odd "na\'me"; DROP TABLE a --'
    quoted = '"' + name.replace('"', '""') + '"'
    path = made(f'CREATE TABLE {quoted} ("a ""b""" INTEGER, "select" TEXT)', f"INSERT INTO {quoted} VALUES (1, 'x')")
    read = importing("sqlite", path)
    assert read.table()["name"] == name and list(read.types()) == ['a "b"', "select"]
    assert read.rows() == [(1, "x")]


def test_values_that_break_their_declared_type_are_kept(made: Made, importing: Importing) -> None:
    path = made("CREATE TABLE a (x INTEGER, y REAL)", "INSERT INTO a VALUES (1, 1.5), ('abc', 2), (NULL, 'n')")
    read = importing("sqlite", path)
    assert read.rows(sql="SELECT x, y FROM data") == [("1", "1.5"), ("abc", "2.0"), (None, "n")]
    assert "not of their column's declared type" in read.notes()


def test_dates_and_numbers_held_as_text_get_their_types(made: Made, importing: Importing) -> None:
    path = made(
        "CREATE TABLE a (d TEXT, n TEXT, z TEXT, b TEXT)",
        "INSERT INTO a VALUES ('2020-01-31', '12', '007', ' '), ('2020-02-01', '7', '123', 'x')",
    )
    read = importing("sqlite", path)
    assert read.types() == {"d": "DATE", "n": "BIGINT", "z": "VARCHAR", "b": "VARCHAR"}
    assert read.column("b")["nulls"] == 1 and read.result["today"] == "2020-02-01"


def test_what_is_no_database_or_holds_no_table_is_refused(made: Made, tmp_path: Path, importing: Importing) -> None:
    torn = tmp_path / "torn.sqlite"
    torn.write_bytes(b"SQLite format 3\x00" + b"x" * 2000)
    with pytest.raises(BadInput, match="SQLite file cannot be read"):
        importing("sqlite", torn)
    with pytest.raises(BadInput, match="no table"):
        importing("sqlite", made("CREATE TABLE a (x)", "DROP TABLE a", name="none.sqlite"))


def test_chinook_comes_in_whole(shared_data: Path, importing: Importing) -> None:
    read = importing("sqlite", shared_data / "db" / "chinook.sqlite")
    rows = {t["name"]: t["rows"] for t in read.result["tables"]}
    assert rows == {
        "Album": 347, "Artist": 275, "Customer": 59, "Employee": 8, "Genre": 25, "Invoice": 412, "InvoiceLine": 2240,
        "MediaType": 5, "Playlist": 18, "PlaylistTrack": 8715, "Track": 3503,
    }  # fmt: skip
    masked = {c["name"] for c in read.table("Customer")["columns"] if c["masked"]}
    assert masked == {"FirstName", "LastName", "Address", "Phone", "Fax", "Email"}
    assert not any(c["masked"] for c in read.table("Artist")["columns"])


def test_the_banks_tables_are_known_in_a_database_too(shared_data: Path, importing: Importing) -> None:
    read = importing("sqlite", shared_data / "db" / "financial.sqlite")
    assert read.types("loan")["date"] == "DATE" and read.types("district")["A4"] == "BIGINT"
    assert read.column("A11", "district")["comment"] == "Average salary, CZK a month."
    assert read.column("gender", "client")["protected"]
    assert read.column("k_symbol", "order")["nulls"] == 1379
