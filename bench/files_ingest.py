"""How long an import of a clean CSV takes, against DuckDB's own CREATE TABLE AS from read_csv in the same run.

``python -m bench.files_ingest`` prints both and their ratio, in seconds and in seconds of the processors (which others on the
machine disturb less), and how much this process (the server) grew. Size in ``LEXSI_BENCH_CSV_MB`` (default 200).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

T = TypeVar("T")
_ROW = """SELECT range AS id, CAST(random() * 1000 AS INT) AS quantity, round(random() * 1e4, 2) AS price,
    DATE '2015-01-01' + CAST(random() * 3000 AS INT) AS day, ['north', 'south', 'east', 'west'][1 + CAST(random() * 3 AS INT)]
    AS region, 'customer ' || CAST(random() * 100000 AS INT) AS customer, random() > 0.5 AS active,
    TIMESTAMP '2020-01-01' + INTERVAL (range) SECOND AS at, round(random(), 6) AS score, md5(CAST(range AS VARCHAR)) AS token"""
_BYTES_A_ROW = 117.9


def main() -> None:
    """Write the file, time both, print."""
    size = int(os.environ.get("LEXSI_BENCH_CSV_MB", "200"))
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        os.environ["LEXSI_DS_HOME"] = str(folder / "home")
        path = folder / "clean.csv"
        duckdb.sql("SELECT setseed(0.5)")
        duckdb.sql(f"COPY ({_ROW} FROM range({int(size * 1e6 / _BYTES_A_ROW)})) TO '{path}' (HEADER)")
        theirs, theirs_cpu = _timed(lambda: _duckdb(path, folder / "theirs.duckdb"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ours, rows, ours_cpu = _import(path)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        last, last_cpu = _timed(lambda: _duckdb(path, folder / "theirs_last.duckdb"))
        theirs, theirs_cpu = (theirs + last) / 2, (theirs_cpu + last_cpu) / 2
        print(f"{path.stat().st_size / 1e6:,.0f} MB, {rows:,} rows: import {ours:.1f} s, DuckDB {theirs:.1f} s, "
              f"ratio {ours / theirs:.2f}; of the processors {ours_cpu:.1f} s and {theirs_cpu:.1f} s, ratio "
              f"{ours_cpu / theirs_cpu:.2f}; the server grew by {grown:,.0f} MB")  # fmt: skip


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What ``work`` gives, and the processor seconds that this process and those it waited for took over it."""
    before = _cpu()
    return work(), _cpu() - before


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, kinds))


def _duckdb(path: Path, database: Path) -> float:
    """Seconds in a process of its own, at the priority that import workers have."""
    code = (
        "import os, sys, time, duckdb\nos.nice(5)\nstarted = time.monotonic()\n"
        "with duckdb.connect(sys.argv[2], config={'threads': 2}) as con:\n"
        "    con.execute('SET enable_progress_bar = false')\n"
        "    con.execute('CREATE TABLE data AS FROM read_csv(?)', [sys.argv[1]])\n    con.execute('CHECKPOINT')\n"
        "print(time.monotonic() - started)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path), str(database)], capture_output=True, text=True, check=True)
    database.unlink()
    return float(run.stdout)


def _import(path: Path) -> tuple[float, int, float]:
    """Seconds, rows, and seconds of the processors, those of the worker with its start among them."""
    from lexsi_ds.application import Application
    from lexsi_ds.settings import Settings

    app = Application(Settings(home=Path(os.environ["LEXSI_DS_HOME"])))
    before = _cpu()
    try:
        started = time.monotonic()
        handle = app.catalog.import_source(app.person(), "files", "bench", [path])
        seconds = time.monotonic() - started
    finally:
        app.close()
    return seconds, handle.rows, _cpu() - before


if __name__ == "__main__":
    main()
