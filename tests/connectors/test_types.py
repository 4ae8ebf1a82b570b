"""Every type of PostgreSQL and MariaDB comes over as the value it is, or it is said; wide, empty and odd tables too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import PASSWORD, mysql_config, postgres_config
from tests.connectors.servers import Server, mariadb_owner, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")
Rows = Callable[[Any, str], list[tuple[Any, ...]]]

ZOO = """
CREATE TYPE mood AS ENUM ('low', 'it''s, "high"'); CREATE DOMAIN posint AS int; CREATE DOMAIN small AS posint;
CREATE TYPE pair AS (a int, b text);
CREATE TABLE zoo (id int PRIMARY KEY, u uuid, j json, jb jsonb, ia int[], ta text[][], by bytea, iv interval, m mood,
  tz timestamptz, t time, bi bit(3), mo money, ip inet, ip6 inet, net inet, typed numeric(10,2), fl float4, dbl float8,
  dom small, ch char(5),
  d date,  ts timestamp, far_d date, far_ts timestamptz, na numeric[], exact numeric, whole numeric, ratio numeric,
  huge numeric(50,5),
  bad numeric,  "Ď""; DROP TABLE zoo; --" text);
INSERT INTO zoo (id) VALUES (0);
INSERT INTO zoo VALUES (1, '00000000-0000-0000-0000-00000000000a', '{"a":1}', '{"a":2}', '{1,NULL,3}', '{{a,b},{c,d}}',
  '\\x00ff',  '1 year 2 mons 3 days 04:05:06.7', 'it''s, "high"', '2024-01-01 12:00+02', '12:34:56.789', B'101',
  '$1,234.56', '10.0.0.1',
  'fe80::1',  '10.0.0.0/8', 'NaN', 1.5, 'NaN', 7, 'ab', '2024-02-29', '2024-02-29 01:02:03.456789', 'infinity',
  '-infinity', '{1.5,NaN}',
  12345678901234567.89, 123456789012345678, 0, 12345678901234567890123456789012345678901234.5, 'Infinity', 'odd');
INSERT INTO zoo (id, typed, exact, whole, ratio, far_d, dbl, bad)
  VALUES (2, -1.25, -0.5, -3, 1 / 3.0, '2024-05-06', '-Infinity', 2);
CREATE TABLE plain (id int, typed numeric(10,2), m mood, ta text[][], d date, dom posint);
INSERT INTO plain VALUES (1, 12.30, 'low', '{{a}}', '2024-01-02', 5);
CREATE TABLE empty (id int, loose numeric, day date, words text);
CREATE TABLE "ta.ble" (v int); INSERT INTO "ta.ble" VALUES (4);
"""
EXPECTED = {
    "u": ("UUID", "00000000-0000-0000-0000-00000000000a"), "j": ("VARCHAR", '{"a":1}'), "jb": ("VARCHAR", '{"a": 2}'),
    "ia": ("INTEGER[]", "[1, NULL, 3]"), "ta": ("VARCHAR[][]", "[[a, b], [c, d]]"), "by": ("BLOB", r"\x00\xFF"),
    "iv": ("INTERVAL", "1 year 2 months 3 days 04:05:06.7"), "tz": ("TIMESTAMP WITH TIME ZONE", "2024-01-01 10:00:00+00"),
    "t": ("TIME", "12:34:56.789"), "bi": ("VARCHAR", "101"), "mo": ("DECIMAL(18,2)", "1234.56"), "ip": ("VARCHAR", "10.0.0.1"),
    "ip6": ("VARCHAR", "fe80::1"), "net": ("VARCHAR", "10.0.0.0/8"), "typed": ("DECIMAL(10,2)", None), "fl": ("FLOAT", "1.5"),
    "dbl": ("DOUBLE", "nan"), "dom": ("INTEGER", "7"), "ch": ("VARCHAR", "ab"), "d": ("DATE", "2024-02-29"),
    "ts": ("TIMESTAMP", "2024-02-29 01:02:03.456789"), "far_d": ("DATE", None), "far_ts": ("TIMESTAMP WITH TIME ZONE", None),
    "na": ("VARCHAR", '[1.5,"NaN"]'), "exact": ("DECIMAL(38,2)", "12345678901234567.89"), "whole": ("BIGINT",
  "123456789012345678"),
    "ratio": ("DOUBLE", "0.0"), "huge": ("DOUBLE", "1.2345678901234568e+43"), "bad": ("BIGINT", None),
    'Ď"; DROP TABLE zoo; --': ("VARCHAR", "odd"), "id": ("INTEGER", "1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def zoo(app: Application, postgres: Server) -> Iterator[Server]:
    with postgres_owner(postgres) as owner:
        owner.execute("CREATE DATABASE zoo")
    with postgres_owner(postgres, "zoo") as owner:
        owner.execute(ZOO)
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO lexsi_reader")
    yield postgres


def of_zoo(app: Application, server: Server, **more: Any) -> Any:
    return app.connectors.connect(LOCAL, "postgres", postgres_config(server, database="zoo"), **more)


def test_every_type_of_postgres_keeps_its_value_or_the_change_is_said(app: Application, zoo: Server, rows: Rows) -> None:
    connector = of_zoo(app, zoo)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["zoo"])
    types = {c.name: c.type for c in handle.tables[0].columns}
    for name, (kind, value) in EXPECTED.items():
        quoted = name.replace('"', '""')
        got = rows(handle, f"""SELECT coalesce(CAST("{quoted}" AS VARCHAR), 'none') FROM zoo WHERE id = 1""")[0][0]
        assert (types[name], got) == (kind, value or "none"), name
    assert types["m"].startswith("ENUM") and rows(handle, "SELECT m FROM zoo WHERE id = 1") == [('it\'s, "high"',)]
    second = "SELECT CAST(exact AS VARCHAR), CAST(typed AS VARCHAR), whole, CAST(dbl AS VARCHAR) FROM zoo WHERE id = 2"
    assert rows(handle, second) == [("-0.50", "-1.25", -3, "-inf")]
    notes = "\n".join(app.catalog.notes(LOCAL, connector.id))
    for said in ("typed: 1 value (NaN or infinite) became missing", "bad: 1 value (NaN or infinite)",
                 "far_d: 1 value (days without end",
                 "ratio: numeric without a precision came over as floating point", "na: came over as JSON text", "huge: "):
        assert said in notes, notes
    assert "exact:" not in notes


def test_a_postgres_table_without_oddities_is_read_by_the_scanner_with_the_same_types(
    app: Application, zoo: Server, rows: Rows
) -> None:
    handle = app.connectors.ingest_tables(LOCAL, of_zoo(app, zoo).id, ["plain"])
    kinds = [c.type.partition("(")[0] for c in handle.tables[0].columns]
    assert kinds == ["INTEGER", "DECIMAL", "ENUM", "VARCHAR[][]", "DATE", "INTEGER"]
    assert rows(handle, "SELECT CAST(typed AS VARCHAR), m, ta[1][1], CAST(d AS VARCHAR), dom FROM plain") == [
        ("12.30", "low", "a", "2024-01-02", 5)
    ]


def test_values_that_would_read_wrong_in_place_are_left_out_and_said(app: Application, zoo: Server, rows: Rows) -> None:
    connector = of_zoo(app, zoo, in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["zoo", "plain"])
    table = handle.table("zoo")
    assert table is not None
    names = {c.name for c in table.columns}
    assert not names & {"typed", "far_d", "far_ts", "na", "bad"} and {"exact", "dom", "id",
  'Ď"; DROP TABLE zoo; --'} <= names
    assert rows(handle, "SELECT dom, d FROM zoo WHERE id = 1")[0][0] == 7
    assert rows(handle, "SELECT dom FROM plain WHERE dom = 5") == [(5,)]
    notes = "\n".join(app.catalog.notes(LOCAL, connector.id))
    assert "typed: left out in place" in notes and "Floating point in place" in notes


@pytest.mark.parametrize("in_place", [False, True])
def test_a_table_without_rows_and_a_name_with_a_point_are_read(
    app: Application, zoo: Server, rows: Rows, in_place: bool
) -> None:
    handle = app.connectors.ingest_tables(LOCAL, of_zoo(app, zoo, in_place=in_place).id, ["empty", "ta.ble"])
    assert {t.name: t.rows for t in handle.tables} == {"empty": 0, "ta.ble": 1}
    assert [c.type for c in handle.tables[0].columns] == ["INTEGER", "DOUBLE", "DATE", "VARCHAR"]
    assert rows(handle, 'SELECT v FROM "ta.ble"') == [(4,)] and rows(handle, "SELECT count(*) FROM empty") == [(0,)]


def test_a_table_of_five_hundred_columns_comes_over_and_one_beyond_the_limit_is_refused(
    app: Application, zoo: Server, rows: Rows
) -> None:
    with postgres_owner(zoo, "zoo") as owner:
        for name, count in (("wide", 500), ("wider", 1_550)):
            owner.execute(f"CREATE TABLE {name} ({', '.join(f'c{i} numeric' for i in range(count))})")
            owner.execute(f"INSERT INTO {name} (c0, c{count - 1}) VALUES (1.5, {count})")
            owner.execute(f"GRANT SELECT ON {name} TO lexsi_reader")
    connector = of_zoo(app, zoo)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["wide"])
    assert len(handle.tables[0].columns) == 500
    assert rows(handle, "SELECT CAST(c0 AS VARCHAR), c499 FROM wide") == [("1.5", 500)]
    if app.settings.max_columns < 1_550:
        with pytest.raises(BadInput, match="columns"):
            app.connectors.ingest_tables(LOCAL, connector.id, ["wider"])


def test_sql_in_the_name_of_a_connector_is_a_name(app: Application, zoo: Server) -> None:
    name = "'; DROP TABLE sources; -- <script>alert(1)</script> ](http://x)"
    connector = of_zoo(app, zoo, name=name)
    assert connector.name == name
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["plain"])
    assert handle.name == name and app.catalog.handle(LOCAL, connector.id) == handle


@pytest.mark.parametrize("field", ["host", "database", "user"])
def test_options_in_a_field_of_the_form_do_not_become_options(app: Application, zoo: Server, field: str) -> None:
    """A host or name that tries to end its quotes, or to add settings of the connection, is only a wrong one."""
    for text in ("x' options='-c statement_timeout=0", "x'; DROP TABLE zoo; --", "x sslmode=disable host=127.0.0.1", "x\\' host=1"):
        with pytest.raises(LexsiError) as caught:
            app.connectors.connect(LOCAL, "postgres", postgres_config(zoo, **{"database": "zoo", field: text}))
        assert PASSWORD not in str(caught.value)


MARIA_ZOO = """
CREATE DATABASE zoo CHARACTER SET utf8mb4; USE zoo;
CREATE TABLE zoo (id int PRIMARY KEY, b8 bit(8), b1 bit(1), y year, t time, dt6 datetime(6), s set('a','b'),
  e enum('x','y'), u uuid,
  i4 inet4,  g geometry, fits decimal(65,10), large decimal(65,10), whole decimal(60,0), f float, mb mediumblob,
  bu bigint unsigned,
  lt longtext,  neg time, js json, `c``"';--` int, full decimal(5,0), positive decimal(5,2) unsigned,
  most decimal(38,0)) ENGINE=InnoDB;
INSERT INTO zoo (id) VALUES (0);
INSERT INTO zoo VALUES (1, b'10101010', 1, 2024, '12:34:56', '2024-02-29 01:02:03.456789', 'a,b', 'y',
  '00000000-0000-0000-0000-00000000000a',
  '10.0.0.1', ST_GeomFromText('POINT(1 2)'), 1234567890123456789.25, 1234567890123456789012345678901234567890.5,
  12345678901234567890123456789012345678, 1.5, x'00ff', 18446744073709551615, 'žluť',
  '-800:00:00', '{"a":1}', 9, -99999, 999.99, 99999999999999999999999999999999999999);
CREATE TABLE empty (id int, d decimal(60,5), day date);
CREATE TABLE plain AS SELECT 1 AS v;
GRANT SELECT ON zoo.* TO lexsi_reader@'%';
"""
MARIA_EXPECTED = {
    "b8": ("UINTEGER", "170"), "b1": ("BOOLEAN", "true"), "y": ("INTEGER", "2024"), "t": ("VARCHAR", "12:34:56"),
    "dt6": ("TIMESTAMP", "2024-02-29 01:02:03.456789"), "s": ("VARCHAR", "a,b"), "e": ("VARCHAR", "y"),
    "u": ("VARCHAR", "00000000-0000-0000-0000-00000000000a"), "i4": ("VARCHAR", "10.0.0.1"), "g": ("VARCHAR", "POINT(1 2)"),
    "fits": ("DECIMAL(38,2)", "1234567890123456789.25"), "large": ("DOUBLE", "1.2345678901234568e+39"),
    "whole": ("DECIMAL(38,0)", "12345678901234567890123456789012345678"), "f": ("FLOAT", "1.5"), "mb": ("BLOB", r"\x00\xFF"),
    "bu": ("UBIGINT", "18446744073709551615"), "lt": ("VARCHAR", "žluť"), "neg": ("VARCHAR", "-800:00:00"),
    "js": ("VARCHAR", '{"a":1}'),
    "full": ("DECIMAL(5,0)", "-99999"), "positive": ("DECIMAL(5,2)", "999.99"), "most": ("DECIMAL(38,0)", "9" * 38),
    "c`\"';--": ("INTEGER", "9"),
}  # fmt: skip


def test_every_type_of_mariadb_keeps_its_value_or_the_change_is_said(app: Application, mariadb: Server, rows: Rows) -> None:
    mariadb_owner(mariadb, MARIA_ZOO)
    connector = app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb, database="zoo"))
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["zoo", "empty"])
    zoo = handle.table("zoo")
    assert zoo is not None
    types = {c.name: c.type for c in zoo.columns}
    for name, (kind, value) in MARIA_EXPECTED.items():
        quoted = name.replace('"', '""')
        got = rows(handle, f"""SELECT coalesce(CAST("{quoted}" AS VARCHAR), 'none') FROM zoo WHERE id = 1""")[0][0]
        assert (types[name], got) == (kind, value or "none"), name
    assert [n for n in app.catalog.notes(LOCAL, connector.id) if "floating point" in n and "large" in n]
    assert rows(handle, "SELECT count(*) FROM empty") == [(0,)]
