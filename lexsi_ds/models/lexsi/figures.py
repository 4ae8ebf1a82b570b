"""What the held-out rows say of the platform's model, measured here, beside a baseline fitted here on the same rows.

The platform's own figures are not taken over: how it made them is not known. Intervals as for local models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lexsi_ds.models.card import Candidate, Interval
from lexsi_ds.models.encode import learn
from lexsi_ds.models.lexsi.rows import SEED, Rows, Split
from lexsi_ds.models.metrics import Resamples, calibration, interval, measure, roc_curve
from lexsi_ds.models.metrics_amounts import measure_amounts


@dataclass(frozen=True)
class Measured:
    """The platform's model and the baseline on the same held-out rows."""

    candidates: tuple[Candidate, ...]
    difference: Interval
    """Main figure of the platform's model minus the baseline's, paired."""
    rows: int


def baseline(rows: Rows, splits: list[Split], *, amounts: bool) -> np.ndarray:
    """Scores of a linear model for the held-out rows, NaN for the others: probabilities, or amounts. Shape (n,)."""
    encoding = learn(rows.features, rows.columns)
    x = encoding.matrix(rows.columns)
    scores = np.full(len(rows.y), np.nan)
    for split in splits:
        medians = np.array([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in x[split.train].T])
        filled = np.where(np.isnan(x), medians, x)
        kind = Ridge(alpha=1.0) if amounts else LogisticRegression(C=0.1, max_iter=500)
        model = make_pipeline(StandardScaler(), kind).fit(filled[split.train], rows.y[split.train])
        there = filled[split.held_out]
        scores[split.held_out] = model.predict(there) if amounts else model.predict_proba(there)[:, 1]
    return scores


def measured(
    rows: Rows, ours: np.ndarray, theirs: np.ndarray, name: str, described: dict[str, str], *, amounts: bool
) -> Measured:
    """Figures on the rows that have a held-out score. ``theirs`` (n,) of the platform, ``ours`` (n,) of the baseline."""
    here = np.flatnonzero(np.isfinite(theirs))
    y, a, b = rows.y[here], theirs[here], ours[here]
    resamples = Resamples(len(y), SEED)
    simple = {
        "method": "ridge" if amounts else "L2-regularised logistic regression, C=0.1",
        "fitted": "on this machine",
    }
    if amounts:
        figures = [measure_amounts(y, p, resamples) for p in (a, b)]
        parts = (
            Candidate(model_type=name, metrics=figures[0][0], parameters=described, chosen=True),
            Candidate(model_type="Linear", metrics=figures[1][0], parameters=simple, chosen=False),
        )
        lead = figures[0][0].r2.value - figures[1][0].r2.value
        return Measured(parts, interval(lead, figures[0][1] - figures[1][1]), len(y))
    scores = [measure(y, p, resamples) for p in (a, b)]
    made = tuple(
        Candidate(
            model_type=kind, metrics=figures, roc=roc_curve(y, p, resamples), calibration=calibration(y, p), parameters=told,
            chosen=chosen,
        )
        for kind, (figures, _), p, told, chosen in (
            (name, scores[0], a, described, True), ("Logistic", scores[1], b, simple, False)
        )
    )  # fmt: skip
    lead = scores[0][0].roc_auc.value - scores[1][0].roc_auc.value
    return Measured(made, interval(lead, scores[0][1] - scores[1][1]), len(y))
