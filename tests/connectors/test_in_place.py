"""Queries where the data is: right answers, and no way to anything else, with the guard before the worker and without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, LexsiError, SqlFailed, SqlRefused
from lexsi_ds.services.access import LOCAL
from tests.connectors import servers
from tests.connectors.conftest import PASSWORD, Store, postgres_config
from tests.connectors.servers import Server, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")

Rows = Callable[[Any, str], list[tuple[Any, ...]]]
HOSTS = "host=127.0.0.1 port={port} user=owner password=" + servers.OWNER_PASSWORD + " dbname=shop"


@pytest.fixture(scope="session")
def live_pg(app: Application, postgres: Server) -> DatasetHandle:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(postgres), in_place=True)
    return app.connectors.ingest_tables(LOCAL, connector.id, ["public.orders", "big"])


@pytest.fixture(scope="session")
def live_s3(app: Application, nanio: Store) -> DatasetHandle:
    files = ["sales_*.parquet", "plain.csv"]
    connector = app.connectors.connect(LOCAL, "s3", nanio.config(), in_place=True, files=files)
    return app.connectors.ingest_tables(LOCAL, connector.id, files)


def test_postgres_answers_in_place_and_follows_the_source(
    app: Application, live_pg: DatasetHandle, postgres: Server, rows: Rows
) -> None:
    orders = live_pg.table("orders")
    assert orders is not None and orders.live is not None and not orders.path.exists()
    assert rows(live_pg, "SELECT sum(amount), count(*) FROM orders") == [(500750.0, 1000)]
    assert rows(live_pg, "SELECT o.id, length(b.words) FROM orders o JOIN big b ON b.id = o.id WHERE o.id = 5") == [(5, 32)]
    with postgres_owner(postgres, "shop") as owner:
        owner.execute("INSERT INTO orders (id, customer_code, amount) VALUES (5000, '05000', 1)")
        try:
            assert rows(live_pg, "SELECT count(*) FROM orders") == [(1001,)]
        finally:
            owner.execute("DELETE FROM orders WHERE id = 5000")
    assert len(app.catalog.preview(LOCAL, live_pg.source_id, "orders", 7)) == 7
    assert any("Read in place" in note for note in app.catalog.notes(LOCAL, live_pg.source_id))


def test_s3_answers_in_place(app: Application, live_s3: DatasetHandle, rows: Rows) -> None:
    assert {t.name: t.rows for t in live_s3.tables} == {"sales": 4, "plain": 2}
    assert rows(live_s3, "SELECT month, sum(amount) FROM sales GROUP BY 1 ORDER BY 1") == [(1, 4.0), (2, 8.0)]
    assert rows(live_s3, "SELECT * FROM plain ORDER BY id") == [(1, "Ann"), (2, "Bob")]
    assert str(live_s3.today) == "2024-02-01"


def test_a_mistake_is_told_as_for_any_source(app: Application, live_pg: DatasetHandle) -> None:
    with pytest.raises(SqlFailed, match="amout"):
        app.sql.run(live_pg, "SELECT amout FROM orders")
    with pytest.raises(SqlRefused, match="no table named ordrs"):
        app.sql.run(live_pg, "SELECT * FROM ordrs")


POSTGRES_ATTACKS = [
    "SELECT * FROM postgres_query('_lexsi_src', 'SELECT * FROM private.salaries')",
    "SELECT * FROM postgres_query('_lexsi_src', 'SELECT pg_read_file(''/etc/passwd'')')",
    "CALL postgres_execute('_lexsi_src', 'CREATE TABLE hacked (a int)')",
    "SELECT * FROM postgres_scan('{hosts}', 'private', 'salaries')",
    "SELECT * FROM system.main.postgres_scan('{hosts}', 'private', 'salaries')",
    "SELECT * FROM postgres_scan_pushdown('{hosts}', 'private', 'salaries')",
    "CALL postgres_attach('{hosts}')",
    "ATTACH '{hosts}' AS evil (TYPE postgres)",
    "SELECT * FROM _lexsi_src.private.salaries",
    "SELECT * FROM _lexsi_src.public.orders",
    "SELECT * FROM _lexsi_src.pg_catalog.pg_roles",
    "SELECT * FROM _lexsi_src.information_schema.tables",
    "INSERT INTO orders (id) VALUES (1)",
    "DELETE FROM _lexsi_src.public.orders",
    "SELECT 1; DROP TABLE _lexsi_src.public.orders",
    "CREATE TABLE _lexsi_src.public.hacked AS SELECT 1",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_views()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_postgres_binary('/etc/passwd', columns={{'a': 'INTEGER'}})",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM sqlite_scan('{home}/store.sqlite', 'sources')",
    "COPY (SELECT 1) TO '/tmp/lexsi-hacked'",
    "SET lock_configuration = false",
    "LOAD httpfs",
    "SELECT getenv('PATH')",
    "SELECT current_setting('temp_directory')",
    "WITH x AS (SELECT * FROM postgres_query('_lexsi_src', 'SELECT 1 AS a')) SELECT * FROM x",
    'SELECT * FROM "postgres_query"(\'_lexsi_src\', \'SELECT 1 AS a\')',
    "SELECT * FROM query('SELECT * FROM _lexsi_src.private.salaries')",
    "SELECT * FROM query_table('_lexsi_src.private.salaries')",
]


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "worker alone"])
@pytest.mark.parametrize("attack", POSTGRES_ATTACKS)
def test_sql_in_place_reaches_nothing_but_its_tables(
    app: Application, live_pg: DatasetHandle, postgres: Server, attack: str, guarded: bool
) -> None:
    sql = attack.format(hosts=HOSTS.format(port=postgres.port), home=app.settings.home)
    with pytest.raises(SqlRefused) as caught:
        app.sql.run(live_pg, sql, guarded=guarded)
    assert servers.OWNER_PASSWORD not in str(caught.value) and PASSWORD not in str(caught.value)


def test_the_role_alone_holds_what_a_query_could_do(postgres: Server) -> None:
    """The last wall, should guard and worker fail: the documented role can neither write nor read what it was not given."""
    import psycopg

    with psycopg.connect(host=postgres.host, port=postgres.port, user="lexsi_reader", password=PASSWORD, dbname="shop",
                         autocommit=True) as reader:
        for sql in ("SELECT * FROM private.salaries", "SELECT * FROM not_granted", "SELECT pg_read_file('/etc/passwd')",
                    "CREATE TABLE hacked (a int)", "DELETE FROM orders", "COPY orders TO PROGRAM 'id'", "SELECT * FROM pg_authid"):
            with pytest.raises(psycopg.Error):
                reader.execute(sql)


S3_ATTACKS = [
    "SELECT * FROM 's3://lake/secret.csv'",
    "SELECT * FROM read_csv('s3://lake/secret.csv')",
    "SELECT * FROM read_parquet('s3://other/secret.parquet')",
    "SELECT * FROM read_parquet('s3://lake/shop/*.parquet')",
    "SELECT * FROM read_parquet('s3://lake/shop/sales_1.parquet')",
    "SELECT * FROM read_parquet('s3://lake/shop/sales_1.parquet?s3_endpoint=127.0.0.1:1')",
    "SELECT * FROM read_blob('s3://lake/secret.csv')",
    "SELECT * FROM glob('s3://lake/*')",
    "SELECT * FROM 'http://127.0.0.1:{port}/lake/secret.csv'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('file:///etc/passwd')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://lake/a', 's3')",
    "COPY (SELECT 1) TO 's3://lake/shop/sales_1.parquet'",
    "CREATE SECRET evil (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "SET s3_endpoint = '127.0.0.1:1'",
    "ATTACH 's3://lake/x.duckdb'",
    "SELECT * FROM parquet_metadata('s3://lake/shop/sales_1.parquet')",
    "SELECT * FROM sniff_csv('s3://lake/secret.csv')",
    "EXPORT DATABASE '/tmp/lexsi-hacked'",
]


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "worker alone"])
@pytest.mark.parametrize("attack", S3_ATTACKS)
def test_sql_on_a_bucket_in_place_reaches_nothing_but_its_files(
    app: Application, live_s3: DatasetHandle, nanio: Store, attack: str, guarded: bool
) -> None:
    with pytest.raises(SqlRefused) as caught:
        app.sql.run(live_s3, attack.format(port=nanio.server.port), guarded=guarded)
    assert nanio.secret not in str(caught.value)


def test_duckdbs_own_lock_holds_a_bucket_without_any_guard(nanio: Store) -> None:
    """What the worker opens, asked directly: the engine refuses every file that was not bound."""
    import duckdb

    from lexsi_ds.data.connectors.kinds import driver_of
    from lexsi_ds.data.connectors.live import open_live

    driver = driver_of("s3", nanio.config())
    relation = {"format": "parquet", "files": ["s3://lake/shop/sales_1.parquet"]}
    args = {"tables": [{"name": "sales", "relation": relation}], "threads": 1, "memory_mb": 256, "spill_mb": 10, "statement_s": 20}
    with open_live(driver, args) as con:
        assert con.execute("SELECT count(*) FROM sales").fetchall() == [(2,)]
        bound = ("sales_1.parquet'", "duckdb_secrets", "which_secret")  # may run; no secret is shown in clear
        reading = [sql for sql in S3_ATTACKS if sql.startswith("SELECT") and not any(word in sql for word in bound)]
        assert len(reading) > 9
        for sql in reading:
            with pytest.raises(duckdb.Error):
                con.execute(sql.format(port=nanio.server.port)).fetchall()


def test_tables_in_place_are_not_joined_with_copied_ones(app: Application, live_pg: DatasetHandle, live_s3: DatasetHandle) -> None:
    mixed = live_pg.model_copy(update={"tables": (*live_pg.tables, *live_s3.tables)})
    with pytest.raises(BadInput, match="cannot be joined"):
        app.sql.run(mixed, "SELECT 1 FROM orders, sales")


def test_a_far_side_that_is_gone_is_said_and_a_slow_statement_is_stopped_there(
    app: Application, postgres: Server, live_pg: DatasetHandle
) -> None:
    server = servers.start_postgres()
    try:
        with postgres_owner(server) as owner:
            owner.execute("CREATE ROLE r LOGIN PASSWORD 'p'; CREATE TABLE t AS SELECT 1 AS a; GRANT SELECT ON t TO r;"
                          "CREATE VIEW slow AS SELECT a, CASE WHEN current_setting('work_mem') = '4MB' THEN a END AS b FROM t;"
                          "GRANT SELECT ON slow TO r")
        config = postgres_config(server, user="r", password="p", database="postgres")
        connector = app.connectors.connect(LOCAL, "postgres", config, in_place=True)
        handle = app.connectors.ingest_tables(LOCAL, connector.id, ["t", "slow"])
        with postgres_owner(server) as owner:
            owner.execute("CREATE OR REPLACE VIEW slow AS SELECT a, CASE WHEN pg_sleep(30)::text = '' THEN a END AS b FROM t")
        with pytest.raises(LexsiError, match=r"took too long|longer than"):
            app.sql.run(handle, "SELECT sum(b) FROM slow", timeout_s=3)
        server.kill()
        with pytest.raises(LexsiError, match=r"lost|cannot be reached"):
            app.sql.run(handle, "SELECT * FROM t")
    finally:
        server.close()
