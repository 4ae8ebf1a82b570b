"""DuckDB files with several schemas, with views whose columns differ by case alone, and with names that meet."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tests.data.conftest import Importing


def test_tables_of_every_schema_come_with_the_schema_in_their_name(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("""
            CREATE TABLE orders AS SELECT 1 AS v; CREATE TABLE sales_orders AS SELECT 'own' AS v;
            CREATE SCHEMA sales; CREATE TABLE sales.orders AS SELECT 22 AS v, DATE '20000-01-01' AS d;
            CREATE SCHEMA "a ""b"; CREATE VIEW "a ""b".seen AS SELECT v + 1 AS v FROM sales.orders;
            CREATE VIEW twins AS SELECT 1 AS "Id", 'x' AS "id", DATE '2020-01-01' AS "ID";
        """)
    made = importing("files", path)
    names = [t["name"] for t in made.result["tables"]]
    assert len(names) == 5 and {"orders", "sales_orders", "sales_orders_2"} <= set(names)
    assert made.rows("orders") == [(1,)] and made.rows("sales_orders") == [("own",)]
    assert made.rows("sales_orders_2", "SELECT v FROM data") == [(22,)]
    (view,) = (n for n in names if n.endswith("seen"))
    assert made.rows(view) == [(23,)]
    assert made.rows("twins", "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM data") == [("1", "x", "2020-01-01")]


def test_a_file_with_tables_in_another_schema_alone_is_read(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE SCHEMA sales; CREATE TABLE sales.orders AS SELECT 22 AS v")
    made = importing("files", path)
    assert made.table()["name"] == "sales_orders" and made.rows() == [(22,)]
