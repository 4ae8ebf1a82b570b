"""Gradient-boosted trees of XGBoost (Chen & Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xgboost as xgb

from lexsi_ds.models.estimators.protocol import Outcome

_OBJECTIVE = {"binary": "binary:logistic", "multiclass": "multi:softprob", "regression": "reg:squarederror"}


@dataclass(frozen=True)
class Boosted:
    """A booster of XGBoost."""

    booster: xgb.Booster

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds, one margin a class, or the amount."""
        return self.booster.predict(xgb.DMatrix(x, nthread=1), output_margin=True).astype(np.float64)

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact path-dependent TreeSHAP (Lundberg et al. 2020), as the library computes it: the same as
        shap.TreeExplainer."""
        values = self.booster.predict(xgb.DMatrix(x, nthread=1), pred_contribs=True).astype(np.float64)
        if values.ndim == 3:
            return values[:, :, -1], values[:, :, :-1].transpose(0, 2, 1)
        return values[:, -1], values[:, :-1]

    def save(self, path: Path) -> None:
        """Write XGBoost's own JSON."""
        self.booster.save_model(str(path))


def parameters(outcome: Outcome, rows: int) -> dict[str, Any]:
    """Shallow trees and a strong penalty for few rows; ``rounds`` is the number of trees (a class each)."""
    depth, eta, rounds = (3, 0.05, 150) if rows < 2_000 else (3, 0.05, 200) if rows < 20_000 else (5, 0.1, 200)
    if outcome.kind == "regression" and rows >= 2_000:
        depth, eta, rounds = (5, 0.1, 200) if rows < 20_000 else (6, 0.1, 250)
    more = {"num_class": outcome.classes} if outcome.kind == "multiclass" else {}
    return {
        "objective": _OBJECTIVE[outcome.kind], **more, "tree_method": "hist", "max_depth": depth, "eta": eta,
        "subsample": 0.8, "colsample_bytree": 0.5, "min_child_weight": 2, "lambda": 3,
        "max_bin": 64 if rows < 20_000 else 256, "rounds": rounds,
    }  # fmt: skip


def fit(x: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Boosted:
    """Fit on one thread."""
    own = {name: value for name, value in settings.items() if name != "rounds"}
    own |= {"seed": seed, "nthread": 1, "verbosity": 0}
    return Boosted(xgb.train(own, xgb.DMatrix(x, y, nthread=1), int(settings["rounds"])))


def load(path: Path) -> Boosted:
    """Read back what ``save`` wrote."""
    booster = xgb.Booster()
    booster.load_model(str(path))
    booster.set_param({"nthread": 1})
    return Boosted(booster)
