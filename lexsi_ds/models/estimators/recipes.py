"""How each model type is fitted: its parameters, settled by the number of rows and never by the outcome.

Fixed by size rather than tuned, so that the out-of-fold figures stay honest without nested folds. Must never look at
outcomes to settle a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexsi_ds.errors import BadInput
from lexsi_ds.models.estimators import additive, boosted, foundation, light, linear
from lexsi_ds.models.estimators.foundation import Network
from lexsi_ds.models.estimators.protocol import Estimator, Outcome
from lexsi_ds.models.task import MODEL_TYPES, ModelType, TaskKind

_LINEAR: tuple[ModelType, ...] = ("Logistic", "Linear")
BINARY = Outcome()


@dataclass(frozen=True)
class Recipe:
    """One model type with its parameters for one outcome."""

    model_type: ModelType
    parameters: dict[str, Any]
    flagged: tuple[int, ...]
    outcome: Outcome = BINARY

    @property
    def rounds(self) -> int:
        """Trees (a class each); 0 where there are none."""
        return int(self.parameters.get("rounds", 0))

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Estimator:
        """Fit on encoded rows ``x`` (n, p) and outcomes ``y`` (n,): 0 and 1, class positions, or amounts."""
        match self.model_type:
            case "XGBoost":
                return boosted.fit(x, y, self.parameters, seed)
            case "LightGBM":
                return light.fit(x, y, self.parameters, seed)
            case "EBM":
                return additive.fit(x, y, self.parameters, self.outcome, seed)
            case "Logistic" | "Linear":
                return linear.fit(x, y, self.parameters, self.flagged, self.outcome)
            case _:
                return foundation.fit(self.model_type, x, y, self.parameters, self.outcome, seed)

    def described(self) -> dict[str, str]:
        """The parameters for the card."""
        return {name: str(value) for name, value in self.parameters.items()}

    def lighter(self) -> Recipe:
        """The same for bootstrap refits: additive curves from one bag, without surfaces; trees from coarser bins."""
        if self.model_type in ("XGBoost", "LightGBM"):
            return replace(self, parameters={**self.parameters, "max_bin": min(64, int(self.parameters["max_bin"]))})
        if self.model_type != "EBM":
            return self
        return replace(self, parameters={**self.parameters, "outer_bags": 1, "interactions": 0})


def recipe(model_type: ModelType, rows: int, flagged: tuple[int, ...], outcome: Outcome = BINARY) -> Recipe:
    """Parameters for this many training rows."""
    match model_type:
        case "XGBoost":
            settings = boosted.parameters(outcome, rows)
        case "LightGBM":
            settings = light.parameters(outcome, rows)
        case "EBM":
            settings = additive.parameters(outcome, rows)
        case "Logistic" | "Linear":
            settings = linear.parameters(outcome, rows)
        case _:
            settings = foundation.parameters(model_type)
    return Recipe(model_type, settings, flagged, outcome)


def baseline(kind: TaskKind) -> ModelType:
    """The simple model that every other is held against."""
    return "Linear" if kind == "regression" else "Logistic"


def model_type_of(name: str | None, kind: TaskKind = "binary") -> ModelType | None:
    """The model type of this name whatever the case; None when none is asked for."""
    if name is None or not name.strip():
        return None
    for known in MODEL_TYPES:
        if known.casefold() == name.strip().casefold():
            return baseline(kind) if known in _LINEAR else known
    usable = [known for known in MODEL_TYPES if known not in _LINEAR or known == baseline(kind)]
    raise BadInput(
        f'There is no model type "{name}" in the local engine.',
        to_do=f"Use {', '.join(usable[:-1])} or {usable[-1]}, or leave it out: then they are compared.",
    )


def missing_package(model_type: ModelType) -> str | None:
    """Why a model type cannot be used here, or None."""
    return foundation.missing_package(cast("Network", model_type)) if model_type in ("TabPFN", "TabICL") else None


def load(path: Path, model_type: str) -> Estimator:
    """Read back what ``save`` wrote."""
    match model_type:
        case "XGBoost":
            return boosted.load(path)
        case "LightGBM":
            return light.load(path)
        case "EBM":
            return additive.load(path)
        case "TabPFN" | "TabICL":
            return foundation.load(path)
        case _:
            return linear.load(path)
