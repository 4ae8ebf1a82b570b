"""A result that was saved as a dataset follows its source: a refresh computes it anew and runs the checks on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings


@pytest.fixture
def app(tmp_path: Path):
    made = Application(Settings(home=tmp_path / "home"))
    yield made
    made.close()


def test_an_accepted_rule_on_a_saved_result_breaks_when_new_data_breaks_it(app: Application, tmp_path: Path) -> None:
    person, file = app.person(), tmp_path / "sales.csv"
    file.write_text("shop,amount\nnorth,1\nnorth,2\nsouth,3\n", encoding="utf-8")
    handle = app.catalog.import_source(person, "files", "sales", [file])
    sql = "SELECT shop, count(*) AS n FROM sales GROUP BY shop ORDER BY shop"
    result = app.sql.run(handle, sql, out=tmp_path / "home" / "tmp" / "r.arrow")
    table = app.catalog.save_derived(person, handle.source_id, "by shop", result.path, sql=sql)
    check = "SELECT * FROM dataset WHERE n > 2"
    rule = {"title": "Few", "statement": "No shop has more than two.", "check_sql": check}
    found = app.findings.propose(person, dataset_id=table.dataset_id, **rule)
    found = app.findings.decide(person, found.id, found.row_version, "accepted")
    assert found.headline == "Accepted, holds"

    file.write_text("shop,amount\nnorth,1\nnorth,2\nnorth,2\nsouth,3\n", encoding="utf-8")
    app.versions.refresh(person, handle.source_id, [file])
    again = app.findings.get(person, found.id)
    assert (again.verdict, again.segment, again.headline) == ("violated", "flagged", "Accepted, now broken")
    assert [t.version for t in app.catalog.derived(person, handle.source_id)] == [2]


def test_a_saved_result_whose_query_no_longer_runs_stays_as_it_was(app: Application, tmp_path: Path) -> None:
    person, file = app.person(), tmp_path / "sales.csv"
    file.write_text("shop,amount\nnorth,1\n", encoding="utf-8")
    handle = app.catalog.import_source(person, "files", "sales", [file])
    sql = "SELECT shop, amount FROM sales"
    result = app.sql.run(handle, sql, out=tmp_path / "home" / "tmp" / "r.arrow")
    app.catalog.save_derived(person, handle.source_id, "rows", result.path, sql=sql)
    file.write_text("shop,price\nnorth,1\n", encoding="utf-8")
    app.versions.refresh(person, handle.source_id, [file])
    assert [t.version for t in app.catalog.derived(person, handle.source_id)] == [1]
