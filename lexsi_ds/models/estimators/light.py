"""Gradient-boosted trees of LightGBM (Ke et al. 2017), grown leaf by leaf.

The library cannot read its JSON dump back, so the file is JSON around the library's own text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from lexsi_ds.models.estimators.protocol import Outcome

_OBJECTIVE = {"binary": "binary", "multiclass": "multiclass", "regression": "regression"}


@dataclass(frozen=True)
class Light:
    """A booster of LightGBM, kept as its text: the library's objects are opened when first needed."""

    text: str

    @cached_property
    def booster(self) -> lgb.Booster:
        """The library's own booster."""
        return lgb.Booster(model_str=self.text)

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds, one margin a class, or the amount."""
        return np.asarray(self.booster.predict(x, raw_score=True, num_threads=1), dtype=np.float64)

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact path-dependent TreeSHAP, as the library computes it."""
        values = np.asarray(self.booster.predict(x, pred_contrib=True, num_threads=1), dtype=np.float64)
        if values.shape[1] != x.shape[1] + 1:
            values = values.reshape(len(x), -1, x.shape[1] + 1)
            return values[:, :, -1], values[:, :, :-1].transpose(0, 2, 1)
        return values[:, -1], values[:, :-1]

    def save(self, path: Path) -> None:
        """Write the library's text inside JSON."""
        path.write_text(json.dumps({"kind": "lightgbm", "model": self.text}), encoding="utf-8")


def parameters(outcome: Outcome, rows: int) -> dict[str, Any]:
    """As the other boosted trees: small for few rows."""
    leaves, eta, rounds = (7, 0.05, 150) if rows < 2_000 else (8, 0.05, 200) if rows < 20_000 else (31, 0.1, 200)
    if outcome.kind == "regression" and rows >= 2_000:
        leaves, eta, rounds = 31, 0.1, 200 if rows < 20_000 else 300
    more = {"num_class": outcome.classes} if outcome.kind == "multiclass" else {}
    return {
        "objective": _OBJECTIVE[outcome.kind], **more, "num_leaves": leaves, "learning_rate": eta, "bagging_fraction": 0.8,
        "bagging_freq": 1, "feature_fraction": 0.5, "min_data_in_leaf": 10 if rows < 2_000 else 20, "lambda_l2": 3.0,
        "max_bin": 63 if rows < 20_000 else 255, "rounds": rounds,
    }  # fmt: skip


def fit(x: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Light:
    """Fit on one thread, in the library's deterministic mode."""
    own = {name: value for name, value in settings.items() if name != "rounds"}
    own |= {"seed": seed, "num_threads": 1, "verbosity": -1, "deterministic": True, "force_row_wise": True}
    data = lgb.Dataset(x, y, params={"verbosity": -1, "max_bin": own["max_bin"]})
    return Light(lgb.train(own, data, num_boost_round=int(settings["rounds"])).model_to_string())


def load(path: Path) -> Light:
    """Read back what ``save`` wrote."""
    return Light(json.loads(path.read_text(encoding="utf-8"))["model"])
