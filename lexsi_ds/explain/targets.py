"""Held-out outcomes beside what the models that did not see them predict, and a loss that is a mean over rows.

The ROC AUC is a mean over rows too, by the placement of each row among those of the other class (DeLong et al. 1988): so
its change has a standard error without a bootstrap. Must never let a model judge a row that it trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.rows import cohort_rows
from lexsi_ds.explain.shap_values import link_of
from lexsi_ds.models.bundle import TARGET, Prepared, SavedModel
from lexsi_ds.models.frames import column

_SEED = 7
_LEAST = 1e-15


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

    figure, parts = _figure(model, y)
    return Loss(figure, float(parts(margins(rows.x)).mean()), rows.x, margins, parts, warnings)


def outcomes(model: SavedModel, training: pd.DataFrame) -> np.ndarray:
    """The outcome of training rows: 0 and 1, the place of a class, or the amount. Shape (n,)."""
    values = column(training, TARGET).to_numpy()
    if model.card.task.kind == "multiclass" and values.dtype.kind not in "iuf":
        places = {word: place for place, word in enumerate(model.card.task.classes)}
        return np.array([places[str(value)] for value in values], dtype=np.int64)
    return values.astype(np.float64)


def auc_parts(y: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Each row's part of the ROC AUC, so that the mean over rows is the AUC and their spread gives DeLong's error."""
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


def _figure(model: SavedModel, y: np.ndarray) -> tuple[str, Callable[[np.ndarray], np.ndarray]]:
    kind = model.card.task.kind
    if kind == "regression":
        spread = max(float(((y - y.mean()) ** 2).mean()), _LEAST)
        return "R2", lambda margin: 1 - (y - margin) ** 2 / spread
    if kind == "multiclass":
        places, link = y.astype(np.int64), link_of(model)
        here = np.arange(len(y))
        return "log likelihood", lambda margin: np.log(np.maximum(link(margin)[here, places], _LEAST))
    return "ROC AUC", lambda margin: auc_parts(y, margin)


def _drawn(training: pd.DataFrame, most: int, by_class: bool) -> pd.DataFrame:
    if len(training) <= most:
        return training.reset_index(drop=True)
    rng = np.random.default_rng(_SEED)
    values = column(training, TARGET).to_numpy()
    order = rng.permutation(len(training))
    if by_class:
        order = order[np.argsort(values[order], kind="stable")]
    edges = np.linspace(0, len(order), most + 1).astype(np.int64)
    places = order[rng.integers(edges[:-1], edges[1:])]
    return training.iloc[np.sort(places)].reset_index(drop=True)
