"""How well one column alone tells the outcome: near 1 it was written with the outcome or is made from it.

Judged on rows held out, so that a column of many values does not flatter itself; both ways round, by order and by
level. 30,000 rows are enough. Must never be read as importance.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from lexsi_ds.models.estimators import Outcome

MOST_ROWS = 30_000
_FEW, _BINS, _CODE_LEVELS = 20, 50, 20


def strength(values: np.ndarray, missing: np.ndarray, y: np.ndarray, outcome: Outcome, words: bool) -> float:
    """ROC AUC (0.5 to 1; the mean over classes) or R2 (0 to 1) of one column on the rows where it is filled. All of
    shape (n,)."""
    here = np.flatnonzero(~missing)
    if len(here) > MOST_ROWS:
        here = np.sort(np.random.default_rng(0).choice(here, MOST_ROWS, replace=False))
    told, known = values[here], y[here]
    if outcome.kind == "regression":
        return _amounts(told, known, words)
    if outcome.kind == "multiclass":
        return _classes(told, known, words)
    return _outcomes(told, known, words)


def filled_strength(missing: np.ndarray, y: np.ndarray, outcome: Outcome) -> float:
    """How well it tells the outcome whether the column is filled."""
    flag = missing.astype(float)
    if outcome.kind == "regression":
        return float(np.corrcoef(flag, y)[0, 1] ** 2) if 0 < flag.sum() < len(flag) and y.std() > 0 else 0.0
    classes = [1] if outcome.kind == "binary" else range(outcome.classes)
    found = []
    for k in classes:
        one = y == k
        if 0 < one.sum() < len(y):
            found.append(0.5 + abs(float(flag[one].mean()) - float(flag[~one].mean())) / 2)
    return float(np.mean(found)) if found else 0.5


def _outcomes(told: np.ndarray, y: np.ndarray, words: bool) -> float:
    if len(y) < _FEW or min(y.sum(), len(y) - y.sum()) < 5:
        return 0.5
    if words:
        return _either_way(y, _cross_fitted(told, y, y))
    best = _either_way(y, told)
    distinct = len(pd.unique(told))
    if 2 < distinct <= _CODE_LEVELS or (distinct > _CODE_LEVELS and len(y) >= 20 * _BINS):
        best = max(best, _either_way(y, _cross_fitted(_levels(told), y, y)))
    return best


def _classes(told: np.ndarray, y: np.ndarray, words: bool) -> float:
    counts = np.bincount(y.astype(int))
    if len(y) < _FEW or (counts > 0).sum() < 2:
        return 0.5
    levels = told if words else _levels(told)
    found = []
    for k in np.flatnonzero(counts >= 5):
        one = (y == k).astype(float)
        if one.sum() < len(one):
            found.append(_either_way(one, _cross_fitted(levels, one, one)))
    return float(np.mean(found)) if found else 0.5


def _amounts(told: np.ndarray, y: np.ndarray, words: bool) -> float:
    spread = float(y.var()) if len(y) else 0.0
    if len(y) < _FEW or spread == 0:
        return 0.0
    by_level = 1 - float(np.mean((y - _cross_fitted(told if words else _levels(told), y, None)) ** 2)) / spread
    if words or np.ptp(told) == 0:
        return max(by_level, 0.0)
    line = float(np.corrcoef(told, y)[0, 1] ** 2)
    order = float(np.corrcoef(rankdata(told), rankdata(y))[0, 1] ** 2)
    return max(by_level, line, order, 0.0)


def _levels(told: np.ndarray) -> np.ndarray:
    """Codes as they are, many numbers in bins of equal size."""
    if len(pd.unique(told)) <= _CODE_LEVELS:
        return told
    edges = np.unique(np.quantile(told, np.linspace(0, 1, _BINS + 1)[1:-1]))
    return np.searchsorted(edges, told, side="right")


def _either_way(y: np.ndarray, score: np.ndarray) -> float:
    auc = float(roc_auc_score(y, score))
    return max(auc, 1.0 - auc)


def _cross_fitted(levels: np.ndarray, y: np.ndarray, strata: np.ndarray | None) -> np.ndarray:
    """The mean outcome at each row's level, from the other folds only, so that rare levels do not flatter."""
    place = pd.factorize(levels)[0]
    means = np.full(len(y), float(y.mean()))
    empty = np.zeros(len(y))
    splitter = StratifiedKFold if strata is not None else KFold
    for train, test in splitter(n_splits=5, shuffle=True, random_state=0).split(empty, strata):
        size = int(place.max()) + 1
        rows = np.bincount(place[train], minlength=size)
        sums = np.bincount(place[train], weights=y[train], minlength=size)
        seen = rows[place[test]] > 0
        means[test[seen]] = sums[place[test[seen]]] / rows[place[test[seen]]]
    return means
