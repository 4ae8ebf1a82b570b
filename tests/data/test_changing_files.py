"""A file that changes under its reader is an error that says so, and nothing of it is kept."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lexsi_ds.data import fast_text
from lexsi_ds.data.ingest import ingest
from lexsi_ds.errors import BadInput

_ROWS = 3_000


def _write(path: Path) -> None:
    path.write_text("id,name,v\n" + "".join(f"{i},w{i},{i}.5\n" for i in range(_ROWS)))


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _grow(path: Path) -> None:
    with path.open("a") as file:
        file.write("9,x,2.5\n" * 50)


def _replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text(path.read_text().replace("w1", "z1"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)  # same size, same time


def _rewrite(path: Path) -> None:
    content = path.read_text().replace("w1", "z1")
    path.write_text(content)
    os.utime(path, ns=(1, 1))


def _import(path: Path, into: Path, at: str, change: Callable[[Path], None]) -> dict[str, Any]:
    done: list[str] = []

    def say(body: dict[str, Any]) -> None:
        if at in str(body.get("text")) and not done:
            done.append(at)
            change(path)

    return ingest({"kind": "files", "paths": [str(path)], "into": str(into)}, say)


@pytest.mark.parametrize("change", [_truncate, _grow, _replace, _rewrite, Path.unlink])
@pytest.mark.parametrize("at", ["Reading", "Writing"])
@pytest.mark.parametrize("fast", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused_and_nothing_is_kept(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], at: str, fast: bool
) -> None:
    if fast:
        monkeypatch.setattr(fast_text, "FAST_FROM", 1_000)
    path = tmp_path / "t.csv"
    _write(path)
    with pytest.raises(BadInput, match="changed while it was read") as caught:
        _import(path, into, at, change)
    assert caught.value.where == "t.csv"
    assert not list(into.rglob("data.duckdb"))


def test_a_file_that_stays_is_read_even_when_one_beside_it_changes(tmp_path: Path, into: Path) -> None:
    path, other = tmp_path / "t.csv", tmp_path / "other.csv"
    _write(path)
    other.write_text("a\n1\n")
    made = _import(path, into, "Reading", lambda _: other.unlink())
    assert made["tables"][0]["rows"] == _ROWS


def test_a_parquet_file_that_is_replaced_while_it_is_read_is_refused(tmp_path: Path, into: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql("SELECT range AS id FROM range(100)").write_parquet(str(path))

    def replace(old: Path) -> None:
        duckdb.sql("SELECT range AS id FROM range(7)").write_parquet(str(tmp_path / "new"))
        (tmp_path / "new").replace(old)

    with pytest.raises(BadInput, match="changed while it was read"):
        _import(path, into, "Writing", replace)


def test_a_sqlite_file_with_a_journal_is_not_taken_for_changed(tmp_path: Path, into: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE t (id INTEGER)")
        db.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(10)])
    db.close()
    assert _import(path, into, "nothing", Path.unlink)["tables"][0]["rows"] == 10
