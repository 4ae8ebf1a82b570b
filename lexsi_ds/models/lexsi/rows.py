"""Training rows before any of them leaves: read, checked and screened as for the local engine.

What would leak, copies the outcome or identifies a row is left out here with its reason, and a frame that cannot carry a
model is refused here, so that nothing is uploaded for nothing. Must never contact the platform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, KFold, StratifiedKFold, train_test_split

from lexsi_ds.errors import BadInput, ModelRefused
from lexsi_ds.models.engine import prediction_columns
from lexsi_ds.models.frames import column, entity_keys, need_columns
from lexsi_ds.models.screen import screen
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec
from lexsi_ds.models.training_rows import training_rows as read_rows

SEED = 7
HELD_OUT = 0.2
MIN_ROWS, MIN_CLASS = 50, 10


@dataclass(frozen=True)
class Rows:
    """Training rows in canonical order: outcome (n,), and the features that stay, read as their kind."""

    frame: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray | None
    moments: np.ndarray | None
    features: tuple[FeatureDef, ...]
    columns: dict[str, np.ndarray]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """Rows that train and rows that are held out; both hold positions among the training rows."""

    train: np.ndarray
    held_out: np.ndarray


def training_rows(frame: pd.DataFrame, task: TaskSpec) -> Rows:
    """Read and screen a context frame. Raises BadInput and ModelRefused as the local engine does."""
    if task.kind == "multiclass":
        raise ModelRefused(
            "The Lexsi engine predicts yes/no outcomes and amounts: the SDK does not say how several classes come back.",
            where=task.target_column, to_do="Set LEXSI_DS_ENGINE=local for more than two classes.",
        )  # fmt: skip
    if task.entity_column in prediction_columns(task.kind):
        raise BadInput(
            f"The id column may not be called {task.entity_column}: predictions have a column of that name.",
            to_do="Give it another name in the query.",
        )
    need_columns(frame, [task.entity_column, task.target_column, *(f.name for f in task.features)], "The training frame")
    read = read_rows(frame, task)
    _refuse_thin(read.y, task)
    _refuse_repeated(entity_keys(column(read.frame, task.entity_column)), task)
    screened = screen(read.frame, task, read.y, read.outcome)
    if not screened.features:
        reasons = "; ".join(f"{out.name}: {out.reason.replace('_', ' ')}" for out in screened.left_out[:8])
        raise ModelRefused(
            f"No feature is left to predict {task.target_label} with ({reasons}).",
            to_do="Add columns that are known before the outcome.",
        )
    return Rows(
        read.frame, read.y, read.groups, read.moments, screened.features, screened.columns, screened.left_out,
        (*read.notes, *screened.notes), screened.warnings,
    )  # fmt: skip


def splits(rows: Rows, task: TaskSpec, folds: int) -> list[Split]:
    """How rows are held out: folds where every row needs a score of a model that did not see it, else one fifth.

    The last fifth in time where the task is split by time, whole groups where rows belong to groups, at random else.
    """
    n, amounts = len(rows.y), task.kind == "regression"
    where = np.arange(n)
    if task.out_of_fold:
        folds = min(folds, n // 2) if amounts else min(folds, int(min(rows.y.sum(), n - rows.y.sum())))
        kind = KFold if amounts else StratifiedKFold
        maker = kind(n_splits=folds, shuffle=True, random_state=SEED)
        return [Split(train, held) for train, held in maker.split(np.zeros(n), rows.y)]
    if task.split.by == "time" and rows.moments is not None and not pd.isna(rows.moments).any():
        order = np.argsort(rows.moments, kind="stable")
        cut = n - max(1, round(n * HELD_OUT))
        return [_usable(Split(np.sort(order[:cut]), np.sort(order[cut:])), rows, task)]
    if rows.groups is not None:
        maker = GroupShuffleSplit(n_splits=1, test_size=HELD_OUT, random_state=SEED)
        train, held = next(maker.split(where, groups=rows.groups))
        return [_usable(Split(train, held), rows, task)]
    train, held = train_test_split(where, test_size=HELD_OUT, random_state=SEED, stratify=None if amounts else rows.y)
    return [Split(np.sort(train), np.sort(held))]


def _usable(split: Split, rows: Rows, task: TaskSpec) -> Split:
    """Both parts must hold both outcomes."""
    if task.kind == "binary" and any(len(set(rows.y[part].tolist())) < 2 for part in (split.train, split.held_out)):
        raise ModelRefused(
            "Held out by time or group, one part has a single outcome and cannot be measured.", where=task.target_column,
            to_do="Hold rows out at random.",
        )  # fmt: skip
    return split


def _refuse_thin(y: np.ndarray, task: TaskSpec) -> None:
    """A fifth is held out, so more rows are needed than where they are all used in turn."""
    fewer = len(y) if task.kind == "regression" else int(min(y.sum(), len(y) - y.sum()))
    if len(y) < MIN_ROWS or fewer < MIN_CLASS:
        counts = f"{len(y):,} rows with a known outcome" + ("" if task.kind == "regression" else f", {fewer:,} of the rarer one")
        raise ModelRefused(
            f"Too few rows to train a model on the platform and measure it: {counts}.",
            to_do=f"At least {MIN_ROWS} rows and {MIN_CLASS} of each outcome are needed, because a fifth is held out.",
        )


def _refuse_repeated(keys: np.ndarray, task: TaskSpec) -> None:
    distinct = len(set(keys.tolist()))
    if distinct < len(keys):
        raise BadInput(
            f"The training frame has {len(keys):,} rows for {distinct:,} different values of {task.entity_column}.",
            to_do=f"It must have one row a {task.entity_label} on the Lexsi platform.",
        )
