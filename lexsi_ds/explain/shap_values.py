"""SHAP values of rows, one a source column, held in a ``shap.Explanation``; and the two scales they are shown on.

Values are exact: TreeSHAP of boosted trees by whichever way is sooner, the terms of an EBM, coefficient times (value -
mean) of a linear model, with the columns of one feature summed with their signs. A row that trained the model is
explained by the models that did not see it. Must never give values that do not add up to the model's margin: they are
checked here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import shap

from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.rows import cohort_rows, sample_rows
from lexsi_ds.explain.scales import LOG_ODDS, RESCALED, Link, Scaled, check_scale, classes_to_scale, to_scale
from lexsi_ds.explain.tree_shap import CROSSOVER_ROWS, FAST, OWN, base_of, booster_of, suits_woodelf, woodelf_values
from lexsi_ds.models.bundle import Prepared, SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.estimators import Estimator, InContext
from lexsi_ds.models.frames import column, plain

__all__ = ["Explained", "Scale", "Scaled", "explain_rows", "explain_sample", "raw_values", "to_scale"]

Scale = Literal["probability", "log-odds"]
TOLERANCE = 1e-4
_SAMPLES_KEPT = 3


@dataclass(frozen=True)
class Explained:
    """SHAP values of rows on the margin, in encoded feature order, with the rows' margins (n,).

    Of several classes: those of one class a row (``output``), with all classes' values beside them.
    """

    explanation: shap.Explanation
    margin: np.ndarray
    rows: Prepared
    model: SavedModel
    method: str
    output: np.ndarray | None = None
    all_base: np.ndarray | None = None
    all_values: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """SHAP values on the margin. Shape (n, features)."""
        return np.asarray(self.explanation.values)

    @property
    def base(self) -> np.ndarray:
        """Base values on the margin. Shape (n,)."""
        return np.asarray(self.explanation.base_values)

    @property
    def data(self) -> np.ndarray:
        """Feature values as a person reads them. Shape (n, features), object."""
        return np.asarray(self.explanation.data)

    @property
    def words(self) -> tuple[str | None, ...]:
        """The class explained of each row; None where there are not several."""
        if self.output is None:
            return (None,) * len(self.margin)
        return tuple(self.model.card.task.classes[place] for place in self.output)

    def on(self, scale: str) -> Scaled:
        """The values on a scale; a model of an amount has its own units only."""
        kind = self.model.card.task.kind
        scale = check_scale(scale, kind)
        if self.output is not None and self.all_base is not None and self.all_values is not None:
            return classes_to_scale(self.all_base, self.all_values, self.output, scale, link_of(self.model))
        return to_scale(self.base, self.values, scale, link_of(self.model))

    def told(self, scale: str) -> str:
        """How the values were computed and what the scale is, in words."""
        kind = self.model.card.task.kind
        scale = check_scale(scale, kind)
        return f"{self.method}; {RESCALED}" if scale not in (LOG_ODDS, "value") else self.method


def explain_rows(model: SavedModel, frame: pd.DataFrame, output: str | None = None) -> Explained:
    """SHAP values of every row of a frame. ``output`` names one of several classes; else each row's likeliest."""
    rows = model.prepare(frame)
    base, values, method = grouped_values(model, rows)
    margin = model.margin(rows)
    gap = np.abs(base + values.sum(axis=1) - margin)
    if (gap > TOLERANCE * np.maximum(1.0, np.abs(margin))).any():
        raise ArithmeticError(f"SHAP values miss the margin by {gap.max():.2g} in {model.card.id}")
    raw, labels = raw_values(model, frame), [feature.label for feature in model.features]
    if margin.ndim == 1:
        made = shap.Explanation(values=values, base_values=base, data=raw, feature_names=labels, output_names="log-odds")
        return Explained(made, margin, rows, model, method)
    chosen = chosen_classes(model, margin, output)
    here = np.arange(len(margin))
    made = shap.Explanation(
        values=values[here, :, chosen], base_values=base[here, chosen], data=raw, feature_names=labels
    )
    return Explained(made, margin[here, chosen], rows, model, method, chosen, base, values)


def explain_sample(model: SavedModel, frame: pd.DataFrame, cohort: Cohort, output: str | None) -> tuple[Explained, int]:
    """The sample of a cohort of the rows, explained, and how many rows the cohort has. Beeswarm, importance and each
    feature's dependence look at the same values: they are kept with the model for the next view of the same rows."""
    kept: OrderedDict[tuple[str, str | None], tuple[pd.DataFrame, Explained, int]]
    kept = model.__dict__.setdefault("_explained_samples", OrderedDict())
    key = (cohort.model_dump_json(), output)
    known = kept.get(key)
    if known is None or known[0] is not frame:
        whole = cohort_rows(frame, cohort, model.card.task.entity_column)
        known = kept[key] = (frame, explain_rows(model, sample_rows(model, whole), output), len(whole))
        while len(kept) > _SAMPLES_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return known[1], known[2]


def grouped_values(model: SavedModel, rows: Prepared) -> tuple[np.ndarray, np.ndarray, str]:
    """Base value (n,) and SHAP values (n, f) by source column, each with a last axis of classes where there are several;
    and how they were computed. Out of fold both are means over the models that did not see the row."""
    starts = np.flatnonzero(np.diff(model.encoding.groups, prepend=-1))
    base, values, used = None, None, set()
    for estimator, here, weight in model.parts(rows):
        own_base, own, how = estimator_values(estimator, rows.x[here])
        used.add(how)
        summed = np.add.reduceat(own, starts, axis=1)
        if base is None or values is None:
            base = np.zeros((len(rows.x), *own_base.shape[1:]))
            values = np.zeros((len(rows.x), *summed.shape[1:]))
        base[here] += weight * own_base
        values[here] += weight * summed
    if base is None or values is None:
        raise BadInput("There are no rows to explain.")
    return base, values, " and ".join(sorted(used))


def chosen_classes(model: SavedModel, margin: np.ndarray, output: str | None) -> np.ndarray:
    """Place of the class explained of each row. ``margin`` (n, k)."""
    classes = model.card.task.classes
    if output is None:
        return margin.argmax(axis=1)
    if output not in classes:
        raise BadInput(f'This model knows no class "{output}".', to_do=f"Use one of: {', '.join(classes[:20])}.")
    return np.full(len(margin), classes.index(output))


def link_of(model: SavedModel) -> Link:
    """What turns this model's margins into probabilities, calibrated where it is."""
    return model.link


def raw_values(model: SavedModel, frame: pd.DataFrame) -> np.ndarray:
    """The features as a person reads them: numbers, words, True and False, None where missing. Shape (n, features),
    object."""
    table = np.empty((len(frame), len(model.features)), dtype=object)
    for place, feature in enumerate(model.features):
        values, _ = read_column(column(frame, feature.name), feature.kind)
        cells = [plain(v) for v in values]
        table[:, place] = [None if v is None else bool(v) for v in cells] if feature.kind == "boolean" else cells
    return table


def estimator_values(estimator: Estimator, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """Base value (n,) and SHAP values (n, p) of encoded rows, with a last axis of classes where there are several, and how
    they were computed: by woodelf from 2,500 rows on where it can, else by the estimator itself."""
    booster = booster_of(estimator)
    if booster is not None and len(x) >= CROSSOVER_ROWS and suits_woodelf(booster):
        base = base_of(booster, x.shape[1])
        values = woodelf_values(booster, x, estimator.margin(x), base)
        if values is not None:
            return np.full(len(x), base), values, FAST
    try:
        base, values = estimator.contributions(x)
    except (NotImplementedError, AttributeError) as error:
        raise LexsiError(
            "This kind of model has no exact contributions.", to_do="Explain a model of trees, an EBM or a linear model."
        ) from error
    if booster is not None:
        return base, values, OWN
    if isinstance(estimator, InContext):
        return base, values, "SHAP values by permutations, which are not exact"
    return base, values, "the model's own terms"
