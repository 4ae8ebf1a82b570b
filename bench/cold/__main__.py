"""Asks invented databases their questions: ``python -m bench.cold``. Nothing was tuned to the first answers they gave."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.cases import run
from bench.cold import airline, hospital, insurance, saas
from bench.cold.making import Database, cases, write
from bench.verdict import table
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings

DATABASES: dict[str, Database] = {"hospital": hospital, "airline": airline, "saas": saas, "insurance": insurance}


def main() -> int:
    """Run all or some questions; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.cold", description=__doc__)
    parser.add_argument("--db", choices=tuple(DATABASES), help="only this database")
    parser.add_argument("--show", choices=("misses", "all", "none"), default="misses")
    parser.add_argument("--home", type=Path)
    args = parser.parse_args()
    asked = [c for name in DATABASES if args.db in (None, name) for c in cases(name)]
    with tempfile.TemporaryDirectory() as folder:
        for name in {c["db"] for c in asked}:
            write(DATABASES[name], Path(folder) / f"{name}.sqlite")
        app = Application(Settings(home=args.home or Path(folder)))
        print(f"{len(asked)} questions, planner: {app.planner_label()}", flush=True)
        try:
            judged = run(asked, Path(folder), app, Path(folder), args.show)
        finally:
            app.close()
    print("\n" + table(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
