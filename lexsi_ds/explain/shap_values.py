"""SHAP values of rows, one a source column, held in a ``shap.Explanation``; and the two scales they are shown on.

Values are exact: XGBoost's own TreeSHAP, and coefficient times (value - mean) for the logistic model, with the columns
of one feature summed with their signs. Must never give values that do not add up to the model's margin: they are
checked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import shap

from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import Prepared, SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.estimators import probability
from lexsi_ds.models.frames import column, plain

Scale = Literal["probability", "log-odds"]
TOLERANCE = 1e-4
_NO_DISTANCE = 1e-9


@dataclass(frozen=True)
class Explained:
    """SHAP values of rows on the margin, in encoded feature order, with the rows' margins (n,)."""

    explanation: shap.Explanation
    margin: np.ndarray
    rows: Prepared

    @property
    def values(self) -> np.ndarray:
        """SHAP values on the margin. Shape (n, features)."""
        return np.asarray(self.explanation.values)

    @property
    def base(self) -> np.ndarray:
        """Base values on the margin. Shape (n,)."""
        return np.asarray(self.explanation.base_values)

    @property
    def data(self) -> np.ndarray:
        """Feature values as a person reads them. Shape (n, features), object."""
        return np.asarray(self.explanation.data)


@dataclass(frozen=True)
class Scaled:
    """The same values on a scale: base value (n,) + sum of contributions (n, features) = prediction (n,)."""

    base: np.ndarray
    contributions: np.ndarray
    prediction: np.ndarray


def explain_rows(model: SavedModel, frame: pd.DataFrame) -> Explained:
    """SHAP values of every row of a frame; a row that trained the model by the models that did not see it."""
    rows = model.prepare(frame)
    base, values = model.contributions(rows)
    margin = model.margin(rows)
    gap = np.abs(base + values.sum(axis=1) - margin)
    if (gap > TOLERANCE * np.maximum(1.0, np.abs(margin))).any():
        raise ArithmeticError(f"SHAP values miss the margin by {gap.max():.2g} in {model.card.id}")
    explanation = shap.Explanation(
        values=values,
        base_values=base,
        data=raw_values(model, frame),
        feature_names=[feature.label for feature in model.features],
        output_names="log-odds",
    )
    return Explained(explanation, margin, rows)


def raw_values(model: SavedModel, frame: pd.DataFrame) -> np.ndarray:
    """The features as a person reads them: numbers, words, True and False, None where missing. Shape (n, features),
    object."""
    table = np.empty((len(frame), len(model.features)), dtype=object)
    for place, feature in enumerate(model.features):
        values, _ = read_column(column(frame, feature.name), feature.kind)
        cells = [plain(v) for v in values]
        table[:, place] = [None if v is None else bool(v) for v in cells] if feature.kind == "boolean" else cells
    return table


def to_scale(base: np.ndarray, values: np.ndarray, scale: str) -> Scaled:
    """SHAP values on ``log-odds`` as they are, or on ``probability``: a linear rescaling of each row, phi (p - p0) / (z
    - z0).

    The rescaling adds up exactly and keeps order and signs; it is not a Shapley value of the probability itself. Where
    the margin meets its base the slope of the logistic function there takes the quotient's place.
    """
    margin = base + values.sum(axis=1)
    if scale == "log-odds":
        return Scaled(base, values, margin)
    if scale != "probability":
        raise BadInput(f'There is no scale "{scale}".', to_do='Use "probability" or "log-odds".')
    low, high, distance = probability(base), probability(margin), margin - base
    near = np.abs(distance) < _NO_DISTANCE
    slope = np.where(near, low * (1 - low), (high - low) / np.where(near, 1.0, distance))
    return Scaled(low, values * slope[:, None], high)
