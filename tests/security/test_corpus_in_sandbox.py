"""The corpus in the real sandbox: guarded, with the guard off, and on the engine alone without the one-SELECT check."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import LexsiError, Stopped
from tests.security.corpus import ATTACKS, LEGIT
from tests.security.places import MARKER, Places


@pytest.mark.parametrize("name", LEGIT)
def test_a_legitimate_query_gives_its_rows(name: str, places: Places, runner: SqlRunner) -> None:
    sql, expected = LEGIT[name]
    result = runner.run(places.handle, sql)
    rows = [tuple(row) for row in zip(*(column.to_pylist() for column in result.arrow().columns), strict=True)]
    assert rows == expected
    assert result.row_count == len(expected)
    assert len(result.frame()) == len(expected)


def test_with_the_guard_off_no_attack_reaches_anything(places: Places, runner: SqlRunner, home: Path) -> None:
    for name, attack in ATTACKS.items():
        out = home / "tmp" / "result.arrow"
        try:
            runner.run(places.handle, places.fill(attack), out=out, guarded=False, timeout_s=3)
        except (LexsiError, Stopped, UnicodeEncodeError) as error:
            assert MARKER not in str(error), name
        if out.exists():
            assert MARKER.encode() not in out.read_bytes(), name
            out.unlink()
        _nothing_touched(places, name)


_ENGINE_ALONE = """
import json, os, sys
from lexsi_ds.data.sandbox import open_instance

def attempt(name, attack):
    con = open_instance(tables, threads=1, memory_mb=300, spill_mb=10)
    rows = ""
    for statement in [*attack.split(";"), attack]:
        try:
            rows += str(con.cursor().execute(statement).fetchmany(1000))
        except Exception:
            pass
    print(json.dumps([name, rows]), flush=True)
    con.close()

tables, attacks, aborting = json.load(sys.stdin)
for name, attack in attacks.items():
    child = name in aborting and os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    attempt(name, attack)
    if name in aborting:
        os._exit(0)
"""


_ABORTING = ["logging to a file", "logging by select"]
"""DuckDB 1.5.5 ends its own process on these: an exception in a destructor. In a worker that is a crash, and no more."""


def test_the_engine_alone_holds_against_every_statement(places: Places, home: Path) -> None:
    """Without the worker's own check for one SELECT: the locked configuration is a wall of its own."""
    attacks = {name: places.fill(attack) for name, attack in ATTACKS.items() if "sleep" not in name}
    tables = [{"name": each.name, "path": str(each.path)} for each in places.handle.tables]
    done = subprocess.run(
        [sys.executable, "-c", _ENGINE_ALONE], input=json.dumps([tables, attacks, _ABORTING]), capture_output=True, text=True,
        timeout=120, check=False, cwd=home,
    )
    answers = dict(json.loads(line) for line in done.stdout.splitlines())
    assert answers.keys() >= attacks.keys() - set(_ABORTING), done.stderr[-2000:]
    assert [name for name, rows in answers.items() if MARKER in rows] == []
    _nothing_touched(places, "some attack on the engine")


def _nothing_touched(places: Places, name: str) -> None:
    assert places.state() == places.before, name
    assert places.listener.knocks == 0, name
