"""What a model answers for rows, as one number on a scale: a probability, the probability of a class, an amount.

Must never mix a row's own out-of-fold answer with the final model's without the caller asking for it (``as_new``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from lexsi_ds.explain.scales import LOG_ODDS, check_scale
from lexsi_ds.explain.shap_values import chosen_classes, link_of
from lexsi_ds.models.bundle import Prepared, SavedModel


def answer(model: SavedModel, rows: Prepared, scale: str, output: str | None = None) -> np.ndarray:
    """The model's answers on a scale. ``output``: one of several classes, else each row's likeliest. Shape (n,)."""
    scale = check_scale(scale, model.card.task.kind)
    margin = model.margin(rows)
    if margin.ndim == 1:
        return link_of(model)(margin) if scale == "probability" else margin
    chosen = chosen_classes(model, margin, output)
    shown = margin if scale == LOG_ODDS else link_of(model)(margin)
    return shown[np.arange(len(margin)), chosen]


def as_new(rows: Prepared) -> Prepared:
    """The same rows, judged by the model on all training rows even where they trained it."""
    return replace(rows, position=np.full(len(rows.position), -1, dtype=np.int64))


def repeated(row: pd.DataFrame, count: int) -> pd.DataFrame:
    """One row, this many times."""
    return row.iloc[np.zeros(count, dtype=np.int64)].reset_index(drop=True)
