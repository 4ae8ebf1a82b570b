"""Right and wrong at every threshold of a model, counted once, so that costs can be moved and their sum is there at once.

Read from the out-of-fold scores that the model keeps. Must never: count a row that the model that scored it had seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexsi_ds.models.bundle import PROBABILITY, TARGET
from lexsi_ds.models.threshold import threshold_by_rate
from lexsi_ds.services.access import Actor
from lexsi_ds.services.model_curves import held_out
from lexsi_ds.services.models import Models


@dataclass(frozen=True)
class Outcome:
    """What one threshold does to the held-out rows, and what its errors cost."""

    threshold: float
    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int
    cost: float

    @property
    def rows(self) -> int:
        """All held-out rows."""
        return self.true_positive + self.false_positive + self.true_negative + self.false_negative

    @property
    def flagged(self) -> int:
        """Rows at or above the threshold."""
        return self.true_positive + self.false_positive


@dataclass(frozen=True, eq=False)
class DecisionCounts:
    """Thresholds from flagging nobody down to flagging everybody, each with what it flags rightly and wrongly."""

    edges: np.ndarray
    """Shape (m,), falling; the first flags nobody."""
    hits: np.ndarray
    """Flagged with the outcome. Shape (m,)."""
    alarms: np.ndarray
    """Flagged without it. Shape (m,)."""

    def costs(self, false_positive: float, false_negative: float) -> np.ndarray:
        """What the errors at each threshold cost in all, in the unit of the two costs. Shape (m,)."""
        return self.alarms * false_positive + (self.hits[-1] - self.hits) * false_negative

    def cheapest(self, false_positive: float, false_negative: float) -> float:
        """The threshold of least cost; of equally cheap ones the highest."""
        return float(self.edges[int(np.argmin(self.costs(false_positive, false_negative)))])

    def for_rate(self, rate: float) -> float:
        """The threshold that flags this share of the held-out rows and never more. ``rate`` in (0, 1]."""
        rows = np.diff(self.hits + self.alarms, prepend=0)
        return threshold_by_rate(np.repeat(self.edges, rows.astype(int)), rate).value

    def at(self, threshold: float, costs: tuple[float, float]) -> Outcome:
        """What flagging from ``threshold`` on does; ``costs`` are of a false alarm and of a miss."""
        place = int(np.searchsorted(-self.edges, -threshold, side="right")) - 1
        hits, alarms = (int(self.hits[place]), int(self.alarms[place])) if place >= 0 else (0, 0)
        missed = int(self.hits[-1]) - hits
        return Outcome(
            threshold=threshold, true_positive=hits, false_positive=alarms, false_negative=missed,
            true_negative=int(self.alarms[-1]) - alarms, cost=alarms * costs[0] + missed * costs[1],
        )  # fmt: skip


def decision_counts(models: Models, actor: Actor, model_id: str, **_: Any) -> DecisionCounts:
    """The counts of a yes/no model; one sort of its held-out rows."""
    kept = held_out(models.ref(actor, model_id).folder, TARGET, PROBABILITY)
    y = np.asarray(kept[TARGET].to_numpy(zero_copy_only=False), dtype=float) > 0.5
    p = np.asarray(kept[PROBABILITY].to_numpy(zero_copy_only=False), dtype=float)
    return counts_of(y, p)


def counts_of(y: np.ndarray, p: np.ndarray) -> DecisionCounts:
    """Counts of outcomes ``y`` (n,) bool by scores ``p`` (n,)."""
    order = np.argsort(-p, kind="stable")
    ordered = p[order]
    hits = np.append(0, np.cumsum(y[order]))
    ends = np.append(True, np.append(ordered[1:] != ordered[:-1], True))
    edges = np.append(np.nextafter(ordered[0], 2.0), ordered)[ends]
    return DecisionCounts(edges, hits[ends], (np.arange(len(p) + 1) - hits)[ends])
