"""What shuffling a feature costs on rows that the judging models did not see (Breiman 2001; Fisher, Rudin & Dominici 2019).

Must never shuffle rows for a model that saw them, nor shuffle the columns of one feature apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from lexsi_ds.models.assessment import Importance
from lexsi_ds.models.estimators import Outcome, softmax
from lexsi_ds.models.figures import Interval
from lexsi_ds.models.task import FeatureDef
from lexsi_ds.models.validation import OutOfFold

SEED = 7
REPEATS = 5
MOST_ROWS = 2_000
MOST_SCORED = 4_000_000
"""Rows that the models of one card score for it at most: with many features fewer rows are shuffled."""
_Z = 1.959963984540054
_LEAST = 1e-15
Margins = Callable[[np.ndarray], np.ndarray]
Parts = Callable[[np.ndarray], np.ndarray]
"""Parts (n,) of a figure whose mean is the figure; larger is better."""


def held_out_importance(
    x: np.ndarray, y: np.ndarray, chosen: OutOfFold, groups: np.ndarray, features: tuple[FeatureDef, ...]
) -> tuple[Importance, ...]:
    """Each feature's cost of shuffling, strongest first. ``x`` (n, p) encoded, ``y`` (n,), ``groups`` (p,) the feature of each
    column. Rows are judged by the models of the first repeat that did not see them."""
    outcome, fold = chosen.recipe.outcome, chosen.folds.of[:, 0]
    here = drawn(y, min(MOST_ROWS, max(200, MOST_SCORED // (REPEATS * max(1, len(features))))), outcome.kind != "regression")
    rows, fold = x[here], fold[here]
    figure, parts = figure_parts(outcome, y[here], softmax)

    def margins(changed: np.ndarray) -> np.ndarray:
        first = chosen.models[chosen.folds.model(0, 0)].margin(changed[:1])
        found = np.empty((len(changed), *np.shape(first)[1:]))
        for number in np.unique(fold):
            place = fold == number
            found[place] = chosen.models[chosen.folds.model(0, int(number))].margin(changed[place])
        return found

    drops = shuffled(rows, groups, margins, parts, REPEATS, lambda done, total: None)
    order = np.argsort([-drop.value for drop in drops], kind="stable")
    return tuple(Importance(feature=features[i].name, label=features[i].label, drop=drops[i], figure=figure) for i in order)


def shuffled(
    x: np.ndarray, groups: np.ndarray, margins: Margins, parts: Parts, repeats: int, done: Callable[[int, int], None]
) -> list[Interval]:
    """What shuffling each feature costs, with a 95% interval over rows and repeats. One entry a feature."""
    base, count, found = parts(margins(x)), int(groups.max()) + 1, []
    for place in range(count):
        columns = np.flatnonzero(groups == place)
        rng = np.random.default_rng([SEED, place])
        drops = []
        for _ in range(repeats):
            changed = x.copy()
            changed[:, columns] = x[rng.permutation(len(x))][:, columns]
            drops.append(base - parts(margins(changed)))
        found.append(_interval(np.stack(drops)))
        done(place + 1, count)
    return found


def figure_parts(outcome: Outcome, y: np.ndarray, link: Callable[[np.ndarray], np.ndarray]) -> tuple[str, Parts]:
    """Name of the figure that shuffling lowers, and its parts from margins."""
    if outcome.kind == "regression":
        spread = max(float(((y - y.mean()) ** 2).mean()), _LEAST)
        return "R2", lambda margin: 1 - (y - margin) ** 2 / spread
    if outcome.kind == "multiclass":
        places, here = y.astype(np.int64), np.arange(len(y))
        return "log likelihood", lambda margin: np.log(np.maximum(link(margin)[here, places], _LEAST))
    return "ROC AUC", lambda margin: auc_parts(y, margin)


def auc_parts(y: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Each row's part of the ROC AUC, by its placement among those of the other class (DeLong et al. 1988): the mean over rows
    is the AUC and their spread gives its error without a bootstrap."""
    positive = y == 1
    m, n = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(score)
    own = np.empty(len(y))
    own[positive] = rankdata(score[positive])
    own[~positive] = rankdata(score[~positive])
    placed = np.where(positive, (ranks - own) / n, 1 - (ranks - own) / m)
    area = placed[positive].mean()
    weight = np.where(positive, (m + n) / m, (m + n) / n)
    return area + weight * (placed - area)


def drawn(y: np.ndarray, most: int, by_class: bool) -> np.ndarray:
    """Positions of at most so many rows, each class in proportion; the same whenever it is asked."""
    if len(y) <= most:
        return np.arange(len(y))
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(y))
    if by_class:
        order = order[np.argsort(y[order], kind="stable")]
    edges = np.linspace(0, len(order), most + 1).astype(np.int64)
    return np.sort(order[rng.integers(edges[:-1], edges[1:])])


def _interval(drops: np.ndarray) -> Interval:
    """Mean of row parts (repeats, n) with its 95% interval: sampling of rows, and the draw of the shuffle."""
    repeats, n = drops.shape
    by_row, by_repeat = drops.mean(axis=0), drops.mean(axis=1)
    error = by_row.var(ddof=1) / n + (by_repeat.var(ddof=1) / repeats if repeats > 1 else 0.0)
    value, reach = float(by_row.mean()), float(_Z * np.sqrt(error))
    return Interval(value=value, low=value - reach, high=value + reach)
