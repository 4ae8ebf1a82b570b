"""The two estimators behind one small face: XGBoost (Chen & Guestrin 2016) and logistic regression with an L2 penalty.

Each fits on an encoded matrix, gives margins (log-odds) and exact SHAP values an encoded column, and goes to JSON and
back: XGBoost as the library's own JSON, the logistic model as its coefficients, means, scales and medians. Never
pickled. One fit runs on one thread, so that results do not depend on the number of threads; independent fits run side
by side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import numpy as np
import xgboost as xgb
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from lexsi_ds.errors import BadInput

ModelType = Literal["XGBoost", "Logistic"]
MODEL_TYPES: tuple[ModelType, ...] = ("XGBoost", "Logistic")
MANY_COLUMNS = 500
"""Encoded columns past which everything is fitted less often: a fit takes seconds there."""
T = TypeVar("T")


class Estimator(Protocol):
    """A fitted model. ``x`` is an encoded matrix, shape (n, p), NaN where missing."""

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the positive outcome. Shape (n,)."""
        ...

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Base value, shape (n,), and SHAP values on the margin, shape (n, p); they add up to the margin."""
        ...

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        ...


@dataclass(frozen=True)
class Boosted:
    """Gradient-boosted trees."""

    booster: xgb.Booster

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the positive outcome. Shape (n,)."""
        return self.booster.predict(xgb.DMatrix(x, nthread=1), output_margin=True).astype(np.float64)

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact path-dependent TreeSHAP (Lundberg et al. 2020), as the library computes it: the same as
        shap.TreeExplainer."""
        values = self.booster.predict(xgb.DMatrix(x, nthread=1), pred_contribs=True).astype(np.float64)
        return values[:, -1], values[:, :-1]

    def save(self, path: Path) -> None:
        """Write XGBoost's own JSON."""
        self.booster.save_model(str(path))


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on standardised columns, medians for missing numbers, a flag column for each that had any.

    SHAP values are exact for a linear model with the training mean as background (features taken as independent):
    coefficient times (value - mean). A flag's part counts for the column it flags.
    """

    flagged: tuple[int, ...]
    medians: np.ndarray
    means: np.ndarray
    scales: np.ndarray
    coefficients: np.ndarray
    intercept: float

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the positive outcome. Shape (n,)."""
        base, parts = self.contributions(x)
        return base + parts.sum(axis=1)

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Base value (the margin at the training mean) and exact linear SHAP values, shape (n, p)."""
        parts = self.standardise(x) * self.coefficients
        columns = parts[:, : x.shape[1]].copy()
        for position, column in enumerate(self.flagged):
            columns[:, column] += parts[:, x.shape[1] + position]
        return np.full(len(x), self.intercept), columns

    def standardise(self, x: np.ndarray) -> np.ndarray:
        """The design: filled, flagged, centred and scaled. Shape (n, p + flags)."""
        return (_design(x, self.flagged, self.medians) - self.means) / self.scales

    def save(self, path: Path) -> None:
        """Write coefficients, means, scales and medians as JSON; floats keep all their digits."""
        document = {
            "kind": "logistic",
            "flagged": list(self.flagged),
            "medians": self.medians.tolist(),
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercept": self.intercept,
        }
        path.write_text(json.dumps(document), encoding="utf-8")


@dataclass(frozen=True)
class Recipe:
    """How one model type is fitted: its parameters, settled by the number of training rows and never by the outcome."""

    model_type: ModelType
    parameters: dict[str, float | int | str]
    flagged: tuple[int, ...]
    rounds: int = 0

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Estimator:
        """Fit on encoded rows ``x`` (n, p) and outcomes ``y`` (n,) of 0 and 1, on one thread."""
        if self.model_type == "Logistic":
            return _fit_logistic(x, y, self.flagged, float(self.parameters["C"]))
        settings = {**self.parameters, "seed": seed, "nthread": 1, "verbosity": 0}
        return Boosted(xgb.train(settings, xgb.DMatrix(x, y, nthread=1), self.rounds))

    def described(self) -> dict[str, str]:
        """The parameters for the card."""
        shown = {name: str(value) for name, value in self.parameters.items()}
        return {**shown, "rounds": str(self.rounds)} if self.rounds else shown


def recipe(model_type: ModelType, rows: int, flagged: tuple[int, ...]) -> Recipe:
    """Parameters for this many training rows: shallow trees and a strong penalty for few rows.

    Fixed by size rather than tuned, so that the out-of-fold figures stay honest without nested folds.
    """
    if model_type == "Logistic":
        return Recipe("Logistic", {"penalty": "L2", "C": 0.1 if rows < 2_000 else 1.0}, flagged)
    depth, eta, rounds = (3, 0.05, 150) if rows < 2_000 else (3, 0.05, 200) if rows < 20_000 else (5, 0.1, 200)
    parameters: dict[str, float | int | str] = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": depth,
        "eta": eta,
        "subsample": 0.8,
        "colsample_bytree": 0.5,
        "min_child_weight": 2,
        "lambda": 3,
        "max_bin": 64 if rows < 20_000 else 256,
    }
    return Recipe("XGBoost", parameters, flagged, rounds)


def model_type_of(name: str | None) -> ModelType | None:
    """The model type of this name whatever the case; None when none is asked for."""
    if name is None or not name.strip():
        return None
    for known in MODEL_TYPES:
        if known.casefold() == name.strip().casefold():
            return known
    raise BadInput(
        f'There is no model type "{name}" in the local engine.',
        to_do=f"Use {' or '.join(MODEL_TYPES)}, or leave it out: then the better of the two is taken.",
    )


def load(path: Path, model_type: str) -> Estimator:
    """Read back what ``save`` wrote."""
    if model_type == "XGBoost":
        booster = xgb.Booster()
        booster.load_model(str(path))
        booster.set_param({"nthread": 1})
        return Boosted(booster)
    document = json.loads(path.read_text(encoding="utf-8"))
    arrays = {key: np.array(document[key], dtype=float) for key in ("medians", "means", "scales", "coefficients")}
    return Logistic(flagged=tuple(document["flagged"]), intercept=float(document["intercept"]), **arrays)


def side_by_side(jobs: Sequence[Callable[[], T]], threads: int, done: Callable[[int], None]) -> list[T]:
    """Run independent jobs on this many threads; results in the order of the jobs, so that nothing depends on
    timing."""
    results = []
    with threadpool_limits(1), ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        for number, result in enumerate(pool.map(lambda job: job(), jobs), start=1):
            results.append(result)
            done(number)
    return results


def probability(margin: np.ndarray) -> np.ndarray:
    """Log-odds to probability, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def _fit_logistic(x: np.ndarray, y: np.ndarray, flagged: tuple[int, ...], c: float) -> Logistic:
    present = ~np.isnan(x)
    medians = np.array([np.median(x[present[:, j], j]) if present[:, j].any() else 0.0 for j in range(x.shape[1])])
    design = _design(x, flagged, medians)
    means, scales = design.mean(axis=0), design.std(axis=0)
    scales = np.where(scales > 1e-12 * np.maximum(1.0, np.abs(means)), scales, 1.0)
    solver = "newton-cholesky" if design.shape[1] <= MANY_COLUMNS else "lbfgs"
    fitted = LogisticRegression(C=c, solver=solver, tol=1e-8, max_iter=500).fit((design - means) / scales, y)
    return Logistic(flagged, medians, means, scales, fitted.coef_[0].astype(float), float(fitted.intercept_[0]))


def _design(x: np.ndarray, flagged: tuple[int, ...], medians: np.ndarray) -> np.ndarray:
    missing = np.isnan(x)
    flags = missing[:, list(flagged)].astype(float)
    return np.concatenate([np.where(missing, medians, x), flags], axis=1)
