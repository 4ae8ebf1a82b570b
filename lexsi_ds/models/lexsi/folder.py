"""A model that lives on the platform, as it lies here: its card, how to reach it, and its training rows.

``card.json`` the card, ``lexsi.json`` project, model and columns, ``oof.arrow`` the training rows with their outcome,
held-out score and upload key. JSON and Arrow only. Must never hold a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import NotFound
from lexsi_ds.models.bundle import MARGIN, PROBABILITY, TARGET
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.conformal import Widths
from lexsi_ds.models.frames import as_numbers, column, entity_keys, read_frame, write_frame
from lexsi_ds.models.lexsi.rows import Rows
from lexsi_ds.models.lexsi.wire import Wire
from lexsi_ds.models.task import FeatureDef, TaskSpec

LINK = "lexsi.json"
KEYS = "_lexsi_key"
SCORE = "_lexsi_score"


class Link(Value):
    """Where the model is on the platform, and the columns it was trained on."""

    url: str
    organization: str
    project: str
    model: str
    """Its name on the platform, such as ``XGBoost_v1``."""
    model_type: str
    compute: str
    wire: Wire
    features: tuple[FeatureDef, ...]
    widths: Widths | None = None
    """Half-widths of the intervals of an amount, from rows held out."""
    folds: bool
    """Whether every training row has a score of a model that did not see it; else one fifth has."""


def columns_of(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Several columns of a frame whose names are unique."""
    return cast("pd.DataFrame", frame[names])


def is_platform_model(folder: Path) -> bool:
    """Whether this model lives on the platform."""
    return (folder / LINK).is_file()


@dataclass(frozen=True)
class PlatformFolder:
    """A model folder, opened."""

    folder: Path

    @cached_property
    def card(self) -> ModelCard:
        """The card."""
        return ModelCard.model_validate_json(self._text("card.json"))

    @cached_property
    def link(self) -> Link:
        """How the model is reached."""
        return Link.model_validate_json(self._text(LINK))

    @cached_property
    def training(self) -> pd.DataFrame:
        """The training rows in canonical order."""
        return read_frame(self.folder / "oof.arrow")

    @property
    def task(self) -> TaskSpec:
        """What it predicts."""
        return self.card.task

    def places(self, keys: np.ndarray) -> np.ndarray:
        """Position of each entity among the training rows, -1 for new ones. Shape (n,)."""
        known = {key: i for i, key in enumerate(entity_keys(column(self.training, self.task.entity_column)))}
        return np.array([known.get(key, -1) if key else -1 for key in keys], dtype=np.int64)

    def held_out(self) -> np.ndarray:
        """Score of each training row by a model that did not see it, NaN where there is none. Shape (n,)."""
        return as_numbers(column(self.training, SCORE))[0]

    def _text(self, name: str) -> str:
        path = self.folder / name
        if not path.is_file():
            raise NotFound("This model is not there any more.", where=self.folder.name, to_do="Train it again.")
        return path.read_text(encoding="utf-8")


def save(
    temporary: Path, folder: Path, card: ModelCard, link: Link, rows: Rows, scores: np.ndarray, keys: list[str]
) -> None:
    """Write the folder under its temporary name and rename it. ``scores`` (n,) held out; ``keys`` a row's upload key."""
    temporary.mkdir(parents=True)
    task = card.task
    names = [
        task.entity_column,
        *(c for c in task.display_columns if c in rows.frame),
        *(f.name for f in rows.features),
    ]
    chance = scores if task.kind == "binary" else np.full(len(scores), np.nan)
    inside = np.clip(chance, 1e-12, 1 - 1e-12)
    training = rows.frame[list(dict.fromkeys(names))].assign(
        **{TARGET: rows.y, PROBABILITY: chance, MARGIN: np.log(inside / (1 - inside)), SCORE: scores, KEYS: keys}
    )
    write_frame(training, temporary / "oof.arrow")
    (temporary / LINK).write_text(link.model_dump_json(), encoding="utf-8")
    (temporary / "card.json").write_text(card.model_dump_json(), encoding="utf-8")
    temporary.rename(folder)
