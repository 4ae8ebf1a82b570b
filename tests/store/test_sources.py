from __future__ import annotations

from datetime import date

import pytest

from lexsi_ds.errors import Conflict
from lexsi_ds.ids import new_id
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewSource, NewVersion, Sources


def version(name: str, number: int = 1, dataset_id: str | None = None) -> NewVersion:
    column = {"name": "id", "type": "BIGINT"}
    return NewVersion(
        dataset_id=dataset_id or new_id("ds"), name=name, version=number, path=f"datasets/{name}/{number}/data.duckdb",
        rows=10 * number, columns=(column,), read_options={"delimiter": ";"},
    )


def source(name: str = "Bank", *, throwaway: bool = False, fingerprint: str | None = None) -> NewSource:
    return NewSource(
        id=new_id("con"), owner="local", name=name, kind="files", throwaway=throwaway, fingerprint=fingerprint
    )


@pytest.fixture
def sources(store: Store) -> Sources:
    return Sources(store)


def test_a_new_source_comes_back_whole(sources: Sources) -> None:
    bank, loan, account = source(), version("loan"), version("account")
    snapshot = sources.insert(bank, [loan, account], date(1998, 12, 31))
    parts = sources.parts(bank.id)
    assert parts is not None
    assert (parts.snapshot, parts.snapshot.number, parts.snapshot.today) == (snapshot, 1, date(1998, 12, 31))
    assert [t.name for t in parts.tables] == ["account", "loan"]
    assert parts.tables[1].read_options == {"delimiter": ";"}
    assert parts.tables[1].columns == ({"name": "id", "type": "BIGINT"},)


def test_a_second_snapshot_leaves_the_first_readable(sources: Sources) -> None:
    bank, loan = source(), version("loan")
    first = sources.insert(bank, [loan], None)
    second = sources.add_snapshot(bank.id, [version("loan", 2, loan.dataset_id)], None)
    assert [s.number for s in sources.snapshots(bank.id)] == [2, 1]
    latest, old = sources.parts(bank.id), sources.parts(bank.id, first.id)
    assert latest is not None and old is not None
    assert (latest.snapshot.id, latest.tables[0].rows, old.tables[0].rows) == (second.id, 20, 10)


def test_two_imports_of_the_same_version_keep_one(sources: Sources) -> None:
    bank, loan = source(), version("loan")
    sources.insert(bank, [loan], None)
    with pytest.raises(Conflict):
        sources.add_snapshot(bank.id, [loan], None)
    assert [s.number for s in sources.snapshots(bank.id)] == [1]


def test_a_source_that_fails_half_way_leaves_nothing(sources: Sources) -> None:
    bank = source()
    with pytest.raises(Conflict):
        sources.insert(bank, [version("loan"), version("LOAN")], None)
    assert sources.get(bank.id) is None
    assert sources.list() == ()


def test_throwaway_sources_are_not_listed_and_found_by_fingerprint(sources: Sources) -> None:
    kept, thrown = source("Kept"), source("Thrown", throwaway=True, fingerprint="sha:1")
    for each in (kept, thrown):
        sources.insert(each, [version("t")], None)
    assert [s.id for s in sources.list()] == [kept.id]
    assert {s.id for s in sources.list(throwaway=True)} == {kept.id, thrown.id}
    found = sources.by_fingerprint("sha:1")
    assert found is not None and found.id == thrown.id


def test_a_fingerprint_is_taken_once_until_its_source_is_deleted(sources: Sources) -> None:
    first, second = source(fingerprint="demo:1"), source(fingerprint="demo:1")
    sources.insert(first, [version("t")], None)
    with pytest.raises(Conflict):
        sources.insert(second, [version("t")], None)
    assert sources.delete(first.id)
    sources.insert(second, [version("t")], None)


def test_a_deleted_source_is_gone_with_its_datasets(sources: Sources) -> None:
    bank, loan = source(), version("loan")
    sources.insert(bank, [loan], None)
    assert sources.delete(bank.id) and not sources.delete(bank.id)
    assert sources.get(bank.id) is None and sources.parts(bank.id) is None and sources.dataset(loan.dataset_id) is None


def test_marks_add_up_whatever_the_case_of_the_name(sources: Sources) -> None:
    bank, loan = source(), version("loan")
    sources.insert(bank, [loan], None)
    sources.mark(loan.dataset_id, "Birth_Number", "local", masked=True)
    sources.mark(loan.dataset_id, "birth_number", "local", protected=False)
    parts = sources.parts(bank.id)
    assert parts is not None
    (mark,) = parts.tables[0].marks
    assert (mark.column_key, mark.masked, mark.protected, mark.identifier) == ("birth_number", True, False, None)


def test_a_derived_dataset_is_of_the_source_but_of_no_snapshot(sources: Sources) -> None:
    bank = source()
    sources.insert(bank, [version("loan")], None)
    kept = sources.add_derived(bank.id, version("risky loans"), new_id("run"))
    assert kept.derived
    parts = sources.parts(bank.id)
    assert parts is not None and [t.name for t in parts.tables] == ["loan"]
    assert [d.name for d in sources.derived(bank.id)] == ["risky loans"]
    with pytest.raises(Conflict):
        sources.add_derived(bank.id, version("Loan"), None)


def test_a_snapshot_of_another_source_is_not_found(sources: Sources) -> None:
    one, two = source("One"), source("Two")
    snapshot = sources.insert(one, [version("t")], None)
    sources.insert(two, [version("t")], None)
    assert sources.parts(two.id, snapshot.id) is None
