"""PostgreSQL and MariaDB: what comes over, what is refused, and what is left when a server dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError, NotFound, Stopped
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import LOCAL
from lexsi_ds.services.connector_info import ConnectorInfo
from tests.connectors import servers
from tests.connectors.conftest import (
    BIG_ROWS,
    WRONG,
    Told,
    mysql_config,
    postgres_config,
)
from tests.connectors.servers import Server, mariadb_owner, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")

Rows = Callable[[Any, str], list[tuple[Any, ...]]]
ODD_SCHEMA, ODD_TABLE = 'od"d; DROP', "ta'b\"le; DROP TABLE orders; --"
ODD_MYSQL = "ta`b'l\"e; DROP TABLE orders; \\\\ --"


def types(handle: Any, table: str) -> dict[str, str]:
    found = handle.table(table)
    assert found is not None, [t.name for t in handle.tables]
    return {c.name: c.type for c in found.columns}


# -- PostgreSQL ----------------------------------------------------------------------------------------------------


def test_postgres_lists_only_what_the_role_may_read(app: Application, pg: ConnectorInfo) -> None:
    found = {(t.schema_name, t.table_name): t for t in app.connectors.list_connector_tables(LOCAL, pg.id)}
    assert set(found) == {
        ("public", "orders"), ("public", "big"), ("public", "slow"), (ODD_SCHEMA, ODD_TABLE), (ODD_SCHEMA, "orders"),
    }
    orders = found["public", "orders"]
    assert (orders.rows, orders.comment) == (1000, "Orders of the shop, it's all")
    assert pg.warnings == ()


def test_postgres_tables_come_over_with_types_comments_and_values(app: Application, pg: ConnectorInfo, rows: Rows) -> None:
    handle = app.connectors.ingest_tables(LOCAL, pg.id, ["public.orders"])
    orders = handle.table("orders")
    assert orders is not None and (orders.rows, orders.comment) == (1000, "Orders of the shop, it's all")
    assert types(handle, "orders") == {
        "id": "INTEGER", "customer_code": "VARCHAR", "amount": "DECIMAL(12,2)", "loose": "DOUBLE", "placed": "DATE",
        "at": "TIMESTAMP WITH TIME ZONE", "paid": "BOOLEAN", "mood": "ENUM('low', 'high')", "tags": "VARCHAR[]",
        "body": "VARCHAR", "key": "UUID",
    }
    amount = orders.column("amount")
    assert amount is not None and (amount.comment, amount.minimum, amount.distinct) == ("In euro", "1.25", 1000)
    assert handle.today == date(2024, 12, 31)
    got = rows(handle, "SELECT customer_code, amount, CAST(placed AS VARCHAR), paid, mood, tags[2], body FROM orders WHERE id = 6")
    assert [tuple(map(str, r)) for r in got] == [("00006", "6.25", "2024-01-07", "True", "low", "6", '{"n": 6}')]
    assert rows(handle, "SELECT sum(amount), count(mood), count(*) FROM orders") == [(500750.0, 333, 1000)]
    assert any("numeric without a precision" in note for note in app.catalog.notes(LOCAL, pg.id))


def test_hostile_names_in_postgres_are_read_as_they_are(app: Application, pg: ConnectorInfo, rows: Rows, postgres: Server) -> None:
    app.connectors.ingest_tables(LOCAL, pg.id, [{"schemaName": "public", "tableName": "orders"}])  # so that a name is taken
    tables = [{"schemaName": ODD_SCHEMA, "tableName": ODD_TABLE}, {"schemaName": ODD_SCHEMA, "tableName": "orders"}]
    handle = app.connectors.ingest_tables(LOCAL, pg.id, tables)
    assert list(types(handle, ODD_TABLE)) == ["co\"l'1; SELECT", "žluťoučký kůň 🐎"]
    assert rows(handle, 'SELECT * FROM "ta\'b""le; DROP TABLE orders; --"') == [(7, "ahoj")]
    others = [t.name for t in handle.tables if t.name not in ("orders", ODD_TABLE)]
    assert [n for n in others if n.startswith('od"d; DROP_orders')], others
    with postgres_owner(postgres, "shop") as owner:
        assert owner.execute("SELECT count(*) FROM orders").fetchone() == (1000,)


@pytest.mark.parametrize("name", [
    "public.orders; DROP TABLE orders", "orders' OR '1'='1", 'orders" WHERE 1=1 --', "private.salaries", "not_granted",
    "pg_catalog.pg_authid", "information_schema.tables", "", "../orders", "orders)",
])
def test_a_table_that_was_not_listed_is_not_there(app: Application, pg: ConnectorInfo, name: str) -> None:
    with pytest.raises(NotFound, match="no such table"):
        app.connectors.ingest_tables(LOCAL, pg.id, [name])


def test_a_bare_name_in_two_schemas_is_asked_back(app: Application, pg: ConnectorInfo) -> None:
    with pytest.raises(BadInput, match="Several schemas"):
        app.connectors.ingest_tables(LOCAL, pg.id, ["orders"])


def test_refresh_makes_a_new_version_and_leaves_the_old_one_readable(
    app: Application, postgres: Server, rows: Rows
) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(postgres))
    with postgres_owner(postgres, "shop") as owner:
        owner.execute("CREATE TABLE fresh AS SELECT 1 AS v; GRANT SELECT ON fresh TO lexsi_reader")
        before = app.connectors.ingest_tables(LOCAL, connector.id, ["fresh"])
        owner.execute("UPDATE fresh SET v = 2")
        after = app.connectors.refresh(LOCAL, connector.id)
        owner.execute("DROP TABLE fresh")
    assert rows(before, "SELECT v FROM fresh") == [(1,)]
    assert rows(after, "SELECT v FROM fresh") == [(2,)]
    assert (after.tables[0].dataset_id, after.tables[0].version) == (before.tables[0].dataset_id, 2)
    with pytest.raises(NotFound):
        app.connectors.refresh(LOCAL, connector.id)
    assert app.catalog.handle(LOCAL, connector.id).snapshot_id == after.snapshot_id
    app.connectors.delete(LOCAL, connector.id)
    with pytest.raises(NotFound):
        app.connectors.get(LOCAL, connector.id)


def test_a_role_that_may_write_is_warned_of_and_a_superuser_may_not_query_in_place(app: Application, postgres: Server) -> None:
    writer = app.connectors.connect(LOCAL, "postgres", postgres_config(postgres, user="writer"))
    assert "may change 1 table" in writer.warnings[0] and "docs/connectors.md" in writer.warnings[-1]
    owner = postgres_config(postgres, user="owner", password=servers.OWNER_PASSWORD)
    assert "superuser" in app.connectors.connect(LOCAL, "postgres", owner).warnings[0]
    with pytest.raises(BadInput, match="role that may only read"):
        app.connectors.connect(LOCAL, "postgres", owner, in_place=True)


@pytest.mark.parametrize(("change", "said"), [
    ({"password": WRONG}, "does not let this user in"),
    ({"database": "nowhere"}, "no database of this name"),
    ({"port": 1}, "cannot be reached"),
    ({"sslmode": "require"}, "secure connection"),
])
def test_what_is_wrong_with_a_postgres_is_said(app: Application, postgres: Server, change: dict[str, Any], said: str) -> None:
    before = len(app.connectors.list(LOCAL))
    with pytest.raises(BadInput, match=said) as caught:
        app.connectors.connect(LOCAL, "postgres", postgres_config(postgres, **change))
    assert caught.value.to_do and str(change.get("port", postgres.port)) in caught.value.where
    assert len(app.connectors.list(LOCAL)) == before


def test_a_large_table_tells_its_progress_and_a_stop_ends_the_far_sides_work(
    app: Application, pg: ConnectorInfo, postgres: Server
) -> None:
    told, cancel = Told(), Cancel()

    def tell(body: dict[str, Any]) -> None:
        told(body)
        if body.get("text", "").startswith("Copying public.slow"):
            threading.Timer(0.5, cancel.set).start()

    before = app.connectors.ingest_tables(LOCAL, pg.id, ["public.orders"]).snapshot_id
    with pytest.raises(Stopped):
        app.connectors.ingest_tables(LOCAL, pg.id, ["slow"], cancel=cancel, tell=tell)
    assert any(body["text"].startswith("Copying public.slow") for body in told.seen)
    assert app.catalog.handle(LOCAL, pg.id).snapshot_id == before
    with postgres_owner(postgres) as owner:
        end = time.monotonic() + 20
        while owner.execute("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%slow%' AND application_name = 'lexsi_ds' "
                            "AND state = 'active'").fetchone() != (0,):
            assert time.monotonic() < end, "the database is still at work for nobody"
            time.sleep(0.2)


def test_a_large_postgres_table_comes_over_whole(app: Application, pg: ConnectorInfo, rows: Rows) -> None:
    told = Told()
    handle = app.connectors.ingest_tables(LOCAL, pg.id, ["big"], tell=told)
    assert rows(handle, "SELECT count(*), sum(id), max(words) FROM big") == [
        (BIG_ROWS, BIG_ROWS * (BIG_ROWS + 1) / 2, rows(handle, "SELECT max(md5(CAST(id AS VARCHAR))) FROM big")[0][0])
    ]
    shares = [body["done"] for body in told.seen if body.get("total") == 1]
    assert shares == sorted(shares) and shares[-1] == 1
    assert any("about 400,000 rows" in body["text"] for body in told.seen)


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_server_that_dies_in_the_middle_leaves_the_old_version_and_says_so(app: Application, kind: str, rows: Rows) -> None:
    server = servers.start_postgres() if kind == "postgres" else servers.start_mariadb()
    try:
        if kind == "postgres":
            with postgres_owner(server) as owner:
                owner.execute("CREATE VIEW slow AS SELECT i AS id, repeat('x', 2000) AS pad, pg_sleep(0.002)::text AS s "
                              "FROM generate_series(1, 500000) i; CREATE TABLE small AS SELECT 1 AS v")
            config = postgres_config(server, user="owner", password=servers.OWNER_PASSWORD, database="postgres")
        else:
            mariadb_owner(server, "CREATE DATABASE shop; CREATE VIEW shop.slow AS SELECT seq AS id, repeat('x', 2000) AS pad, "
                                  "sleep(0.002) AS s FROM mysql.seq_1_to_500000; CREATE TABLE shop.small AS SELECT 1 AS v; "
                                  "CREATE USER r@'%' IDENTIFIED BY 'p'; GRANT SELECT ON *.* TO r@'%'")
            config = mysql_config(server, user="r", password="p")
        connector = app.connectors.connect(LOCAL, kind, config)
        before = app.connectors.ingest_tables(LOCAL, connector.id, ["small"])
        killed = threading.Event()

        def tell(body: dict[str, Any]) -> None:
            if body.get("text", "").startswith("Copying") and "slow" in body["text"] and not killed.is_set():
                killed.set()
                threading.Timer(0.7, server.kill).start()

        with pytest.raises(LexsiError, match="connection to the database was lost"):
            app.connectors.ingest_tables(LOCAL, connector.id, ["small", "slow"], tell=tell)
        assert killed.is_set()
        now = app.catalog.handle(LOCAL, connector.id)
        assert now == before and rows(now, "SELECT v FROM small") == [(1,)]
        with pytest.raises(BadInput, match="cannot be reached"):
            app.connectors.test_connection(LOCAL, connector.id)
        assert not list((app.settings.home / "datasets").glob(".build-*"))
    finally:
        server.close()


# -- MySQL and MariaDB ---------------------------------------------------------------------------------------------


def test_mariadb_tables_come_over_with_types_comments_and_values(app: Application, my: ConnectorInfo, rows: Rows) -> None:
    found = {t.table_name: t for t in app.connectors.list_connector_tables(LOCAL, my.id)}
    assert set(found) == {"orders", "zero", "big", "slow", ODD_MYSQL}
    assert found["orders"].schema_name == "shop" and my.warnings == ()
    handle = app.connectors.ingest_tables(LOCAL, my.id, ["orders", "zero"])
    assert types(handle, "orders") == {
        "id": "INTEGER", "customer_code": "VARCHAR", "amount": "DECIMAL(12,2)", "placed": "DATE", "at": "TIMESTAMP",
        "stamped": "TIMESTAMP", "paid": "BOOLEAN", "level": "TINYINT", "kind": "VARCHAR", "body": "VARCHAR", "raw": "BLOB",
        "large": "UBIGINT",
    }
    orders = handle.table("orders")
    assert orders is not None and (orders.rows, orders.comment) == (1000, "Orders of the shop, it's all")
    assert orders.columns[0].comment == "Number of the order"
    shown = "customer_code, amount, CAST(placed AS VARCHAR), level, kind, body, CAST(large AS VARCHAR)"
    sql = f"SELECT {shown} FROM orders WHERE id = 99"
    assert rows(handle, sql) == [("00099", 99.25, "2024-04-09", 99, "b", '{"n": 1}', "18446744073709551615")]
    assert rows(handle, "SELECT CAST(day AS VARCHAR) FROM zero ORDER BY id")[1] == ("2024-02-03",)
    assert rows(handle, "SELECT count(*), count(day) FROM zero") == [(3, 1)]
    assert any("2 dates with a month or day of zero" in note for note in app.catalog.notes(LOCAL, my.id))


def test_hostile_names_in_mariadb_are_read_as_they_are(app: Application, my: ConnectorInfo, rows: Rows) -> None:
    handle = app.connectors.ingest_tables(LOCAL, my.id, [{"schemaName": "shop", "tableName": ODD_MYSQL}])
    assert list(types(handle, ODD_MYSQL)) == ["co`l'1", "žluťoučký"]
    quoted = ODD_MYSQL.replace('"', '""')
    assert rows(handle, f'SELECT * FROM "{quoted}"') == [(7, "ahoj")]
    assert "orders" in {t.table_name for t in app.connectors.list_connector_tables(LOCAL, my.id)}


@pytest.mark.parametrize("name", ["private.salaries", "mysql.user", "orders; DROP TABLE orders", "orders` --", "shop.nothing"])
def test_a_table_of_mariadb_that_was_not_listed_is_not_there(app: Application, my: ConnectorInfo, name: str) -> None:
    with pytest.raises(NotFound, match="no such table"):
        app.connectors.ingest_tables(LOCAL, my.id, [name])


def test_a_large_mariadb_table_comes_over_whole_and_a_slow_one_can_be_stopped(
    app: Application, my: ConnectorInfo, rows: Rows
) -> None:
    handle = app.connectors.ingest_tables(LOCAL, my.id, ["big"])
    assert rows(handle, "SELECT count(*), sum(id) FROM big") == [(BIG_ROWS, BIG_ROWS * (BIG_ROWS + 1) / 2)]
    cancel, told = Cancel(), Told()

    def tell(body: dict[str, Any]) -> None:
        told(body)
        if body.get("text", "").startswith("Copying shop.slow"):
            threading.Timer(0.5, cancel.set).start()

    with pytest.raises(Stopped):
        app.connectors.ingest_tables(LOCAL, my.id, ["slow"], cancel=cancel, tell=tell)
    assert app.catalog.handle(LOCAL, my.id).snapshot_id == handle.snapshot_id


@pytest.mark.parametrize(("change", "said"), [
    ({"password": WRONG}, "does not let this user in"),
    ({"database": "private"}, "may not use that database"),
    ({"port": 1}, "cannot be reached"),
])
def test_what_is_wrong_with_a_mariadb_is_said(app: Application, mariadb: Server, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb, **change))


def test_mariadb_warns_of_writers_and_is_not_queried_in_place(app: Application, mariadb: Server) -> None:
    writer = app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb, user="writer"))
    assert "may do more than read: insert" in writer.warnings[0]
    with pytest.raises(BadInput, match="in place"):
        app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb), in_place=True)


