"""Held-out outcomes beside what the models that did not see them predict, and a loss that is a mean over rows.

Must never let a model judge a row that it trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.rows import cohort_rows
from lexsi_ds.explain.shap_values import link_of
from lexsi_ds.models.bundle import TARGET, Prepared, SavedModel
from lexsi_ds.models.frames import column
from lexsi_ds.models.permutation import drawn, figure_parts


@dataclass(frozen=True)
class Loss:
    """Held-out rows: encoded ``x`` (n, p), the figure measured, and how a row's part of it comes from margins."""

    figure: str
    measured: float
    x: np.ndarray
    margins: Callable[[np.ndarray], np.ndarray]
    parts: Callable[[np.ndarray], np.ndarray]
    """A figure's parts (n,), whose mean is the figure; larger is better."""
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.x)


def held_out(model: SavedModel, cohort: Cohort, most: int) -> Loss:
    """Training rows (of a cohort, at most ``most``, each class in proportion), judged by the models that did not see
    them."""
    task, warnings = model.card.task, ()
    try:
        training = cohort_rows(model.training, cohort, task.entity_column)
    except BadInput:
        training = model.training
        warnings = ("No row with a known outcome is in this cohort: shuffling was done over all training rows.",)
    training = _drawn(training, most, task.kind != "regression")
    y = outcomes(model, training)
    if task.kind != "regression" and len(np.unique(y)) < 2:
        training = _drawn(model.training, most, True)
        y = outcomes(model, training)
        warnings = ("This cohort holds one outcome only: shuffling was done over all training rows.",)
    rows = model.prepare(training)

    def margins(x: np.ndarray) -> np.ndarray:
        return model.margin(Prepared(rows.keys, x, rows.position, rows.unseen))

    figure, parts = figure_parts(model.outcome, y, link_of(model))
    return Loss(figure, float(parts(margins(rows.x)).mean()), rows.x, margins, parts, warnings)


def outcomes(model: SavedModel, training: pd.DataFrame) -> np.ndarray:
    """The outcome of training rows: 0 and 1, the place of a class, or the amount. Shape (n,)."""
    values = column(training, TARGET).to_numpy()
    if model.card.task.kind == "multiclass" and values.dtype.kind not in "iuf":
        places = {word: place for place, word in enumerate(model.card.task.classes)}
        return np.array([places[str(value)] for value in values], dtype=np.int64)
    return values.astype(np.float64)


def _drawn(training: pd.DataFrame, most: int, by_class: bool) -> pd.DataFrame:
    here = drawn(column(training, TARGET).to_numpy(), most, by_class)
    return training.iloc[here].reset_index(drop=True)
