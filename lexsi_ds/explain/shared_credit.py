"""Features that move together in the training rows: SHAP values divide their joint credit in a way the data cannot settle.

Must never be used to change a contribution; it only says where one should not be read alone.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.frames import column

TOGETHER = 0.7
"""Size of the rank correlation (two numbers), correlation ratio (number and word) or Cramer's V (two words) from which on
two features are said to move together."""
_MOST_ROWS = 3_000
_MOST_FEATURES = 150
_MOST_WORDS = 50
_LEAST_ROWS = 30


def shared_credit(model: SavedModel) -> dict[str, tuple[str, ...]]:
    """For each feature the names of those it moves together with, most closely first; features without are left out."""
    known = model.__dict__.get("_shared_credit")
    if known is None:
        known = model.__dict__["_shared_credit"] = _partners(model)
    return known


def _partners(model: SavedModel) -> dict[str, tuple[str, ...]]:
    names = [f.name for f in model.features][:_MOST_FEATURES]
    strengths = association(model)
    found = {}
    for place, name in enumerate(names):
        order = np.argsort(-strengths[place], kind="stable")
        partners = tuple(names[other] for other in order if other != place and strengths[place, other] >= TOGETHER)
        if partners:
            found[name] = partners
    return found


def association(model: SavedModel) -> np.ndarray:
    """How closely each two features move together over training rows, 0 to 1. Shape (f, f)."""
    training = model.training
    if len(training) > _MOST_ROWS:
        rows = np.random.default_rng(7).choice(len(training), _MOST_ROWS, replace=False)
        training = training.iloc[np.sort(rows)]
    features = model.features[:_MOST_FEATURES]
    numbers, words = [], []
    ranks = np.full((len(features), len(training)), np.nan)
    codes: dict[int, np.ndarray] = {}
    for place, feature in enumerate(features):
        values, _ = read_column(column(training, feature.name), feature.kind)
        if feature.kind == "categorical":
            codes[place] = pd.factorize(pd.Series(values, dtype=object))[0]
            words.append(place)
        else:
            ranks[place] = pd.Series(values).rank().to_numpy()
            numbers.append(place)
    result = np.eye(len(features))
    if len(numbers) > 1 and len(training) >= _LEAST_ROWS:
        frame = pd.DataFrame(ranks[numbers].T)
        linked = np.abs(np.nan_to_num(frame.corr(min_periods=_LEAST_ROWS).to_numpy()))
        result[np.ix_(numbers, numbers)] = linked
    for position, first in enumerate(words):
        for other in numbers:
            result[first, other] = result[other, first] = _ratio(codes[first], ranks[other])
        for other in words[:position]:
            result[first, other] = result[other, first] = _cramer(codes[first], codes[other])
    return result


def _ratio(codes: np.ndarray, values: np.ndarray) -> float:
    """Correlation ratio of a number within words, corrected for the number of words."""
    here = np.isfinite(values) & (codes >= 0)
    n, groups = int(here.sum()), len(set(codes[here].tolist()))
    if n < _LEAST_ROWS or not 1 < groups <= min(_MOST_WORDS, n // 3):
        return 0.0
    own, values = codes[here], values[here]
    counts, sums = np.bincount(own), np.bincount(own, weights=values)
    total = float(((values - values.mean()) ** 2).sum())
    if total <= 0:
        return 0.0
    between = float((sums[counts > 0] ** 2 / counts[counts > 0]).sum() - n * values.mean() ** 2)
    adjusted = 1 - (1 - between / total) * (n - 1) / (n - groups)
    return float(np.sqrt(max(0.0, adjusted)))


def _cramer(first: np.ndarray, second: np.ndarray) -> float:
    """Cramer's V with the bias correction of Bergsma (2013)."""
    here = (first >= 0) & (second >= 0)
    n = int(here.sum())
    if n < _LEAST_ROWS:
        return 0.0
    table = pd.crosstab(first[here], second[here]).to_numpy(dtype=float)
    r, k = table.shape
    if min(r, k) < 2 or max(r, k) > _MOST_WORDS:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / n
    phi = max(0.0, float(((table - expected) ** 2 / expected).sum()) / n - (k - 1) * (r - 1) / (n - 1))
    r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return float(min(1.0, np.sqrt(phi / max(1e-12, min(k - 1, r - 1)))))
