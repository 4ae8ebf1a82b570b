"""A trained model on disk: one folder, written once under a temporary name and renamed, JSON and Arrow only.

``card.json`` the card, ``encoding.json`` how features become numbers, ``model.json`` the model on all training rows,
``calibration.json`` and ``conformal.json`` how margins become probabilities and amounts intervals, ``folds/`` the models
that did not see a fold, ``bootstrap/`` the refits behind the bands, ``oof.arrow`` the training rows with their outcome,
out-of-fold score, folds and which refits drew them. Must never hold pickled objects or be changed after the rename.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.models.calibrate import Calibrator
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.conformal import Widths
from lexsi_ds.models.encode import Encoding, read_columns
from lexsi_ds.models.estimators import Estimator, Outcome, load, softmax
from lexsi_ds.models.folds import Folds
from lexsi_ds.models.frames import column, entity_keys, need_columns, read_frame, write_frame
from lexsi_ds.models.moments import as_moments
from lexsi_ds.models.stability import Refits
from lexsi_ds.models.task import FeatureDef, TaskSpec

TARGET = "_lexsi_target"
PROBABILITY = "_lexsi_probability"
MARGIN = "_lexsi_margin"
PREDICTION = "_lexsi_prediction"
FOLDS = "_lexsi_folds"
DRAWN = "_lexsi_drawn"
"""Columns of ``oof.arrow`` beside the data's own; no data column is called so."""


@dataclass(frozen=True)
class Prepared:
    """Rows ready to be scored: their encoded matrix (n, p), and each row's position among the training rows or -1."""

    keys: np.ndarray
    x: np.ndarray
    position: np.ndarray
    unseen: dict[str, int]

    @property
    def trained(self) -> np.ndarray:
        """Which rows trained the model. Shape (n,), bool."""
        return self.position >= 0


class SavedModel:
    """A model folder, opened. Estimators are read when they are first needed."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "card.json").is_file():
            raise NotFound("This model is not there any more.", where=folder.name, to_do="Train it again.")
        self.folder = folder
        self.card = ModelCard.model_validate_json((folder / "card.json").read_text(encoding="utf-8"))
        self.encoding = Encoding.model_validate_json((folder / "encoding.json").read_text(encoding="utf-8"))

    @cached_property
    def final(self) -> Estimator:
        """The model on all training rows."""
        return load(self.folder / "model.json", self.card.model_type)

    @cached_property
    def fold_models(self) -> list[Estimator]:
        """The models that did not see a fold, a repeat's after the other's."""
        return _load_all(self.folder / "folds", self.card.model_type)

    @cached_property
    def refits(self) -> Refits:
        """The bootstrap models and which training rows each drew."""
        models = tuple(_load_all(self.folder / "bootstrap", self.card.model_type))
        packed = np.stack([np.frombuffer(bits, dtype=np.uint8) for bits in self.training[DRAWN]])
        return Refits(models, np.unpackbits(packed, axis=1, count=len(models)).astype(bool))

    @cached_property
    def training(self) -> pd.DataFrame:
        """The training rows in canonical order."""
        return read_frame(self.folder / "oof.arrow")

    @cached_property
    def folds(self) -> Folds:
        """Which fold held each training row out."""
        return Folds(self.card.folds, np.stack([np.asarray(f, dtype=np.int8) for f in self.training[FOLDS]]))

    @cached_property
    def features(self) -> tuple[FeatureDef, ...]:
        """Definitions of the encoded features, in encoded order."""
        known = {stats.feature.name: stats.feature for stats in self.card.features}
        return tuple(known[name] for name in self.encoding.names)

    def _places(self, dated: bool) -> dict[str, int]:
        """Where each training row is; made once, since of a million rows it takes longer than to score one."""
        kept: dict[bool, dict[str, int]] = self.__dict__.setdefault("_places_kept", {})
        if dated not in kept:
            kept[dated] = places_of(self.training, self.card.task, dated)
        return kept[dated]

    @property
    def link(self) -> Callable[[np.ndarray], np.ndarray]:
        """What turns margins into probabilities, calibrated where the card says so; margins of an amount are the
        amount."""
        if self.outcome.kind == "regression":
            return np.asarray
        return softmax if self.outcome.kind == "multiclass" else self.calibrator

    @property
    def outcome(self) -> Outcome:
        """What it predicts."""
        task = self.card.task
        sizes = {"binary": 2, "multiclass": len(task.classes), "regression": 0}
        return Outcome(task.kind, sizes[task.kind])

    @cached_property
    def calibrator(self) -> Calibrator:
        """How log-odds become probabilities; the logistic function where nothing was learnt."""
        path = self.folder / "calibration.json"
        return Calibrator.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else Calibrator()

    @cached_property
    def widths(self) -> Widths | None:
        """How wide the interval of an amount is; None of other outcomes."""
        path = self.folder / "conformal.json"
        return Widths.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else None

    def prepare(self, frame: pd.DataFrame) -> Prepared:
        """Read and encode the rows of a frame; refuse an empty one, one without the entity or a feature, or values of
        another kind."""
        task = self.card.task
        if frame.empty:
            raise BadInput(
                "There are no rows to score.", to_do=f"Ask for a group that has at least one {task.entity_label}."
            )
        need_columns(frame, [task.entity_column, *self.encoding.names], "The frame to score")
        keys = entity_keys(column(frame, task.entity_column))
        columns = read_columns(frame, self.features)
        position = positions(frame, self.training, task, self._places)
        return Prepared(keys, self.encoding.matrix(columns), position, self.encoding.unseen(columns))

    def margin(self, rows: Prepared) -> np.ndarray:
        """Margins of the final model, or out of fold for rows that trained it. Shape (n,), or (n, K) of several
        classes."""
        result = np.zeros(self._shape(len(rows.x)))
        for model, here, weight in self.parts(rows):
            result[here] += weight * model.margin(rows.x[here])
        return result

    def contributions(self, rows: Prepared) -> tuple[np.ndarray, np.ndarray]:
        """Base value (n,) and SHAP values on the margin, one a source column in encoded order (n, features); the
        encoded columns of a feature are summed with their signs. They add up to ``margin``: out of fold both are means
        over the same models."""
        base = np.zeros(self._shape(len(rows.x)))
        values = np.zeros((len(rows.x), len(self.encoding.features), *base.shape[1:]))
        starts = np.flatnonzero(np.diff(self.encoding.groups, prepend=-1))
        for model, here, weight in self.parts(rows):
            model_base, parts = model.contributions(rows.x[here])
            base[here] += weight * model_base
            values[here] += weight * np.add.reduceat(parts, starts, axis=1)
        return base, values

    def _shape(self, n: int) -> tuple[int, ...]:
        return (n, self.outcome.classes) if self.outcome.kind == "multiclass" else (n,)

    def parts(self, rows: Prepared) -> list[tuple[Estimator, np.ndarray, float]]:
        """Which model scores which rows with what weight: the final one the new rows, fold models those they did not
        see."""
        new = np.flatnonzero(~rows.trained)
        parts: list[tuple[Estimator, np.ndarray, float]] = [(self.final, new, 1.0)] if len(new) else []
        if not rows.trained.any():
            return parts
        folds = self.folds
        for repeat in range(folds.repeats):
            held_out = np.where(rows.trained, folds.of[rows.position, repeat], -1)
            for fold in range(folds.count):
                here = np.flatnonzero(held_out == fold)
                if len(here):
                    parts.append((self.fold_models[folds.model(repeat, fold)], here, 1.0 / folds.repeats))
        return parts


@dataclass(frozen=True)
class Parts:
    """Everything that goes into a model folder."""

    card: ModelCard
    encoding: Encoding
    final: Estimator
    fold_models: Sequence[Estimator]
    refits: Refits
    training: pd.DataFrame
    calibrator: Calibrator
    widths: Widths | None


def positions(
    frame: pd.DataFrame, training: pd.DataFrame, task: TaskSpec, places: Callable[[bool], dict[str, int]] | None = None
) -> np.ndarray:
    """Each row's position among the training rows, or -1. Where rows have a moment it tells those of one entity apart: a row
    of a known entity at another moment is a new one, such as a customer at a later cut-off. ``places`` gives those of the
    training rows, where they are kept. Shape (n,)."""
    moment = task.moment_column
    dated = bool(moment and moment in frame.columns and moment in training.columns)
    own = _keys(frame, task, dated)
    known = places(dated) if places is not None else places_of(training, task, dated)
    return np.array([known.get(key, -1) for key in own], dtype=np.int64)


def places_of(training: pd.DataFrame, task: TaskSpec, dated: bool) -> dict[str, int]:
    """Position of each training row by its id, and its moment where rows are told apart by it."""
    return {key: i for i, key in enumerate(_keys(training, task, dated))}


def _keys(frame: pd.DataFrame, task: TaskSpec, dated: bool) -> np.ndarray:
    keys = entity_keys(column(frame, task.entity_column))
    moment = task.moment_column
    return _dated(keys, as_moments(column(frame, moment))) if dated and moment else keys


def _dated(keys: np.ndarray, moments: np.ndarray) -> np.ndarray:
    return np.array([f"{key}\x1f{moment}" for key, moment in zip(keys, moments.astype(str), strict=True)], dtype=object)


def save(parts: Parts, temporary: Path, folder: Path) -> None:
    """Write the folder under its temporary name and rename it: it is there whole or not at all."""
    for place in (temporary, temporary / "folds", temporary / "bootstrap"):
        place.mkdir(parents=True)
    parts.final.save(temporary / "model.json")
    for place, models in (("folds", parts.fold_models), ("bootstrap", parts.refits.models)):
        for number, model in enumerate(models):
            model.save(temporary / place / f"{number:03}.json")
    (temporary / "encoding.json").write_text(parts.encoding.model_dump_json(), encoding="utf-8")
    if parts.calibrator != Calibrator():
        (temporary / "calibration.json").write_text(parts.calibrator.model_dump_json(), encoding="utf-8")
    if parts.widths is not None:
        (temporary / "conformal.json").write_text(parts.widths.model_dump_json(), encoding="utf-8")
    packed = np.packbits(parts.refits.drawn, axis=1)
    write_frame(parts.training.assign(**{DRAWN: [row.tobytes() for row in packed]}), temporary / "oof.arrow")
    (temporary / "card.json").write_text(parts.card.model_dump_json(), encoding="utf-8")
    temporary.rename(folder)


def _load_all(folder: Path, model_type: str) -> list[Estimator]:
    return [load(path, model_type) for path in sorted(folder.glob("*.json"))]
