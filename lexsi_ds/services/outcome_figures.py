"""How right predictions were once outcomes are known, and how two models compare on the rows that both scored. Pure
computations that a worker runs; every figure has its interval, and every comparison its noise.

Must never: call a difference one that the noise of the rows could make.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import MARGIN, TARGET, SavedModel
from lexsi_ds.models.card import AnyMetrics, CalibrationBin, Interval, ModelCard
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.frames import entity_keys
from lexsi_ds.models.measuring import measured
from lexsi_ds.models.metrics import calibration, wilson

MIN_ROWS, MIN_CLASS = 10, 3
_MOST_PERIODS = 12
_SEED = 7
_Z = 1.959963984540054


class Period(Value):
    """The rows of one stretch of time. ``observed`` and ``predicted`` are shares, or mean amounts."""

    period: str
    rows: int
    observed: float
    predicted: float
    low: float
    high: float
    """Interval of what was observed."""
    main: Interval | None = None
    """ROC AUC or R2, where the rows suffice."""


class Held(Value):
    """Figures on rows with outcomes."""

    rows: int
    positives: int = 0
    metrics: AnyMetrics | None = None
    """None when the rows do not suffice; ``why_not`` says why."""
    why_not: str = ""
    observed: float
    predicted: float
    observed_low: float
    observed_high: float
    bins: tuple[CalibrationBin, ...] = ()
    coverage: float | None = None
    """Share of amounts that lay in their interval."""
    flagged: int | None = None
    hits: int | None = None
    """Flagged rows that had the outcome, at the threshold of the model."""
    periods: tuple[Period, ...] = ()


class Paired(Value):
    """Two models on the same rows."""

    rows: int
    first: AnyMetrics
    second: AnyMetrics
    difference: Interval
    """Main figure of the first minus the second's, paired."""


def outcome_of(card: ModelCard) -> Outcome:
    """The kind of outcome as the measures take it."""
    if card.task.kind == "regression":
        return Outcome("regression", 0)
    return Outcome("multiclass", len(card.task.classes)) if card.task.kind == "multiclass" else Outcome()


def held(
    card: ModelCard, y: np.ndarray, told: np.ndarray, *, moments: np.ndarray | None = None, threshold: float = 0.5,
    inside: np.ndarray | None = None,
) -> Held:
    """Figures of predictions ``told`` for outcomes ``y``: 0/1 and probabilities (n,), positions and (n, K), or amounts (n,).

    ``inside`` says of an amount whether it lay in its interval.
    """
    outcome = outcome_of(card)
    kind = card.task.kind
    why_not = _too_few(kind, y)
    found = None if why_not else measured(outcome, y, told, _SEED)
    seen, said = _levels(kind, y, told)
    low, high = _around(kind, seen)
    flagged = told >= threshold if kind == "binary" else None
    return Held(
        rows=len(y), positives=int(y.sum()) if kind == "binary" else 0, metrics=None if found is None else found.metrics,
        why_not=why_not, observed=float(seen.mean()), predicted=float(said.mean()), observed_low=low, observed_high=high,
        bins=calibration(y, told) if kind == "binary" and not why_not else (),
        coverage=None if inside is None else float(inside.mean()),
        flagged=None if flagged is None else int(flagged.sum()),
        hits=None if flagged is None else int((flagged & (y > 0.5)).sum()),
        periods=() if moments is None else _periods(card, y, told, moments),
    )


def paired(first: Path, second: Path) -> Paired:
    """Two models on the training rows that both scored out of fold and whose outcomes agree."""
    models = [SavedModel(folder) for folder in (first, second)]
    cards = [model.card for model in models]
    if cards[0].task.kind != cards[1].task.kind or cards[0].task.classes != cards[1].task.classes:
        raise BadInput("The two models predict different kinds of outcome.", to_do="Compare models of one target.")
    sides = [_scored(model) for model in models]
    both: Any = sides[0].merge(sides[1], on="key", suffixes=("_1", "_2"))
    agree = both["y_1"] == both["y_2"]
    if len(both) and agree.mean() < 0.9:
        raise BadInput("The two models were trained on different outcomes of the same rows.", to_do="Compare models of one target.")
    both = both[agree]
    y = both["y_1"].to_numpy(dtype=float)
    why_not = _too_few(cards[0].task.kind, y)
    if why_not:
        raise BadInput(f"The two models have too few rows in common: {why_not}", to_do="Compare models trained on the same rows.")
    outcome = outcome_of(cards[0])
    results = [measured(outcome, y, _stacked(both[f"told_{side}"]), _SEED) for side in (1, 2)]
    return Paired(rows=len(both), first=results[0].metrics, second=results[1].metrics, difference=results[0].minus(results[1]))


def _scored(model: SavedModel) -> pd.DataFrame:
    """Key, outcome and out-of-fold prediction of each training row; rows whose id repeats are left out."""
    rows: Any = model.training
    told = model.link(_stacked(rows[MARGIN]))
    frame: Any = pd.DataFrame({"key": entity_keys(rows[model.card.task.entity_column]), "y": rows[TARGET].to_numpy(dtype=float),
                          "told": list(told)})
    return frame[~frame["key"].duplicated(keep=False)]


def _stacked(values: Any) -> np.ndarray:
    return np.stack([np.asarray(v, dtype=float) for v in values]) if len(values) else np.zeros(0)


def _too_few(kind: str, y: np.ndarray) -> str:
    if len(y) < MIN_ROWS:
        return f"{len(y):,} rows have a known outcome, {MIN_ROWS} are needed."
    if kind == "regression":
        return "" if len(np.unique(y)) > 1 else "all amounts are the same."
    values, counts = np.unique(y, return_counts=True)
    if len(values) < 2:
        return "all rows have the same outcome."
    if kind == "binary" and counts.min() < MIN_CLASS:
        return f"the rarer outcome has {counts.min()} rows, {MIN_CLASS} are needed."
    return ""


def _levels(kind: str, y: np.ndarray, told: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What was seen and said of each row as one number: for several classes, whether the likeliest came true and its
    probability."""
    if kind != "multiclass":
        return y, told
    return (told.argmax(axis=1) == y).astype(float), told.max(axis=1)


def _around(kind: str, seen: np.ndarray) -> tuple[float, float]:
    if kind == "regression":
        half = _Z * float(seen.std(ddof=1) / np.sqrt(len(seen))) if len(seen) > 1 else 0.0
        return float(seen.mean()) - half, float(seen.mean()) + half
    return wilson(int(seen.sum()), len(seen))


def _periods(card: ModelCard, y: np.ndarray, told: np.ndarray, moments: np.ndarray) -> tuple[Period, ...]:
    days: Any = pd.to_datetime(pd.Series(moments), errors="coerce")
    known: np.ndarray = days.notna().to_numpy()
    names = np.array([])
    if not known.any():
        return ()
    for step in ("M", "Q", "Y"):
        names = days.dt.to_period(step).astype(str).to_numpy()
        if len(set(names[known])) <= _MOST_PERIODS or step == "Y":
            break
    found = []
    for name in sorted(set(names[known])):
        here = known & (names == name)
        seen, said = _levels(card.task.kind, y[here], told[here])
        low, high = _around(card.task.kind, seen)
        metrics = None if _too_few(card.task.kind, y[here]) else measured(outcome_of(card), y[here], told[here], _SEED).metrics
        found.append(Period(period=name, rows=int(here.sum()), observed=float(seen.mean()), predicted=float(said.mean()),
                            low=low, high=high, main=None if metrics is None else main_of(metrics)))
    return tuple(found)


def main_of(metrics: AnyMetrics) -> Interval:
    """ROC AUC, or R2 of an amount."""
    found = getattr(metrics, "roc_auc", None) or getattr(metrics, "r2", None)
    assert isinstance(found, Interval)
    return found
