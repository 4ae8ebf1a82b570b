"""Runs BIRD's questions on the financial database: ``python -m bench.bird FILE --data FOLDER``.

Each question is asked with its evidence as context. Prints right, wrong and abstained by difficulty, without the questions whose
gold `bird_disputed.yaml` disputes; those are reported apart. Reads the file; copies nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from bench.asking import Told, ask_once
from bench.cases import gold_rows
from bench.compare import same_rows
from bench.verdict import Judged, Verdict, no_answer, table
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings

DATABASE = "db/financial.sqlite"
DISPUTED = Path(__file__).with_name("bird_disputed.yaml")


def main(argv: Sequence[str] | None = None) -> int:
    """Run all questions of the file; exit status 0."""
    args = _arguments(argv)
    disputed = load_disputed()
    questions = json.loads(args.file.read_text(encoding="utf-8"))["questions"][: args.limit]
    with tempfile.TemporaryDirectory() as folder:
        app = Application(Settings(home=args.home or Path(folder)))
        try:
            judged = run(questions, args.data / DATABASE, app, Path(folder), disputed, args.show)
        finally:
            app.close()
    apart = [j for j in judged if int(j.id) in disputed]
    print("\n" + table([j for j in judged if int(j.id) not in disputed]))
    print(f"\nGold disputed ({len(apart)}), against the gold as it is:")
    print(table([dataclasses.replace(j, kind="disputed") for j in apart]))
    against = [against_corrected(j, disputed[int(j.id)], args.data / DATABASE) for j in apart]
    print("against what we hold to be right: " + ", ".join(f"{j.id} {word}" for j, word in zip(apart, against, strict=True)))
    return 0


def load_disputed(path: Path = DISPUTED) -> dict[int, dict[str, Any]]:
    """The disputed golds by question id, each with its reason."""
    return {entry["id"]: entry for entry in yaml.safe_load(path.read_text(encoding="utf-8"))}


def run(
    questions: Sequence[dict[str, Any]],
    database: Path,
    app: Application,
    folder: Path,
    disputed: dict[int, dict[str, Any]],
    show: str,
) -> list[Judged]:
    """Each question with its verdict against the gold as it is; the signature keeps our rows."""
    handle = app.catalog.throwaway(database)
    app.knowledge(handle)
    judged = []
    for item in questions:
        told = ask_once(app, handle, item["question"], folder, hints=item["evidence"])
        verdict = judge(told, item["SQL"], database)
        name, kind, tools = str(item["question_id"]), item["difficulty"], tuple(c.tool for c in told.calls)
        rows = json.dumps(told.rows, default=str)
        judged.append(Judged(name, kind, item["question"], verdict, tools, None, told.seconds, told.tokens, rows))
        if show == "all" or (show == "misses" and verdict.outcome != "right"):
            mark = "(gold disputed) " if item["question_id"] in disputed else ""
            print(f"{verdict.outcome:9} {name:4} {mark}{item['question'][:100]} | {verdict.detail[:170]}", flush=True)
    return judged


def judge(told: Told, gold: str, database: Path) -> Verdict:
    """The verdict against one gold; the order of rows is not compared, as in BIRD itself."""
    if (silent := no_answer(told)) is not None:
        return silent
    ours, rows = told.rows, gold_rows(database, gold, "financial")
    if ours is None or told.last("predict") is not None:
        return Verdict("wrong", "wrong_result", told.text)
    if same_rows(ours, rows, ordered=False):
        return Verdict("right")
    return Verdict("wrong", "wrong_result", f"{told.done.get('reading')}: {ours[:3]} not {rows[:3]}")


def against_corrected(judged: Judged, entry: dict[str, Any], database: Path) -> str:
    """How the answer to a disputed question stands to the SQL that we hold to be right."""
    if judged.verdict.outcome not in ("right", "wrong"):
        return judged.verdict.outcome
    if "corrected" not in entry:
        return "answered, no single right answer"
    ours = [tuple(row) for row in json.loads(judged.signature) or []]
    return "right" if same_rows(ours, gold_rows(database, entry["corrected"], "financial"), ordered=False) else "wrong"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.bird", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--show", choices=("misses", "all", "none"), default="misses")
    parser.add_argument("--home", type=Path)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
