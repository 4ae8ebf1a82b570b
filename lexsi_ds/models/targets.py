"""What the outcome column holds, as numbers: 0 and 1, positions of classes, or amounts; and whether it can be learnt.

Must never guess: a value that is none of the outcomes is refused by name, and what is unknown stays unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.errors import ModelRefused
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.frames import as_numbers, as_words, is_date
from lexsi_ds.models.task import TaskSpec

MIN_ROWS, MIN_CLASS, MAX_CLASSES = 20, 5, 50
_MEANING = {"1": 1.0, "0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Target:
    """The outcome of every row of a frame, NaN where unknown. Shape (n,)."""

    y: np.ndarray
    outcome: Outcome
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> np.ndarray:
        """Rows whose outcome is known. Shape (n,), bool."""
        return np.isfinite(self.y)


def read_target(values: pd.Series, task: TaskSpec) -> Target:
    """The outcome as the task means it; raises ModelRefused for anything else."""
    if task.kind == "regression":
        return _amounts(values, task)
    if task.kind == "multiclass":
        return _positions(values, task)
    return Target(outcome(values, task), Outcome())


def outcome(values: pd.Series, task: TaskSpec) -> np.ndarray:
    """The target as 0, 1 and NaN for unknown; booleans and yes/no words are read too. Raises ModelRefused for anything
    else."""
    if values.dtype.kind in "biuf":
        numbers = values.astype("float64").to_numpy()
        if np.isin(numbers[~np.isnan(numbers)], (0.0, 1.0)).all():
            return numbers
    words = as_words(values)
    read = np.array([np.nan if w is None else _MEANING.get(w.casefold(), np.inf) for w in words])
    if np.isinf(read).any():
        distinct = len({w for w in words if w is not None})
        raise ModelRefused(
            f"{task.target_column} is not a yes/no outcome: it has {distinct:,} different values.",
            where=task.target_column,
            to_do="Say which value counts as the outcome, name its classes, or predict it as an amount.",
        )
    return read


def classes_of(values: pd.Series) -> tuple[str, ...]:
    """The words of a column, the most frequent first."""
    counts = Counter(w for w in as_words(values) if w is not None)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))


def refuse_thin(y: np.ndarray, task: TaskSpec) -> None:
    """Refuse known outcomes that cannot carry a model: one class, too few rows, too few of a class, one amount."""
    if task.kind == "regression":
        _refuse_thin_amounts(y, task)
    elif task.kind == "multiclass":
        _refuse_thin_classes(y, task)
    else:
        _refuse_thin_outcomes(y, task)


def _amounts(values: pd.Series, task: TaskSpec) -> Target:
    if is_date(values):
        raise ModelRefused(
            f"{task.target_column} holds dates, which are no amounts.", where=task.target_column,
            to_do="Predict the days between two dates, or whether something happens before one.",
        )  # fmt: skip
    numbers, unreadable = as_numbers(values)
    if unreadable:
        raise ModelRefused(
            f"{unreadable:,} of {len(values):,} values of {task.target_column} are not numbers.", where=task.target_column,
            to_do="Predict classes instead, or clean the column.",
        )  # fmt: skip
    lost = int(np.isnan(numbers).sum() - values.isna().sum())
    notes = (f"{lost:,} values of {task.target_column} are infinite or blank and did not train.",) if lost > 0 else ()
    return Target(numbers, Outcome("regression", 0), notes)


def _positions(values: pd.Series, task: TaskSpec) -> Target:
    words = as_words(values)
    place = {word: float(i) for i, word in enumerate(task.classes)}
    if len(place) > MAX_CLASSES:
        raise ModelRefused(
            f"{task.target_column} has {len(place):,} classes; at most {MAX_CLASSES} can be told apart.",
            where=task.target_column, to_do="Merge rare classes into one, or predict one of them against the rest.",
        )  # fmt: skip
    odd = sorted({w for w in words if w is not None and w not in place})
    if odd:
        raise ModelRefused(
            f"{task.target_column} holds {len(odd):,} values that are none of its classes: {', '.join(odd[:5])}.",
            where=task.target_column, to_do="Name all classes of the task.",
        )  # fmt: skip
    return Target(np.array([np.nan if w is None else place[w] for w in words]), Outcome("multiclass", len(place)))


def _refuse_thin_outcomes(y: np.ndarray, task: TaskSpec) -> None:
    positives = int(y.sum())
    negatives = len(y) - positives
    counts = f"{len(y):,} rows with a known outcome: {positives:,} with {task.target_label}, {negatives:,} without"
    if len(y) == 0 or 0 in (positives, negatives):
        raise ModelRefused(
            f"There is nothing to tell apart: {counts}.", to_do="Widen the group until both outcomes occur."
        )
    if len(y) < MIN_ROWS or min(positives, negatives) < MIN_CLASS:
        raise ModelRefused(
            f"Too few rows to train and check a model: {counts}.",
            to_do=f"At least {MIN_ROWS} rows and {MIN_CLASS} of each outcome are needed.",
        )


def _refuse_thin_classes(y: np.ndarray, task: TaskSpec) -> None:
    counts = np.bincount(y.astype(int), minlength=len(task.classes))
    present = int((counts > 0).sum())
    if present < 2:
        raise ModelRefused(
            f"There is nothing to tell apart: {len(y):,} rows with a known outcome hold {present} of "
            f"{len(task.classes)} classes.", to_do="Widen the group until two classes occur.",
        )  # fmt: skip
    thin = [f"{name} ({counts[i]:,})" for i, name in enumerate(task.classes) if counts[i] < MIN_CLASS]
    if len(y) < MIN_ROWS or thin:
        raise ModelRefused(
            f"Too few rows to train and check a model: {len(y):,} rows"
            + (f"; classes with too few: {', '.join(thin[:8])}." if thin else "."),
            to_do=f"At least {MIN_ROWS} rows and {MIN_CLASS} of each class are needed; merge rare classes.",
        )


def _refuse_thin_amounts(y: np.ndarray, task: TaskSpec) -> None:
    if len(y) < MIN_ROWS:
        raise ModelRefused(
            f"Too few rows to train and check a model: {len(y):,} rows with a known {task.target_label}.",
            to_do=f"At least {MIN_ROWS} rows are needed.",
        )
    if len(np.unique(y)) < 2:
        raise ModelRefused(
            f"There is nothing to learn: {task.target_label} is {y[0]:g} in all {len(y):,} rows.",
            to_do="Widen the group until it varies.",
        )
