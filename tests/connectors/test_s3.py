"""Buckets of two S3 servers by different people: what comes over, what is said, and the chat tool on top."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexsi_ds.agent.tools import REGISTRY
from lexsi_ds.application import Application
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import LOCAL
from tests.connectors import servers
from tests.connectors.conftest import Store, Told, parquet

pytestmark = pytest.mark.xdist_group("connectors")

Rows = Callable[[Any, str], list[tuple[Any, ...]]]


def test_parquet_and_csv_come_over_by_name_and_by_pattern(app: Application, s3: Store, rows: Rows) -> None:
    files = ["sales_*.parquet", "customers.csv", "it's žluťoučký (1).csv"]
    connector = app.connectors.connect(LOCAL, "s3", s3.config(), files=files)
    told = Told()
    handle = app.connectors.ingest_tables(LOCAL, connector.id, files, tell=told)
    assert {t.name: t.rows for t in handle.tables} == {"sales": 4, "customers": 2, "it_s_žluťoučký_1": 1}
    assert rows(handle, "SELECT month, sum(amount) FROM sales GROUP BY 1 ORDER BY 1") == [(1, 4.0), (2, 8.0)]
    assert rows(handle, "SELECT * FROM customers") == [("007", "Žofie"), ("008", "Bob")], "code kept as text, cp1250 read"
    assert told.seen[-1]["done"] == 1
    assert handle.kind == "s3" and handle.source_id == connector.id


def test_files_of_a_pattern_are_listed_and_how_the_first_is_read_is_shown(app: Application, moto: Store) -> None:
    put = moto.client.put_object
    body = "Kód;Částka\n007;1,5\n008;2,5\n"
    put(Bucket="lake", Key="look/a_1.csv", Body=body.encode("cp1250"))
    put(Bucket="lake", Key="look/a_2.csv", Body=body.encode("cp1250"))
    put(Bucket="lake", Key="look/b.csv.gz", Body=gzip.compress(b"x,day\n1,2024-01-31\n"))
    put(Bucket="lake", Key="look/c.jsonl", Body=b'{"n": 1, "w": "a"}\n{"n": 2, "w": "b"}\n')
    put(Bucket="lake", Key="look/d.parquet", Body=parquet(pd.DataFrame({"n": [1], "w": ["x"]})))
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="look"))
    names, before = ["a_*.csv", "b.csv.gz", "c.jsonl", "d.parquet"], app.catalog.sources(LOCAL)
    first, packed, lines, columns = app.connectors.look_at_files(LOCAL, connector.id, names)
    assert first["files"] == [{"name": "a_1.csv", "bytes": 27}, {"name": "a_2.csv", "bytes": 27}] and first["count"] == 2
    assert first["said"].startswith("semicolon, cp125") and "decimal comma" in first["said"]
    assert [c["type"] for c in first["columns"]] == ["text", "decimal"]
    assert packed["columns"] == [{"name": "x", "type": "integer"}, {"name": "day", "type": "date"}]
    assert [c["type"] for c in lines["columns"]] == ["integer", "text"] and lines["said"].startswith("JSON")
    assert columns["columns"] == [{"name": "n", "type": "integer"}, {"name": "w", "type": "text"}]
    with pytest.raises(NotFound, match="No file of the bucket"):
        app.connectors.look_at_files(LOCAL, connector.id, ["z.csv"])
    assert app.catalog.sources(LOCAL) == before, "nothing was copied"


def test_refresh_takes_files_that_are_new(app: Application, moto: Store, rows: Rows) -> None:
    client = moto.client
    put = {"Bucket": "lake", "Body": parquet(pd.DataFrame({"n": [1]}))}
    client.put_object(Key="grow/part_1.parquet", **put)
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="/grow/"), files=["part_*.parquet"])
    before = app.connectors.ingest_tables(LOCAL, connector.id, ["part_*.parquet"])
    client.put_object(Key="grow/part_2.parquet", **put)
    after = app.connectors.refresh(LOCAL, connector.id)
    assert rows(before, "SELECT count(*) FROM part") == [(1,)]
    assert rows(after, "SELECT count(*) FROM part") == [(2,)]
    assert after.tables[0].version == 2


@pytest.mark.parametrize(("change", "files", "error", "said"), [
    ({"aws_secret_access_key": "wrong-marker"}, ["plain.csv"], BadInput, "does not let this key in"),
    ({"aws_access_key_id": "nobody"}, ["plain.csv"], BadInput, "does not let this key in"),
    ({"aws_access_key_id": None, "aws_secret_access_key": None}, ["plain.csv"], BadInput, "does not let this key in"),
    ({"bucket": "nowhere"}, ["plain.csv"], BadInput, "no bucket of this name"),
    ({"prefix": "nowhere"}, ["plain.csv"], NotFound, "No file of the bucket"),
    ({}, ["plane.csv"], NotFound, "There are: .*plain.csv"),
    ({}, ["*.parquett"], BadInput, "Only Parquet, CSV and JSON"),
    ({}, ["plain.csv?s3_endpoint=127.0.0.1:1"], BadInput, "cannot hold"),
    ({}, ["../secret.csv"], BadInput, "cannot hold"),
    ({}, ["s3://other/secret.parquet"], BadInput, "cannot hold"),
    ({"prefix": "../other"}, ["secret.parquet"], BadInput, "cannot be set up|cannot hold"),
    ({"bucket": "lake/../other"}, ["secret.parquet"], BadInput, "bucket"),
    ({"endpoint": "127.0.0.1:1"}, ["plain.csv"], BadInput, "cannot be reached"),
    ({"use_ssl": True}, ["plain.csv"], BadInput, "secure connection|cannot be reached"),
    ({"endpoint": "evil.example/path?x="}, ["plain.csv"], BadInput, "host or host:port"),
])
def test_what_is_wrong_with_a_bucket_is_said(
    app: Application, nanio: Store, change: dict[str, Any], files: list[str], error: type[LexsiError], said: str
) -> None:
    with pytest.raises(error) as caught:
        app.connectors.connect(LOCAL, "s3", nanio.config(**change), files=files)
    import re

    assert re.search(said, str(caught.value)), str(caught.value)
    assert caught.value.to_do


def test_a_broken_file_fails_as_a_whole_and_is_said(app: Application, nanio: Store) -> None:
    connector = app.connectors.connect(LOCAL, "s3", nanio.config(), files=["plain.csv"])
    with pytest.raises(BadInput, match="not the kind"):
        app.connectors.ingest_tables(LOCAL, connector.id, ["plain.csv", "broken.parquet"])
    assert app.connectors.get(LOCAL, connector.id).ready
    with pytest.raises(BadInput, match="has no source tables to list"):
        app.connectors.list_connector_tables(LOCAL, connector.id)


def test_text_files_of_a_pattern_become_one_table_whether_their_headers_agree_or_not(
    app: Application, moto: Store, rows: Rows
) -> None:
    client = moto.client
    bodies = {"same_1": b"id,name\n1,Ann", "same_2": b"id,name\n2,Bob\n3,Cid\n", "mixed_1": b"id,name\n1,Ann\n",
              "mixed_2": b"id,name,extra\n2,Bob,x\n"}
    for name, body in bodies.items():
        client.put_object(Bucket="lake", Key=f"many/{name}.csv", Body=body)
    files = ["same_*.csv", "mixed_*.csv"]
    connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="many"), files=files)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, files)
    assert rows(handle, "SELECT * FROM same ORDER BY id") == [(1, "Ann"), (2, "Bob"), (3, "Cid")]
    assert rows(handle, "SELECT id, name, coalesce(extra, '') FROM mixed ORDER BY id") == [(1, "Ann", ""), (2, "Bob", "x")]


@pytest.mark.parametrize("in_place", [False, True])
def test_json_and_packed_files_are_read_like_others(app: Application, s3: Store, rows: Rows, in_place: bool) -> None:
    lines = b'{"id": 1, "name": "Ann", "day": "2024-02-03"}\n{"id": 2, "name": "Bob", "day": "2024-02-04"}\n'
    bodies = {
        "people.jsonl": lines, "packed.jsonl.gz": gzip.compress(lines), "list.json": b'[{"id": 5, "v": 1.5}, {"id": 6, "v": 2}]',
        "wide.csv.gz": gzip.compress(b"id;amount\n1;2.5\n2;3.5\n"), "part_1.ndjson": b'{"k": 1}\n',
        "part_2.ndjson": b'{"k": 2, "x": "y"}\n',
    }
    for name, body in bodies.items():
        s3.client.put_object(Bucket="lake", Key=f"json/{name}", Body=body)
    files = ["people.jsonl", "packed.jsonl.gz", "list.json", "wide.csv.gz", "part_*.ndjson"]
    connector = app.connectors.connect(LOCAL, "s3", s3.config(prefix="json"), files=files, in_place=in_place)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, files)
    assert {t.name: t.rows for t in handle.tables} == {"people": 2, "packed": 2, "list": 2, "wide": 2, "part": 2}
    for name in ("people", "packed"):
        sql = f"SELECT id, name, CAST(day AS VARCHAR) FROM {name} WHERE day > DATE '2024-02-03'"
        assert rows(handle, sql) == [(2, "Bob", "2024-02-04")]
    assert rows(handle, "SELECT sum(v), max(id) FROM list") == [(3.5, 6)]
    assert rows(handle, "SELECT sum(amount) FROM wide") == [(6.0,)]
    assert rows(handle, "SELECT k, coalesce(x, '') FROM part ORDER BY k") == [(1, ""), (2, "y")]
    assert {t.live is not None for t in handle.tables} == {in_place}


def test_a_packed_file_that_is_none_or_a_bomb_is_refused(app: Application, moto: Store) -> None:
    moto.client.put_object(Bucket="lake", Key="gz/broken.csv.gz", Body=b"not packed")
    moto.client.put_object(Bucket="lake", Key="gz/bomb.csv.gz", Body=gzip.compress(b"a,b\n" + b"0,0\n" * (30 << 20), 9))
    for name, said in (("broken.csv.gz", "gzip"), ("bomb.csv.gz", "times its size")):
        connector = app.connectors.connect(LOCAL, "s3", moto.config(prefix="gz"), files=[name])
        with pytest.raises(BadInput, match=said):
            app.connectors.ingest_tables(LOCAL, connector.id, [name])


def test_a_store_that_dies_in_the_middle_leaves_nothing_half(app: Application) -> None:
    store = Store(servers.start_nanio(), servers.S3_KEY, servers.S3_SECRET)
    try:
        client = store.client
        client.create_bucket(Bucket="lake")
        for number in range(120):
            client.put_object(Bucket="lake", Key=f"shop/part_{number:03}.csv", Body=b"id,name\n" + b"1,Ann\n" * 500)
        connector = app.connectors.connect(LOCAL, "s3", store.config(), files=["part_*.csv"])

        killed = threading.Event()

        def kill(body: dict[str, Any]) -> None:
            if not killed.is_set():
                killed.set()
                store.server.kill()

        folder = app.settings.home / "datasets"
        before = set(folder.iterdir()) if folder.exists() else set()
        with pytest.raises(BadInput, match="cannot be reached, or the connection to it was lost"):
            app.connectors.ingest_tables(LOCAL, connector.id, ["part_*.csv"], tell=kill)
        assert killed.is_set()
        assert {p for p in folder.iterdir() if not p.name.startswith(".")} == {p for p in before if not p.name.startswith(".")}
        with pytest.raises(NotFound):
            app.catalog.handle(LOCAL, connector.id)
    finally:
        store.server.close()


@pytest.mark.parametrize("mode", ["ingest", "query in place"])
def test_the_chat_tool_makes_the_lake_the_active_data_set(
    app: Application, s3: Store, mode: str, tmp_path: Path, rows: Rows
) -> None:
    first = app.catalog.import_source(LOCAL, "files", "before", [_csv(tmp_path)])
    app.set_active_source(LOCAL, first.source_id)
    ctx = app.answering.context(first, new_id("run"), tmp_path)
    args = {**s3.config(), "files": ["sales_*.parquet", "plain.csv"], "mode": mode}
    tool = REGISTRY["connect_datalake"]
    result = tool.run(tool.spec.args_schema.model_validate(args), ctx)
    assert result.ok, result.summary
    assert "sales: 4 rows" in result.summary and "plain: 2 rows" in result.summary
    assert f"{ctx.dataset.source_id} (local connector id" in result.summary and ctx.dataset.source_id != first.source_id
    assert app.active_source(LOCAL) == ctx.dataset.source_id
    for name, given in (("inspect_data", {}), ("run_sql", {"sql": "SELECT sum(amount) AS total FROM sales"})):
        got = REGISTRY[name].run(REGISTRY[name].spec.args_schema.model_validate(given), ctx)
        assert got.ok and ("sales (4 rows)" in got.summary or "12" in got.summary), got.summary
    assert (ctx.dataset.tables[0].live is not None) == (mode == "query in place")
    for secret in (s3.key, s3.secret):
        assert secret not in result.summary + str(result.payload) + str(result.meta)


def test_the_chat_tool_takes_its_keys_from_the_environment(
    app: Application, nanio: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", nanio.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", nanio.secret)
    ctx = app.answering.context(app.catalog.import_source(LOCAL, "files", "before", [_csv(tmp_path)]), new_id("run"), tmp_path)
    args = {k: v for k, v in nanio.config(files=["plain.csv"]).items() if not k.startswith("aws")}
    tool = REGISTRY["connect_datalake"]
    assert tool.run(tool.spec.args_schema.model_validate(args), ctx).ok
    kept = app.connectors.get(LOCAL, ctx.dataset.source_id)
    assert kept.variables == {"aws_access_key_id": "AWS_ACCESS_KEY_ID", "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY"}


def _csv(folder: Path) -> Path:
    path = folder / "before.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    return path
