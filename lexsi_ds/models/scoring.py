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

from lexsi_ds.models.bundle import Prepared, SavedModel
from lexsi_ds.models.engine import PREDICTION_COLUMNS
from lexsi_ds.models.estimators import probability, side_by_side
from lexsi_ds.models.frames import as_words, canonical_order, column, need_columns
from lexsi_ds.models.stability import bands
from lexsi_ds.models.task import TaskSpec

THRESHOLD = 0.5
_MANY_ROWS, _FEW_REFITS = 200_000, 20


@dataclass(frozen=True)
class ScoredFrame:
    """The predictions frame, ranked rows first, and what is to be said about it."""

    frame: pd.DataFrame
    ranked: int
    top_overlap: float
    refits: int
    notes: tuple[str, ...]


def score(model: SavedModel, frame: pd.DataFrame, threads: int, say: Callable[[dict[str, Any]], None]) -> ScoredFrame:
    """Score all rows of a frame (one a row of the entity) and rank them inside their segments."""
    task = model.card.task
    rows = model.prepare(frame)
    values = probability(model.margin(rows))
    refits = _refit_scores(model, rows, threads, say)
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
    table = _table(frame, task, rows, values, apart, columns)
    notes = _notes(model, frame, rows, len(refits))
    return ScoredFrame(table, int((~apart).sum()), 0.0 if np.isnan(overlap) else overlap, len(refits), notes)


def _refit_scores(model: SavedModel, rows: Prepared, threads: int, say: Callable[[dict[str, Any]], None]) -> np.ndarray:
    """Probabilities by each refit, NaN where it drew the row. Shape (b, n)."""
    refits = model.refits
    models = refits.models[:_FEW_REFITS] if len(rows.x) > _MANY_ROWS else refits.models

    def job(b: int) -> Callable[[], np.ndarray]:
        def scores() -> np.ndarray:
            values = probability(models[b].margin(rows.x))
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


def _table(
    frame: pd.DataFrame,
    task: TaskSpec,
    rows: Prepared,
    values: np.ndarray,
    apart: np.ndarray,
    columns: dict[str, np.ndarray],
) -> pd.DataFrame:
    own = {
        "rank": columns["rank"].astype(np.int64),
        "segment": np.where(apart, "apart", "ranked"),
        "prediction": (values >= THRESHOLD).astype(np.int64),
        "probability": values,
        "probability_low": columns["low"],
        "probability_high": columns["high"],
        "rank_low": columns["rank_low"].astype(np.int64),
        "rank_high": columns["rank_high"].astype(np.int64),
        "top_share": columns["top_share"],
        "scored": np.where(rows.trained, "out_of_fold", "model"),
    }
    table = (
        frame[[task.entity_column]].reset_index(drop=True).assign(**{name: own[name] for name in PREDICTION_COLUMNS})
    )
    for name in task.display_columns:
        if name in frame.columns and name != task.entity_column:
            table[f"{name} (data)" if name in PREDICTION_COLUMNS else name] = frame[name].reset_index(drop=True)
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
    used = {task.entity_column, task.target_column, task.cutoff_column, *model.encoding.names, *task.display_columns}
    used |= {out.name for out in task.left_out} | ({task.apart.column} if task.apart else set())
    used |= {f.name for f in task.features}
    ignored = [str(name) for name in frame.columns if name not in used]
    if ignored:
        notes.append(f"Columns that the task does not name were ignored: {', '.join(ignored)}.")
    if len(frame) > _MANY_ROWS:
        notes.append(f"The bands come from {refits} refits, because there are more than {_MANY_ROWS:,} rows.")
    return tuple(notes)
