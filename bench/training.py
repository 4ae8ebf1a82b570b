"""Training of 1,000,000 rows and 30 columns beside plain XGBoost of the same recipe: what everything else costs.

    python -m bench.training [--rows 1000000] [--columns 30] [--threads 2] [--type XGBoost]

Plain is the recipe fitted as often as the training fits it (each fold, and all rows), as many side by side as there are
threads, with nothing beside it. The ratio is the whole training over that; the goal is 1.15. On a machine that does other
work the ratio of processor seconds is the fairer one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.models.estimators import Estimator, recipe, side_by_side
from lexsi_ds.models.task import FeatureDef, TaskSpec
from lexsi_ds.models.training import SEED, Origin, train_model
from lexsi_ds.models.validation import make_folds

GOAL = 1.15


def rows(n: int, columns: int) -> pd.DataFrame:
    """A binary outcome with main, pairwise and curved effects, and 2% missing values."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, columns))
    margin = x[:, 0] + 0.8 * x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) - 1.5
    y = (rng.random(n) < 1 / (1 + np.exp(-margin))).astype(int)
    x[rng.random(x.shape) < 0.02] = np.nan
    frame = pd.DataFrame(x, columns=[f"x{i:02}" for i in range(columns)])
    return frame.assign(id=np.arange(n), y=y)


def task_of(frame: pd.DataFrame) -> TaskSpec:
    """The task over all of them."""
    features = tuple(FeatureDef(name=n, label=n, kind="numeric") for n in frame.columns if n.startswith("x"))
    return TaskSpec(
        title="Bench", question="", task_type="classification", target_column="y", target_label="event",
        positive_meaning="1", entity_column="id", entity_table="", entity_label="row", known_meaning="all",
        unknown_meaning="none", context_sql="", predict_sql="", features=features,
    )  # fmt: skip


def plain(frame: pd.DataFrame, model_type: Any, threads: int) -> tuple[float, float]:
    """Seconds by the clock and of the processors, of the same fits alone."""
    x, y = frame.filter(like="x").to_numpy(), frame["y"].to_numpy(dtype=float)
    how = recipe(model_type, len(y), ())
    folds = make_folds(y, x.shape[1], SEED)

    def fit(fold: int | None) -> Callable[[], Estimator]:
        def work() -> Estimator:
            here = slice(None) if fold is None else folds.of[:, 0] != fold
            return how.fit(x[here], y[here], SEED)

        return work

    began, busy = time.perf_counter(), time.process_time()
    side_by_side([fit(fold) for fold in range(folds.count)], threads, lambda number: None)
    fit(None)()
    return time.perf_counter() - began, time.process_time() - busy


def main() -> None:
    """Run both and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--type", default="XGBoost")
    args = parser.parse_args()
    frame = rows(args.rows, args.columns)
    alone, alone_busy = plain(frame, args.type, args.threads)
    stages: list[tuple[str, float]] = []

    def say(message: dict[str, Any]) -> None:
        if not stages or stages[-1][0] != message["text"]:
            stages.append((message["text"], time.perf_counter()))

    began, busy = time.perf_counter(), time.process_time()
    card = train_model(frame, task_of(frame), args.type, Origin("bench"), args.threads, say).card
    whole, busy = time.perf_counter() - began, time.process_time() - busy
    ends = [*[at for _, at in stages[1:]], began + whole]
    result = {
        "rows": args.rows, "columns": args.columns, "threads": args.threads, "type": args.type,
        "plain_s": round(alone, 1), "training_s": round(whole, 1), "ratio": round(whole / alone, 3),
        "plain_cpu_s": round(alone_busy, 1), "training_cpu_s": round(busy, 1), "cpu_ratio": round(busy / alone_busy, 3),
        "goal": GOAL,
        "auc": round(card.chosen.main.value, 4), "before_first_fit_s": round(stages[0][1] - began, 1) if stages else 0,
        "stages": {text: round(end - at, 1) for (text, at), end in zip(stages, ends, strict=True)},
    }  # fmt: skip
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
