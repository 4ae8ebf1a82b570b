"""Small models of each kind of outcome with gaps, words and true-or-false columns, trained once a test process."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.models.bundle import SavedModel
from tests.models.frames_for_tests import task_of, train_in


def rows(n: int = 300, seed: int = 0, first: int = 1) -> pd.DataFrame:
    """Homes with a size, rooms, a district, a lift and noise; ``price`` is an amount, ``band`` one of three words, ``dear``
    0 or 1. ``low`` is never above ``high``; ``total`` is rooms times size; ``sex`` is nothing the price depends on."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"home_id": np.arange(first, first + n)})
    frame["size"] = rng.normal(80, 20, n).round().clip(30, 150)
    frame["rooms"] = rng.integers(1, 7, n)
    frame["district"] = rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
    frame["lift"] = rng.random(n) < 0.4
    frame["low"] = rng.normal(10, 3, n).round(1)
    frame["high"] = frame["low"] + rng.exponential(2, n).round(1)
    frame["total"] = frame["size"] * frame["rooms"]
    frame["noise"] = rng.normal(size=n)
    frame["sex"] = rng.choice(["f", "m"], n)
    signal = 2.0 * frame["size"] + 60 * (frame["district"] == "south") + 25 * frame["lift"] + rng.normal(0, 15, n)
    frame["price"] = (1_000 * signal).round()
    frame["band"] = np.select([signal < 150, signal < 200], ["cheap", "usual"], "dear")
    frame["dear"] = (signal > 190).astype(int)
    frame.loc[rng.random(n) < 0.08, "size"] = np.nan
    frame.loc[rng.random(n) < 0.05, "district"] = None
    return frame


FEATURES = ["size", "rooms", "district", "lift", "low", "high", "total", "noise"]


@cache
def model(kind: str, model_type: str = "XGBoost") -> SavedModel:
    """A model of ``dear`` (binary), ``band`` (multiclass) or ``price`` (regression); sex is kept for show only."""
    frame = rows()
    target = {"binary": "dear", "multiclass": "band", "regression": "price"}[kind]
    more: dict[str, Any] = {"entity_label": "home", "target_label": target, "display_columns": ("sex",)}
    if kind == "regression":
        more["task_type"] = "regression"
    if kind == "multiclass":
        more["classes"] = ("cheap", "usual", "dear")
    task = task_of(frame, entity="home_id", target=target, features=FEATURES, **more)
    folder = Path(tempfile.mkdtemp(prefix="lexsi-test-"))
    return train_in(folder, frame, task, model_type=model_type)
