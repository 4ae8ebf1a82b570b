"""Scores of a frame by a model on the platform: every row, ranked inside its segment, without bands.

A training row that was held out keeps the score it got then and is not sent again; one that trained is scored in sample and
says so. Must never drop a row, or send a column that the model does not use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.models.conformal import Widths
from lexsi_ds.models.encode import read_columns
from lexsi_ds.models.engine import PREDICTION_COLUMNS, prediction_columns
from lexsi_ds.models.frames import as_words, canonical_order, column, entity_keys, need_columns
from lexsi_ds.models.lexsi.compute import scoring_compute
from lexsi_ds.models.lexsi.folder import PlatformFolder
from lexsi_ds.models.lexsi.names import tag_name
from lexsi_ds.models.lexsi.platform import infer, upload
from lexsi_ds.models.lexsi.project import opened
from lexsi_ds.models.lexsi.scores import Scores, read_scores
from lexsi_ds.models.lexsi.session import Session
from lexsi_ds.models.lexsi.wire import fresh_keys
from lexsi_ds.models.task import TaskSpec

IN_SAMPLE = "in_sample"
"""A value of the column ``scored``: the row trained the model, and the platform has no model that did not see it."""


@dataclass(frozen=True)
class Scored:
    """The predictions frame, ranked rows first."""

    frame: pd.DataFrame
    ranked: int
    notes: tuple[str, ...]


def score(
    session: Session, model: PlatformFolder, frame: pd.DataFrame, compute: str | None, threshold: float | None = None
) -> Scored:
    """Score all rows of a frame (one a row of the entity). ``threshold``: from which probability on ``prediction`` is 1; the
    card's when left out."""
    task, link = model.task, model.link
    if frame.empty:
        raise BadInput(
            "There are no rows to score.", to_do=f"Ask for a group that has at least one {task.entity_label}."
        )
    need_columns(frame, [task.entity_column, *(f.name for f in link.features)], "The frame to score")
    keys = entity_keys(column(frame, task.entity_column))
    places = model.places(keys)
    held = model.held_out()
    values = np.where(places >= 0, held[places], np.nan)
    sent = np.flatnonzero(~np.isfinite(values))
    notes: list[str] = []
    if len(sent):
        session.stage(0, 1, f"Scoring {len(sent):,} rows on the Lexsi platform")
        used, said = scoring_compute(session, compute, link.compute)
        found = Uploaded.of(session, model, frame.iloc[sent]).scores(session, model, used)
        values[sent] = found.values
        notes += (*said, *found.notes)
    scored = np.where(places < 0, "model", np.where(np.isfinite(held[places]), "out_of_fold", IN_SAMPLE))
    flag_from = model.card.threshold.value if threshold is None else threshold
    table, ranked = _table(frame, task, keys, values, scored, flag_from, link.widths)
    return Scored(table, ranked, (*notes, *_notes(model, frame, scored, len(sent))))


@dataclass(frozen=True)
class Uploaded:
    """Rows that are on the platform under a tag and keys of their own."""

    project: object
    tag: str
    keys: list[str]
    columns: frozenset[str]

    @classmethod
    def of(cls, session: Session, model: PlatformFolder, rows: pd.DataFrame) -> Uploaded:
        """Send the model's features of these rows; nothing else of them leaves."""
        link = model.link
        project = opened(session, link.project)
        table = link.wire.frame(read_columns(rows, link.features), keys := fresh_keys(len(rows)))
        tag = tag_name("predict", new_id("tag"))
        upload(session, project, tag, table)
        return cls(project, tag, keys, frozenset(map(str, table.columns)))

    def scores(self, session: Session, model: PlatformFolder, compute: str | None = None) -> Scores:
        """Their scores, checked."""
        found = infer(session, self.project, self.tag, model.link.model, compute or model.link.compute)
        return read_scores(found, self.keys, model.task.kind, self.columns)


def _table(
    frame: pd.DataFrame,
    task: TaskSpec,
    keys: np.ndarray,
    values: np.ndarray,
    scored: np.ndarray,
    threshold: float,
    widths: Widths | None,
) -> tuple[pd.DataFrame, int]:
    apart, n = _apart(frame, task), len(values)
    place = np.empty(n, dtype=np.int64)
    place[canonical_order(keys)] = np.arange(n)
    order = np.lexsort((place, -values, apart))
    rank = np.empty(n, dtype=np.int64)
    for segment in (~apart, apart):
        members = order[segment[order]]
        rank[members] = np.arange(1, len(members) + 1)
    amounts = task.kind == "regression"
    nothing = pd.Series([None] * n, dtype="Float64")
    half = None if widths is None else widths.at(values)
    own = {
        "rank": rank,
        "segment": np.where(apart, "apart", "ranked"),
        "prediction": values if amounts else (values >= threshold).astype(np.int64),
        "probability": nothing if amounts else values,
        "rank_low": nothing.astype("Int64"),
        "rank_high": nothing.astype("Int64"),
        "scored": scored,
        "prediction_low": nothing if half is None else values - half,
        "prediction_high": nothing if half is None else values + half,
    }
    shown = {name: own.get(name, nothing) for name in prediction_columns(task.kind)}
    table = frame[[task.entity_column]].reset_index(drop=True).assign(**shown)
    for name in task.display_columns:
        if name in frame.columns and name != task.entity_column:
            table[f"{name} (data)" if name in PREDICTION_COLUMNS else name] = frame[name].reset_index(drop=True)
    return table.iloc[order].reset_index(drop=True), int((~apart).sum())


def _apart(frame: pd.DataFrame, task: TaskSpec) -> np.ndarray:
    if task.apart is None:
        return np.zeros(len(frame), dtype=bool)
    need_columns(frame, [task.apart.column], "The frame to score")
    value = as_words(pd.Series([task.apart.value], dtype=object))[0]
    return as_words(column(frame, task.apart.column)) == value


def _notes(model: PlatformFolder, frame: pd.DataFrame, scored: np.ndarray, sent: int) -> list[str]:
    said = [f"{sent:,} of {len(frame):,} rows were sent to the Lexsi platform; it gives no bands around a score."]
    inside, outside = int((scored == IN_SAMPLE).sum()), int((scored == "out_of_fold").sum())
    if inside:
        said.append(
            f"{inside:,} rows trained the model, and the platform has no model that did not see them: "
            "their scores flatter the model."
        )
    if outside:
        said.append(f"{outside:,} rows were held out at training; they keep the score they got then.")
    for feature in model.link.features:
        if feature.kind == "categorical":
            known = set(as_words(column(model.training, feature.name)).tolist())
            new = int(np.sum([w is not None and w not in known for w in as_words(column(frame, feature.name))]))
            if new:
                said.append(f"{new:,} rows have a value of {feature.name} that training never saw.")
    return said
