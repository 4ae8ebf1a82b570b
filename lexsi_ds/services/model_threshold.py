"""From which probability on a row counts as positive: by what errors cost, by the share to flag, or as a person says.

Measured on the out-of-fold scores of the training rows, so that no row is judged by a model that saw it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.models.threshold import cost_curve, threshold_by_cost, threshold_by_rate
from lexsi_ds.services.model_entry import SavedThreshold


def threshold_of(
    training: pd.DataFrame, *, costs: tuple[float, float] | None = None, rate: float | None = None, value: float | None = None
) -> SavedThreshold:
    """The threshold and what it does. ``training`` is the model's ``oof.arrow``; ``costs`` are of a false alarm and of a
    miss; exactly one way must be given."""
    if sum(way is not None for way in (costs, rate, value)) != 1:
        raise BadInput("Choose one way to set the threshold: costs, a rate or a value.", where="threshold")
    y, p = _scores(training)
    if costs is not None:
        found = threshold_by_cost(y.astype(float), p, *costs)
    elif rate is not None:
        found = threshold_by_rate(p, rate)
    elif value is not None and 0 <= value <= 1:
        return _with(SavedThreshold(value=float(value), how="value"), y, p)
    else:
        raise BadInput("A threshold lies between 0 and 1.", where="threshold")
    return _with(SavedThreshold.model_validate(found.model_dump()), y, p)


def costs_at(training: pd.DataFrame, costs: tuple[float, float], points: int = 201) -> pd.DataFrame:
    """Threshold, share flagged and cost of errors over all rows at ``points`` thresholds, for a chart."""
    y, p = _scores(training)
    edges, totals = cost_curve(y.astype(float), p, *costs)
    kept = np.unique(np.linspace(0, len(edges) - 1, points).round().astype(int))
    ranked = np.sort(p)
    flagged = len(p) - np.searchsorted(ranked, edges[kept], side="left")
    return pd.DataFrame({
        "threshold": np.clip(edges[kept], 0, 1), "flagged_share": flagged / max(len(p), 1), "cost": totals[kept],
    })


def _scores(training: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return training[TARGET].to_numpy(dtype=float) > 0.5, training[PROBABILITY].to_numpy(dtype=float)


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
