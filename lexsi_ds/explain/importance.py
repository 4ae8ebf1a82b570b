"""Which features matter, by two measures that may disagree: mean |SHAP value|, and what shuffling a feature costs.

The first says how far a feature moves the model, the second how much the model's figure falls on rows that it did not
see (Breiman 2001; Fisher, Rudin & Dominici 2019). A feature that moves the model without improving it is worth a word.
Must never shuffle rows for a model that saw them, nor shuffle the columns of one feature apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.explain.cases import usual_class
from lexsi_ds.explain.results import Basis, Cohort, FeatureImportance, ImportanceView
from lexsi_ds.explain.rows import MOST_ROWS
from lexsi_ds.explain.scales import check_scale
from lexsi_ds.explain.shap_values import explain_sample
from lexsi_ds.explain.targets import Loss, held_out
from lexsi_ds.models import permutation
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.figures import Interval

REPEATS = permutation.REPEATS
_Z = 1.959963984540054
_MOST_SHUFFLED = permutation.MOST_ROWS
_WEIGHT = 0.1
"""Of the strongest feature's measure: what is weaker on both sides is not worth a word."""
_NEAR = 5
"""Places that a feature may stand apart in the two orders before it is worth a word."""
Say = Callable[[dict[str, Any]], None]


def importance(
    model: SavedModel,
    frame: pd.DataFrame,
    scale: str,
    say: Say,
    *,
    output: str | None = None,
    cohort: Cohort | None = None,
    repeats: int = REPEATS,
) -> ImportanceView:
    """Both measures: SHAP over ``frame`` (a cohort of it), shuffling over held-out training rows (the same cohort)."""
    scale = check_scale(scale, model.card.task.kind)
    cohort = cohort or Cohort()
    say({"text": f"Explaining up to {MOST_ROWS:,} of {len(frame):,} rows"})
    explained, of_rows = explain_sample(model, frame, cohort, output or usual_class(model))
    sizes = np.abs(explained.on(scale).contributions)
    loss = held_out(model, cohort, _MOST_SHUFFLED)
    drops = shuffled(model, loss, repeats, say)
    mean, spread = sizes.mean(axis=0), _Z * sizes.std(axis=0) / np.sqrt(len(sizes))
    rank, loss_rank = _ranks(mean), _ranks(np.array([drop.value for drop in drops]))
    apart = _disagreeing(mean, drops, rank, loss_rank)
    features = tuple(
        FeatureImportance(
            feature=model.features[place].name,
            label=model.features[place].label,
            mean_abs=float(mean[place]),
            mean_abs_interval=Interval(
                value=float(mean[place]), low=float(max(0.0, mean[place] - spread[place])),
                high=float(mean[place] + spread[place]),
            ),
            loss=drops[place],
            rank=int(rank[place]),
            loss_rank=int(loss_rank[place]),
            disagrees=place in apart,
        )
        for place in np.argsort(-mean, kind="stable")
    )  # fmt: skip
    basis = Basis(scale=scale, output=explained.words[0], rows=len(explained.rows.keys), of_rows=of_rows,
                  method=explained.told(scale))  # fmt: skip
    return ImportanceView(
        basis=basis, figure=loss.figure, measured=loss.measured, loss_rows=loss.rows, repeats=repeats,
        features=features, warnings=(*_warnings(features, loss), *loss.warnings),
    )  # fmt: skip


def shuffled(model: SavedModel, loss: Loss, repeats: int, say: Say) -> list[Interval]:
    """What shuffling each feature costs on the held-out rows. One entry a feature."""

    def done(number: int, total: int) -> None:
        say({"done": number, "total": total, "text": "Shuffling one feature after the other"})

    return permutation.shuffled(loss.x, model.encoding.groups, loss.margins, loss.parts, repeats, done)


def _ranks(values: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return ranks


def _disagreeing(mean: np.ndarray, drops: list[Interval], rank: np.ndarray, loss_rank: np.ndarray) -> set[int]:
    """Features of weight on one measure and of none on the other."""
    size = max(1, len(mean))
    top = min(10, max(1, size // 2))
    least, least_drop = _WEIGHT * mean.max(), _WEIGHT * max(drop.value for drop in drops)
    moves_only = {
        i for i in range(size)
        if rank[i] <= top and mean[i] >= least and drops[i].low <= 0 and loss_rank[i] - rank[i] >= _NEAR
    }
    helps_only = {
        i for i in range(size)
        if loss_rank[i] <= top and drops[i].value >= least_drop and drops[i].low > 0 and rank[i] - loss_rank[i] >= _NEAR
    }
    return moves_only | helps_only


def _warnings(features: tuple[FeatureImportance, ...], loss: Loss) -> list[str]:
    said = []
    for item in features:
        if item.disagrees and item.loss.low <= 0:
            said.append(
                f"{item.label} is number {item.rank} by mean contribution, yet shuffling it does not lower the {loss.figure} "
                f"by more than noise: the model leans on it without being better for it, or another feature stands in for it."
            )
        elif item.disagrees:
            said.append(
                f"{item.label} is number {item.loss_rank} by what shuffling costs but only number {item.rank} by mean "
                "contribution: it matters much for few rows."
            )
    return said
