"""Versions on disk: whole or not there, never changed, and what the dead left behind is swept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from lexsi_ds.data.ingest import ingest
from lexsi_ds.data.versions import open_build, sweep
from lexsi_ds.errors import BadInput
from tests.data.conftest import Importing

_REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "a one.csv").write_text("x,y\n1,2020-05-01\n2,2020-05-03\n")
    (made / "A-One.csv").write_text("x\n1\n")
    (made / "b.tsv").write_text("p\tq\n1\t2\n")
    (made / "readme.md").write_text("hello")
    return made


def test_a_folder_becomes_one_table_a_file_with_names_of_their_own(folder: Path, importing: Importing) -> None:
    read = importing("files", folder)
    assert [t["name"] for t in read.result["tables"]] == ["a_one", "a_one_2", "b"]
    assert "readme.md" in read.result["notes"][0]
    assert read.result["today"] == "2020-05-03"


def test_a_version_is_one_file_with_one_table_that_is_not_written_again(folder: Path, importing: Importing) -> None:
    path = Path(importing("files", folder / "b.tsv").table()["path"])
    assert [p.name for p in path.parent.iterdir()] == ["data.duckdb"]
    assert path.stat().st_mode & 0o222 == 0
    with duckdb.connect(str(path), read_only=True) as con:
        assert con.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall() == [("main", "data")]


def test_a_file_that_was_read_before_and_is_bad_now_publishes_nothing(folder: Path, into: Path) -> None:
    (folder / "z.csv").write_bytes(b"")
    known = {"z": {"dataset_id": "ds_0199aaaa-0000-7000-8000-000000000001", "version": 2}}
    with pytest.raises(BadInput, match="empty"):
        ingest({"kind": "files", "paths": [str(folder)], "into": str(into), "tables": known}, lambda _: None)
    assert [p for p in into.iterdir() if p.is_dir()] == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.xlsx", b"PK\x03\x04", "workbook cannot be read"),
        ("gone.csv", None, "no such file"),
        ("d.zip", b"PK", "not a zip file"),
        ("d.docx", b"PK\x03\x04", "type .docx cannot be read"),
    ],
)
def test_what_cannot_be_read_says_so(
    tmp_path: Path, importing: Importing, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=said) as refused:
        importing("files", tmp_path / name)
    assert refused.value.where and refused.value.to_do


def test_known_tables_keep_their_ids_and_get_the_version_asked_for(folder: Path, into: Path) -> None:
    first = ingest({"kind": "files", "paths": [str(folder / "b.tsv")], "into": str(into)}, lambda _: None)["tables"][0]
    again = {"b": {"dataset_id": first["dataset_id"], "version": 2}}
    args = {"kind": "files", "paths": [str(folder / "b.tsv")], "into": str(into), "tables": again}
    second = ingest(args, lambda _: None)["tables"][0]
    assert (second["dataset_id"], second["version"]) == (first["dataset_id"], 2)
    assert Path(first["path"]).is_file() and Path(second["path"]).is_file()


def test_exact_counts_of_missing_and_distinct_values_with_extremes(tmp_path: Path, importing: Importing) -> None:
    lines = [f"{i % 7},v{i % 3},2020-01-{i % 28 + 1:02}" for i in range(1000)]
    (tmp_path / "t.csv").write_text("\n".join(["n,t,d", *lines, ",v0,", ""]))
    read = importing("files", tmp_path / "t.csv")
    assert (read.column("n")["nulls"], read.column("n")["distinct"]) == (1, 7)
    assert (read.column("n")["minimum"], read.column("n")["maximum"]) == ("0", "6")
    assert (read.column("d")["minimum"], read.column("d")["maximum"]) == ("2020-01-01", "2020-01-28")
    assert read.column("t")["distinct"] == 3


def test_today_is_the_latest_day_that_is_not_in_the_future_nor_a_birthday(tmp_path: Path, importing: Importing) -> None:
    lines = ["seen,valid_to,birth_date", "2019-03-01,9999-12-31,2021-01-01", "2019-04-01,2018-01-01,2020-01-01"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    assert importing("files", tmp_path / "t.csv").result["today"] == "2019-04-01"


def test_infinite_dates_and_numbers_do_not_break_the_profile(tmp_path: Path, importing: Importing) -> None:
    path = tmp_path / "odd.parquet"
    duckdb.sql(
        "SELECT unnest([DATE '2020-01-01', NULL]) AS d, unnest(['nan'::DOUBLE, 1.5]) AS x, [1, 2] AS l, {'a': 1} AS s, "
        "TIMESTAMPTZ '2020-01-01 00:00:00+00' AS z, 'x'::BLOB AS b"
    ).write_parquet(str(path))
    read = importing("files", path)
    assert read.column("x")["maximum"] == "1.5" and read.column("d")["nulls"] == 1


def test_a_killed_import_leaves_nothing_visible_and_the_next_one_works(
    folder: Path, into: Path, importing: Importing
) -> None:
    script = textwrap.dedent(
        f"""
        import sys, time
        from lexsi_ds.data.ingest import ingest
        def say(body):
            if body["text"].startswith("Writing b"):
                print("half", flush=True)
                time.sleep(600)
        ingest({{"kind": "files", "paths": [{str(folder)!r}], "into": {str(into)!r}}}, say)
        """
    )
    worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=_REPO)
    assert worker.stdout is not None and worker.stdout.readline() == b"half\n"
    builds = list(into.glob(".build-*"))
    assert len(builds) == 1 and list(builds[0].rglob("data.duckdb"))
    assert sweep(into) == 0, "a build at work was swept"
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    assert [p for p in into.iterdir() if p.is_dir() and not p.name.startswith(".build-")] == []
    assert len(importing("files", folder).result["tables"]) == 3
    assert list(into.glob(".build-*")) == []


def test_builds_of_the_living_are_left_alone(into: Path) -> None:
    with open_build(into) as build:
        (build.new_table() / "data.duckdb").write_bytes(b"x")
        with open_build(into):
            pass
        assert build.scratch.is_dir()
    assert list(into.glob(".build-*")) == []


def test_progress_rises_to_the_end(folder: Path, into: Path) -> None:
    said: list[float] = []
    ingest({"kind": "files", "paths": [str(folder)], "into": str(into)}, lambda body: said.append(body["done"] / body["total"]))
    assert said == sorted(said) and said[-1] == 1
