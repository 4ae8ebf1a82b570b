"""The script of an exported model, as text: it trains the model again from the exported rows and compares the scores.

It is written into the archive and run by whoever gets it; nothing here runs it.
"""

from __future__ import annotations

SCRIPT = '''"""Trains {name} again from the rows in data/, scores, and compares with the scores that were exported.

    python -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python reproduce.py

code/ holds the modules that trained it, as they were. Task, features and their definitions: task.json. Writes
scores_again.parquet and exits with 1 when a score differs by more than {tolerance}.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "code"))

import pandas as pd  # noqa: E402

from lexsi_ds.models.frames import entity_keys, read_frame, write_frame  # noqa: E402
from lexsi_ds.models.worker import predict, train  # noqa: E402

TOLERANCE = {tolerance}


def quiet(_message: dict) -> None:
    """Progress that nobody reads."""


def main() -> int:
    """Train, score, compare."""
    about = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_frame(pd.read_parquet(HERE / "data" / "training.parquet"), folder / "training.arrow")
        write_frame(pd.read_parquet(HERE / "data" / "rows.parquet"), folder / "rows.arrow")
        train({{
            **about["training"], "frame": str(folder / "training.arrow"), "task": about["task"], "folder": str(folder / "model"),
            "temporary": str(folder / "model.tmp"), "threads": 2,
        }}, quiet)
        predict({{
            "folder": str(folder / "model"), "frame": str(folder / "rows.arrow"), "out": str(folder / "scores.arrow"), "threads": 2,
        }}, quiet)
        scores = read_frame(folder / "scores.arrow")
    scores.to_parquet(HERE / "scores_again.parquet", index=False)
    return compare(scores, pd.read_parquet(HERE / "data" / "scores.parquet"), about["task"]["entity_column"])


def compare(mine: pd.DataFrame, expected: pd.DataFrame, entity: str) -> int:
    """Print the largest difference; 1 when it is too large."""
    column = "probability" if expected["probability"].notna().any() else "prediction"
    sides = [frame.assign(key=entity_keys(frame[entity]))[["key", column]] for frame in (mine, expected)]
    both = sides[0].merge(sides[1], on="key", suffixes=("_mine", "_expected"))
    gap = (both[f"{{column}}_mine"] - both[f"{{column}}_expected"]).abs().max()
    same_rows = len(mine) == len(expected) == len(both)
    print(json.dumps({{"rows": len(both), "same_rows": same_rows, "column": column, "largest_difference": float(gap)}}))
    return 0 if same_rows and gap <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
'''
README = """{name}: {title}

reproduce.py      trains it again and compares the scores (see its first lines)
requirements.txt  the libraries it was exported with
task.json         the task: outcome, features with their definitions, what was left out; how it was trained
card.json         the model card; report.html is the same to read
data/             training.parquet (the rows that trained it), rows.parquet and scores.parquet (rows and their scores)
code/             the modules that train and score
"""


def script(name: str, tolerance: float) -> str:
    """The script for a model of this name, in which nothing of the data stands."""
    plain = "".join(c for c in name if c.isalnum() or c in "_- ") or "the model"
    return SCRIPT.format(name=plain, tolerance=tolerance)
