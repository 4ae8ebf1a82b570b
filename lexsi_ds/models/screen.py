"""What may not be a feature, found from the training data itself: keys, constants, copies, and columns that give the
answer away.

Every column that is left out has a reason in words of the data. Must never leave out a column without one, nor look at
scored rows. What is protected, undated or post-outcome is settled before, by the task; this is the check of the data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.models.encode import read_column
from lexsi_ds.models.estimators import Outcome
from lexsi_ds.models.frames import column, is_date
from lexsi_ds.models.moments import as_moments, is_dated_text
from lexsi_ds.models.strength import filled_strength, strength
from lexsi_ds.models.task import FeatureDef, FeatureKind, LeftOut, LeftOutReason, TaskSpec

LEAK_AUC = 0.985
"""A single column that ranks the outcome (or explains an amount, as R2) this well is taken for the outcome itself."""
SUSPECT_AUC = 0.95
"""From here on a column stays, with a warning."""
BINARY = Outcome()
_CHANCE = 1e-6
_KEY_NAME = re.compile(
    r"(^|_|\s)(id|key|uuid|guid|no|nr|num|index|idx)$|(?i:number)$|[a-z](Id|ID|Key|No|Nr|Index)$", re.ASCII
)
_FOREIGN_KEY = re.compile(r"(^|_|\s)(id|uuid|guid)$|[a-z](Id|ID)$", re.ASCII)
_LATER, _LOOKED_AT = 0.95, 1_000


@dataclass(frozen=True)
class Screened:
    """The features that stay, with their columns, and what was left out or is worth a word."""

    features: tuple[FeatureDef, ...]
    columns: dict[str, np.ndarray]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Column:
    """One candidate with its values: float64 for numbers and booleans, text or None for words."""

    feature: FeatureDef
    values: np.ndarray
    missing: np.ndarray

    @property
    def present(self) -> np.ndarray:
        return self.values[~self.missing]

    @property
    def words(self) -> bool:
        return self.feature.kind == "categorical"


def screen(frame: pd.DataFrame, task: TaskSpec, y: np.ndarray, outcome: Outcome = BINARY) -> Screened:
    """Judge the task's features on the training rows. ``frame`` in canonical row order, ``y`` (n,) of outcomes."""
    kept: list[_Column] = []
    seen: dict[int, str] = {}
    left_out: list[LeftOut] = []
    notes: list[str] = []
    warnings: list[str] = []
    for feature in task.features:
        early = _by_name(feature, frame, task) or _by_date(feature, frame, task, y, outcome)
        if early is not None:
            left_out.append(_left(task, feature, *early))
            continue
        candidate, note = _read(feature, column(frame, feature.name))
        auc = strength(candidate.values, candidate.missing, y, outcome, candidate.words)
        verdict = _verdict(candidate, y, task, auc, outcome) or _duplicates(candidate, seen)
        if verdict is not None:
            left_out.append(_left(task, feature, *verdict))
            continue
        kept.append(candidate)
        notes += [note] if note else []
        warnings += [_suspicion(candidate, task, auc, outcome)] if auc >= SUSPECT_AUC else []
    columns = {c.feature.name: c.values for c in kept}
    return Screened(tuple(c.feature for c in kept), columns, tuple(left_out), tuple(notes), tuple(warnings))


def _left(task: TaskSpec, feature: FeatureDef, reason: LeftOutReason, detail: str) -> LeftOut:
    table = feature.tables[0] if feature.tables else task.entity_table
    return LeftOut(name=feature.name, table=table, reason=reason, detail=detail)


def _by_name(feature: FeatureDef, frame: pd.DataFrame, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    if feature.name == task.entity_column:
        return "identifier", f"It names the {task.entity_label}."
    if feature.name == task.target_column:
        return "target", "It is the outcome itself."
    if feature.name == task.group_column:
        return "identifier", "It says which rows belong together, and they stay together in the folds."
    if feature.name == task.score_column:
        return "by_hand", "It is an existing score of the same outcome: it is compared with the model."
    return None


def _by_date(
    feature: FeatureDef, frame: pd.DataFrame, task: TaskSpec, y: np.ndarray, outcome: Outcome
) -> tuple[LeftOutReason, str] | None:
    values = column(frame, feature.name)
    if not is_date(values) and not is_dated_text(values):
        return None
    filled = values.notna().to_numpy()
    told = filled_strength(~filled, y, outcome)
    if filled.any() and not filled.all() and told >= LEAK_AUC:
        return "leak", f"Whether this date is filled tells {task.target_label}: it is written with the outcome."
    moment = task.moment_column
    if moment and moment in frame.columns and feature.name != moment:
        both = pd.DataFrame({"date": as_moments(values), "moment": as_moments(column(frame, moment))}).dropna()
        later = int((both["date"].to_numpy() > both["moment"].to_numpy()).sum())
        if len(both) and later >= _LATER * len(both):
            return "post_outcome", f"In {later:,} of {len(both):,} rows it is later than {moment}: written afterwards."
    return "date", "A date as such does not repeat; only the time between two dates can be learnt from."


def _read(feature: FeatureDef, values: pd.Series) -> tuple[_Column, str]:
    """The column as its kind; as words when it was to be numbers and more than one value in twenty is none."""
    read, unreadable = read_column(values, feature.kind)
    kind: FeatureKind = feature.kind
    note = ""
    if unreadable:
        present = int((~np.isnan(read)).sum()) + unreadable
        if unreadable > 0.05 * present:
            kind, (read, _) = "categorical", read_column(values, "categorical")
            note = f"{feature.name} was taken as words: {unreadable:,} of its {present:,} values are not of its kind."
        else:
            note = f"{unreadable:,} of {present:,} values of {feature.name} could not be read and count as missing."
    infinite = _infinite(values) if kind == "numeric" else 0
    if infinite:
        note = f"{note} {infinite:,} infinite values of {feature.name} count as missing.".strip()
    missing = np.array([v is None for v in read]) if kind == "categorical" else np.isnan(read)
    return _Column(feature.model_copy(update={"kind": kind}), read, missing), note


def _infinite(values: pd.Series) -> int:
    return int(np.isinf(values.to_numpy()).sum()) if values.dtype.kind == "f" else 0


def _verdict(
    column: _Column, y: np.ndarray, task: TaskSpec, auc: float, outcome: Outcome
) -> tuple[LeftOutReason, str] | None:
    if column.missing.all():
        return "all_null", f"It is empty in all {len(y):,} training rows."
    if not column.missing.any() and (column.values == column.values[0]).all():
        return "constant", f"It has one value in all {len(y):,} training rows."
    return (
        _copies_target(column, y, task, outcome)
        or _identifies(column, task)
        or _too_many_levels(column)
        or _leaks(column, y, task, auc, outcome)
        or _filled_for_one_class(column, y, task)
    )


def _copies_target(
    column: _Column, y: np.ndarray, task: TaskSpec, outcome: Outcome
) -> tuple[LeftOutReason, str] | None:
    """One value an outcome and one outcome a value, whatever they are called."""
    here = ~column.missing
    if outcome.kind == "regression" or here.mean() <= 0.5:
        return None
    if len(pd.unique(column.values[:_LOOKED_AT])) > outcome.classes + 1:
        return None
    told, known = pd.factorize(column.values[here])[0], y[here].astype(int)
    size = len(np.unique(known))
    if size < 2 or told.max() + 1 != size or len(np.unique(told * (known.max() + 1) + known)) != size:
        return None
    shown = "two" if size == 2 else f"{size}"
    return "target", f"It is the outcome under another name: its {shown} values tell {task.target_label} exactly."


def _identifies(column: _Column, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    present = column.present
    n = len(present)
    if n < 20 or (not column.words and not (present[:_LOOKED_AT] == np.round(present[:_LOOKED_AT])).all()):
        return None
    distinct = len(pd.unique(present))
    if column.words:
        if distinct >= 0.9 * n:
            return (
                "identifier",
                f"Nearly every {task.entity_label} has a value of its own ({distinct:,} in {n:,} rows).",
            )
        return None
    whole = bool((present == np.round(present)).all())
    if whole and distinct < n and distinct > 20 and _FOREIGN_KEY.search(column.feature.name):
        return (
            "identifier",
            f"It is named like a key and numbers {distinct:,} things: the size of a number means nothing.",
        )
    if not whole or distinct < n:
        return None
    if _KEY_NAME.search(column.feature.name):
        return "identifier", f"A whole number that is different in each of {n:,} rows and named like a key."
    if float(present.max() - present.min()) == n - 1:
        return "identifier", f"It counts the rows: {n:,} different whole numbers without a gap."
    return None


def _too_many_levels(column: _Column) -> tuple[LeftOutReason, str] | None:
    if not column.words:
        return None
    distinct, n = len(pd.unique(column.present)), len(column.present)
    if distinct > 20 and (distinct > n / 4 or distinct > 1_000):
        return "high_cardinality", f"{distinct:,} different words in {n:,} rows: too few rows each to learn from."
    return None


def _leaks(
    column: _Column, y: np.ndarray, task: TaskSpec, auc: float, outcome: Outcome
) -> tuple[LeftOutReason, str] | None:
    if auc >= LEAK_AUC:
        return "leak", f"Alone it {_tells(task, auc, outcome, 3)}: it is written with the outcome."
    if column.missing.any() and not column.missing.all():
        auc = filled_strength(column.missing, y, outcome)
        if auc >= LEAK_AUC:
            name = "R2" if outcome.kind == "regression" else "ROC AUC"
            return (
                "leak",
                f"Whether it is filled tells {task.target_label} ({name} {auc:.3f}): it is written with the outcome.",
            )
    return None


def _tells(task: TaskSpec, auc: float, outcome: Outcome, digits: int) -> str:
    if outcome.kind == "regression":
        return f"explains {task.target_label} with an R2 of {auc:.{digits}f}"
    return f"ranks {task.target_label} with a ROC AUC of {auc:.{digits}f}"


def _filled_for_one_class(column: _Column, y: np.ndarray, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    """Only where nothing proves that a feature came before the outcome: after a cut-off date such a column is a real
    event."""
    if task.cutoff_column is not None or task.kind != "binary" or not column.missing.any():
        return None
    filled = y[~column.missing]
    for value in (0.0, 1.0):
        if (filled == value).all() and float((y == value).mean()) ** len(filled) < _CHANCE:
            who = "with" if value else "without"
            return (
                "leak",
                f"All {len(filled):,} rows where it is filled are {who} {task.target_label}: written with the outcome.",
            )
    return None


def _duplicates(column: _Column, seen: dict[int, str]) -> tuple[LeftOutReason, str] | None:
    """``seen`` maps the content of the columns that stay to their names; this column's is added."""
    content = hash((column.words, tuple(column.values.tolist()) if column.words else (column.values + 0.0).tobytes()))
    if content in seen:
        return "duplicate", f"It equals {seen[content]} in every row."
    seen[content] = column.feature.name
    return None


def _suspicion(column: _Column, task: TaskSpec, auc: float, outcome: Outcome) -> str:
    return f"{column.feature.name} alone {_tells(task, auc, outcome, 2)}: check that it is known beforehand."
