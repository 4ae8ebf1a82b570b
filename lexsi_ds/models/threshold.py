"""From which probability on a row counts as positive: by what errors cost, or by how many rows can be looked at.

Pure functions over out-of-fold probabilities. Must never look at rows that are to be scored.
"""

from __future__ import annotations

import numpy as np

from lexsi_ds.errors import BadInput
from lexsi_ds.models.assessment import Threshold


def threshold_by_cost(y: np.ndarray, p: np.ndarray, false_positive: float, false_negative: float) -> Threshold:
    """The threshold of least cost on these rows. Costs are what one error of each kind costs, in any one unit; of equal
    totals the higher threshold is taken. ``y`` 0/1 and ``p`` (n,)."""
    if not (false_positive > 0 and false_negative > 0 and np.isfinite(false_positive + false_negative)):
        raise BadInput("Costs must be numbers above zero.", to_do="Say what one wrong alarm and one miss cost.")
    edges, totals = cost_curve(y, p, false_positive, false_negative)
    value = float(edges[int(np.argmin(totals))])
    return Threshold(value=value, how="cost", cost_false_positive=false_positive, cost_false_negative=false_negative)


def cost_curve(
    y: np.ndarray, p: np.ndarray, false_positive: float, false_negative: float
) -> tuple[np.ndarray, np.ndarray]:
    """Total cost at each threshold that changes anything, from flagging none down to flagging all. A row is flagged from
    the threshold on. Both of shape (m,)."""
    order = np.argsort(-p, kind="stable")
    ordered = p[order]
    hits = np.append(0.0, np.cumsum(y[order]))
    alarms = np.arange(len(p) + 1) - hits
    ends = np.append(True, np.append(ordered[1:] != ordered[:-1], True))
    totals = (alarms * false_positive + (hits[-1] - hits) * false_negative)[ends]
    edges = np.append(np.nextafter(ordered[0], 2.0), ordered)[ends]
    return edges, totals


def threshold_by_rate(p: np.ndarray, rate: float) -> Threshold:
    """The threshold that flags this share of the rows: as near as ties allow, and never more. ``rate`` in (0, 1]."""
    if not 0 < rate <= 1:
        raise BadInput(
            f"A share to flag lies between 0 and 1; {rate:g} does not.", to_do="Say 0.05 for one row in twenty."
        )
    ordered = np.sort(p)[::-1]
    allowed = int(np.floor(rate * len(p) + 1e-9))
    if allowed >= len(p):
        value = float(ordered[-1])
    else:
        above = ordered[ordered > ordered[allowed]] if allowed else ordered[:0]
        value = float(above[-1]) if len(above) else float(np.nextafter(ordered[0], 2.0))
    return Threshold(value=value, how="rate", rate=rate)


def flagged(p: np.ndarray, threshold: Threshold) -> np.ndarray:
    """Which rows count as positive. Shape (n,), bool."""
    return p >= threshold.value
