"""Runs a file of questions with checked answers against the product: ``python -m bench.cases FILE --data FOLDER``.

Each line has ``db, question, kind, gold, ordered``, as the file's own README says. Prints right, wrong, abstained and asked by
kind, and each miss with its reason. Reads the file; copies nothing.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from bench.compare import same_rows
from lexsi_ds.agent.report import report
from lexsi_ds.application import Application
from lexsi_ds.ids import new_id
from lexsi_ds.settings import Settings

FILES = {
    "financial": "db/financial.sqlite", "chinook": "db/chinook.sqlite", "kc_house_data": "files/kc_house_data.csv",
    "emp_attrition_ibm": "files/emp_attrition_ibm.csv", "telco_customer_churn": "files/Telco-Customer-Churn.csv",
}  # fmt: skip


def main() -> int:
    """Run all or some questions; exit status 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--db", help="only this database")
    parser.add_argument("--show", choices=("misses", "all", "none"), default="misses")
    parser.add_argument("--home", type=Path)
    args = parser.parse_args()
    cases = [json.loads(line) for line in args.file.read_text(encoding="utf-8").splitlines()]
    cases = [c for c in cases if args.db in (None, c["db"])]
    with tempfile.TemporaryDirectory() as folder:
        app = Application(Settings(home=args.home or Path(folder)))
        try:
            outcomes, seconds = run(cases, args.data, app, Path(folder), args.show)
        finally:
            app.close()
    table(outcomes, seconds)
    return 0


def run(
    cases: list[dict[str, Any]], data: Path, app: Application, folder: Path, show: str
) -> tuple[list[tuple[str, str]], list[float]]:
    """Outcome by kind for each case, and seconds each."""
    outcomes, seconds = [], []
    for case in cases:
        handle = app.catalog.throwaway(data / FILES[case["db"]])
        ctx = app.answering.context(
            handle, new_id("run"), folder / new_id("run"), offline=True, hints=case.get("context", "")
        )
        app.knowledge(handle)
        started = time.perf_counter()
        loop = app.answering.loop(ctx)
        body = report(case["question"], list(loop.stream(case["question"], ctx)), ctx, max_rows=1_000_000)
        seconds.append(time.perf_counter() - started)
        outcome, why = judge(case, body, data)
        outcomes.append((case["kind"], outcome))
        if show == "all" or (show == "misses" and outcome not in ("right", "asked")):
            print(f"{outcome:9} {case['id']:12} {case['question'][:90]} | {why[:150]}", flush=True)
    return outcomes, seconds


def judge(case: dict[str, Any], body: dict[str, Any], data: Path) -> tuple[str, str]:
    """right, wrong, abstained, asked or failed, with the reason."""
    state, kind = body["state"], case["kind"]
    if state in ("cannot_answer", "refused"):
        return ("right" if kind == "unanswerable" else "abstained"), str(body["answer"])
    if state == "needs_clarification":
        return ("right" if kind == "ambiguous" else "asked"), str(body["answer"])
    if state != "answered":
        return "failed", f"{state}: {body['answer']}"
    if kind == "unanswerable" or body["result"] is None or body["predictions"] is not None:
        return "wrong", f"answered: {body['answer']}"
    ours = [tuple(r) for r in body["result"]["rows"]]
    golds = [case["gold"]] if case["gold"] else case.get("readings", [])
    for gold in golds:
        if same_rows(ours, gold_rows(case["db"], gold, data), ordered=case["ordered"]):
            return "right", ""
    return "wrong", f"{body['reading']}: {ours[:3]} not {gold_rows(case['db'], golds[0], data)[:3]}"


def gold_rows(db: str, sql: str, data: Path) -> list[tuple[Any, ...]]:
    """The gold's rows in its own dialect."""
    path = (data / FILES[db]).resolve()
    if path.suffix == ".sqlite":
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as con:
            return con.execute(sql).fetchall()
    with duckdb.connect() as duck:
        duck.execute(f"CREATE VIEW {db} AS SELECT * FROM read_csv('{path}')")
        return duck.execute(sql).fetchall()


def table(outcomes: list[tuple[str, str]], seconds: list[float]) -> None:
    """Counts by kind, and the three rates that matter."""
    names = ("right", "wrong", "abstained", "asked", "failed")
    print(f"\n{'kind':14}" + "".join(f"{n:>11}" for n in names))
    for kind in dict.fromkeys(k for k, _ in outcomes):
        counts = Counter(o for k, o in outcomes if k == kind)
        print(f"{kind:14}" + "".join(f"{counts[n]:>11}" for n in names))
    counts = Counter(o for _, o in outcomes)
    total = max(len(outcomes), 1)
    print(f"{'all':14}" + "".join(f"{counts[n]:>11}" for n in names))
    shares = f"right {counts['right'] / total:.1%}, wrong {counts['wrong'] / total:.1%}"
    print(f"\n{shares}, median {statistics.median(seconds) * 1000:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
