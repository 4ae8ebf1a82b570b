"""Out-of-fold predictions on repeated stratified folds, the comparison of the two estimators, and which one predicts.

A row's out-of-fold score is the mean, over the repeats, of the margins of the models that did not see it; its
probability is the logistic function of that mean, so that its SHAP values (the same mean) add up exactly. Folds depend
on the rows in canonical order, their outcomes and the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from lexsi_ds.errors import BadInput
from lexsi_ds.models.card import Candidate, Interval
from lexsi_ds.models.estimators import (
    MANY_COLUMNS,
    Estimator,
    ModelType,
    Recipe,
    probability,
    recipe,
    side_by_side,
)
from lexsi_ds.models.metrics import Resamples, calibration, interval, measure, roc_curve
from lexsi_ds.models.task import Split

MODEL_TYPES: tuple[ModelType, ...] = ("XGBoost", "Logistic")
MIN_LEAD = 0.005
"""A lead in ROC AUC under half a point is not worth a model that is harder to read, however many rows make it
certain."""


@dataclass(frozen=True)
class Folds:
    """Which fold holds each row out, a column a repeat. Shape of ``of`` (n, repeats), int8."""

    count: int
    of: np.ndarray

    @property
    def repeats(self) -> int:
        """How often all rows are held out once."""
        return self.of.shape[1]

    def model(self, repeat: int, fold: int) -> int:
        """Position of the model that did not see this fold."""
        return repeat * self.count + fold


@dataclass(frozen=True)
class OutOfFold:
    """One estimator on the folds: its margins for rows it did not see, and the models that gave them."""

    recipe: Recipe
    margin: np.ndarray
    models: tuple[Estimator, ...]


@dataclass(frozen=True)
class Choice:
    """Which estimator predicts, why, and all the figures beside each other."""

    model_type: ModelType
    why: str
    candidates: tuple[Candidate, ...]
    auc_difference: Interval


def make_folds(
    y: np.ndarray, columns: int, seed: int, split: Split | None = None, moments: np.ndarray | None = None
) -> Folds:
    """Five stratified folds; five times under 2,000 rows and 501 encoded columns, once for more; three folds from
    100,000 rows on. ``split`` may ask for another number, or for stretches of time: then ``moments`` (n,) orders the rows
    and each fold is one stretch, so that no model saw the time it is measured on."""
    asked = split or Split()
    repeats = 5 if len(y) < 2_000 and columns <= MANY_COLUMNS else 1
    count = asked.folds or (5 if len(y) < 100_000 else 3)
    smallest = int(min(y.sum(), len(y) - y.sum()))
    if not 2 <= count <= min(20, smallest):
        raise BadInput(
            f"{count} folds cannot be made: the rarer outcome has {smallest:,} rows.", where="task",
            to_do="Choose a number between 2 and the rows of the rarer outcome, 20 at most.",
        )  # fmt: skip
    if asked.by == "time":
        return Folds(count, _stretches(y, moments, count))
    of = np.zeros((len(y), repeats), dtype=np.int8)
    for repeat in range(repeats):
        splitter = StratifiedKFold(n_splits=count, shuffle=True, random_state=seed + repeat)
        for fold, (_, held_out) in enumerate(splitter.split(np.zeros(len(y)), y)):
            of[held_out, repeat] = fold
    return Folds(count, of)


def _stretches(y: np.ndarray, moments: np.ndarray | None, count: int) -> np.ndarray:
    """One repeat of folds that follow each other in time; a moment is never cut in two."""
    if moments is None or pd.isna(moments).any():
        raise BadInput("Some rows have no date, so they cannot be split by time.", where="task",
                       to_do="Hold rows out at random.")  # fmt: skip
    order = np.argsort(moments, kind="stable")
    of = np.zeros(len(y), dtype=np.int8)
    of[order] = np.arange(len(y)) * count // len(y)
    for moment in np.unique(moments):
        same = moments == moment
        of[same] = of[same].min()
    for fold in range(count):
        rest = y[of != fold]
        if not (of == fold).any() or not 0 < rest.sum() < len(rest):
            raise BadInput(f"The dates do not make {count} stretches that can be learned from.", where="task",
                           to_do="Choose fewer folds, or hold rows out at random.")  # fmt: skip
    return of[:, None]


def out_of_fold(
    model_type: ModelType,
    x: np.ndarray,
    y: np.ndarray,
    folds: Folds,
    flagged: tuple[int, ...],
    seed: int,
    threads: int,
    done: Callable[[int], None],
) -> OutOfFold:
    """Fit one model a fold and repeat, and score each row with those that did not see it. ``x`` (n, p), ``y`` (n,)."""
    how = recipe(model_type, len(y), flagged)

    def job(repeat: int, fold: int) -> Callable[[], tuple[Estimator, np.ndarray]]:
        held_out = folds.of[:, repeat] == fold

        def fit() -> tuple[Estimator, np.ndarray]:
            model = how.fit(x[~held_out], y[~held_out], seed)
            return model, model.margin(x[held_out])

        return fit

    places = [(repeat, fold) for repeat in range(folds.repeats) for fold in range(folds.count)]
    results = side_by_side([job(*place) for place in places], threads, done)
    margin = np.zeros(len(y))
    for (repeat, fold), (_, scores) in zip(places, results, strict=True):
        margin[folds.of[:, repeat] == fold] += scores / folds.repeats
    return OutOfFold(how, margin, tuple(model for model, _ in results))


def choose(y: np.ndarray, tried: dict[ModelType, OutOfFold], asked: ModelType | None, seed: int) -> Choice:
    """Measure both on the same rows and resamples. Unless one was asked for, XGBoost predicts only when ``leads`` says
    so."""
    resamples = Resamples(len(y), seed)
    scores = {name: probability(tried[name].margin) for name in MODEL_TYPES}
    measured = {name: measure(y, scores[name], resamples) for name in MODEL_TYPES}
    boosted, simple = measured["XGBoost"], measured["Logistic"]
    lead = interval(boosted[0].roc_auc.value - simple[0].roc_auc.value, boosted[1] - simple[1])
    chosen: ModelType = asked or ("XGBoost" if leads(lead) else "Logistic")
    candidates = tuple(
        Candidate(
            model_type=name,
            metrics=measured[name][0],
            roc=roc_curve(y, scores[name], resamples),
            calibration=calibration(y, scores[name]),
            parameters=tried[name].recipe.described(),
            chosen=name == chosen,
        )
        for name in MODEL_TYPES
    )
    figures = (boosted[0].roc_auc.value, simple[0].roc_auc.value)
    return Choice(chosen, _why(chosen, asked, figures, lead), candidates, lead)


def leads(difference: Interval) -> bool:
    """Whether XGBoost is better by more than the noise: the paired 95% interval of its lead in ROC AUC is above zero
    and the lead is at least half a point. Else a simple model that is as good wins."""
    return difference.low > 0 and difference.value >= MIN_LEAD


def _why(chosen: ModelType, asked: ModelType | None, figures: tuple[float, float], lead: Interval) -> str:
    boosted, simple = figures
    mine, other = (boosted, simple) if chosen == "XGBoost" else (simple, boosted)
    shown = (
        f"out of fold its ROC AUC is {mine:.3f} against {other:.3f} for "
        f"{'the logistic baseline' if chosen == 'XGBoost' else 'XGBoost'} "
        f"(XGBoost minus baseline {lead.value:+.3f}, 95% interval {lead.low:+.3f} to {lead.high:+.3f})"
    )
    name = "XGBoost" if chosen == "XGBoost" else "The logistic baseline"
    if asked is not None:
        return f"{name} was asked for; {shown}."
    if chosen == "XGBoost":
        return f"XGBoost is used: {shown}, more than the noise of these rows."
    if lead.high < 0:
        return f"The logistic baseline is used because it is better: {shown}."
    size = "too small to matter" if lead.low > 0 else "within the noise"
    return f"The logistic baseline is used: {shown}; the difference is {size}, and a simple model that is as good wins."
