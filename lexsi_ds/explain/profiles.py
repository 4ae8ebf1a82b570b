"""Partial dependence (Friedman 2001) and the lines of single rows (ICE, Goldstein et al. 2015) of one feature.

Numbers are tried at quantiles of the training rows, words one by one, so that nothing outside of training is asked.
Rows keep all their other values, so combinations may occur that no real row has; every view of it says so. Must never
join words by a line, nor leave "missing" out where training had it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lexsi_ds.explain.answers import answer, as_new
from lexsi_ds.explain.cases import usual_class
from lexsi_ds.explain.dependence import place_of
from lexsi_ds.explain.results import Basis, Cell, Cohort, Profile
from lexsi_ds.explain.rows import cohort_rows, sample_rows
from lexsi_ds.explain.scales import check_scale
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.frames import column

GRID = 20
MOST_ROWS = 500
LINES = 50
MOST_WORDS = 20
_METHOD = "each row's other values are kept, so some combinations may never occur; the model on all training rows answers"


def profile(
    model: SavedModel, frame: pd.DataFrame, feature: str, scale: str, *, output: str | None = None,
    cohort: Cohort | None = None,
) -> Profile:
    """The mean answer, its 10% and 90% lines, and up to 50 single rows, along the values of one feature."""
    scale = check_scale(scale, model.card.task.kind)
    definition = model.features[place_of(model, feature)]
    whole = cohort_rows(frame, cohort or Cohort(), model.card.task.entity_column)
    rows = sample_rows(model, whole, MOST_ROWS)
    output = output or usual_class(model)
    grid, shares = _grid(model, feature, definition.kind)
    lines = np.stack([_answers(model, rows, feature, value, scale, output) for value in grid], axis=1)
    shown = np.unique(np.linspace(0, len(rows) - 1, min(LINES, len(rows))).round().astype(int))
    low, high = np.quantile(lines, [0.1, 0.9], axis=0)
    ids = column(rows, model.card.task.entity_column)
    return Profile(
        basis=Basis(scale=scale, output=output, rows=len(rows), of_rows=len(whole), method=_METHOD),
        feature=feature,
        label=definition.label,
        unit=definition.unit,
        kind=definition.kind,
        grid=grid,
        mean=tuple(map(float, lines.mean(axis=0))),
        low=tuple(map(float, low)),
        high=tuple(map(float, high)),
        shares=shares,
        ice_ids=tuple(str(ids.iloc[i]) for i in shown),
        ice=tuple(tuple(map(float, lines[i])) for i in shown),
    )


def _answers(
    model: SavedModel, rows: pd.DataFrame, feature: str, value: Cell, scale: str, output: str | None
) -> np.ndarray:
    changed = rows.assign(**{feature: pd.Series([value] * len(rows), dtype=object)})
    return answer(model, as_new(model.prepare(changed)), scale, output)


def _grid(model: SavedModel, feature: str, kind: str) -> tuple[tuple[Cell, ...], tuple[float, ...]]:
    """Values to try and the share of the training rows at (or since the value before) each."""
    values, _ = read_column(column(model.training, feature), kind)  # pyright: ignore[reportArgumentType]
    if kind == "categorical":
        counts = pd.Series(values, dtype=object).value_counts(dropna=False)
        words: list[Cell] = [None if pd.isna(word) else str(word) for word in counts.index[:MOST_WORDS]]
        return tuple(words), tuple(float(c) / len(values) for c in counts.to_numpy()[:MOST_WORDS])
    known = values[np.isfinite(values)]
    if kind == "boolean" or len(np.unique(known)) <= GRID:
        points = np.unique(known)
        shares = [float((known == p).mean()) for p in points]
    else:
        points = np.unique(np.quantile(known, np.linspace(0.01, 0.99, GRID), method="nearest"))
        edges = np.concatenate([[-np.inf], points])
        shares = [float(((known > a) & (known <= b)).mean()) for a, b in zip(edges, points, strict=False)]
    grid: list[Cell] = [bool(p) if kind == "boolean" else _number(float(p)) for p in points]
    present = len(known) / len(values)
    if present < 1:
        grid.append(None)
    return tuple(grid), (*(s * present for s in shares), *((1 - present,) if present < 1 else ()))


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
