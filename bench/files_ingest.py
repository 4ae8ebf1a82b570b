"""How long an import of a clean CSV takes, against DuckDB's own CREATE TABLE AS from read_csv in the same run.

``python -m bench.files_ingest`` prints both and their ratio, and how much this process (the server) grew. Size in
``LEXSI_BENCH_CSV_MB`` (default 200).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

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
        theirs = _duckdb(path, folder / "theirs.duckdb")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ours, rows = _import(path)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        theirs = (theirs + _duckdb(path, folder / "theirs_last.duckdb")) / 2
        print(f"{path.stat().st_size / 1e6:,.0f} MB, {rows:,} rows: import {ours:.1f} s, DuckDB {theirs:.1f} s, "
              f"ratio {ours / theirs:.2f}; the server grew by {grown:,.0f} MB")  # fmt: skip


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


def _import(path: Path) -> tuple[float, int]:
    from lexsi_ds.application import Application
    from lexsi_ds.settings import Settings

    app = Application(Settings(home=Path(os.environ["LEXSI_DS_HOME"])))
    try:
        started = time.monotonic()
        handle = app.catalog.import_source(app.person(), "files", "bench", [path])
        return time.monotonic() - started, handle.rows
    finally:
        app.close()


if __name__ == "__main__":
    main()
