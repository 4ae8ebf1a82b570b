"""Measures what the README claims, in one run on this machine: `make bench`. Prints ratios and seconds; judges nothing.

Each ratio is the median of paired runs, A B A B …, so that a machine whose speed drifts shifts both sides alike.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
ROOT = Path(__file__).resolve().parent.parent
ROWS = int(os.environ.get("BENCH_ROWS", "10000000"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "7"))
NORTH_STAR = "For loans currently being repaid, which are likely to default? Show me the top 10 highest-risk loans and tell me why."


def timed(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def say(name: str, figure: str, bound: str) -> None:
    """One line of the report."""
    print(f"{name:62} {figure:>22}   {bound}", flush=True)


def bench_demo_bank(home: Path):
    """Seconds to build the demo bank from nothing."""
    from lexsi_ds.application import Application
    from lexsi_ds.settings import Settings

    app = Application(Settings(home=home))
    seconds = timed(lambda: app.catalog.ensure_demo(app.person()))
    say("demo bank, built from nothing", f"{seconds:.1f} s", "at most 20 s")
    return app


def bench_run_sql(app, folder: Path) -> None:
    """run_sql against plain DuckDB on the same file, a group-by over ROWS rows."""
    import duckdb
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = folder / "big.parquet"
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT i % 1000 AS grp, (i * 7919) % 1000003 AS value, i AS id FROM range({ROWS}) AS r(i)) "
            f"TO '{source}' (FORMAT parquet)"
        )
    del pd, pa, pq
    handle = app.catalog.import_source(app.person(), "files", "bench", [source])
    table = handle.tables[0]
    sql = f'SELECT grp, count(*) AS n, sum(value) AS total, avg(value) AS mean FROM "{table.name}" GROUP BY grp ORDER BY grp'
    plain = duckdb.connect(config={"threads": app.settings.threads})
    plain.execute(f"ATTACH '{table.path}' AS d (READ_ONLY)")
    plain_sql = sql.replace(f'"{table.name}"', "d.main.data")
    from lexsi_ds.agent.tools import REGISTRY
    from lexsi_ds.ids import new_id

    ctx = app.answering.context(handle, new_id("run"), folder / "run")
    tool = REGISTRY["run_sql"]
    args = tool.spec.args_schema.model_validate({"sql": sql})

    def ours() -> None:
        result = tool.run(args, ctx)
        assert result.ok and len(result.payload) == 1000, result.summary

    def theirs() -> None:
        assert len(plain.execute(plain_sql).df()) == 1000

    ours(), theirs()
    pairs = [(timed(ours), timed(theirs)) for _ in range(PAIRS)]
    ratios = [a / b for a, b in pairs]
    say(
        f"run_sql / plain DuckDB, group-by over {ROWS:,} rows",
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})",
        "at most 1.3",
    )


def bench_ten_steps(app, folder: Path) -> None:
    """The north-star run, ten steps, training and SHAP included."""
    from lexsi_ds.ids import new_id

    handle = app.catalog.ensure_demo(app.person())
    app.knowledge(handle)
    seconds = []
    for i in range(3):
        ctx = app.answering.context(handle, new_id("run"), folder / f"ns{i}")
        started = time.perf_counter()
        done = app.answering.loop(ctx).run(NORTH_STAR, ctx)
        seconds.append(time.perf_counter() - started)
        assert done.state == "answered", done
    say("ten-step run, training and SHAP included (median of 3)", f"{statistics.median(seconds):.1f} s", "under 15 s")


def bench_pages(app, folder: Path) -> None:
    """Server time of a page switch with a conversation, a model and predictions there."""
    from streamlit.testing.v1 import AppTest

    person = app.person()
    handle = app.catalog.ensure_demo(person)
    app.set_active_source(person, handle.source_id)
    conversation = app.chats.new(person, handle.source_id)
    run = app.chats.ask(person, conversation, NORTH_STAR, handle.source_id)
    after = 0
    while True:
        events = app.chats.events(person, run, after, 1.0)
        after += len(events)
        if any(e["type"] == "done" for e in events):
            break
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    test.query_params["conv"] = conversation
    test.run()
    pages = [
        "pages/1_Connect_data.py",
        "pages/2_Chat.py",
        "pages/3_Model_results.py",
        "pages/4_XAI_explorer.py",
        "pages/5_Findings_review.py",
    ]
    for page in pages:
        test.switch_page(page).run()
        seconds = []
        for _ in range(5):
            test.switch_page(page)
            seconds.append(timed(test.run))
        assert not test.exception, test.exception
        say(
            f"page switch, {Path(page).stem}",
            f"{statistics.median(seconds) * 1000:.0f} ms",
            "under 300 ms of server time",
        )


def bench_predictions_page() -> None:
    """A page of a million predictions against the same page of a thousand."""
    from bench.predictions_page import ratios

    for what, (many, few) in ratios().items():
        say(f"predictions page, {what}", f"{many / few:.2f} ({many:.1f} ms)", "at most 1.20")


def main() -> int:
    """Run every measurement."""
    print(f"{os.cpu_count()} processors, {ROWS:,} rows, {PAIRS} pairs; a noisy machine shows in the ranges\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["LEXSI_DS_HOME"] = str(folder / "home")
        app = bench_demo_bank(folder / "home")
        import lexsi_ds.application as application

        application._application = app
        bench_ten_steps(app, folder)
        bench_pages(app, folder)
        bench_run_sql(app, folder)
        app.close()
        bench_predictions_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
