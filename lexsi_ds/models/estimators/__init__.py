"""The estimators behind one small face, each in a file of its own: boosted trees of two libraries, additive curves, linear
models, and the two foundation models as extras.

One fit runs on one thread, so that results do not depend on the number of threads; independent fits run side by side.
Must never pickle: each goes to JSON and back.
"""

from __future__ import annotations

from lexsi_ds.models.estimators.additive import Additive
from lexsi_ds.models.estimators.boosted import Boosted
from lexsi_ds.models.estimators.foundation import InContext
from lexsi_ds.models.estimators.light import Light
from lexsi_ds.models.estimators.linear import Linear, Logistic
from lexsi_ds.models.estimators.protocol import (
    MANY_COLUMNS,
    SIMPLICITY,
    Estimator,
    Outcome,
    probability,
    side_by_side,
    softmax,
)
from lexsi_ds.models.estimators.recipes import Recipe, baseline, load, missing_package, model_type_of, recipe
from lexsi_ds.models.task import MODEL_TYPES, ModelType

__all__ = [
    "MANY_COLUMNS",
    "MODEL_TYPES",
    "SIMPLICITY",
    "Additive",
    "Boosted",
    "Estimator",
    "InContext",
    "Light",
    "Linear",
    "Logistic",
    "ModelType",
    "Outcome",
    "Recipe",
    "baseline",
    "load",
    "missing_package",
    "model_type_of",
    "probability",
    "recipe",
    "side_by_side",
    "softmax",
]
