"""Which candidate predicts: the strongest, unless a simpler one is as good; and why, in words and figures.

All candidates are measured on the same rows and resamples. Must never call a difference more than noise when its paired
interval holds zero, or when it is too small to matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexsi_ds.models.card import Candidate, Comparison, Curve, Interval
from lexsi_ds.models.estimators import SIMPLICITY, ModelType, Outcome, baseline
from lexsi_ds.models.measuring import Measured, measured, predicted, roc
from lexsi_ds.models.metrics import calibration
from lexsi_ds.models.validation import OutOfFold

MIN_LEAD = 0.005
"""A lead in ROC AUC (or R2) under half a point is not worth a model that is harder to read, however many rows make it
certain."""
_NAMES = {"Logistic": "the logistic baseline", "Linear": "the linear baseline", "EBM": "EBM (additive curves)"}
_SIMPLE = "a simple model that is as good wins"


@dataclass(frozen=True)
class Choice:
    """Which estimator predicts, why, and all the figures beside each other."""

    model_type: ModelType
    why: str
    candidates: tuple[Candidate, ...]
    auc_difference: Interval
    comparisons: tuple[Comparison, ...] = ()


def choose(
    y: np.ndarray, tried: Mapping[ModelType, OutOfFold], asked: ModelType | None, seed: int, outcome: Outcome
) -> Choice:
    """Measure all on the same rows and resamples, and settle on one."""
    told: dict[ModelType, np.ndarray] = {name: predicted(outcome, found.margin) for name, found in tried.items()}
    figures: dict[ModelType, Measured] = {name: measured(outcome, y, told[name], seed) for name in tried}
    chosen = asked or _settle(figures)
    simple = baseline(outcome.kind)
    others: list[ModelType] = [name for name in tried if name != simple]
    strongest = max(others, key=lambda name: figures[name].main) if others else simple
    strongest = asked if asked in others else strongest
    candidates = tuple(
        Candidate(
            model_type=name,
            metrics=figures[name].metrics,
            roc=roc(y, told[name], seed) if outcome.kind == "binary" else Curve(x=(), y=()),
            calibration=calibration(y, told[name]) if outcome.kind == "binary" else (),
            parameters=tried[name].recipe.described(),
            chosen=name == chosen,
            repeats=tried[name].folds.repeats,
        )
        for name in _shown(tried, simple)
    )
    comparisons = tuple(_compare(chosen, name, figures) for name in _shown(tried, simple) if name != chosen)
    lead = figures[strongest].minus(figures[simple])
    return Choice(chosen, _why(chosen, asked, figures, outcome), candidates, lead, comparisons)


def leads(difference: Interval) -> bool:
    """Whether one candidate is better by more than the noise: the paired 95% interval of its lead is above zero and the
    lead is at least half a point. Else a simple model that is as good wins."""
    return difference.low > 0 and difference.value >= MIN_LEAD


def _settle(figures: Mapping[ModelType, Measured]) -> ModelType:
    """The simplest candidate that the strongest does not lead."""
    best = max(figures, key=lambda name: figures[name].main)
    for name in sorted(figures, key=SIMPLICITY.index):
        if name == best or not leads(figures[best].minus(figures[name])):
            return name
    return best


def _shown(tried: Mapping[ModelType, OutOfFold], simple: ModelType) -> list[ModelType]:
    """XGBoost first, the baseline after it, then the rest as tried."""
    order: list[ModelType] = ["XGBoost", simple]
    first: list[ModelType] = [n for n in order if n in tried]
    first.extend(n for n in tried if n not in order)
    return first


def _compare(chosen: ModelType, other: ModelType, figures: Mapping[ModelType, Measured]) -> Comparison:
    difference = figures[chosen].minus(figures[other])
    turned = Interval(value=-difference.value, low=-difference.high, high=-difference.low)
    beyond = leads(difference) or leads(turned)
    return Comparison(chosen=chosen, other=other, difference=difference, beyond_noise=beyond)


def _why(chosen: ModelType, asked: ModelType | None, figures: Mapping[ModelType, Measured], outcome: Outcome) -> str:
    name = _name(chosen)
    start = name[0].upper() + name[1:]
    if len(figures) == 1:
        return f"{start} was the only one tried; out of fold its {_figure(outcome)} is {figures[chosen].main:.3f}."
    rest: dict[ModelType, Measured] = {other: found for other, found in figures.items() if other != chosen}
    rival = max(rest, key=lambda other: rest[other].main)
    lead = figures[chosen].minus(figures[rival])
    shown = (
        f"out of fold its {_figure(outcome)} is {figures[chosen].main:.3f} against {figures[rival].main:.3f} for "
        f"{_name(rival)} (difference {lead.value:+.3f}, 95% interval {lead.low:+.3f} to {lead.high:+.3f})"
    )
    if asked is not None:
        return f"{start} was asked for; {shown}."
    among = f" of {len(figures)} compared" if len(figures) > 2 else ""
    if lead.low > 0:
        harder = SIMPLICITY.index(chosen) > min(SIMPLICITY.index(other) for other in rest)
        if harder and SIMPLICITY.index(chosen) > SIMPLICITY.index(rival):
            return f"{start} is used{among}: {shown}, more than the noise of these rows."
        return f"{start} is used{among} because it is better: {shown}."
    size = "too small to matter" if lead.high < 0 else "within the noise"
    return f"{start} is used{among}: {shown}; the difference is {size}, and {_SIMPLE}.{_behind(chosen, figures)}"


def _behind(chosen: ModelType, figures: Mapping[ModelType, Measured]) -> str:
    """A word on the simpler ones that were beaten."""
    simpler: list[ModelType] = [n for n in figures if SIMPLICITY.index(n) < SIMPLICITY.index(chosen)]
    if not simpler:
        return ""
    best = max(figures, key=lambda name: figures[name].main)
    gap = figures[best].minus(figures[simpler[0]])
    return (
        f" {_name(simpler[0])[0].upper() + _name(simpler[0])[1:]} is behind by more than the noise "
        f"({gap.value:+.3f}, {gap.low:+.3f} to {gap.high:+.3f})."
    )


def _name(model_type: str) -> str:
    return _NAMES.get(model_type, model_type)


def _figure(outcome: Outcome) -> str:
    return "R2" if outcome.kind == "regression" else "ROC AUC"
