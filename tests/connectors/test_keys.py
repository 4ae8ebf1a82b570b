"""Keys that a database declares are joins here, copied or in place; tables without them are tried on a part of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import LOCAL
from tests.connectors.conftest import mysql_config, postgres_config
from tests.connectors.servers import Server, mariadb_owner, postgres_owner

pytestmark = pytest.mark.xdist_group("connectors")
KEYED = """
CREATE TABLE client (nr int PRIMARY KEY, city text {comment}){about};
CREATE TABLE invoice (id int PRIMARY KEY, payer int {payer}, amount decimal(10,2){fk});
CREATE TABLE stop (line int, seq int, place varchar(20), PRIMARY KEY (line, seq));
CREATE TABLE visit (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES stop (line, seq));
INSERT INTO client VALUES (10, 'Brno'), (20, 'Praha'), (30, 'Plzen');
INSERT INTO invoice VALUES (1, 10, 5.5), (2, 10, 4.5), (3, 30, 1);
INSERT INTO stop VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 1, 'z');
INSERT INTO visit VALUES (1, 1, 2), (2, 2, 1);
"""
NAMELESS = """
CREATE TABLE shops (shop_id int, town text); INSERT INTO shops SELECT i, 'town ' || i FROM generate_series(1, 50) i;
CREATE TABLE sales (sale_id int, shop_id int, n int); INSERT INTO sales SELECT i, 1 + i % 50, i FROM generate_series(1, 500) i;
"""
TABLES = ["client", "invoice", "stop", "visit"]


@pytest.fixture(scope="module")
def keyed_pg(postgres: Server) -> Iterator[Server]:
    with postgres_owner(postgres) as owner:
        owner.execute("CREATE DATABASE keyed")
    with postgres_owner(postgres, "keyed") as owner:
        owner.execute(KEYED.format(comment="", about="", payer="REFERENCES client (nr)", fk=""))
        owner.execute("COMMENT ON TABLE client IS 'Who pays'; COMMENT ON COLUMN client.city IS 'Where the client lives'")
        owner.execute(NAMELESS)
        owner.execute('CREATE SCHEMA old; CREATE TABLE old.client (nr int PRIMARY KEY); INSERT INTO old.client VALUES (99)')
        owner.execute("GRANT USAGE ON SCHEMA old TO lexsi_reader; GRANT SELECT ON ALL TABLES IN SCHEMA public, old TO lexsi_reader")
    yield postgres


@pytest.fixture(scope="module")
def keyed_maria(mariadb: Server) -> Iterator[Server]:
    said = {"comment": "COMMENT 'Where the client lives'", "about": " COMMENT 'Who pays'"}
    sql = KEYED.format(**said, payer="", fk=", FOREIGN KEY (payer) REFERENCES client (nr)")
    mariadb_owner(mariadb, f"CREATE DATABASE keyed; USE keyed; {sql} GRANT SELECT ON keyed.* TO lexsi_reader@'%'")
    yield mariadb


@pytest.mark.parametrize("way", ["postgres", "postgres in place", "mysql"])
def test_declared_keys_and_comments_come_with_the_tables(
    app: Application, way: str, keyed_pg: Server, keyed_maria: Server
) -> None:
    kind = way.split()[0]
    config = postgres_config(keyed_pg, database="keyed") if kind == "postgres" else mysql_config(keyed_maria, database="keyed")
    connector = app.connectors.connect(LOCAL, kind, config, in_place=way.endswith("place"))
    listed = app.connectors.list_connector_tables(LOCAL, connector.id)
    chosen = [t for t in listed if t.table_name in TABLES and t.schema_name != "old"]
    wanted = [{"schemaName": t.schema_name, "tableName": t.table_name} for t in chosen]
    handle = app.connectors.ingest_tables(LOCAL, connector.id, wanted)
    found = app.relations.of(LOCAL, connector.id)
    assert {(k.table, k.columns) for k in found.keys} == {
        ("client", ("nr",)), ("invoice", ("id",)), ("stop", ("line", "seq")), ("visit", ("id",)),
    }
    assert {k.origin for k in found.keys} == {"declared"}
    payer = next(r for r in found.relations if r.child == "invoice")
    assert (payer.child_column, payer.parent, payer.parent_column, payer.origin) == ("payer", "client", "nr", "declared")
    assert payer.usable and payer.to_key and (payer.tried, payer.missing) == (2, 0)
    (together,) = found.composites
    assert (together.child, together.child_columns) == ("visit", ("a", "b"))
    assert (together.parent, together.parent_columns) == ("stop", ("line", "seq"))
    assert not [r for r in found.relations if r.child == "visit" and r.usable], "no half of a key is joined"
    client = handle.table("client")
    assert client is not None and client.comment == "Who pays" and client.column("city").comment == "Where the client lives"  # type: ignore[union-attr]
    described = app.datasets.describe_dataset(LOCAL, client.dataset_id)
    assert "Who pays" in str(described["datasetContext"]) and "Where the client lives" in str(described["featureContexts"])
    answer = ask(app, handle, "average amount by city")
    assert answer == {"Brno": 5.0, "Plzen": 1.0}, answer


def ask(app: Application, handle: Any, question: str) -> dict[str, float]:
    """What the offline planner answers, as {group: value}."""
    app.set_active_source(LOCAL, handle.source_id)
    conversation = app.chats.new(LOCAL, handle.source_id)
    run = app.chats.ask(LOCAL, conversation, question, handle.source_id)
    events: list[Any] = []
    while not any(e["type"] in ("done", "error") for e in events):
        events += app.chats.events(LOCAL, run, len(events), 30)
    ids = [i for e in events if e["type"] == "tool_result" and e["name"] == "run_sql" for i in e["artifact_ids"]]
    assert ids, [e.get("answer") for e in events[-1:]]
    frame = app.chats.artifact(LOCAL, ids[-1]).frame()
    return {str(row[0]): float(row[-1]) for row in frame.itertuples(index=False)}


def test_a_reference_to_a_table_that_was_not_taken_is_no_link_to_one_of_the_same_name(app: Application, keyed_pg: Server) -> None:
    connector = app.connectors.connect(LOCAL, "postgres", postgres_config(keyed_pg, database="keyed"))
    wanted = [{"schemaName": "old", "tableName": "client"}, {"schemaName": "public", "tableName": "invoice"}]
    app.connectors.ingest_tables(LOCAL, connector.id, wanted)
    assert not [r for r in app.relations.of(LOCAL, connector.id).relations if r.origin == "declared"]


def test_tables_in_place_without_declared_keys_are_tried_and_joined(app: Application, keyed_pg: Server) -> None:
    config = postgres_config(keyed_pg, database="keyed")
    connector = app.connectors.connect(LOCAL, "postgres", config, in_place=True)
    handle = app.connectors.ingest_tables(LOCAL, connector.id, ["shops", "sales"])
    (found,) = [r for r in app.relations.of(LOCAL, connector.id).relations if r.usable]
    assert found.ends == ("sales", "shop_id", "shops", "shop_id") and (found.tried, found.origin) == (50, "found")
    assert [r.ends for r in app.relations.for_joins(handle)] == [found.ends]


def test_the_look_at_tables_in_place_is_bounded_and_a_large_parent_counts_only_when_declared(
    app: Application, keyed_pg: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexsi_ds.data import relations

    monkeypatch.setattr(relations, "LIVE_PARENT_ROWS", 2)
    monkeypatch.setattr(relations, "LIVE_CHILD_ROWS", 7)
    config = postgres_config(keyed_pg, database="keyed")
    connector = app.connectors.connect(LOCAL, "postgres", config, in_place=True)
    app.connectors.ingest_tables(LOCAL, connector.id, ["shops", "sales", "public.client", "invoice"])
    found = app.relations.of(LOCAL, connector.id)
    assert [(r.ends[:2], r.tried, r.to_key, r.usable) for r in found.relations] == [(("invoice", "payer"), 0, True, True)]
    monkeypatch.setattr(relations, "LIVE_PARENT_ROWS", 1_000)
    handle = app.connectors.refresh(LOCAL, connector.id)
    (link,) = [r for r in app.relations.of(LOCAL, handle.source_id).relations if r.child == "sales" and r.usable]
    assert link.tried == 7
