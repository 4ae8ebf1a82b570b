"""Days without end, before the year 1 and beyond 9999 in databases and buckets, copied and in place; times with offsets."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import Store, mysql_config, postgres_config
from tests.connectors.servers import Server, mariadb_owner, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")
Rows = Callable[[Any, str], list[tuple[Any, ...]]]

FAR = """
CREATE TABLE big (i int, ts timestamp, tz timestamptz, d date, edge date, old date, ends date, l date[], t timetz, iv interval);
INSERT INTO big VALUES
 (1, '294250-12-31', '2020-01-01 00:00+00', '20000-01-01', '9999-12-31', '0044-03-15 BC', 'infinity', '{2020-01-01}',
   '12:30:00+02', '1 day'),
 (2, '2020-06-01 12:00', '294276-12-31 00:00+00', '0044-03-15 BC', '0001-01-01', '0100-07-12 BC', 'infinity', '{20000-01-01}',
   '01:00:00-05', '2 mons'),
 (3, '2020-06-02', '2020-01-02 00:00+00', '2021-01-01', NULL, '1999-12-31', '2022-02-02', NULL, NULL, NULL),
 (4, '2020-06-03', '9999-12-31 23:59:59.999999+00', '2021-01-02', NULL, NULL, NULL, NULL, NULL, NULL),
 (5, '2020-06-03', NULL, '2021-01-03', NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE all_far (ts timestamp); INSERT INTO all_far VALUES ('294250-12-31');
CREATE TABLE times AS SELECT 1 AS i, '12:30:00+02'::timetz AS t, interval '1 day' AS iv;
"""


@pytest.fixture(scope="module")
def far(postgres: Server) -> Server:
    with postgres_owner(postgres) as owner:
        owner.execute("CREATE DATABASE far")
    with postgres_owner(postgres, "far") as owner:
        owner.execute(FAR)
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO lexsi_reader")
    return postgres


def test_far_days_of_postgres_become_missing_or_text_and_are_counted(app: Application, far: Server, rows: Rows) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(far, database="far"))
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["big", "all_far"])
    asked = ("SELECT i, coalesce(CAST(ts AS VARCHAR), '-'), coalesce(CAST(tz AS VARCHAR), '-'), coalesce(CAST(d AS VARCHAR), '-'), "
             "coalesce(CAST(edge AS VARCHAR), '-'), coalesce(old, '-'), coalesce(CAST(ends AS VARCHAR), '-') FROM big ORDER BY i")
    assert rows(handle, asked) == [
        (1, "-", "2020-01-01 00:00:00+00", "-", "9999-12-31", "0044-03-15 BC", "-"),
        (2, "2020-06-01 12:00:00", "-", "-", "0001-01-01", "0100-07-12 BC", "-"),
        (3, "2020-06-02 00:00:00", "2020-01-02 00:00:00+00", "2021-01-01", "-", "1999-12-31", "2022-02-02"),
        (4, "2020-06-03 00:00:00", "9999-12-31 23:59:59.999999+00", "2021-01-02", "-", "-", "-"),
        (5, "2020-06-03 00:00:00", "-", "2021-01-03", "-", "-", "-"),
    ]
    assert rows(handle, "SELECT ts FROM all_far") == [("294250-12-31 00:00:00",)]
    assert rows(handle, "SELECT CAST(l AS VARCHAR), t, CAST(iv AS VARCHAR) FROM big WHERE i < 3 ORDER BY i") == [
        ('["2020-01-01"]', "12:30:00+02", "1 day"), ('["20000-01-01"]', "01:00:00-05", "2 months")
    ]
    notes = "\n".join(app.catalog.notes(LOCAL, connector.id))
    for said in ("ts: 1 value (days without end", "tz: 1 value", "d: 2 values", "ends: 2 values",
                 "old: kept as text", "l: came over as JSON"):
        assert said in notes, notes
    assert "edge" not in notes


def test_far_days_of_postgres_are_left_out_by_name_in_place(app: Application, far: Server, rows: Rows) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(far, database="far"), in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["big", "all_far", "times"][::2])
    big = handle.table("big")
    assert big is not None and [c.name for c in big.columns] == ["i", "edge", "t", "iv"]
    assert rows(handle, "SELECT t, CAST(edge AS VARCHAR) FROM big WHERE i = 1") == [("12:30:00+02", "9999-12-31")]
    assert rows(handle, "SELECT t, CAST(iv AS VARCHAR) FROM times") == [("12:30:00+02", "1 day")]
    notes = "\n".join(app.catalog.notes(LOCAL, connector.id))
    assert all(f"{name}: left out in place" in notes for name in ("ts", "tz", "d", "old", "ends", "l"))


def test_times_with_an_offset_are_the_same_text_when_the_scanner_copies_them(app: Application, far: Server, rows: Rows) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(far, database="far"))
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["times"])
    assert rows(handle, "SELECT t, CAST(iv AS VARCHAR) FROM times") == [("12:30:00+02", "1 day")]


def test_the_year_zero_of_mariadb_becomes_missing_and_is_counted(app: Application, mariadb: Server, rows: Rows) -> None:
    mariadb_owner(mariadb, "CREATE DATABASE far; USE far; SET sql_mode = ''; CREATE TABLE t (i int, d date); "
                           "INSERT INTO t VALUES (1, '0000-05-06'), (2, '9999-12-31'), (3, '2020-01-01');"
                           "GRANT SELECT ON far.* TO lexsi_reader@'%'")
    connector = app.connectors.connect(LOCAL, "mysql", mysql_config(mariadb, database="far"))
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["t"])
    assert rows(handle, "SELECT count(*), count(d), CAST(max(d) AS VARCHAR) FROM t") == [(3, 2, "9999-12-31")]
    assert "d: 1 day without end" in "\n".join(app.catalog.notes(LOCAL, connector.id))


def test_far_days_of_a_bucket_are_missing_when_copied_and_left_out_in_place(app: Application, moto: Store, rows: Rows) -> None:
    days = pa.array([18_262, 6_585_442, 18_263, 18_264], type=pa.int32()).cast(pa.date32())  # 2020-01-01, 20000-07-..., …
    buffer = io.BytesIO()
    pq.write_table(pa.table({"i": [1, 2, 3, 4], "d": days}), buffer)
    moto.client.put_object(Bucket="lake", Key="shop/far.parquet", Body=buffer.getvalue())
    copied = app.connectors.connect(LOCAL, "s3", moto.config())
    handle = app.connectors.ingest_tables(LOCAL, copied.id, ["far.parquet"])
    assert rows(handle, "SELECT count(*), count(d), CAST(max(d) AS VARCHAR) FROM far") == [(4, 3, "2020-01-03")]
    assert handle.today == date(2020, 1, 3) and "d: 1 day without end" in "\n".join(app.catalog.notes(LOCAL, copied.id))
    live = app.connectors.connect(LOCAL, "s3", moto.config(), in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, live.id, ["far.parquet"])
    assert [c.name for c in handle.tables[0].columns] == ["i"]
    assert "d: left out in place" in "\n".join(app.catalog.notes(LOCAL, live.id))
