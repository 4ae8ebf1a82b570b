"""Kill -9 in the middle of imports and version switches: what was there still reads, and nothing half is ever seen."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.versions import open_build, sweep
from lexsi_ds.services.publishing import publishing
from tests.catalog.conftest import ADA, BEN, Importing

_REPO = Path(__file__).resolve().parents[2]
_TABLES = ("alpha", "beta", "gamma")
_ROWS = 20_000
_LOOK_S = 60


def _write(folder: Path, batch: int) -> list[Path]:
    """Three files of one batch: its number stands in every row, and each has a row more than in the batch before."""
    paths = []
    for name in _TABLES:
        path = folder / f"{name}.csv"
        duckdb.sql(
            f"SELECT i AS id, {batch} AS batch, md5(i::VARCHAR) AS text, (i * 7919) % 1009 AS n "
            f"FROM range(0, {_ROWS + batch}) AS t(i)"
        ).write_csv(str(path))
        paths.append(path)
    return paths


def _start(home: Path, source_id: str, paths: list[Path]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.catalog.killed", str(home), source_id, *map(str, paths)]
    return subprocess.Popen(
        command, cwd=_REPO, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )


def _orphans(app: Application, datasets: Path) -> set[Path]:
    from sqlalchemy import select

    from lexsi_ds.store import tables as t

    with app.store.read() as db:
        known = {(app.settings.home / p).parent for p in db.execute(select(t.dataset_versions.c.path)).scalars()}
    return {folder for folder in datasets.glob("ds_*/v*") if folder not in known}


def _await(process: subprocess.Popen[str], happens: Callable[[], object]) -> bool:
    """Whether it happened before the process ended."""
    ends = time.monotonic() + _LOOK_S
    while time.monotonic() < ends and process.poll() is None:
        if happens():
            return True
        time.sleep(0.01)
    return bool(happens())


def _check_whole(app: Application, source_id: str, snapshot_id: str | None = None) -> tuple[int, str]:
    """The version and snapshot that a fresh reader sees: every table whole, and all of one batch."""
    handle = app.catalog.handle(ADA, source_id, snapshot_id)
    assert [t.name for t in handle.tables] == list(_TABLES)
    figures = "count(*) AS n, min(batch) AS a, max(batch) AS b, count(DISTINCT id) AS d"
    sql = " UNION ALL ".join(f"SELECT {figures} FROM {table}" for table in _TABLES)
    found = set(app.sql.frame(handle, sql).itertuples(index=False, name=None))
    assert len(found) == 1, f"tables of different versions: {found}"
    rows, low, high, distinct = found.pop()
    assert low == high and rows == distinct == _ROWS + low
    return handle.snapshot_number, handle.snapshot_id


def _kill_many(app: Application, home: Path, folder: Path, times: int) -> None:
    rng, datasets = random.Random(7), home / "datasets"
    first = app.catalog.import_source(ADA, "files", "killed", _write(folder, 0))
    seen = _check_whole(app, first.source_id)
    mid_write = switched = 0
    with open_build(datasets) as living:  # another process's work, as far as any sweep can tell
        (living.new_table() / "data.duckdb").write_bytes(b"at work")
        for batch in range(1, times + 1):
            paths = _write(folder, batch)
            phase = ("writing", "switch", "writing", "any")[batch % 4]
            process = _start(home, first.source_id, paths)
            mine = living.scratch.parent

            def at_work(mine: Path = mine) -> bool:
                return any(p.parent.parent != mine for p in datasets.glob(".build-*/[0-9]*/data.duckdb*"))

            if phase == "switch":
                _await(process, lambda: _orphans(app, datasets))
                time.sleep(rng.uniform(0, 0.02))
            elif phase == "writing":
                _await(process, at_work)
                time.sleep(rng.uniform(0, 0.25))
            else:
                _await(process, at_work)
                time.sleep(rng.uniform(0.1, 2.0))
            if batch % 2:  # the server alone, as when the system is short of memory; its workers must notice
                os.kill(process.pid, signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL)
            half = at_work() or bool(_orphans(app, datasets))
            said = process.communicate()[0]
            mid_write += half and not said
            number, snapshot_id = _check_whole(app, first.source_id)
            assert number in (seen[0], seen[0] + 1), "a version came from nowhere"
            assert _check_whole(app, first.source_id, seen[1]) == seen, "the old version does not read"
            switched += number > seen[0]
            seen = number, snapshot_id
            _await_empty(app, datasets, mine)
            assert (mine / "0" / "data.duckdb").read_bytes() == b"at work", "a sweep took another's work"
        assert mid_write * 2 >= times, f"only {mid_write} of {times} kills hit a half-written import"
    paths = _write(folder, times + 1)
    done = _start(home, first.source_id, paths)
    assert done.communicate(timeout=120)[0] == f"snapshot {seen[0] + 1}\n"
    _check_whole(app, first.source_id)
    print(f"{times} kills: {mid_write} in the middle of a write, {switched} after the switch")


def _await_empty(app: Application, datasets: Path, living: Path) -> None:
    """Once the dead import's worker is gone too, one sweep leaves nothing of it."""
    ends = time.monotonic() + _LOOK_S
    while True:
        app.catalog.sweep()
        left = [p for p in datasets.glob(".*-*") if p.is_dir() and p != living]
        if not left and not _orphans(app, datasets):
            return
        assert time.monotonic() < ends, f"left behind: {left} {_orphans(app, datasets)}"
        time.sleep(0.05)


def test_five_kills(app: Application, home: Path, tmp_path: Path) -> None:
    _kill_many(app, home, tmp_path, 5)


@pytest.mark.slow
def test_fifty_kills(app: Application, home: Path, tmp_path: Path) -> None:
    _kill_many(app, home, tmp_path, 50)


def test_a_version_between_its_rename_and_its_row_is_swept_only_when_nobody_publishes(
    app: Application, importing: Importing, home: Path
) -> None:
    handle = importing({"people": "a\n1\n"}, "orphan")
    place = home / "datasets" / handle.tables[0].dataset_id / "v2-0badc0de"
    script = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from lexsi_ds.services.publishing import publishing
        with publishing(Path({str(home)!r})):
            Path({str(place)!r}).mkdir()
            print("held", flush=True)
            time.sleep(600)
        """
    )
    other = subprocess.Popen([sys.executable, "-c", script], cwd=_REPO, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    with publishing(home):  # two may publish at once
        assert app.catalog.sweep() == 0
    assert place.is_dir()
    other.kill()
    other.communicate()
    assert app.catalog.sweep() == 1 and not place.exists()
    assert handle.tables[0].path.is_file() and app.catalog.preview(ADA, handle.source_id, "people")["a"].tolist() == [1]


@pytest.fixture
def living(home: Path) -> Iterator[Path]:
    with open_build(home / "datasets") as build:
        yield build.scratch.parent


def test_starting_the_application_sweeps_but_not_the_living(app: Application, home: Path, living: Path) -> None:
    dead = home / "datasets" / ".build-dead"
    dead.mkdir()
    orphan = home / "datasets" / "ds_00000000-0000-7000-8000-000000000000" / "v1-00000000"
    orphan.mkdir(parents=True)
    Application(app.settings, app.pool).store.close()
    assert not dead.exists() and not orphan.parent.exists() and living.is_dir()
    assert sweep(home / "datasets") == 0


def test_two_processes_that_import_at_once_both_arrive(app: Application, home: Path, tmp_path: Path) -> None:
    sources = []
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        sources.append((app.catalog.import_source(ADA, "files", name, _write(tmp_path / name, 1)).source_id, tmp_path / name))
    running = [_start(home, source_id, _write(folder, 2)) for source_id, folder in sources]
    assert [p.communicate(timeout=120)[0] for p in running] == ["snapshot 2\n"] * 2
    for source_id, _ in sources:
        _check_whole(app, source_id)
    same, folder = sources[0]
    running = [_start(home, same, _write(folder, 3)) for _ in range(2)]
    said = sorted(p.communicate(timeout=120)[0] for p in running)
    assert said in (["", "snapshot 3\n"], ["snapshot 3\n", "snapshot 4\n"]), said  # the later one met a Conflict, or came after
    _check_whole(app, same)
    assert not app.catalog.sources(BEN) or all(s.kind == "demo" for s in app.catalog.sources(BEN))
    app.catalog.sweep()
    assert not _orphans(app, home / "datasets")
