"""Runs the demo bank's questions through the app's chats: ``python -m bench.pkdd``.

Offline by default; with LEXSI_DS_LLM_BASE_URL and LEXSI_DS_LLM_MODEL set, with that model. Prints right, wrong, abstained and
asked by kind, tool sequences, seconds and tokens, and each miss with its typed reason. The exit status is 0 unless --repeat
finds a question that was not answered the same each time.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.pkdd.items import Item, load
from bench.pkdd.running import Runner
from bench.pkdd.variants import variants
from bench.verdict import Judged, table
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Run all or some questions."""
    args = _arguments(argv)
    items = chosen(load(), args.kind, args.id, args.limit)
    if args.variants:
        items = list(variants(items))
    with tempfile.TemporaryDirectory() as folder:
        app = Application(Settings(home=args.home or Path(folder)))
        try:
            print(f"{len(items)} items, planner: {app.planner_label()}")
            runner = Runner(app, Path(folder))
            passes = [_pass(runner, items, args.show if n == 0 else "none") for n in range(args.repeat)]
        finally:
            app.close()
    print("\n" + table(passes[0]))
    if args.json:
        body = [{k: v for k, v in dataclasses.asdict(j).items() if k != "signature"} for j in passes[0]]
        args.json.write_text(json.dumps(body, indent=1, ensure_ascii=False), encoding="utf-8")
    return same(passes)


def chosen(items: Sequence[Item], kinds: Sequence[str], ids: Sequence[str], limit: int | None) -> list[Item]:
    """The items of these kinds and ids; at most ``limit`` of each kind."""
    kept: list[Item] = []
    for item in items:
        wanted = (not kinds or item.kind in kinds) and (not ids or item.id in ids)
        if wanted and (limit is None or sum(k.kind == item.kind for k in kept) < limit):
            kept.append(item)
    return kept


def _pass(runner: Runner, items: Sequence[Item], show: str) -> list[Judged]:
    judged = []
    for one in runner.run(items):
        judged.append(one)
        missed = one.verdict.outcome != "right" or one.verdict.reason
        if show == "all" or (show == "misses" and missed):
            reason = one.verdict.reason or one.verdict.outcome
            print(f"{reason:21} {one.id:16} {one.question[:90]} | {' '.join(one.verdict.detail.split())[:170]}", flush=True)
    return judged


def same(passes: Sequence[Sequence[Judged]]) -> int:
    """Says which questions were not answered the same on every pass; the exit status."""
    if len(passes) < 2:
        return 0
    first = {j.id: j.signature for j in passes[0]}
    differ = sorted({j.id for later in passes[1:] for j in later if j.signature != first[j.id]})
    print(f"{len(passes)} passes: " + (f"not the same: {', '.join(differ)}" if differ else "identical"))
    return 1 if differ else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.pkdd", description=__doc__)
    parser.add_argument("--show", choices=("misses", "all", "none"), default="misses")
    parser.add_argument("--kind", action="append", default=[], help="only this kind; may be given more than once")
    parser.add_argument("--id", action="append", default=[], help="only this item; may be given more than once")
    parser.add_argument("--limit", type=int, help="at most so many of each kind")
    parser.add_argument("--variants", action="store_true", help="ask the data questions otherwise: capitals, politely, typos")
    parser.add_argument("--repeat", type=int, default=1, help="so many passes, which must give the same")
    parser.add_argument("--json", type=Path, help="write every verdict to this file")
    parser.add_argument("--home", type=Path, help="keep the built demo bank and the runs in this folder")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
