"""What may not be a feature, found from the training data itself: keys, constants, copies, and columns that give the
answer away.

Every column that is left out has a reason in words of the data. Must never leave out a column without one, nor look at
scored rows. What is protected, undated or post-outcome is settled before, by the task; this is the check of the data.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lexsi_ds.models.encode import read_column
from lexsi_ds.models.frames import column, is_date
from lexsi_ds.models.task import FeatureDef, FeatureKind, LeftOut, LeftOutReason, TaskSpec

LEAK_AUC = 0.985
"""A single column that ranks the outcome this well is taken for the outcome itself."""
SUSPECT_AUC = 0.95
"""From here on a column stays, with a warning."""
_CHANCE = 1e-6
_KEY_NAME = re.compile(
    r"(^|_|\s)(id|key|uuid|guid|no|nr|num|index|idx)$|(?i:number)$|[a-z](Id|ID|Key|No|Nr|Index)$", re.ASCII
)
_CODE_LEVELS = 20


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


def screen(frame: pd.DataFrame, task: TaskSpec, y: np.ndarray) -> Screened:
    """Judge the task's features on the training rows. ``frame`` in canonical row order, ``y`` 0/1 of shape (n,)."""
    kept: list[_Column] = []
    seen: dict[int, str] = {}
    left_out: list[LeftOut] = []
    notes: list[str] = []
    warnings: list[str] = []
    for feature in task.features:
        early = _by_name(feature, frame, task)
        if early is not None:
            left_out.append(_left(task, feature, *early))
            continue
        candidate, note = _read(feature, column(frame, feature.name))
        auc = _single_auc(candidate, y)
        verdict = _verdict(candidate, y, task, auc) or _duplicates(candidate, seen)
        if verdict is not None:
            left_out.append(_left(task, feature, *verdict))
            continue
        kept.append(candidate)
        notes += [note] if note else []
        warnings += [_suspicion(candidate, task, auc)] if auc >= SUSPECT_AUC else []
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
    if is_date(column(frame, feature.name)):
        return "date", "A date as such does not repeat; only the time between two dates can be learnt from."
    return None


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
    missing = np.array([v is None for v in read]) if kind == "categorical" else np.isnan(read)
    return _Column(feature.model_copy(update={"kind": kind}), read, missing), note


def _verdict(column: _Column, y: np.ndarray, task: TaskSpec, auc: float) -> tuple[LeftOutReason, str] | None:
    if column.missing.all():
        return "all_null", f"It is empty in all {len(y):,} training rows."
    if not column.missing.any() and len(set(column.values.tolist())) == 1:
        return "constant", f"It has one value in all {len(y):,} training rows."
    return (
        _copies_target(column, y, task)
        or _identifies(column, task)
        or _too_many_levels(column)
        or _leaks(column, y, task, auc)
        or _filled_for_one_class(column, y, task)
    )


def _copies_target(column: _Column, y: np.ndarray, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    here = ~column.missing
    pairs = set(zip(column.values[here].tolist(), y[here].tolist(), strict=True))
    if len(pairs) == 2 and len({v for v, _ in pairs}) == 2 and len({o for _, o in pairs}) == 2 and here.mean() > 0.5:
        return "target", f"It is the outcome under another name: its two values tell {task.target_label} exactly."
    return None


def _identifies(column: _Column, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    present = column.present
    distinct, n = len(set(present.tolist())), len(present)
    if n < 20:
        return None
    if column.words:
        if distinct >= 0.9 * n:
            return (
                "identifier",
                f"Nearly every {task.entity_label} has a value of its own ({distinct:,} in {n:,} rows).",
            )
        return None
    whole = bool((present == np.round(present)).all())
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
    distinct, n = len(set(column.present.tolist())), len(column.present)
    if distinct > 20 and (distinct > n / 4 or distinct > 1_000):
        return "high_cardinality", f"{distinct:,} different words in {n:,} rows: too few rows each to learn from."
    return None


def _leaks(column: _Column, y: np.ndarray, task: TaskSpec, auc: float) -> tuple[LeftOutReason, str] | None:
    if auc >= LEAK_AUC:
        return (
            "leak",
            f"Alone it ranks {task.target_label} with a ROC AUC of {auc:.3f}: it is written with the outcome.",
        )
    if column.missing.any() and not column.missing.all():
        auc = _either_way(y, column.missing.astype(float))
        if auc >= LEAK_AUC:
            return (
                "leak",
                f"Whether it is filled tells {task.target_label} (ROC AUC {auc:.3f}): it is written with the outcome.",
            )
    return None


def _filled_for_one_class(column: _Column, y: np.ndarray, task: TaskSpec) -> tuple[LeftOutReason, str] | None:
    """Only where nothing proves that a feature came before the outcome: after a cut-off date such a column is a real
    event."""
    if task.cutoff_column is not None or not column.missing.any():
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


def _suspicion(column: _Column, task: TaskSpec, auc: float) -> str:
    name = column.feature.name
    return f"{name} alone ranks {task.target_label} with a ROC AUC of {auc:.2f}: check that it is known beforehand."


def _single_auc(column: _Column, y: np.ndarray) -> float:
    """How well one column alone ranks the outcome, either way round; words and codes by cross-fitted rates. 0.5 for few
    rows."""
    here = ~column.missing
    outcome = y[here]
    if here.sum() < 20 or min(outcome.sum(), len(outcome) - outcome.sum()) < 5:
        return 0.5
    if column.words:
        return _either_way(outcome, _cross_fitted(column.values[here], outcome))
    auc = _either_way(outcome, column.values[here])
    if 2 < len(set(column.present.tolist())) <= _CODE_LEVELS:
        auc = max(auc, _either_way(outcome, _cross_fitted(column.values[here], outcome)))
    return auc


def _either_way(y: np.ndarray, score: np.ndarray) -> float:
    auc = float(roc_auc_score(y, score))
    return max(auc, 1.0 - auc)


def _cross_fitted(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The outcome's rate at each row's level, from the other folds only, so that rare levels do not flatter."""
    rates = np.full(len(y), float(y.mean()))
    for train, test in StratifiedKFold(n_splits=5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        seen = Counter(values[train].tolist())
        positive = Counter(v for v, outcome in zip(values[train].tolist(), y[train].tolist(), strict=True) if outcome)
        rates[test] = [
            positive[v] / seen[v] if v in seen else rates[i] for i, v in zip(test, values[test].tolist(), strict=True)
        ]
    return rates
