"""Servers, filled once a test run, and an application that connects to them. All these tests share one test process."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from lexsi_ds.services.connector_info import ConnectorInfo
from lexsi_ds.settings import Settings
from tests.connectors import servers
from tests.connectors.servers import Server, mariadb_owner, postgres_owner, s3_client

DOCS = Path(__file__).resolve().parents[2] / "docs" / "connectors.md"
PASSWORD = "rd'Pa55;word-marker"
WRONG = "wrong-Pa55word-marker"
MARKERS = (PASSWORD, WRONG, servers.S3_KEY, servers.S3_SECRET, servers.OWNER_PASSWORD)
BIG_ROWS = 400_000


def role_sql(title: str, password: str) -> str:
    """The SQL that docs/connectors.md gives for a least-privileged role."""
    found = re.search(rf"^{title}:\n```sql\n(.*?)```", DOCS.read_text(), re.DOTALL | re.MULTILINE)
    assert found, title
    return found.group(1).replace("choose-one", password.replace("'", "''"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    server = servers.start_postgres()
    try:
        with postgres_owner(server) as owner:
            owner.execute("CREATE DATABASE shop")
        with postgres_owner(server, "shop") as owner:
            fill_postgres(owner)
            owner.execute(role_sql("PostgreSQL", PASSWORD))
            owner.execute('GRANT USAGE ON SCHEMA "od""d; DROP" TO lexsi_reader')
            owner.execute('GRANT SELECT ON ALL TABLES IN SCHEMA "od""d; DROP" TO lexsi_reader')
            owner.execute(f"CREATE ROLE writer LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
            owner.execute("GRANT SELECT, INSERT ON orders TO writer")
            owner.execute("CREATE SCHEMA private; CREATE TABLE private.salaries AS SELECT 1 AS secret")
            owner.execute("CREATE TABLE not_granted AS SELECT 2 AS secret")
        yield server
    finally:
        server.close()


def fill_postgres(owner: Any) -> None:
    """The tables of the shop."""
    owner.execute("""
        CREATE TYPE mood AS ENUM ('low', 'high');
        CREATE TABLE orders (id int PRIMARY KEY, customer_code varchar(5) NOT NULL, amount numeric(12,2), loose numeric,
          placed date, at timestamptz, paid boolean, mood mood, tags text[], body jsonb, key uuid);
        COMMENT ON TABLE orders IS 'Orders of the shop, it''s all';
        COMMENT ON COLUMN orders.amount IS 'In euro';
        INSERT INTO orders SELECT i, lpad(i::text, 5, '0'), i + 0.25, i / 3.0, DATE '2024-01-01' + i % 366,
          TIMESTAMPTZ '2024-01-01 12:00:00+00', i % 2 = 0, CASE WHEN i % 3 = 0 THEN 'low'::mood END,
          ARRAY['a', i::text], jsonb_build_object('n', i), '00000000-0000-0000-0000-000000000001'
          FROM generate_series(1, 1000) i;
        CREATE SCHEMA "od""d; DROP";
        CREATE TABLE "od""d; DROP"."ta'b""le; DROP TABLE orders; --" ("co""l'1; SELECT" int, "žluťoučký kůň 🐎" text);
        INSERT INTO "od""d; DROP"."ta'b""le; DROP TABLE orders; --" VALUES (7, 'ahoj');
        CREATE TABLE "od""d; DROP".orders AS SELECT 1 AS other;
    """)
    owner.execute(f"""
        CREATE TABLE big AS SELECT i AS id, md5(i::text) AS words, random() AS x FROM generate_series(1, {BIG_ROWS}) i;
        ANALYZE big; ANALYZE orders;
        CREATE VIEW slow AS SELECT i AS id, repeat('x', 2000) AS pad, pg_sleep(0.002)::text AS s FROM generate_series(1, 500000) i;
    """)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    server = servers.start_mariadb()
    try:
        mariadb_owner(server, FILL_MARIADB.replace("BIG_ROWS", str(BIG_ROWS)))
        mariadb_owner(server, role_sql("MySQL and MariaDB", PASSWORD))
        password = PASSWORD.replace("'", "''")
        mariadb_owner(server, f"CREATE USER writer@'%' IDENTIFIED BY '{password}'; GRANT SELECT, INSERT ON shop.* TO writer@'%'")
        yield server
    finally:
        server.close()


FILL_MARIADB = r"""
SET NAMES utf8mb4;
CREATE DATABASE shop CHARACTER SET utf8mb4; CREATE DATABASE private; CREATE TABLE private.salaries AS SELECT 1 AS secret;
USE shop;
CREATE TABLE orders (id int PRIMARY KEY COMMENT 'Number of the order', customer_code char(5), amount decimal(12,2), placed date,
  at datetime, stamped timestamp NULL, paid bit(1), level tinyint(1), kind enum('a','b'), body json, raw blob,
  large bigint unsigned) COMMENT 'Orders of the shop, it''s all';
INSERT INTO orders SELECT seq, lpad(seq, 5, '0'), seq + 0.25, DATE '2024-01-01' + INTERVAL seq MOD 366 DAY,
  '2024-01-01 12:00:00', '2024-01-01 12:00:00', seq MOD 2, seq MOD 100, IF(seq MOD 3 = 0, 'b', 'a'), '{"n": 1}', x'00ff',
  18446744073709551615 FROM seq_1_to_1000;
SET sql_mode = '';
CREATE TABLE zero (id int, day date); INSERT INTO zero VALUES (1, '0000-00-00'), (2, '2024-02-03'), (3, '2024-00-01');
CREATE TABLE `ta``b'l"e; DROP TABLE orders; \\ --` (`co``l'1` int, `žluťoučký` text);
INSERT INTO `ta``b'l"e; DROP TABLE orders; \\ --` VALUES (7, 'ahoj');
CREATE TABLE big AS SELECT seq AS id, md5(seq) AS words FROM seq_1_to_BIG_ROWS;
CREATE VIEW slow AS SELECT seq AS id, repeat('x', 2000) AS pad, sleep(0.002) AS s FROM seq_1_to_500000;
"""


def parquet(frame: pd.DataFrame) -> bytes:
    """A frame as a Parquet file."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


@dataclass
class Store:
    """An S3 server and the key that it lets in."""

    server: Server
    key: str
    secret: str

    @property
    def client(self) -> Any:
        return s3_client(self.server, self.key, self.secret)

    def config(self, **more: Any) -> dict[str, Any]:
        return {
            "bucket": "lake", "prefix": "shop", "endpoint": f"127.0.0.1:{self.server.port}", "use_ssl": False,
            "aws_access_key_id": self.key, "aws_secret_access_key": self.secret, **more,
        }

    def fill(self) -> None:
        client = self.client
        client.create_bucket(Bucket="lake")
        client.create_bucket(Bucket="other")
        for month in (1, 2):
            sales = pd.DataFrame({"month": month, "amount": [1.5 * month, 2.5 * month], "at": pd.Timestamp(f"2024-0{month}-01")})
            client.put_object(Bucket="lake", Key=f"shop/sales_{month}.parquet", Body=parquet(sales))
        client.put_object(Bucket="lake", Key="shop/customers.csv", Body="code;name\n007;Žofie\n008;Bob\n".encode("cp1250"))
        client.put_object(Bucket="lake", Key="shop/plain.csv", Body=b"id,name\n1,Ann\n2,Bob\n")
        client.put_object(Bucket="lake", Key="shop/it's žluťoučký (1).csv", Body=b"id,name\n1,Ann\n")
        client.put_object(Bucket="lake", Key="secret.csv", Body=b"pw\nhunter2\n")
        client.put_object(Bucket="lake", Key="shop/broken.parquet", Body=b"PAR1 not really")
        client.put_object(Bucket="other", Key="secret.parquet", Body=parquet(pd.DataFrame({"secret": [1]})))


@pytest.fixture(scope="session")
def nanio() -> Iterator[Store]:
    """Checks signatures."""
    store = Store(servers.start_nanio(), servers.S3_KEY, servers.S3_SECRET)
    try:
        store.fill()
        yield store
    finally:
        store.server.close()


@pytest.fixture(scope="session")
def moto() -> Iterator[Store]:
    """Lets everybody in."""
    store = Store(servers.start_moto(), servers.S3_KEY, servers.S3_SECRET)
    try:
        store.fill()
        yield store
    finally:
        store.server.close()


@pytest.fixture(scope="session", params=["moto", "nanio"])
def s3(request: pytest.FixtureRequest) -> Store:
    """Each of the two servers."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("connected"), threads=2))
    yield made
    made.close()


@dataclass
class Told:
    """Progress that a task told."""

    seen: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, body: dict[str, Any]) -> None:
        self.seen.append(body)


def postgres_config(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "host": server.host, "port": server.port, "database": "shop", "user": "lexsi_reader", "password": PASSWORD, **more,
    }


def mysql_config(server: Server, **more: Any) -> dict[str, Any]:
    return postgres_config(server, **more)


@pytest.fixture(scope="session")
def pg(app: Application, postgres: Server) -> ConnectorInfo:
    """A connector of the reader's."""
    return app.connectors.connect(LOCAL, "postgres", postgres_config(postgres), name="Shop")


@pytest.fixture(scope="session")
def my(app: Application, mariadb: Server) -> ConnectorInfo:
    return app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb), name="Shop of MariaDB")


@pytest.fixture(scope="session")
def rows(app: Application) -> Callable[[Any, str], list[tuple[Any, ...]]]:
    """Rows of a query on a handle."""

    def run(handle: Any, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in app.sql.frame(handle, sql).itertuples(index=False)]

    return run
