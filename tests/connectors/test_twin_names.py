"""Names that differ by case alone: DuckDB's names know no case, so each must still come with its own values, or be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import mysql_config, postgres_config
from tests.connectors.servers import Server, mariadb_owner, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")
Rows = Callable[[Any, str], list[tuple[Any, ...]]]

TWINS = """
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE cust ("Id" int, "id" text, "ID" date, v text, c numeric, s shade, dom int[]);
INSERT INTO cust VALUES (1, 'x', '2020-01-01', 'p', 1.5, 'dark', '{1,2}'), (2, 'y', '2020-01-02', 'q', 2.25, 'light', '{3}');
COMMENT ON COLUMN cust."ID" IS 'The day';
CREATE TABLE two ("Name" text, "name" text); INSERT INTO two VALUES ('A', 'b');
CREATE TABLE same (v int); INSERT INTO same VALUES (1);
CREATE TABLE "Same" (v int); INSERT INTO "Same" VALUES (22);
CREATE TABLE "SAME" (v text, w int); INSERT INTO "SAME" VALUES ('333', 4);
"""


@pytest.fixture(scope="module")
def twins(postgres: Server) -> Server:
    with postgres_owner(postgres) as owner:
        owner.execute("CREATE DATABASE twins")
    with postgres_owner(postgres, "twins") as owner:
        owner.execute(TWINS)
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO lexsi_reader")
    return postgres


@pytest.mark.parametrize("in_place", [False, True], ids=["copied", "in place"])
def test_columns_of_postgres_that_differ_by_case_alone_keep_their_own_values(
    app: Application, twins: Server, rows: Rows, in_place: bool
) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(twins, database="twins"), in_place=in_place)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["cust", "two"])
    cust = handle.table("cust")
    assert cust is not None
    assert [c.name for c in cust.columns] == ["Id", "id_2", "ID_3", "v", "c", "s", "dom"]
    assert {c.name: c.type for c in cust.columns if c.name in ("Id", "id_2", "ID_3")} == {
        "Id": "INTEGER", "id_2": "VARCHAR", "ID_3": "DATE"
    }
    assert cust.columns[2].comment == "The day"
    asked = ("SELECT Id, id_2, CAST(ID_3 AS VARCHAR), v, CAST(c AS DOUBLE), CAST(s AS VARCHAR), CAST(dom AS VARCHAR) "
             "FROM cust ORDER BY 1")
    assert rows(handle, asked) == [
        (1, "x", "2020-01-01", "p", 1.5, "dark", "[1, 2]"), (2, "y", "2020-01-02", "q", 2.25, "light", "[3]")
    ]
    assert rows(handle, 'SELECT "Name", name_2 FROM two') == [("A", "b")]
    assert "numbered: id_2, ID_3" in "\n".join(app.catalog.notes(LOCAL, connector.id))


def test_tables_of_postgres_that_differ_by_case_alone_are_copied_each_by_its_own_name(
    app: Application, twins: Server, rows: Rows
) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(twins, database="twins"))
    wanted = ["same", "Same", "SAME"]
    handle = app.connectors.ingest_tables(LOCAL, connector.id, wanted)
    got = {t.name: rows(handle, f'SELECT * FROM "{t.name}"') for t in handle.tables}
    assert sorted(got.values(), key=str) == [[("333", 4)], [(1,)], [(22,)]], got


def test_tables_of_postgres_that_differ_by_case_alone_are_refused_in_place(app: Application, twins: Server) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(twins, database="twins"), in_place=True)
    with pytest.raises(BadInput, match="differs by case alone") as caught:
        app.connectors.ingest_tables(LOCAL, connector.id, ["Same"])
    assert "ngest" in caught.value.to_do


def test_tables_of_mariadb_that_differ_by_case_alone_are_copied_each_by_its_own_name(
    app: Application, mariadb: Server, rows: Rows
) -> None:
    mariadb_owner(mariadb, "CREATE DATABASE twins; USE twins; CREATE TABLE same AS SELECT 1 AS v, 'é' AS x; "
                           "CREATE TABLE Same AS SELECT 22 AS v, 'b' AS x; GRANT SELECT ON twins.* TO lexsi_reader@'%'")
    connector = app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb, database="twins"))
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["same", "Same"])
    got = [rows(handle, f'SELECT v, x FROM "{t.name}"') for t in handle.tables]
    assert sorted(got, key=str) == [[(1, "é")], [(22, "b")]]
