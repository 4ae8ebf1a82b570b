"""What is not in a table is said: before an import, by ``inspect``, and beside an answer. Real processes, real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexsi_ds.agent.set_aside import set_aside
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Column, DatasetHandle, Table
from tests.test_cli import run

RAGGED = "id,city,amount\n" + "".join(f"{i},Town {i % 7},{i * 2}\n" for i in range(60)) + "61,Town,5,too,many\n62,a,b,c,d,e\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A readable file with two lines that do not fit, and one of a type that is not read."""
    made = tmp_path / "shop"
    made.mkdir()
    (made / "orders.csv").write_text(RAGGED)
    (made / "letter.docx").write_bytes(b"no table")
    return made


def test_a_plan_says_what_is_passed_over(application: Application, folder: Path) -> None:
    plans = application.catalog.plan_files(application.person(), [folder])
    assert [p.table for p in plans] == ["orders"]
    assert any("letter.docx" in note for note in plans.notes)


def test_inspect_says_rejected_lines_and_files_that_are_not_read(tmp_path: Path, folder: Path) -> None:
    said = run(tmp_path / "home", "inspect", str(folder))
    assert said.returncode == 0, said.stderr
    assert "2 lines did not fit and are not in the table" in said.stdout
    assert "letter.docx" in said.stdout
    body = json.loads(run(tmp_path / "home", "inspect", str(folder), "--json").stdout)
    assert body["tables"][0]["rejected"] == 2 and any("letter.docx" in n for n in body["notes"])


def test_an_answer_on_a_table_with_rejected_lines_says_so(tmp_path: Path, folder: Path) -> None:
    body = json.loads(run(tmp_path / "home", "ask", "How many orders?", "--dataset", str(folder), "--json").stdout)
    assert body["state"] == "answered" and "60" in body["answer"]
    assert any(c.startswith("orders: 2 lines of its file are not in the table") for c in body["caveats"]), body["caveats"]
    assert any("letter.docx" in c for c in body["caveats"])
    spoken = run(tmp_path / "home", "ask", "How many orders?", "--dataset", str(folder / "orders.csv")).stdout
    assert "Note: orders: 2 lines of its file are not in the table" in spoken


def test_only_the_tables_behind_an_answer_are_named(tmp_path: Path) -> None:
    def table(name: str, rejected: int, flagged: int = 0) -> Table:
        column = Column(name="a", type="BIGINT")
        return Table(
            name=name, dataset_id="ds_1", version=1, path=tmp_path, rows=3, columns=(column,), rejected=rejected, flagged=flagged
        )

    tables = (table("clean", 0), table("bad", 1, 2), table("other", 9))
    handle = DatasetHandle(source_id="con_1", name="x", kind="files", snapshot_id="snap_1", snapshot_number=1, tables=tables)
    assert set_aside(handle, {"last_sql": "SELECT count(*) FROM clean"}) == []
    said = set_aside(handle, {"last_sql": 'WITH z AS (SELECT * FROM "bad") SELECT count(*) FROM z JOIN clean USING (a)'})
    assert said == [
        "bad: 1 line of its file is not in the table, because it did not fit its columns.",
        "bad: 2 lines or cells were read with missing values, because what stood there did not fit.",
    ]
