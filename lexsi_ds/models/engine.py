"""The one protocol of model engines. Local, Lexsi and Dask engines look the same to whoever trains, predicts or
explains."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pydantic import Field

from lexsi_ds.data.handle import DatasetHandle, Value
from lexsi_ds.models.card import Comparability, ModelCard
from lexsi_ds.models.task import TaskKind, TaskSpec

PREDICTION_COLUMNS = (
    "rank",
    "segment",
    "prediction",
    "probability",
    "probability_low",
    "probability_high",
    "rank_low",
    "rank_high",
    "top_share",
    "scored",
)
"""Columns of a predictions frame after the entity column, in this order; the task's display columns follow.

``rank`` 1 is the highest probability inside its ``segment`` ("ranked" or "apart"); ``prediction`` is 1 from a
probability of 0.5 on, else 0; ``probability_low`` to ``_high`` is the 80% band over bootstrap models, ``rank_low`` to
``rank_high`` the 80% band of the rank, ``top_share`` the share of bootstrap models that put the row into the top 10 of
its segment; ``scored`` is "model" or "out_of_fold" (the row trained the model, so a model that did not see it scored
it). A display column with one of these names gets " (data)" behind its own. Of several classes ``prediction`` is the
word of the likeliest and ``probability`` its probability; of an amount ``prediction`` is the amount, all three
probabilities are null and rank 1 is the largest."""
INTERVAL_COLUMNS = ("prediction_low", "prediction_high")
"""What follows ``PREDICTION_COLUMNS`` for an amount: its conformal interval."""


def class_column(word: str) -> str:
    """Name of the column that holds the probability of one of several classes."""
    return f"p: {word}"


def prediction_columns(kind: TaskKind, classes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The columns of a predictions frame between the entity and the display columns."""
    more = INTERVAL_COLUMNS if kind == "regression" else tuple(class_column(word) for word in classes)
    return (*PREDICTION_COLUMNS, *more)


class ModelRef(Value):
    """Where a trained model lives: a folder with ``card.json``, the library's own JSON, and the out-of-fold
    predictions."""

    id: str
    folder: Path


class Predictions(Value):
    """Scores of a frame: an Arrow file with ``PREDICTION_COLUMNS``, and its counts."""

    path: Path
    rows: int
    ranked: int
    top_overlap: float
    """Mean share of the top 10 that a bootstrap model keeps: how stable the list is, from 0 to 1."""
    refits: int = 0
    """Bootstrap models behind the bands."""
    notes: tuple[str, ...] = ()
    """What scoring met, in sentences: words never seen in training, columns ignored, rows scored out of fold."""
    comparability: Comparability | None = None
    """These rows beside the rows that trained the model; its sentences are headlines."""


class CaseDriver(Value):
    """One feature's part in one prediction."""

    feature: str
    label: str
    value: float | str | bool | None
    unit: str | None
    contribution: float
    """On ``CaseExplanation.scale``."""
    margin: float
    """SHAP value on the margin (log-odds)."""
    lower_share: float | None = None
    """Share of the training rows (those with a value) that have a lower one, 0 to 1; None for words and missing
    values."""
    higher_share: float | None = None
    """The same for a higher one; what is left over is equal."""
    shares_with: tuple[str, ...] = ()
    """Labels of features that move together with this one in training: they divide their credit arbitrarily."""


class CaseExplanation(Value):
    """Why one row got its score. ``base_value`` + sum of contributions = ``prediction`` on ``scale``; the same holds
    for ``base_margin``, the drivers' margins and ``margin`` to 1e-4."""

    case_id: str
    scale: str
    """``probability`` (a linear rescaling of the log-odds SHAP values, named as such), ``log-odds``, or ``value`` (units
    of the target)."""
    base_value: float
    prediction: float
    base_margin: float
    margin: float
    drivers: tuple[CaseDriver, ...]
    """Largest absolute contribution first; all features."""
    scored: str
    """``model`` or ``out_of_fold``."""
    display: dict[str, Any]
    """The task's display columns of this row."""
    summary: str | None = None
    facts: dict[str, float | int | str] = Field(default_factory=dict)
    """Every number that ``summary`` cites."""
    output: str | None = None
    """The class explained, where there are several."""
    method: str = ""
    """How the contributions were computed, in words."""
    engine_summary: str | None = None
    """The engine's own reading, where it has one: the Lexsi platform's. Its numbers are not checked."""


class BeeswarmFeature(Value):
    """One feature's points in a beeswarm; the tuples are parallel to ``GlobalExplanation.case_ids``."""

    feature: str
    label: str
    unit: str | None
    mean_abs: float
    """Mean |contribution| on the scale: the importance."""
    contributions: tuple[float, ...]
    values: tuple[float | None, ...]
    """Feature value scaled to 0..1 by rank, for colour; None where missing, and for words."""
    raw: tuple[float | str | bool | None, ...]


class GlobalExplanation(Value):
    """What moves the model over many rows; most important feature first."""

    scale: str
    base_value: float
    rows: int
    """Rows explained."""
    of_rows: int
    """Rows there are; when larger than ``rows`` the rest was left out by a seeded sample, and the page says so."""
    case_ids: tuple[str, ...]
    features: tuple[BeeswarmFeature, ...]
    output: str | None = None
    """The class explained, where there are several."""
    method: str = ""
    """How the contributions were computed, in words."""


def origin_of(handle: DatasetHandle | None, model_id: str, run_id: str | None, version: int) -> dict[str, Any]:
    """Where a training comes from, as a worker is told: the fields of ``training_card.Origin``."""
    origin: dict[str, Any] = {"model_id": model_id, "run_id": run_id, "version": version}
    if handle is not None:
        origin |= {
            "source_id": handle.source_id,
            "source_name": handle.name,
            "snapshot_id": handle.snapshot_id,
            "snapshot_number": handle.snapshot_number,
        }
    return origin


class ModelEngine(Protocol):
    """Trains and uses models. Every method may raise ModelRefused, BadInput, WorkerFailed or Stopped."""

    def train(
        self, frame: pd.DataFrame, task: TaskSpec, *, model_type: str | None = None
    ) -> tuple[ModelRef, ModelCard]:
        """Train on the context frame (n rows, one a row of the entity)."""
        ...

    def predict(self, ref: ModelRef, frame: pd.DataFrame) -> Predictions:
        """Score every row of the predict frame; none is dropped."""
        ...

    def explain(self, ref: ModelRef, rows: pd.DataFrame, *, scale: str = "probability") -> list[CaseExplanation]:
        """Explain each row, in order."""
        ...

    def explain_global(self, ref: ModelRef, frame: pd.DataFrame, *, scale: str = "probability") -> GlobalExplanation:
        """Importance and beeswarm over a frame."""
        ...

    def similar(self, ref: ModelRef, rows: pd.DataFrame, *, k: int = 5) -> list[list[dict[str, Any]]]:
        """For each row the k nearest training rows: entity, distance, outcome, out-of-fold probability, display
        columns."""
        ...
