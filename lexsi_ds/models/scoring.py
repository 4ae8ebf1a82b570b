"""Scores of a frame: every row, ranked inside its segment, with bands from the bootstrap refits.

A row that trained the model is scored by models that did not see it, and says so. Must never drop a row or score a
training row with the model it trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lexsi_ds.models.assessment import Comparability
from lexsi_ds.models.bundle import Prepared, SavedModel
from lexsi_ds.models.comparability import Side, compare
from lexsi_ds.models.encode import read_columns
from lexsi_ds.models.engine import INTERVAL_COLUMNS, class_column, prediction_columns
from lexsi_ds.models.estimators import Estimator, side_by_side
from lexsi_ds.models.frames import as_words, canonical_order, column, need_columns
from lexsi_ds.models.moments import as_moments
from lexsi_ds.models.stability import bands
from lexsi_ds.models.task import TaskSpec

_MANY_ROWS, _FEW_REFITS = 200_000, 20


@dataclass(frozen=True)
class ScoredFrame:
    """The predictions frame, ranked rows first, and what is to be said about it."""

    frame: pd.DataFrame
    ranked: int
    top_overlap: float
    refits: int
    notes: tuple[str, ...]
    comparability: Comparability | None = None


@dataclass(frozen=True)
class _Told:
    """What the model says of rows: the figure they are ranked by (n,), and probabilities a class (n, K) where several."""

    score: np.ndarray
    shares: np.ndarray | None

    def of(self, model: SavedModel, margin: np.ndarray) -> np.ndarray:
        """The same figure from other margins: of several classes, that of the class said here. Shape (n,)."""
        told = model.link(margin)
        if self.shares is None:
            return told
        return told[np.arange(len(told)), self.shares.argmax(axis=1)]


def score(
    model: SavedModel,
    frame: pd.DataFrame,
    threads: int,
    say: Callable[[dict[str, Any]], None],
    threshold: float | None = None,
) -> ScoredFrame:
    """Score all rows of a frame (one a row of the entity) and rank them inside their segments. ``threshold`` is the
    probability from which on ``prediction`` is 1; the card's when left out."""
    task = model.card.task
    rows = model.prepare(frame)
    told = _tell(model, model.margin(rows))
    values = told.score
    refits = _refit_scores(model, rows, told, threads, say)
    place = np.empty(len(values), dtype=np.int64)
    place[canonical_order(rows.keys)] = np.arange(len(values))
    apart = _apart(frame, task)
    columns = {name: np.zeros(len(values)) for name in ("rank", "low", "high", "rank_low", "rank_high", "top_share")}
    overlap = float("nan")
    for segment in (~apart, apart):
        here = np.flatnonzero(segment)
        if len(here):
            found = bands(values[here], refits[:, here], place[here])
            for name, column in columns.items():
                column[here] = getattr(found, name)
            overlap = found.top_overlap if np.isnan(overlap) else overlap
    said = _said(model, told, columns, model.card.threshold.value if threshold is None else threshold)
    table = _table(frame, task, rows, {**columns, **said}, apart)
    notes = _notes(model, frame, rows, len(refits))
    compared = _compared(model, frame, rows)
    return ScoredFrame(table, int((~apart).sum()), 0.0 if np.isnan(overlap) else overlap, len(refits), notes, compared)


def _tell(model: SavedModel, margin: np.ndarray) -> _Told:
    told = model.link(margin)
    return _Told(told.max(axis=1), told) if told.ndim == 2 else _Told(told, None)


def _compared(model: SavedModel, frame: pd.DataFrame, rows: Prepared) -> Comparability | None:
    """The rows that did not train beside those that did."""
    new = np.flatnonzero(~rows.trained)
    if not len(new):
        return None
    task, training = model.card.task, model.training
    moment = task.moment_column
    fresh = frame.iloc[new]
    sides = []
    for part in (training, fresh):
        dates = as_moments(column(part, moment)) if moment and moment in part.columns else None
        sides.append(Side(read_columns(part, model.features, strict=False), dates))
    return compare(sides[0], sides[1], model.features, model.encoding, task, model.card.seed)


def _refit_scores(
    model: SavedModel, rows: Prepared, told: _Told, threads: int, say: Callable[[dict[str, Any]], None]
) -> np.ndarray:
    """The same figure by each refit, NaN where it drew the row. Shape (b, n)."""
    refits = model.refits
    models: tuple[Estimator, ...] = refits.models[:_FEW_REFITS] if len(rows.x) > _MANY_ROWS else refits.models

    def job(b: int) -> Callable[[], np.ndarray]:
        def scores() -> np.ndarray:
            values = told.of(model, models[b].margin(rows.x))
            if rows.trained.any():
                values[rows.trained] = np.where(
                    refits.drawn[rows.position[rows.trained], b], np.nan, values[rows.trained]
                )
            return values

        return scores

    def done(number: int) -> None:
        say({"done": number, "total": len(models), "text": "Scoring with the refits"})

    return np.stack(side_by_side([job(b) for b in range(len(models))], threads, done))


def _apart(frame: pd.DataFrame, task: TaskSpec) -> np.ndarray:
    if task.apart is None:
        return np.zeros(len(frame), dtype=bool)
    need_columns(frame, [task.apart.column], "The frame to score")
    value = as_words(pd.Series([task.apart.value], dtype=object))[0]
    return as_words(column(frame, task.apart.column)) == value


def _said(model: SavedModel, told: _Told, columns: dict[str, np.ndarray], threshold: float) -> dict[str, np.ndarray]:
    """Prediction and probability columns, as the kind of outcome has them."""
    kind, values = model.card.task.kind, told.score
    shown = {"probability": values, "probability_low": columns["low"], "probability_high": columns["high"]}
    if kind == "binary":
        return {**shown, "prediction": (values >= threshold).astype(np.int64)}
    if told.shares is not None:
        classes = model.card.task.classes
        shares = {class_column(word): told.shares[:, k] for k, word in enumerate(classes)}
        return {**shown, "prediction": np.array(classes, dtype=object)[told.shares.argmax(axis=1)], **shares}
    half = model.widths.at(values) if model.widths is not None else np.full(len(values), np.nan)
    low, high = INTERVAL_COLUMNS
    nothing = dict.fromkeys(shown, np.full(len(values), np.nan))
    return {**nothing, "prediction": values, low: values - half, high: values + half}


def _table(
    frame: pd.DataFrame, task: TaskSpec, rows: Prepared, columns: dict[str, np.ndarray], apart: np.ndarray
) -> pd.DataFrame:
    names = prediction_columns(task.kind, task.classes)
    own = {
        **columns,
        "rank": columns["rank"].astype(np.int64),
        "segment": np.where(apart, "apart", "ranked"),
        "rank_low": columns["rank_low"].astype(np.int64),
        "rank_high": columns["rank_high"].astype(np.int64),
        "top_share": columns["top_share"],
        "scored": np.where(rows.trained, "out_of_fold", "model"),
    }
    table = frame[[task.entity_column]].reset_index(drop=True).assign(**{name: own[name] for name in names})
    for name in task.display_columns:
        if name in frame.columns and name != task.entity_column:
            table[f"{name} (data)" if name in names else name] = frame[name].reset_index(drop=True)
    order = np.lexsort((table["rank"].to_numpy(), apart))
    return table.iloc[order].reset_index(drop=True)


def _notes(model: SavedModel, frame: pd.DataFrame, rows: Prepared, refits: int) -> tuple[str, ...]:
    task = model.card.task
    notes = []
    trained = int(rows.trained.sum())
    if trained:
        notes.append(f"{trained:,} of {len(frame):,} rows trained the model; models that did not see them scored them.")
    for name, count in rows.unseen.items():
        notes.append(
            f"{count:,} rows have a value of {name} that training never saw; it counts as none of the known ones."
        )
    used = {
        task.entity_column,
        task.target_column,
        task.cutoff_column,
        task.time_column,
        task.group_column,
        *model.encoding.names,
        *task.display_columns,
    }
    used |= {out.name for out in task.left_out} | ({task.apart.column} if task.apart else set())
    used |= {f.name for f in task.features}
    ignored = [str(name) for name in frame.columns if name not in used]
    if ignored:
        notes.append(f"Columns that the task does not name were ignored: {', '.join(ignored)}.")
    if len(frame) > _MANY_ROWS:
        notes.append(f"The bands come from {refits} refits, because there are more than {_MANY_ROWS:,} rows.")
    return tuple(notes)
