"""The registry of kinds, rights, other sources' answers, SQLite files, and which worker does what."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import REGISTRY
from lexsi_ds.errors import BadInput, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import ALL_RIGHTS, LOCAL, Actor
from lexsi_ds.settings import Settings
from tests.connectors.conftest import DOCS

pytestmark = pytest.mark.xdist_group("connectors")

Rows = Callable[[Any, str], list[tuple[Any, ...]]]
READER = Actor("reader", "Reader", frozenset({"datasets:read"}))
NOBODY = Actor("nobody", "Nobody", frozenset())
BEN = Actor("ben", "Ben", ALL_RIGHTS)


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE orders (id INTEGER, code TEXT)")
        db.execute("INSERT INTO orders VALUES (1, '007'), (2, '008')")
        db.execute('CREATE TABLE "o\'dd ""na;me" (a INTEGER)')
        db.execute('INSERT INTO "o\'dd ""na;me" VALUES (5)')
    db.close()
    return path


def test_every_kind_is_documented_and_what_is_not_available_says_so(app: Application) -> None:
    text = DOCS.read_text()
    for kind in app.connectors.kinds():
        assert f"`{kind.name}`" in text
        if not kind.available:
            with pytest.raises(BadInput, match="not available yet"):
                app.connectors.connect(LOCAL, kind.name, {})
    assert {k.name for k in app.connectors.kinds() if k.available} == {"s3", "postgres", "mysql", "sqlite"}
    with pytest.raises(BadInput, match="no connector of this kind"):
        app.connectors.connect(LOCAL, "oracle", {})


def test_every_field_of_every_form_is_documented() -> None:
    text = DOCS.read_text()
    for kind in REGISTRY.values():
        for field in kind.config.model_fields if kind.config else ():
            assert f"`{field}`" in text, field


def test_a_sqlite_file_lists_its_tables_and_gives_those_that_are_chosen(app: Application, sqlite_file: Path, rows: Rows) -> None:
    connector = app.connectors.connect(LOCAL, "sqlite", {"path": str(sqlite_file)})
    found = app.connectors.list_connector_tables(LOCAL, connector.id)
    assert [(t.schema_name, t.table_name) for t in found] == [(None, "o'dd \"na;me"), (None, "orders")]
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["orders"])
    assert [t.name for t in handle.tables] == ["orders"]
    assert rows(handle, "SELECT id, CAST(code AS VARCHAR) FROM orders") == [(1, "007"), (2, "008")]
    both = app.connectors.ingest_tables(LOCAL, connector.id, ["o'dd \"na;me"])
    assert sorted(t.name for t in both.tables) == ["o'dd \"na;me", "orders"], "the tables of before stay in the snapshot"
    assert both.snapshot_number == handle.snapshot_number + 1
    with pytest.raises(BadInput, match="in place"):
        app.connectors.connect(LOCAL, "sqlite", {"path": str(sqlite_file)}, in_place=True)


def test_files_have_no_source_tables_to_list(app: Application, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    handle = app.catalog.import_source(LOCAL, "files", "A", [tmp_path / "a.csv"])
    with pytest.raises(BadInput, match="kind csv has no source tables to list"):
        app.connectors.list_connector_tables(LOCAL, handle.source_id)
    with pytest.raises(BadInput, match="not a connector"):
        app.connectors.ingest_tables(LOCAL, handle.source_id, ["a"])


def test_rights_are_asked_for_and_others_connectors_are_not_there(app: Application, sqlite_file: Path) -> None:
    form = {"path": str(sqlite_file)}
    kept = app.connectors.connect(LOCAL, "sqlite", form)
    for work in (
        lambda: app.connectors.connect(READER, "sqlite", form), lambda: app.connectors.ingest_tables(READER, kept.id, ["orders"]),
        lambda: app.connectors.refresh(READER, kept.id), lambda: app.connectors.delete(READER, kept.id),
        lambda: app.connectors.unlock(READER, kept.id, {}), lambda: app.connectors.list(NOBODY),
        lambda: app.connectors.list_connector_tables(NOBODY, kept.id), lambda: app.connectors.test_connection(NOBODY, kept.id),
    ):
        with pytest.raises(Denied):
            work()
    for who in (BEN, READER):
        assert kept.id not in {c.id for c in app.connectors.list(who)}
        for wrong in (kept.id, new_id("con"), "con_", "../store", ""):
            with pytest.raises(NotFound):
                app.connectors.list_connector_tables(who, wrong)
    with pytest.raises(NotFound):
        app.connectors.delete(BEN, kept.id)
    app.connectors.delete(LOCAL, kept.id)
    assert kept.id not in {c.id for c in app.connectors.list(LOCAL)}


def test_a_worker_that_served_one_connector_never_serves_another(tmp_path: Path) -> None:
    pool = Pool(Settings(home=tmp_path / "home", sql_workers=1))
    (tmp_path / "x.sqlite").write_bytes(b"")
    try:
        served: dict[str, set[int]] = {}
        for key in ("a", "a", "b", "c", "a"):
            before = set(pool.pids())
            link = {"kind": "sqlite", "config": {"path": str(tmp_path / "x.sqlite")}, "secrets": {}}
            pool.run("connector", "lexsi_ds.data.connectors.worker:list_tables", {"link": link, "statement_s": 5}, affinity=key)
            bound = {w.pid: w.affinity for w in pool._workers if w.affinity is not None}
            assert key in bound.values() or before
            for pid, owner in bound.items():
                served.setdefault(str(owner), set()).add(pid)
        for owner, pids in served.items():
            others = set().union(*(p for o, p in served.items() if o != owner))
            assert not pids & others
        assert len(served) == 3
    finally:
        pool.close()


def test_scanners_are_never_loaded_in_the_shared_query_worker(app: Application, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    handle = app.catalog.import_source(LOCAL, "files", "A", [tmp_path / "a.csv"])
    app.sql.frame(handle, "SELECT * FROM a")
    for worker in app.pool._workers:
        if worker.lane == "sql":
            assert "duckdb_extension" not in Path(f"/proc/{worker.pid}/maps").read_text()
