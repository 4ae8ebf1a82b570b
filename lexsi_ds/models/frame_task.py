"""A task from a frame and the name of its target: what the outcome is, what names a row, what dates it, what belongs
together, and which columns may be learnt from.

For any frame of a run, not only the one that the predictive writer states. Must never take a column that a person marked
as protected or masked, and never settle anything without a word on the task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Column
from lexsi_ds.errors import BadInput
from lexsi_ds.models.frames import as_words, column, entity_keys, is_date, is_textual
from lexsi_ds.models.moments import as_moments, is_dated_text
from lexsi_ds.models.targets import classes_of
from lexsi_ds.models.task import FeatureDef, FeatureKind, LeftOut, TaskSpec, TaskType

ROW = "row_number"
"""Name of the column that numbers the rows of a frame in which nothing names them."""
_KEY = re.compile(r"(^|_|\s)(id|uuid|guid|key)$|[a-z](Id|ID|Key)$", re.ASCII)
_TRUTHS = {"0", "1", "true", "false", "yes", "no"}
_MOST_PER_GROUP, _FEW_GROUPS = 20, 20


@dataclass(frozen=True)
class FrameTask:
    """The task, and the frame as it trains: with rows numbered or an outcome of two words as 0 and 1 where needed."""

    task: TaskSpec
    frame: pd.DataFrame


@dataclass(frozen=True)
class Wanted:
    """What is known beforehand."""

    target: str
    entity: str | None = None
    task_type: TaskType = "classification"
    title: str = ""
    question: str = ""
    label: str = "the frame"
    sql: str = ""


def task_of_frame(frame: pd.DataFrame, wanted: Wanted, marks: Mapping[str, Column] | None = None) -> FrameTask:
    """State the task. ``marks`` are columns of the source by lower-cased name; a frame's column of such a name has its
    marks."""
    doubled = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if doubled:
        raise BadInput(
            f"The frame has two columns of one name: {', '.join(doubled)}.", where=wanted.label,
            to_do="Give each column its own name in the query.",
        )  # fmt: skip
    notes: list[str] = []
    frame = frame.rename(columns=str)
    frame, classes, meaning = _outcome(frame, wanted, notes)
    time_column = _time_column(frame, wanted, notes)
    frame, entity = _entity(frame, wanted, time_column, notes)
    group = _group(frame, wanted.target, entity, notes)
    features, left_out = _features(frame, (wanted.target, entity, group), marks or {})
    if time_column is None:
        notes.append(
            "The frame carries no dates of its own: nothing proves that its columns were known before the outcome."
        )
    label = wanted.target.replace("_", " ")
    task = TaskSpec(
        title=wanted.title or f"Prediction of {wanted.target}", question=wanted.question, task_type=wanted.task_type,
        target_column=wanted.target, target_label=label, positive_meaning=meaning, entity_column=entity, entity_table="",
        entity_label="row", known_meaning=f"the {len(frame):,} rows of {wanted.label}",
        unknown_meaning="the rows that are scored", context_sql=wanted.sql, predict_sql="", features=features,
        left_out=left_out, notes=tuple(notes), classes=classes, group_column=group, time_column=time_column,
    )  # fmt: skip
    return FrameTask(task, frame)


def numbered(frame: pd.DataFrame, task: TaskSpec) -> pd.DataFrame:
    """A frame to score with its rows numbered where the training rows were."""
    if task.entity_column != ROW or ROW in frame.columns:
        return frame
    return frame.assign(**{ROW: [f"new {i}" for i in range(1, len(frame) + 1)]})


def _outcome(frame: pd.DataFrame, wanted: Wanted, notes: list[str]) -> tuple[pd.DataFrame, tuple[str, ...], str]:
    name = wanted.target
    if wanted.task_type == "regression":
        return frame, (), f"the value of {name}"
    values = column(frame, name)
    words = classes_of(values)
    if not words or {w.casefold() for w in words} <= _TRUTHS:
        return frame, (), f"{name} is 1"
    if len(words) == 2:
        positive = words[1]
        notes.append(f"{name} has two values; {positive}, the rarer, counts as the outcome.")
        read = as_words(values)
        truths = [None if w is None else int(w == positive) for w in read]
        return frame.assign(**{name: pd.Series(truths, dtype="Int64")}), (), f"{name} is {positive}"
    many = len(words) > _FEW_GROUPS and not is_textual(values)
    if many or is_date(values) or is_dated_text(values):
        raise BadInput(
            f"{name} has {len(words):,} different values: that is an amount or a date rather than a class.",
            where=name, to_do='Pass task_type "regression", or a column that says whether something happened.',
        )  # fmt: skip
    return frame, words, f"one of {len(words)} values of {name}"


def _time_column(frame: pd.DataFrame, wanted: Wanted, notes: list[str]) -> str | None:
    dated = [n for n in frame.columns if n not in (wanted.target, wanted.entity) and _dates(column(frame, n))]
    full = [n for n in dated if not pd.isna(as_moments(column(frame, n))).any()]
    if len(full) == 1:
        notes.append(f"Rows are dated by {full[0]}.")
        return full[0]
    if len(dated) > 1:
        notes.append(f"Several columns hold dates ({', '.join(dated[:4])}); none of them was taken to date the rows.")
    return None


def _dates(values: pd.Series) -> bool:
    return is_date(values) or is_dated_text(values)


def _entity(frame: pd.DataFrame, wanted: Wanted, time_column: str | None, notes: list[str]) -> tuple[pd.DataFrame, str]:
    if wanted.entity is not None:
        return frame, wanted.entity
    for name in frame.columns:
        values = column(frame, name)
        named = pd.api.types.is_integer_dtype(values.dtype) or (is_textual(values) and not is_dated_text(values))
        if name != wanted.target and named and values.notna().all() and values.is_unique:
            return frame, name
    if time_column is not None:
        repeated = [n for n in frame.columns if n != wanted.target and _groups(column(frame, n), n)]
        if repeated and not entity_keys(column(frame, repeated[0])).tolist().count(""):
            notes.append(f"{repeated[0]} occurs more than once: a row is one {repeated[0]} at one {time_column}.")
            return frame, repeated[0]
    notes.append("No column names a row, so rows are numbered.")
    return frame.assign(**{ROW: np.arange(1, len(frame) + 1)}), ROW


def _group(frame: pd.DataFrame, target: str, entity: str, notes: list[str]) -> str | None:
    """A key that repeats in few rows each: those rows are of one thing."""
    for name in frame.columns:
        if name not in (target, entity) and _groups(column(frame, name), name):
            notes.append(f"Rows of one {name} are held out together.")
            return name
    values = entity_keys(column(frame, entity))
    return entity if len(set(values.tolist())) < len(values) else None


def _groups(values: pd.Series, name: str) -> bool:
    if not _KEY.search(name) or is_date(values) or pd.api.types.is_float_dtype(values.dtype):
        return False
    distinct, n = values.nunique(), int(values.notna().sum())
    return _FEW_GROUPS <= distinct < n <= _MOST_PER_GROUP * distinct


def _features(
    frame: pd.DataFrame, beside: tuple[str | None, ...], marks: Mapping[str, Column]
) -> tuple[tuple[FeatureDef, ...], tuple[LeftOut, ...]]:
    features, left_out = [], []
    for name in frame.columns:
        if name in beside:
            continue
        mark = marks.get(name.casefold())
        if mark is not None and (mark.protected or mark.masked):
            reason = "protected" if mark.protected else "masked"
            detail = "A protected attribute: kept for fairness tests." if mark.protected else "It identifies a person."
            left_out.append(LeftOut(name=name, table="", reason=reason, detail=detail, approvable=mark.protected))
        else:
            label = name.replace("_", " ")
            features.append(FeatureDef(name=name, label=label, kind=_kind(column(frame, name)), expression=name))
    return tuple(features), tuple(left_out)


def _kind(values: pd.Series) -> FeatureKind:
    if pd.api.types.is_bool_dtype(values.dtype):
        return "boolean"
    if is_date(values) or is_textual(values):
        return "categorical"
    return "boolean" if values.dtype == object and {type(v) for v in values.dropna().tolist()} == {bool} else "numeric"
