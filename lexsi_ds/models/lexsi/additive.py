"""On which scale the platform's SHAP values add up, found from several rows: the SDK does not say, and gives no base value.

For values that add up, prediction minus their sum is one number, the base value, whatever the row. Must never name a scale
that the rows do not show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexsi_ds.data.handle import Value
from lexsi_ds.models.task import TaskKind

LEAST_ROWS = 3
_WITHIN = 0.01
"""Largest deviation from one base value, as a share of how far the predictions themselves are apart."""
_EDGE = 1e-9


class Base(Value):
    """The base value that explained rows agree on."""

    scale: str
    """``log-odds``, ``probability`` or ``value``."""
    base: float
    spread: float
    """Largest deviation from it, on the scale."""
    rows: int


@dataclass(frozen=True)
class Pair:
    """A row's prediction (probability or amount), and the sum of its SHAP values."""

    prediction: float
    total: float


def find_base(pairs: list[Pair], kind: TaskKind) -> Base | None:
    """The scale on which these rows add up best; None when they do on none, or are too few or too alike to tell."""
    if len(pairs) < LEAST_ROWS:
        return None
    p, total = np.array([x.prediction for x in pairs]), np.array([x.total for x in pairs])
    scales = {"value": p} if kind == "regression" else {"log-odds": log_odds(p), "probability": p}
    found: list[tuple[float, Base]] = []
    for scale, at in scales.items():
        range_of = float(np.ptp(at))
        if range_of <= 0:
            continue
        base = at - total
        middle = float(np.median(base))
        spread = float(np.abs(base - middle).max())
        if spread <= _WITHIN * range_of:
            found.append((spread / range_of, Base(scale=scale, base=middle, spread=spread, rows=len(pairs))))
    return min(found, key=lambda f: f[0])[1] if found else None


def log_odds(p: np.ndarray) -> np.ndarray:
    """Probability to log-odds, finite at 0 and 1."""
    inside = np.clip(p, _EDGE, 1 - _EDGE)
    return np.log(inside / (1 - inside))
