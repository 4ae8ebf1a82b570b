"""Margins to probabilities that mean what they say, learnt inside the folds and used only where that helps.

Platt (1999) for few rows, isotonic regression (Zadrozny & Elkan 2002) from 2,000 on. A calibration is kept only when the
Brier score of rows it did not see falls by more than the noise. Must never change the order of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from lexsi_ds.data.handle import Value
from lexsi_ds.models.assessment import CalibrationChange
from lexsi_ds.models.estimators import probability

_ISOTONIC_ROWS, _ISOTONIC_EVENTS = 2_000, 200
_FLOOR = 1e-6
_Z = 1.959963984540054


class Calibrator(Value):
    """How a margin becomes a probability: the logistic function of ``slope * margin + shift``, or the line through the
    knots; with neither, the logistic function alone."""

    slope: float = 1.0
    shift: float = 0.0
    knots: tuple[float, ...] = ()
    levels: tuple[float, ...] = ()

    def __call__(self, margin: np.ndarray) -> np.ndarray:
        """Probabilities, of the margin's shape."""
        if self.knots:
            return np.interp(margin, self.knots, self.levels)
        return probability(self.slope * margin + self.shift)


@dataclass(frozen=True)
class Calibrated:
    """The calibration on all rows, what it did to rows unseen, and their probabilities (n,)."""

    calibrator: Calibrator
    change: CalibrationChange
    unseen: np.ndarray


def calibrate(y: np.ndarray, margin: np.ndarray, fold: np.ndarray) -> Calibrated:
    """Learn on out-of-fold margins of all folds but one, judge on that one, and keep it if the Brier score falls by more
    than the noise. All of shape (n,)."""
    isotonic = len(y) >= _ISOTONIC_ROWS and min(y.sum(), len(y) - y.sum()) >= _ISOTONIC_EVENTS
    learn = _isotonic if isotonic else _platt
    name = "isotonic" if isotonic else "platt"
    raw = probability(margin)
    unseen = np.empty(len(y))
    for number in np.unique(fold):
        here = fold == number
        unseen[here] = learn(y[~here], margin[~here])(margin[here])
    gain = (raw - y) ** 2 - (unseen - y) ** 2
    half = _Z * float(gain.std(ddof=1) / np.sqrt(len(gain)))
    before, after = float(np.mean((raw - y) ** 2)), float(np.mean((unseen - y) ** 2))
    figures = f"Brier score of unseen rows {before:.4f} without, {after:.4f} with it"
    said = {"platt": "Platt scaling", "isotonic": "isotonic regression"}[name]
    if gain.mean() - half <= 0:
        sentence = f"Not calibrated: {said} inside the folds does not help beyond the noise ({figures})."
        change = CalibrationChange(tried=name, before=before, after=after, sentence=sentence)
        return Calibrated(Calibrator(), change, raw)
    sentence = f"Calibrated by {said} inside the folds: {figures}."
    change = CalibrationChange(method=name, tried=name, before=before, after=after, sentence=sentence)
    return Calibrated(learn(y, margin), change, unseen)


def _platt(y: np.ndarray, margin: np.ndarray) -> Calibrator:
    """Two parameters by maximum likelihood, with a weak penalty against separable rows."""
    scale = float(margin.std()) or 1.0
    fitted = LogisticRegression(C=100.0, tol=1e-8).fit((margin / scale).reshape(-1, 1), y)
    slope = float(fitted.coef_[0, 0]) / scale
    return Calibrator(slope=slope, shift=float(fitted.intercept_[0])) if slope > 0 else Calibrator()


def _isotonic(y: np.ndarray, margin: np.ndarray) -> Calibrator:
    """Steps by isotonic regression, joined by lines between their middles so that the order of scores is kept."""
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit_transform(margin, y)
    order = np.argsort(margin, kind="stable")
    levels, starts = np.unique(fitted[order], return_index=True)
    edges = np.append(starts, len(order))
    middles = np.array([np.median(margin[order][a:b]) for a, b in pairwise(edges)])
    low, high = float(margin.min()) - 10.0, float(margin.max()) + 10.0
    levels = np.clip(levels, _FLOOR, 1 - _FLOOR)
    knots = np.concatenate([[low], middles, [high]])
    ends = np.concatenate([[min(_FLOOR, levels[0])], levels, [max(1 - _FLOOR, levels[-1])]])
    return Calibrator(knots=tuple(knots.tolist()), levels=tuple(ends.tolist()))
