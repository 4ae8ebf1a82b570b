"""How a model treats the groups of a column it may not use: rates and errors by group, with intervals.

The figures are fairlearn's (Bird et al. 2020) on out-of-fold scores. Must never compare a group too small to tell, nor
call a difference unfair: what is fair is a person's to say.
"""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame

from lexsi_ds.errors import BadInput
from lexsi_ds.explain.group_figures import Judged, judge, resampled
from lexsi_ds.explain.results_decision import Fairness, GroupFigures
from lexsi_ds.models.bundle import TARGET, SavedModel
from lexsi_ds.models.figures import Interval
from lexsi_ds.models.frames import as_numbers, as_words, column, is_textual

LEAST_ROWS = 30
_MOST_GROUPS = 12
_BANDS = 4
_OWN = "_lexsi"
_OFTEN = 0.8


def extra_columns(model: SavedModel) -> list[str]:
    """Columns of the training rows beside features, ids and the outcome: what was kept for fairness or for show."""
    task = model.card.task
    taken = {task.entity_column, task.target_column, *model.encoding.names}
    return [str(n) for n in model.training.columns if n not in taken and not str(n).startswith(_OWN)]


def protected_columns(model: SavedModel) -> list[str]:
    """Columns left out of the model as protected and kept with the training rows."""
    kept = set(extra_columns(model))
    return [out.name for out in model.card.left_out if out.reason == "protected" and out.name in kept]


def fairness(model: SavedModel, name: str, threshold: float | None = None) -> Fairness:
    """Figures by group of one column. ``threshold``: from which probability a row counts as flagged (binary)."""
    training = model.training
    if name not in training.columns or name.startswith(_OWN) or name == model.card.task.target_column:
        offered = ", ".join(protected_columns(model)) or "none"
        raise BadInput(
            f"The training rows hold no column {name}.", where=name,
            to_do=f"Train with it kept for fairness. Protected columns kept with this model: {offered}.",
        )  # fmt: skip
    at = None
    if model.card.task.kind == "binary":
        at = model.card.threshold.value if threshold is None else threshold
    groups = _groups(column(training, name))
    counts = Counter(groups.tolist())
    large = [g for g, rows in counts.most_common() if rows >= LEAST_ROWS][:_MOST_GROUPS]
    small = tuple(str(g) for g in counts if g not in large)
    if len(large) < 2:
        told = f"{name} has no two groups of {LEAST_ROWS} rows or more: nothing is compared."
        return Fairness(column=name, threshold=at, groups=(), differences={}, small=small, sentences=(told,))
    judged = judge(model, at)
    here = np.isin(groups, large)
    by_group: Any = _measure(judged.only(here), groups[here]).by_group
    draws = {g: resampled(judged.only(groups == g), number) for number, g in enumerate(large)}
    positives = _events(model, training)
    listed = tuple(
        GroupFigures(
            group=str(g), rows=counts[g], positives=int(positives[groups == g].sum()),
            figures={n: _ends(float(by_group.loc[g, n]), draws[g][n]) for n in judged.metrics},
        )
        for g in large
    )  # fmt: skip
    differences = {
        n: _ends(float(by_group[n].max() - by_group[n].min()), np.ptp([draws[g][n] for g in large], axis=0))
        for n in judged.metrics
    }
    return Fairness(
        column=name, threshold=at, groups=listed, differences=differences, small=small,
        sentences=_sentences(model, name, listed, differences, small),
    )  # fmt: skip


def _measure(judged: Judged, groups: np.ndarray) -> MetricFrame:
    """fairlearn's figures of each group."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MetricFrame(
            metrics=dict(judged.metrics), y_true=judged.y, y_pred=judged.answers,
            sensitive_features=pd.Series(groups, dtype=object),
        )  # fmt: skip


def _events(model: SavedModel, training: pd.DataFrame) -> np.ndarray:
    if model.card.task.kind != "binary":
        return np.zeros(len(training), dtype=bool)
    return column(training, TARGET).to_numpy(dtype=float) == 1


def _groups(values: pd.Series) -> np.ndarray:
    """Words as they are; numbers with many values in four bands of like size; "missing" is a group."""
    numbers, unreadable = as_numbers(values)
    known = numbers[np.isfinite(numbers)]
    if (is_textual(values) and unreadable) or len(np.unique(known)) <= 6:
        return np.array([word if word is not None else "missing" for word in as_words(values)], dtype=object)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _BANDS + 1), method="nearest"))
    places = np.clip(np.searchsorted(edges, numbers, side="left") - 1, 0, len(edges) - 2)
    names = [f"{edges[0]:,g} to {edges[1]:,g}"]
    names += [f"above {low:,g} to {high:,g}" for low, high in pairwise(edges[1:])]
    return np.array(["missing" if np.isnan(v) else names[p] for v, p in zip(numbers, places, strict=True)], dtype=object)


def _ends(value: float, drawn: np.ndarray) -> Interval:
    """A figure with the 95% percentile interval of its resamples; those where it does not exist do not count."""
    kept = drawn[np.isfinite(drawn)]
    low, high = np.quantile(kept, [0.025, 0.975]) if len(kept) else (value, value)
    return Interval(value=value, low=float(min(low, value)), high=float(max(high, value)))


def _sentences(
    model: SavedModel, name: str, groups: tuple[GroupFigures, ...], differences: dict[str, Interval], small: tuple[str, ...]
) -> tuple[str, ...]:
    said = []
    if name in model.encoding.names:
        said.append(f"{name} is a feature of this model.")
    else:
        said.append(f"{name} is not a feature of this model; other columns may still stand in for it.")
    if model.card.task.kind == "binary":
        rates = sorted(groups, key=lambda g: g.figures["share flagged"].value)
        low, high = rates[0].figures["share flagged"], rates[-1].figures["share flagged"]
        gap = differences["share flagged"]
        told = f"{high.value:.0%} of {rates[-1].group} are flagged and {low.value:.0%} of {rates[0].group}"
        apart = low.high < high.low
        said.append(f"{told}{'' if apart else '; the intervals overlap, so chance may be all there is to it'}.")
        if high.value > 0 and low.value / high.value < _OFTEN and apart:
            said.append(
                f"That is a ratio of {low.value / high.value:.2f}, below four fifths; the gap is {100 * gap.value:.0f} "
                f"points (95% interval {100 * gap.low:.0f} to {100 * gap.high:.0f})."
            )
    if small:
        said.append(f"Groups of fewer than {LEAST_ROWS} rows are not compared: {', '.join(small[:8])}.")
    return tuple(said)
