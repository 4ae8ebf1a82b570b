"""From which probability on a row counts as positive: by what errors cost, by the share to flag, or as a person says.

Measured on the out-of-fold scores of the training rows, so that no row is judged by a model that saw it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.services.model_entry import SavedThreshold


def threshold_of(
    training: pd.DataFrame, *, costs: tuple[float, float] | None = None, rate: float | None = None, value: float | None = None
) -> SavedThreshold:
    """The threshold and what it does. ``training`` is the model's ``oof.arrow``; ``costs`` are of a false alarm and of a
    miss; exactly one way must be given."""
    if sum(way is not None for way in (costs, rate, value)) != 1:
        raise BadInput("Choose one way to set the threshold: costs, a rate or a value.", where="threshold")
    y = training[TARGET].to_numpy(dtype=float) > 0.5
    p = training[PROBABILITY].to_numpy(dtype=float)
    if costs is not None:
        at = _cheapest(y, p, *_costs(costs))
        return _with(SavedThreshold(value=at, how="cost", cost_false_positive=costs[0], cost_false_negative=costs[1]), y, p)
    if rate is not None:
        if not 0 < rate <= 1:
            raise BadInput("The share to flag must lie above 0 and at most at 1.", where="rate")
        return _with(SavedThreshold(value=_at_rate(p, rate), how="rate", rate=rate), y, p)
    if value is None or not 0 <= value <= 1:
        raise BadInput("A threshold lies between 0 and 1.", where="threshold")
    return _with(SavedThreshold(value=float(value), how="value"), y, p)


def cost_curve(training: pd.DataFrame, costs: tuple[float, float], points: int = 201) -> pd.DataFrame:
    """Threshold, share flagged and cost of errors over all rows at ``points`` thresholds, for a chart."""
    false_positive, false_negative = _costs(costs)
    y = training[TARGET].to_numpy(dtype=float) > 0.5
    p = training[PROBABILITY].to_numpy(dtype=float)
    thresholds, false_alarms, misses, flagged = _errors(y, p)
    kept = np.unique(np.linspace(0, len(thresholds) - 1, points).round().astype(int))
    return pd.DataFrame({
        "threshold": np.clip(thresholds[kept], 0, 1), "flagged_share": flagged[kept] / max(len(y), 1),
        "cost": false_alarms[kept] * false_positive + misses[kept] * false_negative,
    })


def _errors(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distinct thresholds from "nobody" down, with false alarms, misses and rows flagged at each."""
    order = np.argsort(-p, kind="stable")
    ranked, hit = p[order], y[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    caught = np.append(0, np.cumsum(hit)[ends])
    flagged = np.append(0, ends + 1)
    return np.append(np.inf, ranked[ends]), flagged - caught, int(y.sum()) - caught, flagged


def _cheapest(y: np.ndarray, p: np.ndarray, false_positive: float, false_negative: float) -> float:
    """The threshold of least cost; of equal ones the highest, which troubles the fewest. Halfway to the next score, so that
    it does not sit on a row."""
    thresholds, false_alarms, misses, _ = _errors(y, p)
    best = int(np.argmin(false_alarms * false_positive + misses * false_negative))
    if best == 0:
        return 1.0
    below = thresholds[best + 1] if best + 1 < len(thresholds) else thresholds[best]
    return float((thresholds[best] + below) / 2)


def _at_rate(p: np.ndarray, rate: float) -> float:
    """The threshold that flags at least this share, and no more rows than equal scores force."""
    wanted = max(1, int(np.ceil(rate * len(p) - 1e-9)))
    return float(np.sort(p)[::-1][wanted - 1])


def _with(threshold: SavedThreshold, y: np.ndarray, p: np.ndarray) -> SavedThreshold:
    positive = p >= threshold.value
    counts = {
        "rows": len(y), "flagged": int(positive.sum()), "true_positives": int((positive & y).sum()),
        "false_positives": int((positive & ~y).sum()), "false_negatives": int((~positive & y).sum()),
        "true_negatives": int((~positive & ~y).sum()),
    }
    costs = (threshold.cost_false_positive, threshold.cost_false_negative)
    if costs[0] is None or costs[1] is None:
        return threshold.model_copy(update=counts)
    half = p >= 0.5
    return threshold.model_copy(update={
        **counts, "cost": counts["false_positives"] * costs[0] + counts["false_negatives"] * costs[1],
        "cost_at_half": float((half & ~y).sum() * costs[0] + (~half & y).sum() * costs[1]),
    })


def _costs(costs: tuple[float, float]) -> tuple[float, float]:
    false_positive, false_negative = costs
    if not (np.isfinite(costs).all() and min(costs) >= 0 and max(costs) > 0):
        raise BadInput("Costs are numbers that are not negative, and one is above 0.", where="threshold")
    return float(false_positive), float(false_negative)
