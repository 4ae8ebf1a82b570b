"""Linear models with an L2 penalty: logistic regression for outcomes, ridge regression for amounts.

Both work on standardised columns, medians for missing numbers, and a flag column for each that had any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from lexsi_ds.models.estimators.protocol import MANY_COLUMNS, Outcome

MOST_ROWS = 100_000
"""More rows than these do not move the coefficients of a linear model by anything that counts; they are drawn."""


@dataclass(frozen=True)
class Logistic:
    """Logistic regression; of several classes ``coefficients`` is (K, p + flags) and ``intercept`` (K,).

    SHAP values are exact for a linear model with the training mean as background (features taken as independent):
    coefficient times (value - mean). A flag's part counts for the column it flags.
    """

    flagged: tuple[int, ...]
    medians: np.ndarray
    means: np.ndarray
    scales: np.ndarray
    coefficients: np.ndarray
    intercept: float | np.ndarray

    kind = "logistic"

    def margin(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of the positive outcome, one margin a class, or the amount."""
        base, parts = self.contributions(x)
        return base + parts.sum(axis=1)

    def contributions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Base value (the margin at the training mean) and exact linear SHAP values."""
        design = self.standardise(x)
        several = self.coefficients.ndim == 2
        parts = design[:, :, None] * self.coefficients.T[None, :, :] if several else design * self.coefficients
        columns = parts[:, : x.shape[1]].copy()
        for position, column in enumerate(self.flagged):
            columns[:, column] += parts[:, x.shape[1] + position]
        base = (
            np.tile(np.asarray(self.intercept, dtype=float), (len(x), 1))
            if several
            else np.full(len(x), self.intercept)
        )
        return base, columns

    def standardise(self, x: np.ndarray) -> np.ndarray:
        """The design: filled, flagged, centred and scaled. Shape (n, p + flags)."""
        return (_design(x, self.flagged, self.medians) - self.means) / self.scales

    def save(self, path: Path) -> None:
        """Write coefficients, means, scales and medians as JSON; floats keep all their digits."""
        document = {
            "kind": self.kind,
            "flagged": list(self.flagged),
            "medians": self.medians.tolist(),
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercept": np.asarray(self.intercept).tolist(),
        }
        path.write_text(json.dumps(document), encoding="utf-8")


@dataclass(frozen=True)
class Linear(Logistic):
    """Ridge regression of an amount; its margin is the amount."""

    kind = "linear"


def parameters(outcome: Outcome, rows: int) -> dict[str, Any]:
    """A stronger penalty for few rows; a draw of very many."""
    draw = {"rows": MOST_ROWS} if rows > 2 * MOST_ROWS else {}
    if outcome.kind == "regression":
        return {"penalty": "L2", "alpha": 10.0 if rows < 2_000 else 1.0, **draw}
    return {"penalty": "L2", "C": 0.1 if rows < 2_000 else 1.0, **draw}


def fit(
    x: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], flagged: tuple[int, ...], outcome: Outcome
) -> Logistic:
    """Fit on one thread, on ``rows`` of the rows where the settings say so."""
    drawn = int(settings.get("rows", len(y)))
    if drawn < len(y):
        here = np.sort(np.random.default_rng(len(y)).choice(len(y), drawn, replace=False))
        x, y = x[here], y[here]
    medians = _medians(x)
    design = _design(x, flagged, medians)
    means, scales = design.mean(axis=0), design.std(axis=0)
    scales = np.where(scales > 1e-12 * np.maximum(1.0, np.abs(means)), scales, 1.0)
    design -= means
    design /= scales
    if outcome.kind == "regression":
        ridge = Ridge(alpha=float(settings["alpha"]), solver="cholesky").fit(design, y)
        return Linear(flagged, medians, means, scales, np.asarray(ridge.coef_, dtype=float), float(ridge.intercept_))
    few = design.shape[1] <= MANY_COLUMNS and outcome.kind == "binary"
    solver = "newton-cholesky" if few else "lbfgs"
    fitted = LogisticRegression(C=float(settings["C"]), solver=solver, tol=1e-8, max_iter=500).fit(design, y)
    if outcome.kind == "binary":
        return Logistic(flagged, medians, means, scales, fitted.coef_[0].astype(float), float(fitted.intercept_[0]))
    whole = np.zeros((outcome.classes, design.shape[1]))
    intercept = np.full(outcome.classes, float(np.min(fitted.intercept_)) - 10.0)
    present = fitted.classes_.astype(int)
    two = len(present) == 2
    whole[present] = np.concatenate([-fitted.coef_, fitted.coef_]) / 2 if two else fitted.coef_
    intercept[present] = np.concatenate([-fitted.intercept_, fitted.intercept_]) / 2 if two else fitted.intercept_
    return Logistic(flagged, medians, means, scales, whole, intercept)


def load(path: Path) -> Logistic:
    """Read back what ``save`` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    arrays = {key: np.array(document[key], dtype=float) for key in ("medians", "means", "scales", "coefficients")}
    intercept = document["intercept"]
    own = np.array(intercept, dtype=float) if isinstance(intercept, list) else float(intercept)
    kind = Linear if document["kind"] == "linear" else Logistic
    return kind(flagged=tuple(document["flagged"]), intercept=own, **arrays)


def _medians(x: np.ndarray) -> np.ndarray:
    """Median of each column's known values; 0 where there is none."""
    columns = (x[:, j] for j in range(x.shape[1]))
    known = (c[~np.isnan(c)] for c in columns)
    return np.array([float(np.median(values)) if len(values) else 0.0 for values in known])


def _design(x: np.ndarray, flagged: tuple[int, ...], medians: np.ndarray) -> np.ndarray:
    missing = np.isnan(x)
    flags = missing[:, list(flagged)].astype(float)
    return np.concatenate([np.where(missing, medians, x), flags], axis=1)
