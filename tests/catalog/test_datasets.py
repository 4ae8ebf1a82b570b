"""The read tools' service on real sources: lists and cursors, names, descriptions, statistics, differences."""

from __future__ import annotations

import base64

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Ambiguous, BadInput, Denied, InvalidCursor, LexsiError, NotFound, SqlFailed
from lexsi_ds.services.access import Actor
from tests.catalog.conftest import ADA, BEN, READER, Importing

PEOPLE = "person_id,email,city,pay,joined\n1,a@x.org,Brno,10,2020-01-01\n2,b@x.org,Brno,20,2021-01-01\n3,c@x.org,,,2022-01-01\n"


def _walk(app: Application, tool: str, actor: Actor, **given: object) -> list[dict]:
    items, cursor = [], None
    for _ in range(50):
        page = getattr(app.datasets, tool)(actor, cursor=cursor, **given)
        found = page["connectors"] if tool == "list_data_connectors" else page["datasets"]
        assert page["count"] == len(found) and page["truncated"] is ("nextCursor" in page)
        items += found
        cursor = page.get("nextCursor")
        if cursor is None:
            assert page["total"] == len(items)
            return items
    raise AssertionError("the pages do not end")


def test_lists_hold_what_a_person_may_see_and_the_fields_of_the_reference(app: Application, importing: Importing) -> None:
    mine, theirs = importing({"one": "a\n1\n"}, "mine"), importing({"two": "a\n1\n"}, "theirs", BEN)
    connectors = {c["id"]: c for c in _walk(app, "list_data_connectors", ADA)}
    assert mine.source_id in connectors and theirs.source_id not in connectors
    shown = connectors[mine.source_id]
    assert set(shown) == {"id", "displayName", "kind", "accessLevel", "database", "createdAt", "updatedAt"}
    assert (shown["displayName"], shown["kind"], shown["accessLevel"]) == ("mine", "csv", "owner")
    datasets = {d["id"]: d for d in _walk(app, "list_datasets", ADA)}
    one = datasets[mine.tables[0].dataset_id]
    assert theirs.tables[0].dataset_id not in datasets
    assert set(one) == {"id", "name", "connectorId", "kind", "status", "targetColumn", "latestVersion", "accessLevel", "updatedAt"}
    assert (one["name"], one["connectorId"], one["status"], one["latestVersion"]) == ("one", mine.source_id, "ready", 1)
    with pytest.raises(Denied):
        app.datasets.list_datasets(Actor("ada", "Ada", frozenset()))


def test_pages_meet_every_item_once_also_when_items_come_and_go(app: Application, importing: Importing) -> None:
    pager = Actor("pager", "Pager", ADA.rights)
    handle = importing({f"t{i:02}": "a\n1\n" for i in range(13)}, "many", pager)
    whole = [d["id"] for d in _walk(app, "list_datasets", pager)]
    assert len(set(whole)) == 13 and [d["id"] for d in _walk(app, "list_datasets", pager, limit=4)] == whole
    first = app.datasets.list_datasets(pager, limit=5)
    importing({"newer": "a\n1\n"}, "newer", pager)
    app.datasets.set_target(pager, whole[2], "a")  # moves to the front
    rest, cursor = [], first["nextCursor"]
    while cursor:
        page = app.datasets.list_datasets(pager, limit=5, cursor=cursor)
        rest += [d["id"] for d in page["datasets"]]
        cursor = page.get("nextCursor")
    assert [d["id"] for d in first["datasets"]] + rest == whole
    assert app.datasets.list_datasets(pager, connector_id=handle.source_id)["total"] == 13
    for limit in (0, 201, -1):
        with pytest.raises(BadInput):
            app.datasets.list_datasets(pager, limit=limit)
    assert app.datasets.list_datasets(pager, limit=200)["count"] == 14


def test_a_cursor_of_elsewhere_or_changed_is_refused(app: Application, importing: Importing) -> None:
    handle = importing({f"c{i}": "a\n1\n" for i in range(3)}, "cursors")
    importing({"b1": "a\n1\n", "b2": "a\n1\n"}, "bens", BEN)
    cursor = app.datasets.list_datasets(ADA, limit=1)["nextCursor"]
    assert app.datasets.list_datasets(ADA, limit=2, cursor=cursor)["count"] == 2
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[-3] ^= 1
    changed = base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")
    for attempt in (
        lambda: app.datasets.list_datasets(BEN, cursor=cursor),
        lambda: app.datasets.list_datasets(ADA, cursor=cursor, connector_id=handle.source_id),
        lambda: app.datasets.list_data_connectors(ADA, cursor=cursor),
        *(lambda c=c: app.datasets.list_datasets(ADA, cursor=c) for c in (changed, cursor[:-1], cursor + "A", "x", "é", "=" * 9)),
    ):
        with pytest.raises(InvalidCursor) as refused:
            attempt()
        assert refused.value.code == "invalid_cursor"


def test_names_are_resolved_by_id_then_by_exact_name_and_never_picked(app: Application, importing: Importing) -> None:
    a, b = importing({"twin": "a\n1\n", "only": "a\n1\n"}, "A"), importing({"twin": "a\n2\n"}, "B")
    hidden = importing({"secret": "a\n1\n"}, "C", BEN)
    ids = {a.table("twin").dataset_id, b.table("twin").dataset_id}  # type: ignore[union-attr]
    with pytest.raises(Ambiguous) as refused:
        app.datasets.resolve(ADA, "twin")
    assert set(refused.value.candidates) == ids and all(i in str(refused.value) for i in ids)
    assert app.datasets.resolve(ADA, "twin", within=b.source_id)[0].id == b.tables[0].dataset_id
    assert app.datasets.resolve(ADA, "only")[0].source_id == a.source_id
    for dataset_id in ids:
        assert app.datasets.resolve(ADA, dataset_id)[0].id == dataset_id
    said = set()
    for name in ("secret", hidden.tables[0].dataset_id, "nobody", "ds_00000000-0000-7000-8000-000000000000", "ONLY", ""):
        with pytest.raises(NotFound) as missing:
            app.datasets.describe_dataset(ADA, name)
        said.add(missing.value.what)
    assert said == {"There is no such data set."}


def test_a_dataset_of_a_schema_is_found_by_its_table_also_after_a_rename(app: Application, importing: Importing) -> None:
    import sqlalchemy as sa

    from lexsi_ds.store import tables as t

    dataset = importing({"orders": "a\n1\n"}, "schema").tables[0].dataset_id
    with app.store.write() as db:
        options = {"format": "postgres", "schema": "rwzant", "table": "po"}
        db.execute(sa.update(t.dataset_versions).where(t.dataset_versions.c.dataset_id == dataset).values(read_options=options))
        db.execute(sa.update(t.datasets).where(t.datasets.c.id == dataset).values(name="renamed"))
    assert app.datasets.resolve(ADA, "rwzant.po")[0].id == dataset == app.datasets.resolve(ADA, "renamed")[0].id
    shown = app.datasets.describe_dataset(ADA, "rwzant.po")
    assert (shown["schemaName"], shown["tableName"]) == ("rwzant", "po")


def test_a_description_holds_components_and_the_accepted_findings(app: Application, importing: Importing) -> None:
    dataset = importing({"people": PEOPLE}, "described").tables[0].dataset_id
    shown = app.datasets.describe_dataset(ADA, dataset)
    assert shown["findings"] == [] and (shown["rowCount"], shown["columnCount"]) == (3, 5)
    layer = shown["semanticLayer"]
    assert layer["availableComponents"] == ["column_stats", "feature_metadata"]
    assert {c["name"]: c["status"] for c in layer["manifest"]["components"]} == {
        "column_stats": "on_request", "feature_metadata": "ready"
    }
    finding = app.findings.propose(
        ADA, dataset_id=dataset, title="Pay is known", statement="Everybody has a pay.", columns=("pay",),
        check_sql="SELECT * FROM dataset WHERE pay IS NULL",
    )
    app.findings.propose(ADA, dataset_id=dataset, title="Pending", statement="Not seen yet.")
    app.findings.decide(ADA, finding.id, finding.row_version, "accepted")
    app.datasets.get_columns(ADA, dataset)
    shown = app.datasets.describe_dataset(ADA, dataset)
    assert [c["status"] for c in shown["semanticLayer"]["manifest"]["components"]] == ["ready", "ready"]
    (only,) = shown["findings"]
    assert (only["title"], only["verdict"], only["failureCount"], only["columns"]) == ("Pay is known", "violated", 1, ["pay"])
    assert only["reviewedBy"] == "Ada" and only["reviewedAt"].endswith("Z") and "flagReason" not in only


def test_findings_that_cannot_be_loaded_leave_the_rest(
    app: Application, importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = importing({"people": PEOPLE}, "broken").tables[0].dataset_id
    assert "may not see findings" in app.datasets.describe_dataset(READER, dataset)["findingsError"]

    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(app.findings, "of_dataset", fail)
    shown = app.datasets.describe_dataset(ADA, dataset)
    assert "findings" not in shown and "secret" not in shown["findingsError"] and shown["rowCount"] == 3


def test_statistics_are_those_of_the_data_and_nothing_of_a_masked_column(app: Application, importing: Importing) -> None:
    dataset = importing({"people": PEOPLE}, "stats").tables[0].dataset_id
    answer = app.datasets.get_columns(ADA, dataset)
    assert (answer["component"], answer["totalRows"], answer["totalColumns"]) == ("column_stats", 3, 5)
    columns = {c["name"]: c for c in answer["columns"]}
    pay = columns["pay"]
    assert (pay["count"], pay["nullCount"], pay["uniqueCount"], pay["min"], pay["max"]) == (2, 1, 2, 10, 20)
    assert (pay["mean"], pay["q1"], pay["median"], pay["q3"]) == (15, 12.5, 15, 17.5)
    assert pay["std"] == pytest.approx(7.0710678) and pay["nullPct"] == pytest.approx(33.3333)
    assert columns["city"]["topValues"] == [{"value": "Brno", "count": 2}] and "mean" not in columns["city"]
    assert (columns["joined"]["min"], columns["joined"]["max"]) == ("2020-01-01", "2022-01-01")
    assert set(columns["email"]) == {
        "name", "dtype", "description", "isTarget", "protected", "masked", "identifier"
    } and columns["email"]["masked"]
    app.catalog.mark_column(ADA, dataset, "city", masked=True)
    app.catalog.mark_column(ADA, dataset, "email", masked=False)
    columns = {c["name"]: c for c in app.datasets.get_columns(ADA, dataset)["columns"]}
    assert "topValues" not in columns["city"] and "min" not in columns["city"] and columns["email"]["min"] == "a@x.org"


def test_statistics_survive_odd_numbers_and_names(app: Application, importing: Importing) -> None:
    handle = importing({"odd": 'v,n,"d ""x""",dataset\n1.5,inf,true,a\n-2,nan,false,b\n0,3.5,true,a\n'}, "odd")
    columns = {c["name"]: c for c in app.datasets.get_columns(ADA, handle.tables[0].dataset_id)["columns"]}
    assert columns["v"]["zeroCount"] == 1 and columns["v"]["mean"] == pytest.approx(-1 / 6)
    assert columns["dataset"]["topValues"] == [{"value": "a", "count": 2}, {"value": "b", "count": 1}]
    assert len(columns) == 4


def test_statistics_are_kept_and_without_them_names_remain(
    app: Application, importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = importing({"people": PEOPLE}, "kept").tables[0].dataset_id
    other = importing({"people": PEOPLE}, "other").tables[0].dataset_id
    first = app.datasets.get_columns(ADA, kept)

    def fail(*_: object, **__: object) -> None:
        raise SqlFailed("no")

    monkeypatch.setattr(app.sql, "run_on_table", fail)
    assert app.datasets.get_columns(ADA, kept) == first
    fallback = app.datasets.get_columns(ADA, other)
    assert fallback["component"] == "feature_metadata" and [c["name"] for c in fallback["columns"]] == [
        "person_id", "email", "city", "pay", "joined"
    ]


def test_schemas_are_compared_by_name(app: Application, importing: Importing) -> None:
    a = importing({"a": "id,Amount,only_a\n1,2,x\n"}, "a").tables[0].dataset_id
    b = importing({"b": "id,amount,only_b\n1,x,y\n"}, "b").tables[0].dataset_id
    found = app.datasets.compare_schemas(ADA, a, b)
    assert [c["name"] for c in found["inBoth"]] == ["id", "Amount"]
    assert [c["sameType"] for c in found["inBoth"]] == [True, False] and found["inBoth"][1]["nameB"] == "amount"
    assert [c["name"] for c in found["onlyInA"]] == ["only_a"] and [c["name"] for c in found["onlyInB"]] == ["only_b"]


def test_texts_and_target_are_set_shown_and_reach_the_schema(app: Application, importing: Importing) -> None:
    handle = importing({"people": PEOPLE}, "texts")
    dataset = handle.tables[0].dataset_id
    answer = app.datasets.describe(ADA, dataset, text=" Staff of the town. ", columns={"PAY": "Monthly pay in CZK"})
    assert (answer["datasetContext"], answer["featureContexts"]) == ("Staff of the town.", {"pay": "Monthly pay in CZK"})
    app.datasets.set_target(ADA, dataset, "PAY")
    shown = app.datasets.describe_dataset(ADA, dataset)
    assert shown["targetColumn"] == "pay" and shown["featureContexts"] == {"pay": "Monthly pay in CZK"}
    assert [c["name"] for c in app.datasets.get_columns(ADA, dataset)["columns"] if c["isTarget"]] == ["pay"]
    fresh = app.catalog.handle(ADA, handle.source_id)
    assert fresh.tables[0].comment == "Staff of the town."
    assert app.knowledge(fresh).model.column("people", "pay").comment == "Monthly pay in CZK"  # type: ignore[union-attr]
    app.datasets.describe(ADA, dataset, text="", columns={"pay": None})
    app.datasets.set_target(ADA, dataset, None)
    shown = app.datasets.describe_dataset(ADA, dataset)
    assert (shown["datasetContext"], shown["featureContexts"], shown["targetColumn"]) == ("", {}, None)


def test_texts_are_their_owners_to_write_and_have_an_end(app: Application, importing: Importing) -> None:
    dataset = importing({"people": PEOPLE}, "guarded").tables[0].dataset_id
    refused: list[tuple[type[LexsiError], object]] = [
        (NotFound, lambda: app.datasets.describe(BEN, dataset, text="mine")),
        (Denied, lambda: app.datasets.describe(READER, dataset, text="mine")),
        (NotFound, lambda: app.datasets.describe(ADA, dataset, columns={"nope": "x"})),
        (BadInput, lambda: app.datasets.describe(ADA, dataset, text="x" * 5_000)),
        (BadInput, lambda: app.datasets.set_target(ADA, dataset, "email")),
        (NotFound, lambda: app.datasets.set_target(ADA, dataset, "nope")),
    ]
    for kind, attempt in refused:
        with pytest.raises(kind):
            attempt()  # type: ignore[operator]
    assert app.datasets.describe_dataset(ADA, dataset)["datasetContext"] == ""
