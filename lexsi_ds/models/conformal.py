"""Prediction intervals of an amount from errors on rows that the models did not see (split and cross conformal: Vovk 2015;
Lei et al. 2018).

The width grows with the amount where the errors do: errors are divided by their usual size at that prediction, learnt
from the errors as well. Must never widen or narrow an interval by looking at the row's own outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexsi_ds.data.handle import Value
from lexsi_ds.models.assessment import Conformal

LEVEL = 0.9
_SCALED_ROWS = 500
_BINS = 10


class Widths(Value):
    """Half-width of the interval at a predicted amount: ``factor`` times the usual error there."""

    factor: float
    knots: tuple[float, ...] = ()
    usual: tuple[float, ...] = ()

    def at(self, told: np.ndarray) -> np.ndarray:
        """Half-widths at predicted amounts (n,)."""
        return self.factor * (np.interp(told, self.knots, self.usual) if self.knots else np.ones(len(told)))


@dataclass(frozen=True)
class Intervals:
    """The widths learnt on all rows, and what the card says of them."""

    widths: Widths
    card: Conformal


def learn_widths(y: np.ndarray, told: np.ndarray, level: float = LEVEL) -> Widths:
    """Widths whose intervals hold a new row's outcome with probability ``level``: the finite-sample quantile of the
    errors. ``told`` (n,) are predictions by models that did not see the row."""
    error = np.abs(y - told)
    scale = _usual(told, error) if len(y) >= _SCALED_ROWS else Widths(factor=1.0)
    scores = np.sort(error / scale.at(told))
    place = min(len(scores), int(np.ceil((len(scores) + 1) * level)))
    return scale.model_copy(update={"factor": float(scores[place - 1])})


def intervals(y: np.ndarray, told: np.ndarray, fold: np.ndarray, level: float = LEVEL) -> Intervals:
    """Learn widths, and measure what share of rows they hold when learnt without the row's fold. All of shape (n,)."""
    held = np.zeros(len(y), dtype=bool)
    for number in np.unique(fold):
        here = fold == number
        held[here] = np.abs(y - told)[here] <= learn_widths(y[~here], told[~here], level).at(told[here])
    widths = learn_widths(y, told, level)
    card = Conformal(
        level=level,
        method="cross conformal, scaled by the usual error" if widths.knots else "cross conformal, one width",
        half_width=float(np.median(widths.at(told))),
        coverage=float(held.mean()),
        rows=len(y),
    )
    return Intervals(widths, card)


def _usual(told: np.ndarray, error: np.ndarray) -> Widths:
    """Mean error in tenths of the predictions, joined by lines; never under a tenth of the mean of all."""
    floor = max(float(error.mean()) / 10, 1e-12)
    order = np.argsort(told, kind="stable")
    parts = np.array_split(order, _BINS)
    knots = np.array([told[part].mean() for part in parts])
    usual = np.array([max(float(error[part].mean()), floor) for part in parts])
    kept = np.append(True, np.diff(knots) > 0)
    return Widths(factor=1.0, knots=tuple(knots[kept].tolist()), usual=tuple(usual[kept].tolist()))
