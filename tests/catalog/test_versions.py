"""Versions on real sources: refreshes, what becomes stale, what may be deleted, and files that really go."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import Conflict, Denied, LexsiError, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.services import removal
from lexsi_ds.store import tables as t
from lexsi_ds.store.models import ModelRows
from lexsi_ds.store.runs import Runs
from tests.catalog.conftest import ADA, BEN, READER, Importing

_CHECK = "SELECT * FROM dataset WHERE pay < 0"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("id,pay\n" + "".join(f"{i},{i}\n" for i in range(1, 101)))
    return path


@pytest.fixture
def first(app: Application, people: Path) -> DatasetHandle:
    return app.catalog.import_source(ADA, "files", "people", [people])


def _model(app: Application, handle: DatasetHandle, name: str = "XGBoost_v1") -> str:
    """A model's row, as training leaves it: what it predicts does not matter here."""
    card = {"source_id": handle.source_id, "snapshot_id": handle.snapshot_id, "name": name}
    return ModelRows(app.store).insert(new_id("mdl"), ADA.id, "models/none", None, card).id


def _answer(app: Application, handle: DatasetHandle, snapshot: bool = True) -> str:
    conversation, run_id = app.chats.new(ADA, handle.source_id), new_id("run")
    runs = Runs(app.store)
    runs.insert_run(run_id, conversation, "boot", "How many people?", {"source_id": handle.source_id}, time.time())
    if snapshot:
        runs.note(run_id, snapshot_id=handle.snapshot_id)
    runs.finish(run_id, 1, time.time(), {"state": "answered"})
    return conversation


def _grow(people: Path, line: str = "101,-5\n") -> None:
    people.write_text(people.read_text() + line)


def test_a_refresh_runs_the_checks_of_accepted_findings_and_marks_the_rest_stale(
    app: Application, first: DatasetHandle, people: Path
) -> None:
    dataset = first.tables[0].dataset_id
    accepted, pending = (
        app.findings.propose(ADA, dataset_id=dataset, title=title, statement="No pay is negative.", check_sql=_CHECK)
        for title in ("accepted", "pending")
    )
    app.findings.decide(ADA, accepted.id, accepted.row_version, "accepted")
    model = _model(app, first)
    assert app.versions.stale(ADA, first.source_id) == ()
    _grow(people)
    task = app.start_refresh(ADA, first.source_id)
    while task.state == "running":
        time.sleep(0.05)
    done = task.result
    (checked,) = done.rechecked
    assert checked.id == accepted.id and checked.headline == "Accepted, now broken" and not checked.stale
    waiting = app.findings.get(ADA, pending.id)
    assert waiting.stale and waiting.verdict == "holds"
    assert not app.findings.run_check(ADA, pending.id).stale
    assert [(s.id, s.number, s.newest) for s in app.versions.stale_models(ADA, first.source_id)] == [(model, 1, 2)]
    assert {s.id for s in done.stale} == {model, pending.id}


def test_a_reader_of_the_old_version_is_undisturbed_by_a_switch_and_by_its_deletion(
    app: Application, first: DatasetHandle, people: Path
) -> None:
    slow = "SELECT count(*) AS n, sum(a.pay) AS s FROM people a, people b, people c, people d WHERE a.id + b.id + c.id + d.id > 0"
    counted: list[int] = []
    running = threading.Event()

    def read() -> None:
        running.set()
        counted.append(int(app.sql.frame(first, slow)["n"].iloc[0]))

    reader = threading.Thread(target=read)
    reader.start()
    running.wait()
    _grow(people)
    newer = app.catalog.reimport(ADA, first.source_id)
    assert reader.is_alive() or counted, "the reader died"
    assert app.versions.prune(ADA, first.source_id) > 0
    assert app.sql.frame(newer, "SELECT count(*) AS n FROM people")["n"].tolist() == [101]
    reader.join(60)
    assert counted == [100**4]
    with pytest.raises(NotFound):
        app.catalog.handle(ADA, first.source_id, first.snapshot_id)


def test_an_open_file_of_a_deleted_source_reads_to_its_end(app: Application, first: DatasetHandle) -> None:
    import duckdb

    with duckdb.connect(str(first.tables[0].path), read_only=True) as reader:
        app.catalog.delete(ADA, first.source_id)
        assert not first.tables[0].path.exists()
        assert reader.execute("SELECT count(*), sum(pay) FROM data").fetchall() == [(100, 5050)]


@pytest.mark.parametrize("kind", ["model", "answer", "old answer", "finding", "pending finding"])
def test_a_version_that_something_relies_on_stays_and_says_of_what(
    app: Application, first: DatasetHandle, people: Path, kind: str
) -> None:
    release = lambda: None  # noqa: E731
    if kind == "model":
        model = _model(app, first, "XGBoost_v1")

        def release() -> None:
            app.models.delete(ADA, model)
    elif "answer" in kind:
        conversation = _answer(app, first, snapshot=kind == "answer")

        def release() -> None:
            app.chats.delete(ADA, conversation)
    else:
        found = app.findings.propose(
            ADA, dataset_id=first.tables[0].dataset_id, title="Pay is there", statement="x.", check_sql=_CHECK
        )
        if kind == "finding":
            found = app.findings.decide(ADA, found.id, found.row_version, "accepted")

        def release() -> None:
            now = app.findings.get(ADA, found.id)
            app.findings.retire(ADA, now.id, now.row_version)
    _grow(people)
    app.catalog.reimport(ADA, first.source_id)
    named = {"model": "XGBoost_v1", "answer": "How many people", "old answer": "How many people"}.get(kind, "Pay is there")
    for attempt in (
        lambda: app.versions.delete(ADA, first.source_id, first.snapshot_id), lambda: app.catalog.delete(ADA, first.source_id)
    ):
        with pytest.raises(Conflict, match=named):
            attempt()
    assert app.versions.prune(ADA, first.source_id) == 0
    assert app.catalog.handle(ADA, first.source_id, first.snapshot_id).tables[0].path.is_file()
    old = app.versions.list(ADA, first.source_id)[1]
    assert not old.removable or "finding" in kind
    release()
    before = app.versions.disk_used(ADA, first.source_id)
    freed = app.versions.delete(ADA, first.source_id, first.snapshot_id)
    assert freed > 0 and app.versions.disk_used(ADA, first.source_id) == before - freed
    assert [v.number for v in app.versions.list(ADA, first.source_id)] == [2]
    app.catalog.delete(ADA, first.source_id)


def test_the_newest_version_and_those_of_others_cannot_be_deleted(app: Application, first: DatasetHandle) -> None:
    with pytest.raises(Conflict, match="newest"):
        app.versions.delete(ADA, first.source_id, first.snapshot_id)
    with pytest.raises(NotFound):
        app.versions.delete(ADA, first.source_id, new_id("snap"))
    with pytest.raises(NotFound):
        app.versions.prune(BEN, first.source_id)
    with pytest.raises(Denied):
        app.versions.prune(READER, first.source_id)
    with app.store.write() as db:  # everybody sees a source of this kind
        db.execute(sa.update(t.sources).where(t.sources.c.id == first.source_id).values(kind="demo"))
    with pytest.raises(Denied):
        app.versions.prune(BEN, first.source_id)


def test_versions_are_numbered_again_after_a_prune_without_reuse(
    app: Application, first: DatasetHandle, people: Path
) -> None:
    for _ in range(2):
        _grow(people)
        app.catalog.reimport(ADA, first.source_id)
    app.versions.prune(ADA, first.source_id)
    again = app.catalog.reimport(ADA, first.source_id)
    assert (again.snapshot_number, again.tables[0].version) == (4, 4)


def test_a_deletion_that_fails_says_so_is_listed_and_can_be_done_again(
    app: Application, first: DatasetHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> None:
        raise PermissionError(13, "Permission denied", "/secret/path")

    with monkeypatch.context() as broken:
        broken.setattr(removal, "_erase", full)
        with pytest.raises(LexsiError, match="could not be deleted: Permission denied"):
            app.catalog.delete(ADA, first.source_id)
    listed = {c["id"]: c for c in app.datasets.list_data_connectors(ADA, limit=200)["connectors"]}[first.source_id]
    assert listed["deleteStatus"] == "delete_failed" and "Permission denied" in listed["deleteError"]
    assert "/secret" not in listed["deleteError"]
    assert first.source_id not in {s.id for s in app.catalog.sources(ADA)}
    with pytest.raises(NotFound):
        app.catalog.handle(ADA, first.source_id)
    app.catalog.delete(ADA, first.source_id)
    assert first.source_id not in {c["id"] for c in app.datasets.list_data_connectors(ADA, limit=200)["connectors"]}


def test_a_deletion_whose_process_died_is_finished_by_the_next_sweep(app: Application, first: DatasetHandle) -> None:
    with app.store.write() as db:
        db.execute(sa.update(t.sources).where(t.sources.c.id == first.source_id).values(delete_status="deleting"))
    shown = app.datasets.list_data_connectors(ADA, limit=200)["connectors"]
    assert next(c for c in shown if c["id"] == first.source_id)["deleteStatus"] == "deleting"
    app.catalog.sweep()
    assert not first.tables[0].path.exists()
    assert first.source_id not in {c["id"] for c in app.datasets.list_data_connectors(ADA, limit=200)["connectors"]}


def test_an_import_into_a_source_that_is_deleted_meanwhile_leaves_nothing(
    app: Application, first: DatasetHandle, people: Path, home: Path
) -> None:
    deleted: list[bool] = []

    def delete(_: dict) -> None:
        if not deleted:
            deleted.append(True)
            app.catalog.delete(ADA, first.source_id)

    with pytest.raises(Conflict, match="deleted meanwhile"):
        app.catalog.reimport(ADA, first.source_id, tell=delete)
    assert not (home / "datasets" / first.tables[0].dataset_id).exists()


def test_a_deleted_model_leaves_no_file_behind(app: Application, first: DatasetHandle, home: Path) -> None:
    card = {"source_id": first.source_id, "snapshot_id": first.snapshot_id, "name": "XGBoost_v1"}
    model = ModelRows(app.store).insert(new_id("mdl"), ADA.id, "models/kept", None, card).id
    folders = [home / "models" / "kept", home / "explanations" / model]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "oof.arrow").write_bytes(b"rows")
    with pytest.raises(NotFound):
        app.delete_model(BEN, model)
    assert all(folder.is_dir() for folder in folders)
    app.delete_model(ADA, model)
    assert not any(folder.exists() for folder in folders)
    with pytest.raises(NotFound):
        app.delete_model(ADA, model)


def test_statistics_of_deleted_data_are_gone_too(app: Application, importing: Importing, home: Path) -> None:
    handle = importing({"people": "a\n1\n2\n"}, "stats")
    dataset = handle.tables[0].dataset_id
    app.datasets.get_columns(ADA, dataset)
    assert list((home / "column_stats" / dataset).iterdir())
    app.catalog.delete(ADA, handle.source_id)
    assert not (home / "column_stats" / dataset).exists()


def test_a_chat_records_the_version_that_it_reads(app: Application, first: DatasetHandle) -> None:
    conversation = app.chats.new(ADA, first.source_id)
    run_id = app.chats.ask(ADA, conversation, "How many people are there?", first.source_id)
    while not any(e["type"] == "done" for e in app.chats.events(ADA, run_id, wait=1.0)):
        pass
    assert app.chats.turns(ADA, conversation)[0].snapshot_id == first.snapshot_id
    assert [r.kind for r in app.versions.list(ADA, first.source_id)[0].used_by] == ["answer"]
    with pytest.raises(Conflict, match="answer “How many people are there"):
        app.catalog.delete(ADA, first.source_id)


def test_two_versions_are_compared_by_key_columns_and_figures(app: Application, tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("id,email,pay,city,gone\n1,a@x.org,10,Brno,x\n2,b@x.org,20,Brno,x\n3,c@x.org,30,,x\n")
    first = app.catalog.import_source(ADA, "files", "compared", [path])
    path.write_text("id,email,pay,city,new\n1,a@x.org,10,Brno,1\n3,c@x.org,35,Praha,1\n4,d@x.org,n.a.,Praha,1\n5,e@x.org,1.5,,1\n")
    second = app.versions.refresh(ADA, first.source_id).handle
    found = app.comparisons.compare(ADA, first.source_id, "staff", first.snapshot_id)
    assert (found.before, found.after, found.rows_before, found.rows_after) == (1, 2, 3, 4)
    assert found.rows is not None
    assert (found.rows.key, found.rows.added, found.rows.removed, found.rows.changed) == ("id", 2, 1, 1)
    assert (found.added, found.removed) == (("new",), ("gone",))
    assert [(r.name, r.before) for r in found.retyped] == [("pay", "BIGINT")]
    columns = {c.name: c for c in found.columns}
    assert "email" not in columns and columns["pay"].mean_before == 20
    assert columns["city"].missing_before == pytest.approx(1 / 3) and columns["city"].missing_after == 1 / 4
    back = app.comparisons.compare(ADA, first.source_id, "STAFF", second.snapshot_id, first.snapshot_id)
    assert back.rows is not None and (back.rows.added, back.rows.removed) == (1, 2)
    with pytest.raises(NotFound):
        app.comparisons.compare(BEN, first.source_id, "staff", first.snapshot_id)


def test_versions_without_a_common_key_are_compared_without_rows(app: Application, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("kind,n\na,1\na,1\n")
    first = app.catalog.import_source(ADA, "files", "keyless", [path])
    path.write_text("kind,n\na,1\nb,2\nb,2\n")
    app.catalog.reimport(ADA, first.source_id)
    found = app.comparisons.compare(ADA, first.source_id, "t", first.snapshot_id)
    assert found.rows is None and (found.rows_before, found.rows_after) == (2, 3)
