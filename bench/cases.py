"""Runs a file of questions with checked answers against the product: ``python -m bench.cases FILE --data FOLDER``.

Each line has ``db, question, kind, gold, ordered``, as the file's own README says. Prints right, wrong, abstained and asked by
kind, and each miss with its reason. Reads the file; copies nothing.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from bench.asking import Row, Told, ask_once
from bench.compare import same_rows
from bench.verdict import Judged, Verdict, no_answer, table
from lexsi_ds.application import Application
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
    parser.add_argument("--sample", type=int, help="only so many, evenly spread: a language model takes its time")
    parser.add_argument("--show", choices=("misses", "all", "none"), default="misses")
    parser.add_argument("--home", type=Path)
    args = parser.parse_args()
    cases = [json.loads(line) for line in args.file.read_text(encoding="utf-8").splitlines()]
    cases = [c for c in cases if args.db in (None, c["db"])]
    if args.sample and args.sample < len(cases):
        cases = [cases[i * len(cases) // args.sample] for i in range(args.sample)]
    with tempfile.TemporaryDirectory() as folder:
        app = Application(Settings(home=args.home or Path(folder)))
        print(f"{len(cases)} questions, planner: {app.planner_label()}", flush=True)
        try:
            judged = run(cases, args.data, app, Path(folder), args.show)
        finally:
            app.close()
    print("\n" + table(judged))
    return 0


def run(cases: list[dict[str, Any]], data: Path, app: Application, folder: Path, show: str) -> list[Judged]:
    """Each case with its verdict."""
    judged = []
    for case in cases:
        handle = app.catalog.throwaway(_file(data, case["db"]))
        app.knowledge(handle)
        told = ask_once(app, handle, case["question"], folder, hints=case.get("context", ""))
        verdict = judge(case, told, data)
        tools = tuple(c.tool for c in told.calls)
        judged.append(
            Judged(case["id"], case["kind"], case["question"], verdict, tools, None, told.seconds, told.tokens)
        )
        if show == "all" or (show == "misses" and verdict.outcome not in ("right", "asked")):
            print(f"{verdict.outcome:9} {case['id']:12} {case['question'][:90]} | {verdict.detail[:150]}", flush=True)
    return judged


def judge(case: dict[str, Any], told: Told, data: Path) -> Verdict:
    """The verdict on one case, as the file's README judges."""
    kind = case["kind"]
    if (silent := no_answer(told)) is not None:
        right = {"abstained": "unanswerable", "asked": "ambiguous"}.get(silent.outcome) == kind
        return Verdict("right") if right else silent
    ours = told.rows
    if kind == "unanswerable":
        return Verdict("wrong", "should_have_abstained", told.text)
    if ours is None or told.last("predict") is not None:
        return Verdict("wrong", "wrong_result", told.text)
    golds = [case["gold"]] if case["gold"] else case.get("readings", [])
    rows = [gold_rows(_file(data, case["db"]), gold, case["db"]) for gold in golds]
    if any(same_rows(ours, gold, ordered=case["ordered"]) for gold in rows):
        return Verdict("right")
    return Verdict("wrong", "wrong_result", f"{told.done['reading']}: {ours[:3]} not {rows[0][:3] if rows else []}")


def _file(data: Path, db: str) -> Path:
    return data / FILES.get(db, f"{db}.sqlite")


def gold_rows(path: Path, sql: str, view: str) -> list[Row]:
    """The gold's rows in its own dialect: SQLite for a database, DuckDB for a file, which is seen as ``view``."""
    path = path.resolve()
    if path.suffix == ".sqlite":
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as con:
            return con.execute(sql).fetchall()
    with duckdb.connect() as duck:
        duck.execute(f"CREATE VIEW {view} AS SELECT * FROM read_csv('{path}')")
        return duck.execute(sql).fetchall()


if __name__ == "__main__":
    sys.exit(main())
