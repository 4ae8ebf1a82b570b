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
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.models.frames import as_numbers, as_words, canonical_order, column, entity_keys, need_columns
from lexsi_ds.models.screen import Screened, screen
from lexsi_ds.models.task import FeatureDef, LeftOut, TaskSpec

SEED = 7
HELD_OUT = 0.2
MIN_ROWS, MIN_CLASS = 50, 10
_TRUTH = {"1": 1.0, "0": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Rows:
    """Training rows in canonical order: outcome of shape (n,), and the features that stay, read as their kind."""

    frame: pd.DataFrame
    y: np.ndarray
    keys: np.ndarray
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
    if task.entity_column in PREDICTION_COLUMNS:
        raise BadInput(
            f"The id column may not be called {task.entity_column}: predictions have a column of that name.",
            to_do="Give it another name in the query.",
        )
    need_columns(
        frame, [task.entity_column, task.target_column, *(f.name for f in task.features)], "The training frame"
    )
    y = _outcome(column(frame, task.target_column), task)
    known = np.isfinite(y)
    _refuse_thin(y[known], task)
    used = frame.loc[known].reset_index(drop=True)
    keys = entity_keys(column(used, task.entity_column))
    _refuse_repeated(keys, task)
    order = canonical_order(keys)
    used, y, keys = used.iloc[order].reset_index(drop=True), y[known][order], keys[order]
    # The screen judges columns by how they rank a yes/no outcome; of an amount, whether it is above the middle.
    screened: Screened = screen(used, task, y if task.kind == "binary" else (y > np.median(y)).astype(float))
    if not screened.features:
        reasons = "; ".join(f"{out.name}: {out.reason.replace('_', ' ')}" for out in screened.left_out[:8])
        raise ModelRefused(
            f"No feature is left to predict {task.target_label} with ({reasons}).",
            to_do="Add columns that are known before the outcome.",
        )
    unknown = int((~known).sum())
    missing = (f"{unknown:,} of {len(known):,} rows have no known outcome and did not train.",) if unknown else ()
    return Rows(
        used,
        y,
        keys,
        screened.features,
        screened.columns,
        screened.left_out,
        (*missing, *screened.notes),
        screened.warnings,
    )


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
    moments = _moments(rows, task)
    if moments is not None:
        order = np.argsort(moments, kind="stable")
        cut = n - max(1, round(n * HELD_OUT))
        return [_usable(Split(np.sort(order[:cut]), np.sort(order[cut:])), rows, task)]
    if task.group_column and task.group_column in rows.frame:
        maker = GroupShuffleSplit(n_splits=1, test_size=HELD_OUT, random_state=SEED)
        groups = as_words(column(rows.frame, task.group_column))
        train, held = next(maker.split(where, groups=[g or f"_{i}" for i, g in enumerate(groups)]))
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


def _moments(rows: Rows, task: TaskSpec) -> np.ndarray | None:
    name = task.moment_column
    if task.split.by != "time" or name is None or name not in rows.frame:
        return None
    moments = pd.to_datetime(rows.frame[name], errors="coerce").to_numpy()
    return None if pd.isna(moments).any() else moments


def _outcome(values: pd.Series, task: TaskSpec) -> np.ndarray:
    """The target as numbers, NaN for unknown: an amount, or 0 and 1, also as yes/no words."""
    if task.kind == "regression":
        numbers, unreadable = as_numbers(values)
        if unreadable:
            raise ModelRefused(
                f"{unreadable:,} values of {task.target_column} are no numbers.", where=task.target_column
            )
        return numbers
    read = np.array([np.nan if w is None else _TRUTH.get(w.casefold(), np.inf) for w in as_words(values)])
    if np.isinf(read).any():
        raise ModelRefused(
            f"{task.target_column} is not a yes/no outcome.", where=task.target_column,
            to_do="Say which value counts as the outcome; the target must be 1 or 0.",
        )  # fmt: skip
    return read


def _refuse_thin(y: np.ndarray, task: TaskSpec) -> None:
    if task.kind == "regression":
        if len(y) < MIN_ROWS or len(np.unique(y)) < 2:
            raise ModelRefused(f"Too few rows to train and check a model: {len(y):,} with a known {task.target_label}.")
        return
    positives = int(y.sum())
    counts = (
        f"{len(y):,} rows with a known outcome: {positives:,} with {task.target_label}, {len(y) - positives:,} without"
    )
    if 0 in (positives, len(y) - positives):
        raise ModelRefused(
            f"There is nothing to tell apart: {counts}.", to_do="Widen the group until both outcomes occur."
        )
    if len(y) < MIN_ROWS or min(positives, len(y) - positives) < MIN_CLASS:
        raise ModelRefused(
            f"Too few rows to train and check a model: {counts}.",
            to_do=f"At least {MIN_ROWS} rows and {MIN_CLASS} of each outcome are needed, because a fifth is held out.",
        )


def _refuse_repeated(keys: np.ndarray, task: TaskSpec) -> None:
    if (keys == "").any():
        raise BadInput(f"{int((keys == '').sum()):,} training rows have no {task.entity_column}.")
    distinct = len(set(keys.tolist()))
    if distinct < len(keys):
        raise BadInput(
            f"The training frame has {len(keys):,} rows for {distinct:,} different values of {task.entity_column}.",
            to_do=f"It must have one row a {task.entity_label}.",
        )
