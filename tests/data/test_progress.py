"""An import says how far it is while it is at work: in bytes of its files, going up, never at the end before it is there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import duckdb
import xlsxwriter

from components import figures
from lexsi_ds.application import Application
from lexsi_ds.data.ingest import ingest
from lexsi_ds.data.progress import Progress
from lexsi_ds.jobs.background import Task
from lexsi_ds.jobs.pace import Pace


def reports(tmp_path: Path, *paths: Path) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    (tmp_path / "into").mkdir()
    ingest({"kind": "files", "paths": [str(p) for p in paths], "into": str(tmp_path / "into")}, seen.append)
    return seen


def table(path: Path, rows: int) -> Path:
    lines = (f"{i},Town {i % 97},{i * 1.5},2024-01-{1 + i % 28:02d}\n" for i in range(rows))
    path.write_text("id,name,amount,day\n" + "".join(lines))
    return path


def test_an_import_counts_the_bytes_of_its_files_and_never_goes_back(tmp_path: Path) -> None:
    files = [table(tmp_path / "big.csv", 150_000), table(tmp_path / "small.csv", 50)]
    seen = reports(tmp_path, *files)
    total = sum(f.stat().st_size for f in files)
    counted = [r for r in seen if r.get("unit") == "bytes"]
    done = [r["done"] for r in counted]
    assert {r["total"] for r in counted} == {total}
    assert done == sorted(done)
    within = [d for d in done if 0 < d < total and d not in {round(f.stat().st_size / 2) for f in files}]
    assert within, "nothing was said while a file was at work"
    assert max(d for r, d in zip(counted, done, strict=True) if r["text"].startswith("Reading big")) < total
    assert seen[-1]["done"] == seen[-1]["total"] == total


def test_a_stage_of_many_queries_goes_on_without_passing_its_end() -> None:
    seen: list[dict[str, Any]] = []
    with duckdb.connect() as con, Progress(con, seen.append) as progress:
        progress.expect(100, "rows")
        progress.begin("Reading", 50)
        for _ in range(6):
            for share in (0.0, 0.5, 1.0):
                progress.tick(share)
        progress.begin("Writing", 50)
    done = [r["done"] for r in seen]
    assert done == sorted(done) and max(done[:-1]) < 50 and done[-1] == 50


def test_a_stage_that_was_only_a_look_leaves_its_size_for_the_writing() -> None:
    seen: list[dict[str, Any]] = []
    with duckdb.connect() as con, Progress(con, seen.append) as progress:
        progress.expect(100, "bytes")
        progress.begin("Reading", 50, quiet_s=60)
        progress.tick(1.0)
        progress.only_looked()
        progress.begin("Writing", 100)
        progress.tick(1.0)
    assert [r["done"] for r in seen] == [0, 0, 50]


def test_a_large_file_that_is_read_the_careful_way_moves_while_it_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lexsi_ds.data.ingest.FAST_FROM", 1)
    monkeypatch.setattr("lexsi_ds.data.ingest._LOOK_S", 0.2)
    path = tmp_path / "odd.csv"
    path.write_text("code;amount;day\n" + "".join(f"0{i};{i % 9},5;{1 + i % 28:02d}.03.2024\n" for i in range(300_000)))
    reading = [r["done"] for r in reports(tmp_path, path) if r["text"].startswith("Reading")]
    assert reading == sorted(reading) and max(reading) > 0


def test_a_rate_and_the_time_left_come_from_the_last_seconds() -> None:
    pace = Pace()
    for second in range(20):
        pace.note(float(second), second * 1e6, 100e6)
    assert round(pace.rate(19.0) or 0) == 1_000_000
    assert round(pace.left(19.0) or 0) == 81
    assert round(pace.rate(38.0) or 0) < 700_000, "a task that stands still slows down"
    pace.note(39.0, 0.0, 10.0)
    assert pace.rate(39.0) is None and pace.left(39.0) is None


def test_the_screen_says_bytes_rate_and_time_left() -> None:
    task = Task("job_1", "import", "Importing", "me", done=0.0, total=2e9, unit="bytes")
    now = time.monotonic()
    for back in (8, 6, 4, 2, 0):
        task.done = 1.2e9 - back * 50e6
        task.pace.note(now - back, task.done, task.total)
    said = figures.progress(task)
    assert said.startswith("1.2 GB of 2.0 GB, ") and "MB/s" in said and said.endswith("20 s left")
    assert figures.progress(Task("job_2", "x", "x", "me")) == ""
    assert figures.progress(Task("job_3", "x", "x", "me", done=0.25, total=1)) == "25%"


def test_a_background_task_knows_its_unit_and_may_begin_at_nothing(application: Application) -> None:
    def work(cancel: Any, tell: Any) -> None:
        tell({"done": 5, "total": 10, "unit": "rows", "text": "a"})
        tell({"done": 0, "total": 20, "unit": "bytes", "text": "b"})

    task = application.background.start("test", "Test", work, owner="me")
    while task.state == "running":
        pass
    assert (task.done, task.total, task.unit) == (0.0, 20.0, "bytes")


def test_a_workbook_says_how_many_of_its_rows_were_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path), {"constant_memory": True}) as book:
        for sheet in (book.add_worksheet("One"), book.add_worksheet("Two")):
            for row in range(12_000):
                sheet.write_row(row, 0, ["n", "word"] if not row else [row, "a"])
    seen = reports(tmp_path, path)
    done = [r["done"] for r in seen if r["text"].startswith("Reading")]
    assert done == sorted(done) and len(set(done)) >= 20, "each thousand rows counts"
    assert max(done) < path.stat().st_size / 2
