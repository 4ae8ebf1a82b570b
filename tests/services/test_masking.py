from __future__ import annotations

import pytest

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.services.masking import MASK, mask

from .conftest import Shelf

SECRET = 706213
SELECT = f"SELECT 1 AS client_id, {SECRET} AS birth_number, 18 AS district_id, 'F' AS sex"


@pytest.fixture
def client(shelf: Shelf) -> Table:
    return shelf.put(SELECT, name="client", masked=("birth_number",))


@pytest.mark.parametrize("query", [
    "SELECT birth_number FROM dataset",
    "SELECT * FROM dataset",
    "FROM dataset",
    "SELECT d.* FROM dataset AS d",
    "SELECT * EXCLUDE (sex) FROM dataset",
    "SELECT * RENAME (birth_number AS b) FROM dataset",
    "SELECT * REPLACE (birth_number AS district_id) FROM dataset",
    "SELECT birth_number AS district_id FROM dataset",
    "SELECT birth_number AS x, x AS y FROM dataset",
    "SELECT birth_number AS district_id, district_id AS y FROM dataset",
    "SELECT birth_number + 0 AS n FROM dataset",
    "SELECT max(birth_number) AS n FROM dataset",
    "SELECT first(birth_number) OVER () AS n, district_id FROM dataset",
    "SELECT #2 FROM dataset",
    "SELECT COLUMNS('b.*') FROM dataset",
    "SELECT COLUMNS(c -> c LIKE 'b%') FROM dataset",
    "SELECT dataset FROM dataset",
    "SELECT d AS client_id FROM dataset AS d",
    "SELECT unnest([birth_number]) AS client_id FROM dataset",
    "SELECT (SELECT birth_number) AS n FROM dataset",
    "SELECT d FROM dataset AS t(a, d, c, e)",
    "SELECT district_id FROM dataset AS t(a, district_id, c, e)",
    "SELECT n AS client_id FROM (SELECT birth_number AS n FROM dataset)",
    "WITH x AS (SELECT birth_number AS client_id FROM dataset) SELECT client_id FROM x",
    "SELECT client_id FROM dataset UNION ALL SELECT birth_number FROM dataset",
    "SELECT a.client_id, b.birth_number AS sex FROM dataset a JOIN dataset b USING (client_id)",
    "SELECT birth_number % 1000000 AS n FROM dataset",
    "SELECT list(birth_number) AS n FROM dataset GROUP BY client_id",
    "SELECT {'a': birth_number} AS n FROM dataset",
    "SELECT struct_pack(b := birth_number) AS n FROM dataset",
    "PIVOT dataset ON sex USING max(birth_number)",
    "UNPIVOT dataset ON client_id, birth_number, district_id INTO NAME k VALUE v",
])
def test_no_select_carries_a_masked_value_out(client: Table, sql: SqlRunner, query: str) -> None:
    shown = mask(sql.frame_on_table(client, query), query, client)
    assert str(SECRET) not in shown.to_csv()
    assert MASK in shown.to_csv()


@pytest.mark.parametrize(("query", "cells"), [
    ("SELECT client_id, district_id FROM dataset WHERE birth_number > 0 ORDER BY birth_number", [1, 18]),
    ("SELECT client_id, birth_number, upper(sex) AS s FROM client", [1, MASK, "F"]),
    ("SELECT * FROM dataset", [1, MASK, 18, "F"]),
    ("SELECT sex, count(*) AS n FROM dataset GROUP BY sex HAVING max(birth_number) > 0", ["F", 1]),
])
def test_what_is_not_masked_stays(client: Table, sql: SqlRunner, query: str, cells: list[object]) -> None:
    shown = mask(sql.frame_on_table(client, query), query, client)
    assert shown.iloc[0].tolist() == cells


def test_a_missing_value_stays_missing_and_rows_stay(shelf: Shelf, sql: SqlRunner) -> None:
    table = shelf.put("SELECT * FROM (VALUES (1, 'x'), (2, NULL)) t(id, name)", masked=("name",))
    shown = mask(sql.frame_on_table(table, "SELECT * FROM dataset ORDER BY id"), "SELECT * FROM dataset ORDER BY id", table)
    assert shown["id"].tolist() == [1, 2]
    assert shown["name"].iloc[0] == MASK and shown["name"].isna().tolist() == [False, True]


def test_a_table_without_masked_columns_is_shown_as_it_is(shelf: Shelf, sql: SqlRunner) -> None:
    table = shelf.put(SELECT)
    query = "SELECT birth_number AS b FROM dataset"
    assert mask(sql.frame_on_table(table, query), query, table)["b"].tolist() == [SECRET]
