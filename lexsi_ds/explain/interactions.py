"""Which features act together: SHAP interaction values (Lundberg et al. 2020) on the margin, one row and column a feature.

Computed with the model on all training rows: its trees, not those of a fold, are what is looked at. Must never call a
model free of interactions that was merely not looked at.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xgboost as xgb

from lexsi_ds.errors import LexsiError
from lexsi_ds.explain.answers import as_new
from lexsi_ds.explain.cases import usual_class
from lexsi_ds.explain.results import Basis, Cohort, Interactions, Pair
from lexsi_ds.explain.rows import cohort_rows, sample_rows
from lexsi_ds.explain.tree_shap import CROSSOVER_PAIRS, booster_of, one_class, own_pairs, suits_woodelf, woodelf_pairs
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.estimators import Additive, Estimator, Logistic

MOST_ROWS = 2_000
_MOST_CELLS = 80_000_000
_MOST_SLOW_ROWS = 100
_PAIRS_SHOWN = 20


def interactions(
    model: SavedModel, frame: pd.DataFrame, *, output: str | None = None, cohort: Cohort | None = None,
    most: int = MOST_ROWS,
) -> Interactions:
    """The matrix of mean sizes over the rows (a cohort of them), and its strongest pairs."""
    whole = cohort_rows(frame, cohort or Cohort(), model.card.task.entity_column)
    output = output or usual_class(model)
    values, rows, method = pair_values(model, sample_rows(model, whole, row_limit(model, most)), output)
    matrix = np.abs(values).mean(axis=0)
    if cohort is None or cohort.whole:
        model.__dict__.setdefault("_pair_strengths", {}).setdefault(output, matrix)
    names = tuple(f.name for f in model.features)
    labels = tuple(f.label for f in model.features)
    first, second = np.triu_indices(len(names), k=1)
    order = np.argsort(-matrix[first, second], kind="stable")[:_PAIRS_SHOWN]
    pairs = tuple(
        Pair(first=names[a], second=names[b], first_label=labels[a], second_label=labels[b],
             strength=float(2 * matrix[a, b]))
        for a, b in ((int(first[i]), int(second[i])) for i in order) if matrix[a, b] > 0
    )  # fmt: skip
    scale = "value" if model.card.task.kind == "regression" else "log-odds"
    basis = Basis(scale=scale, output=output, rows=rows, of_rows=len(whole), method=method)
    return Interactions(
        basis=basis, features=names, labels=labels, matrix=tuple(tuple(map(float, row)) for row in matrix), pairs=pairs
    )


def pair_values(
    model: SavedModel, frame: pd.DataFrame, output: str | None = None
) -> tuple[np.ndarray, int, str]:
    """Interaction values of the rows, shape (n, f, f), how many rows, and how they were computed."""
    rows = as_new(model.prepare(frame))
    groups, estimator = model.encoding.groups, model.final
    place = model.card.task.classes.index(output) if output is not None else None
    booster = booster_of(estimator)
    if booster is not None:
        if suits_woodelf(booster) and len(rows.x) >= CROSSOVER_PAIRS:
            return woodelf_pairs(booster, rows.x, groups), len(rows.x), "woodelf's TreeSHAP interactions"
        alone = booster if place is None else one_class(booster, place)
        if suits_woodelf(alone) and (place is not None or not isinstance(booster, xgb.Booster)):
            return woodelf_pairs(alone, rows.x, groups), len(rows.x), "woodelf's TreeSHAP interactions"
        if isinstance(booster, xgb.Booster):
            return own_pairs(booster, rows.x, groups, place), len(rows.x), "the library's own TreeSHAP interactions"
        return woodelf_pairs(alone, rows.x, groups), len(rows.x), "woodelf's TreeSHAP interactions"
    return _own_terms(model, estimator, rows.x, place)


def row_limit(model: SavedModel, most: int) -> int:
    """Rows that interactions are computed for: fewer where they are wide, or slow (several classes)."""
    booster = booster_of(model.final)
    columns = len(model.encoding.groups)
    limit = max(20, min(most, _MOST_CELLS // max(1, columns**2)))
    slow = booster is not None and not suits_woodelf(booster if model.outcome.kind != "multiclass" else one_class(booster, 0))
    return min(limit, _MOST_SLOW_ROWS) if slow else limit


def partner_of(model: SavedModel, frame: pd.DataFrame, feature: str, output: str | None) -> tuple[str | None, float]:
    """The feature that acts together with this one most on up to 300 of the rows, and its share of all its interactions; None
    without any."""
    kept = model.__dict__.setdefault("_pair_strengths", {})
    if output not in kept:
        try:
            values, _, _ = pair_values(model, sample_rows(model, frame, row_limit(model, 300)), output)
            kept[output] = np.abs(values).mean(axis=0)
        except LexsiError:
            kept[output] = np.zeros((len(model.features),) * 2)
    place = model.encoding.names.index(feature)
    row = kept[output][place].copy()
    row[place] = 0.0
    if row.sum() <= 1e-9 * max(1.0, float(kept[output].max())):
        return None, 0.0
    return model.encoding.names[int(row.argmax())], float(row.max() / row.sum())


def _own_terms(model: SavedModel, estimator: Estimator, x: np.ndarray, place: int | None) -> tuple[np.ndarray, int, str]:
    """Models that are sums of terms: a pair's term is shared by its two features, half each; linear ones have no pairs."""
    _, parts = estimator.contributions(x)
    if parts.ndim == 3:
        parts = parts[:, :, place or 0]
    groups, size = model.encoding.groups, len(model.encoding.features)
    whole = np.zeros((len(x), size))
    np.add.at(whole.T, groups, parts.T)
    result = np.zeros((len(x), size, size))
    surfaces = [t for t in estimator.terms if len(t.columns) == 2] if isinstance(estimator, Additive) else []
    for term in surfaces:
        a, b = (int(groups[column]) for column in term.columns)
        if a != b:
            shared = term.values(x)
            shared = shared[:, place or 0] if shared.ndim == 2 else shared
            result[:, a, b] += shared / 2
            result[:, b, a] += shared / 2
    own = np.arange(size)
    result[:, own, own] = whole - result.sum(axis=2)
    if isinstance(estimator, Additive):
        return result, len(x), f"the model's own {len(surfaces)} pair terms"
    if isinstance(estimator, Logistic):
        return result, len(x), "a linear model has no interactions"
    raise LexsiError("Interactions of this model cannot be computed exactly.", to_do="Look at trees, an EBM or a linear model.")
