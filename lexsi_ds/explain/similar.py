"""Training rows like a given row, with what became of them: nearest neighbours on standardised features, exact.

Numbers count in standard deviations (three at most), a different word counts one. A row is never its own neighbour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import MARGIN, PROBABILITY, TARGET, SavedModel
from lexsi_ds.models.encode import Encoding, read_columns
from lexsi_ds.models.frames import plain
from lexsi_ds.models.task import TaskSpec

_MOST_DEVIATIONS = 3.0


def similar_rows(model: SavedModel, frame: pd.DataFrame, k: int) -> list[list[dict[str, Any]]]:
    """For each row the k nearest training rows: entity, distance, outcome (0 or 1, the class, the amount), out-of-fold
    probability of it or amount, display columns."""
    if k < 1:
        raise BadInput("At least one similar row must be asked for.", to_do="Give k as 1 or more.")
    rows = model.prepare(frame)
    known = model.encoding.matrix(read_columns(model.training, model.features))
    space = _Space(known, model.encoding)
    finder = NearestNeighbors(n_neighbors=min(k + 1, len(known)), algorithm="brute").fit(space.place(known))
    distances, places = finder.kneighbors(space.place(rows.x))
    found = []
    for i in range(len(frame)):
        others = [(d, p) for d, p in zip(distances[i], places[i], strict=True) if p != rows.position[i]]
        found.append([_row(model, int(p), float(d)) for d, p in others[:k]])
    return found


class _Space:
    """The training rows' means and deviations, and how encoded rows are placed among them."""

    def __init__(self, x: np.ndarray, encoding: Encoding) -> None:
        present = ~np.isnan(x)
        count = np.maximum(present.sum(axis=0), 1)
        self._means = np.where(present, x, 0.0).sum(axis=0) / count
        spread = np.sqrt((np.where(present, x - self._means, 0.0) ** 2).sum(axis=0) / count)
        words = np.array([encoding.features[group].kind == "categorical" for group in encoding.groups])
        self._means = np.where(words, 0.0, self._means)
        self._spread = np.where(words, np.sqrt(2.0), np.where(spread > 0, spread, 1.0))

    def place(self, x: np.ndarray) -> np.ndarray:
        """Standardised rows; a missing number stands at the mean."""
        moved = np.where(np.isnan(x), 0.0, (x - self._means) / self._spread)
        return np.clip(moved, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)


def _row(model: SavedModel, place: int, distance: float) -> dict[str, Any]:
    task, row = model.card.task, model.training.iloc[place]
    return {
        "entity": plain(row[task.entity_column]),
        "distance": distance,
        "outcome": _outcome(task, row[TARGET]),
        "probability": _scored(row.get(MARGIN) if task.kind == "regression" else row.get(PROBABILITY)),
        "display": {name: plain(row[name]) for name in task.display_columns if name in row.index},
    }


def _outcome(task: TaskSpec, value: Any) -> Any:
    if task.kind == "multiclass":
        return value if isinstance(value, str) else task.classes[int(value)]
    return int(value) if task.kind == "binary" else float(value)


def _scored(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number
