"""One odd table, view or value in a database file does not take the other tables away."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb

from lexsi_ds.data.planning import plan
from tests.data.conftest import Importing


def _sqlite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


def test_a_view_on_a_table_that_is_gone_is_left_out_and_said(tmp_path: Path, importing: Importing) -> None:
    path = _sqlite(
        tmp_path / "t.sqlite", "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)", "CREATE VIEW v AS SELECT * FROM gone",
        "CREATE VIEW ok AS SELECT id + 1 AS n FROM t",
    )  # fmt: skip
    read = importing("sqlite", path)
    assert read.rows("t") == [(1,)] and read.rows("ok") == [(2,)] and len(read.result["tables"]) == 2
    assert "t.sqlite: v" in " ".join(read.result["notes"])
    found = plan([path], {})
    assert [p["table"] for p in found["plans"]] == ["t", "ok"] and "t.sqlite: v" in " ".join(found["notes"])


def test_bytes_beside_a_value_of_another_type_are_kept(tmp_path: Path, importing: Importing) -> None:
    path = _sqlite(
        tmp_path / "t.sqlite", "CREATE TABLE good (id INTEGER)", "INSERT INTO good VALUES (7)",
        "CREATE TABLE t (id INTEGER, a INTEGER, b BLOB, m)",
        "INSERT INTO t VALUES (1, 'x', x'00ff', x'01'), (2, 5, NULL, 'word'), (3, 6, x'', 2.5)",
    )  # fmt: skip
    read = importing("sqlite", path)
    assert read.rows("good") == [(7,)]
    assert read.rows("t") == [(1, "x", b"\x00\xff", "x'01'"), (2, "5", None, "word"), (3, "6", b"", "2.5")]
    assert "hexadecimal" in read.notes("t")


def test_text_that_is_no_utf8_is_read_and_said(tmp_path: Path, importing: Importing) -> None:
    path = _sqlite(
        tmp_path / "t.sqlite", "CREATE TABLE t (id INTEGER, a TEXT)", "INSERT INTO t VALUES (1, CAST(x'ff41' AS TEXT)), (2, 'ž')"
    )
    read = importing("sqlite", path)
    assert read.rows() == [(1, "\ufffdA"), (2, "ž")] and "1 text is no UTF-8" in read.notes()


def test_numbers_beyond_what_can_be_held_come_over_as_text(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "t.duckdb"
    most = 2**127 - 1
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE good AS SELECT 1 AS a")
        db.execute(f"CREATE TABLE t AS SELECT 1 AS id, {most}::HUGEINT AS h UNION ALL SELECT 2, 5")
    read = importing("files", path)
    assert read.rows("good") == [(1,)] and read.rows("t", "SELECT * FROM data ORDER BY id") == [(1, str(most)), (2, "5")]
    assert "h came over as text" in read.notes("t")


def test_a_table_too_wide_is_left_out_of_a_database_file_and_said(
    tmp_path: Path, importing: Importing
) -> None:
    path, wide = tmp_path / "t.duckdb", ", ".join(f"{i} AS c{i}" for i in range(2_001))
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE good AS SELECT 1 AS a")
        db.execute(f"CREATE TABLE wide AS SELECT {wide}")
    read = importing("files", path)
    assert read.rows("good") == [(1,)] and "2,001 columns" in " ".join(read.result["notes"])
