"""Out-of-fold predictions: one model a fold and repeat, and each row scored by those that did not see it.

A row's out-of-fold score is the mean, over the repeats, of the margins of the models that did not see it; its
probability follows from that mean, so that its SHAP values (the same mean) add up exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lexsi_ds.models.estimators import Estimator, Recipe, side_by_side
from lexsi_ds.models.folds import Folds, make_folds

__all__ = ["Folds", "OutOfFold", "joined", "make_folds", "out_of_fold"]


@dataclass(frozen=True)
class OutOfFold:
    """One estimator on the folds: its margins for rows it did not see, and the models that gave them."""

    recipe: Recipe
    margin: np.ndarray
    models: tuple[Estimator, ...]
    folds: Folds
    seconds: float = 0.0


def out_of_fold(
    how: Recipe, x: np.ndarray, y: np.ndarray, folds: Folds, seed: int, threads: int, done: Callable[[int], None]
) -> OutOfFold:
    """Fit one model a fold and repeat, and score each row with those that did not see it. ``x`` (n, p), ``y`` (n,)."""
    began = time.perf_counter()

    def job(repeat: int, fold: int) -> Callable[[], tuple[Estimator, np.ndarray]]:
        def fit() -> tuple[Estimator, np.ndarray]:
            held_out = folds.of[:, repeat] == fold
            model = how.fit(x[~held_out], y[~held_out], seed)
            return model, model.margin(x[held_out])

        return fit

    places = [(repeat, fold) for repeat in range(folds.repeats) for fold in range(folds.count)]
    results = side_by_side([job(*place) for place in places], threads, done)
    several = how.outcome.kind == "multiclass"
    margin = np.zeros((len(y), how.outcome.classes) if several else len(y))
    for (repeat, fold), (_, scores) in zip(places, results, strict=True):
        margin[folds.of[:, repeat] == fold] += scores / folds.repeats
    return OutOfFold(how, margin, tuple(model for model, _ in results), folds, time.perf_counter() - began)


def joined(first: OutOfFold, rest: OutOfFold) -> OutOfFold:
    """Two lots of repeats of one recipe as one."""
    a, b = first.folds.repeats, rest.folds.repeats
    margin = (a * first.margin + b * rest.margin) / (a + b)
    folds = Folds(first.folds.count, np.concatenate([first.folds.of, rest.folds.of], axis=1))
    return OutOfFold(first.recipe, margin, first.models + rest.models, folds, first.seconds + rest.seconds)
