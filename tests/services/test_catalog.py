"""The catalog on a real store and real workers: who sees what, versions and snapshots, and two processes at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound, SqlFailed, SqlRefused, Stopped
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)
READER = Actor("ada", "Ada", frozenset({"datasets:read"}))
NOBODY = Actor("ada", "Ada", frozenset())
_REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("catalog-home")


@pytest.fixture(scope="module")
def settings(base: Path) -> Settings:
    return Settings(home=base, sql_workers=1)


@pytest.fixture(scope="module")
def pool(settings: Settings) -> Iterator[Pool]:
    pool = Pool(settings)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def catalog(settings: Settings, pool: Pool) -> Iterator[Catalog]:
    store = Store(settings.store_path_url)
    store.migrate()
    yield Catalog(settings, store, pool)
    store.close()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("person_id,email,gender,pay\n1,ann@example.com,F,10.5\n2,bob@example.com,M,11\n3,,F,\n")
    return path


def test_an_import_makes_a_source_with_snapshot_one(catalog: Catalog, people: Path) -> None:
    handle = catalog.import_source(ADA, "files", "  People  of\nthe town ", [people])
    assert (handle.name, handle.kind, handle.snapshot_number, handle.rows) == ("People of the town", "files", 1, 3)
    table = handle.tables[0]
    assert table.path.is_file() and table.version == 1
    marks = {c.name: (c.protected, c.masked, c.identifier) for c in table.columns}
    assert marks == {
        "person_id": (False, False, True), "email": (False, True, False), "gender": (True, False, False),
        "pay": (False, False, False),
    }  # fmt: skip
    assert catalog.handle(ADA, handle.source_id) == handle
    info = next(s for s in catalog.sources(ADA) if s.id == handle.source_id)
    assert (info.tables, info.rows, info.snapshot_number, info.table_names) == (1, 3, 1, ("people",))


def test_a_source_of_someone_else_is_not_there(catalog: Catalog, people: Path) -> None:
    handle = catalog.import_source(ADA, "files", "private", [people])
    assert handle.source_id not in {s.id for s in catalog.sources(BEN)}
    for attempt in (
        lambda: catalog.handle(BEN, handle.source_id),
        lambda: catalog.preview(BEN, handle.source_id, "people"),
        lambda: catalog.delete(BEN, handle.source_id),
        lambda: catalog.notes(BEN, handle.source_id),
        lambda: catalog.reimport(BEN, handle.source_id),
        lambda: catalog.mark_column(BEN, handle.tables[0].dataset_id, "pay", masked=True),
        lambda: catalog.handle(ADA, "con_../../etc"),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_every_call_wants_its_right(catalog: Catalog, people: Path) -> None:
    handle = catalog.import_source(ADA, "files", "rights", [people])
    dataset = handle.tables[0].dataset_id
    for refused in (
        lambda: catalog.sources(NOBODY),
        lambda: catalog.handle(NOBODY, handle.source_id),
        lambda: catalog.preview(NOBODY, handle.source_id, "people"),
        lambda: catalog.notes(NOBODY, handle.source_id),
        lambda: catalog.ensure_demo(NOBODY),
        lambda: catalog.throwaway(people, actor=NOBODY),
        lambda: catalog.import_source(READER, "files", "x", [people]),
        lambda: catalog.reimport(READER, handle.source_id),
        lambda: catalog.delete(READER, handle.source_id),
        lambda: catalog.mark_column(READER, dataset, "pay", masked=True),
        lambda: catalog.save_derived(READER, handle.source_id, "x", people),
    ):
        with pytest.raises(Denied):
            refused()


def test_preview_hides_masked_values_and_keeps_missing_ones_missing(catalog: Catalog, people: Path) -> None:
    handle = catalog.import_source(ADA, "files", "preview", [people])
    shown = catalog.preview(ADA, handle.source_id, "PEOPLE", 3)
    assert list(shown.columns) == ["person_id", "email", "gender", "pay"]
    assert shown["email"].tolist()[:2] == ["•••", "•••"] and shown["email"].isna().tolist() == [False, False, True]
    assert len(catalog.preview(ADA, handle.source_id, "people", 2)) == 2
    with pytest.raises(NotFound):
        catalog.preview(ADA, handle.source_id, 'people"; DROP TABLE people; --')


def test_a_mark_holds_for_the_column_whatever_the_case_and_hides_its_extremes(catalog: Catalog, people: Path) -> None:
    handle = catalog.import_source(ADA, "files", "marks", [people])
    table = handle.tables[0]
    catalog.mark_column(ADA, table.dataset_id, "PAY", masked=True)
    catalog.mark_column(ADA, table.dataset_id, "gender", protected=False)
    marked = catalog.handle(ADA, handle.source_id).tables[0]
    pay, gender = marked.column("pay"), marked.column("gender")
    assert pay is not None and pay.masked and pay.minimum is None and pay.maximum is None
    assert gender is not None and not gender.protected
    catalog.mark_column(ADA, table.dataset_id, "pay", masked=False)
    restored = catalog.table(table.dataset_id).column("pay")
    assert restored is not None and not restored.masked and restored.maximum == "11.0"
    with pytest.raises(NotFound):
        catalog.mark_column(ADA, table.dataset_id, "nope", masked=True)


def test_importing_again_gives_new_versions_and_keeps_old_snapshots_and_marks(catalog: Catalog, people: Path) -> None:
    first = catalog.import_source(ADA, "files", "again", [people])
    catalog.mark_column(ADA, first.tables[0].dataset_id, "pay", protected=True)
    people.write_text(people.read_text() + "4,dan@example.com,M,12\n")
    second = catalog.reimport(ADA, first.source_id)
    assert (second.snapshot_number, second.rows) == (2, 4)
    assert second.tables[0].dataset_id == first.tables[0].dataset_id and second.tables[0].version == 2
    pay = second.tables[0].column("pay")
    assert pay is not None and pay.protected
    old = catalog.handle(ADA, first.source_id, first.snapshot_id)
    assert old.rows == 3 and old.tables[0].path.is_file()


def test_a_failed_import_leaves_no_source_and_no_files(catalog: Catalog, base: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"")
    before = sorted(p.name for p in (base / "datasets").glob("ds_*"))
    with pytest.raises(BadInput, match="empty"):
        catalog.import_source(ADA, "files", "bad one", [bad])
    assert "bad one" not in {s.name for s in catalog.sources(ADA)}
    assert sorted(p.name for p in (base / "datasets").glob("ds_*")) == before
    for kind, name, paths in (("s3", "x", [bad]), ("files", "  ", [bad]), ("files", "x", [])):
        with pytest.raises(BadInput):
            catalog.import_source(ADA, kind, name, paths)


def test_a_stopped_import_leaves_no_source_and_the_next_one_works(
    catalog: Catalog, tmp_path: Path, people: Path
) -> None:
    big = tmp_path / "big.csv"
    big.write_text("a,b\n" + "1,x\n" * 400_000)
    cancel = Cancel()
    with pytest.raises(Stopped):
        catalog.import_source(ADA, "files", "stopped", [big], cancel=cancel, tell=lambda _: cancel.set())
    assert "stopped" not in {s.name for s in catalog.sources(ADA)}
    assert catalog.import_source(ADA, "files", "after", [people]).rows == 3


def test_a_deleted_source_is_gone_from_lists_and_from_the_disk(
    catalog: Catalog, people: Path
) -> None:
    handle = catalog.import_source(ADA, "files", "short lived", [people])
    catalog.delete(ADA, handle.source_id)
    assert handle.source_id not in {s.id for s in catalog.sources(ADA)}
    with pytest.raises(NotFound):
        catalog.handle(ADA, handle.source_id)
    with pytest.raises(NotFound):
        catalog.delete(ADA, handle.source_id)
    assert not handle.tables[0].path.parent.parent.exists()


def test_a_throwaway_is_read_once_for_the_same_content_and_listed_nowhere(catalog: Catalog, people: Path) -> None:
    first = catalog.throwaway(people, actor=ADA)
    assert catalog.throwaway(str(people), actor=ADA) == first
    moved = people.with_name("copy")
    moved.mkdir()
    same = moved / people.name
    same.write_bytes(people.read_bytes())
    assert catalog.throwaway(same, actor=ADA).source_id == first.source_id
    people.write_text(people.read_text() + "9,eve@example.com,F,1\n")
    assert catalog.throwaway(people, actor=ADA).rows == 4
    assert first.source_id not in {s.id for s in catalog.sources(ADA)}
    with pytest.raises(BadInput, match="no such file"):
        catalog.throwaway(people.with_name("nowhere.csv"), actor=ADA)


def test_a_throwaway_whose_files_are_gone_is_read_again(catalog: Catalog, people: Path) -> None:
    first = catalog.throwaway(people, actor=ADA, options={"delimiter": ","})
    first.tables[0].path.unlink()
    second = catalog.throwaway(people, actor=ADA, options={"delimiter": ","})
    assert second.source_id != first.source_id and second.tables[0].path.is_file()


def test_notes_tell_what_became_missing_and_what_was_rejected(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_text("a,b\n1, \n2,3\n4,5,6\n")
    handle = catalog.import_source(ADA, "files", "notes", [path])
    notes = " ".join(catalog.notes(ADA, handle.source_id))
    assert "n: 1 blank value of b became missing." in notes and "1 line could not be read" in notes
    count, file = catalog.rejected(ADA, handle.source_id, "n")
    assert count == 1 and file is not None and "4,5,6" in file.read_text()


def test_odd_table_names_can_be_queried_and_previewed(
    catalog: Catalog, settings: Settings, pool: Pool, tmp_path: Path
) -> None:
    import sqlite3
    from contextlib import closing

    path = tmp_path / "odd.sqlite"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute('CREATE TABLE "my ""odd"" table; --" ("a b" INTEGER)')
        con.execute('INSERT INTO "my ""odd"" table; --" VALUES (7)')
    handle = catalog.import_source(ADA, "sqlite", "odd", [path])
    name = handle.tables[0].name
    assert name == 'my "odd" table; --'
    assert catalog.preview(ADA, handle.source_id, name)["a b"].tolist() == [7]
    quoted = '"' + name.replace('"', '""') + '"'
    assert SqlRunner(pool, settings).frame(handle, f'SELECT sum("a b") AS s FROM {quoted}')["s"].tolist() == [7]


def test_a_result_is_kept_as_a_dataset_outside_of_the_snapshot(
    catalog: Catalog, settings: Settings, pool: Pool, base: Path, people: Path
) -> None:
    handle = catalog.import_source(ADA, "files", "derived", [people])
    out = base / "artifacts" / "r.arrow"
    SqlRunner(pool, settings).run(handle, "SELECT email, gender, count(*) AS n FROM people GROUP BY ALL", out=out)
    table = catalog.save_derived(ADA, handle.source_id, "By sex", out, "run_1")
    assert table.rows == 3 and catalog.derived(ADA, handle.source_id) == [table]
    assert catalog.table(table.dataset_id) == table
    assert [t.name for t in catalog.handle(ADA, handle.source_id).tables] == ["people"]
    email, gender = table.column("email"), table.column("gender")
    assert email is not None and email.masked and gender is not None and gender.protected
    before = sorted((base / "datasets").glob("ds_*/*"))
    with pytest.raises(Conflict):
        catalog.save_derived(ADA, handle.source_id, "by SEX", out)
    assert sorted((base / "datasets").glob("ds_*/*")) == before
    with pytest.raises(BadInput, match="files of the home"):
        catalog.save_derived(ADA, handle.source_id, "outside", people)


def test_the_tables_of_a_query_are_named_without_its_own(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("x\n1\n")
    handle = catalog.import_source(ADA, "files", "two", [tmp_path / "a.csv", tmp_path / "b.csv"])
    sql = "WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN B USING (x)"
    assert sorted(t.name for t in catalog.tables_of(ADA, handle.source_id, sql)) == ["a", "b"]
    assert catalog.tables_of(ADA, handle.source_id, "SELECT FROM WHERE") == []


def test_two_processes_that_want_the_demo_bank_at_once_build_one(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from lexsi_ds.jobs.pool import Pool
        from lexsi_ds.services.access import LOCAL
        from lexsi_ds.services.catalog import Catalog
        from lexsi_ds.settings import Settings
        from lexsi_ds.store.db import Store

        settings = Settings(home=Path(sys.argv[1]))
        settings.home.mkdir(parents=True, exist_ok=True)
        store = Store(settings.store_path_url)
        store.migrate()
        pool = Pool(settings)
        handle = Catalog(settings, store, pool).ensure_demo(LOCAL)
        print(handle.source_id, handle.rows, handle.today, flush=True)
        pool.close()
        """
    )
    home = tmp_path / "home"
    asked = [
        subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE, cwd=_REPO, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=300)[0] for process in asked]
    assert [process.returncode for process in asked] == [0, 0]
    assert said[0] == said[1] and said[0].split()[1:] == ["1079680", "1998-12-31"]
    assert len(list((home / "datasets").glob("ds_*"))) == 8


def test_the_demo_bank_is_everyones_to_see_and_its_owners_to_delete(catalog: Catalog) -> None:
    handle = catalog.ensure_demo(ADA)
    assert handle.synthetic and handle.kind == "demo" and catalog.ensure_demo(BEN).source_id == handle.source_id
    assert handle.source_id in {s.id for s in catalog.sources(BEN)}
    assert catalog.preview(BEN, handle.source_id, "order", 5).shape == (5, 6)
    assert set(catalog.preview(BEN, handle.source_id, "client", 5)["birth_number"]) == {"•••"}
    with pytest.raises(NotFound):
        catalog.delete(BEN, handle.source_id)
    with pytest.raises(BadInput, match="made, not read"):
        catalog.reimport(ADA, handle.source_id)


def test_a_version_cannot_be_written_through_a_query(
    catalog: Catalog, settings: Settings, pool: Pool, people: Path
) -> None:
    handle = catalog.import_source(ADA, "files", "immutable", [people])
    before = handle.tables[0].path.read_bytes()
    with pytest.raises((SqlFailed, SqlRefused)):
        SqlRunner(pool, settings).run(handle, "DELETE FROM people", guarded=False)
    assert handle.tables[0].path.read_bytes() == before
