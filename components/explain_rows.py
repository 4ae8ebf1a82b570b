"""What a chart of the explorer shows, as rows for its CSV: every point of it, with the ids of the cases.

Pure. Must never leave a feature out because the chart had no room for it.
"""

from __future__ import annotations

from typing import Any

from components.explain_draw import Rows
from lexsi_ds.explain.results import Dependence, ImportanceView, Interactions, Profile
from lexsi_ds.models.engine import CaseExplanation, GlobalExplanation


def beeswarm_rows(view: GlobalExplanation) -> Rows:
    """Each case with the value and the contribution of every feature."""
    names = ["case", *(part for f in view.features for part in (f.feature, f"contribution of {f.feature}"))]
    parts: list[Any] = [p for f in view.features for p in (f.raw, f.contributions)]
    return names, list(zip(view.case_ids, *parts, strict=True))


def importance_rows(view: ImportanceView) -> Rows:
    """Both measures of every feature with their intervals."""
    names = [
        "feature",
        "label",
        "mean contribution",
        "low",
        "high",
        f"loss of {view.figure}",
        "low",
        "high",
        "disagrees",
    ]
    return names, [
        (
            f.feature,
            f.label,
            f.mean_abs,
            f.mean_abs_interval.low,
            f.mean_abs_interval.high,
            f.loss.value,
            f.loss.low,
            f.loss.high,
            f.disagrees,
        )
        for f in view.features
    ]


def dependence_rows(view: Dependence) -> Rows:
    """Each case with its value, contribution and partner's value."""
    colour = view.colour or (None,) * len(view.y)
    return ["case", view.feature, "contribution", view.partner or "partner"], list(
        zip(view.case_ids, view.x, view.y, colour, strict=True)
    )


def pair_rows(view: Interactions) -> Rows:
    """Every pair, strongest first."""
    names = ["first", "second", "mean size on the margin"]
    n = len(view.features)
    pairs = [(view.features[a], view.features[b], 2 * view.matrix[a][b]) for a in range(n) for b in range(a + 1, n)]
    return names, sorted(pairs, key=lambda p: -p[2])


def effect_rows(view: Profile) -> Rows:
    """Each value tried with the mean, the band and the single rows."""
    names = [view.feature, "mean", "10%", "90%", "share of training", *(f"case {i}" for i in view.ice_ids)]
    lines = zip(view.grid, view.mean, view.low, view.high, view.shares, *view.ice, strict=True)
    return names, list(lines)


def case_rows(case: CaseExplanation) -> Rows:
    """The drivers of one case, with the base value and the prediction that they lead to."""
    names = ["feature", "label", "value", "unit", f"contribution, {case.scale}", "contribution, margin"]
    drivers = [(d.feature, d.label, d.value, d.unit, d.contribution, d.margin) for d in case.drivers]
    first = ("", "Base value", None, None, case.base_value, case.base_margin)
    return names, [first, *drivers, ("", "Prediction", None, None, case.prediction, case.margin)]
