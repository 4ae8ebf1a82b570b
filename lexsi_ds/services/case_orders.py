"""The cases of a model in another order than by risk: by how wrong it was, by how unsure it is; and those of a band of scores.

Reads what is on disk already: the predictions and the training rows with their out-of-fold scores. Must never take a score
of a model that saw the row for an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import MARGIN, PREDICTION, PROBABILITY, TARGET
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.frames import entity_keys
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import Models

MOST_BAND = 20_000
"""Most cases of a band of scores: their ids travel with every view of it."""
_MOST_ROWS = 200_000


class OrderedCase(Value):
    """One case and why it stands where it stands."""

    case_id: str
    measure: float
    """The error, or the width of the band; between 0 and 1 unless the outcome is an amount."""
    note: str
    """In words: "0.08, was default"."""


class CaseOrders:
    """Cases of registered models by error or uncertainty. All methods raise NotFound for what is not there."""

    def __init__(self, models: Models) -> None:
        self._models = models

    def by_error(self, actor: Actor, card: ModelCard, limit: int = 200) -> tuple[OrderedCase, ...]:
        """Training rows by how far their out-of-fold score was from what became of them, worst first."""
        path = self._models.ref(actor, card.id).folder / "oof.arrow"
        if not path.is_file():
            return ()
        wanted = [card.task.entity_column, TARGET, PROBABILITY, MARGIN, PREDICTION]
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_stream(source).read_all()
            frame = table.select([n for n in dict.fromkeys(wanted) if n in table.column_names]).to_pandas()
        error = _errors(card, frame)
        top = np.argsort(-np.nan_to_num(error, nan=-1.0), kind="stable")[:limit]
        ids = entity_keys(frame[card.task.entity_column].iloc[top])
        return tuple(
            OrderedCase(case_id=str(case), measure=float(error[i]), note=_was(card, frame.iloc[i]))
            for case, i in zip(ids, top, strict=True) if np.isfinite(error[i])
        )  # fmt: skip

    def by_uncertainty(self, actor: Actor, card: ModelCard, limit: int = 200) -> tuple[OrderedCase, ...]:
        """Scored rows by how unsure the model is: the widest band first, or the least likely class of several."""
        latest = self._models.latest_predictions(actor, card.id)
        if latest is None:
            return ()
        frame, _ = self._models.page(actor, latest.id, limit=_MOST_ROWS)
        if card.task.kind == "multiclass":
            measure = 1 - frame["probability"].to_numpy(dtype=float)
        else:
            low, high = ("prediction_low", "prediction_high") if card.task.kind == "regression" else (
                "probability_low", "probability_high")  # fmt: skip
            if low not in frame.columns:
                return ()
            measure = (frame[high].astype(float) - frame[low].astype(float)).to_numpy()
        top = np.argsort(-np.nan_to_num(measure, nan=-1.0), kind="stable")[:limit]
        ids = entity_keys(frame[latest.entity_column].iloc[top])
        return tuple(
            OrderedCase(case_id=str(case), measure=float(measure[i]), note=_band(card, frame.iloc[i]))
            for case, i in zip(ids, top, strict=True) if np.isfinite(measure[i])
        )  # fmt: skip

    def between(self, actor: Actor, predictions_id: str, low: float, high: float) -> tuple[str, ...]:
        """Ids of the scored cases with a probability (or amount) from ``low`` to ``high``. Raises BadInput past MOST_BAND."""
        known = self._models.predictions(actor, predictions_id)
        found: list[str] = []
        for start, stop in ((0, known.ranked), (known.ranked, known.rows)):
            first = self._first_at_most(actor, predictions_id, start, stop, high)
            last = self._first_at_most(actor, predictions_id, first, stop, low, strictly=True)
            if last - first + len(found) > MOST_BAND:
                raise BadInput(
                    f"{last - first:,} cases lie in this band.", to_do=f"Narrow it to at most {MOST_BAND:,}.",
                )  # fmt: skip
            if last > first:
                rows, _ = self._models.page(actor, predictions_id, offset=first, limit=last - first)
                found += [str(key) for key in entity_keys(pd.Series(rows[known.entity_column]))]
        return tuple(found)

    def _first_at_most(
        self, actor: Actor, predictions_id: str, start: int, stop: int, bound: float, *, strictly: bool = False
    ) -> int:
        """The first place of a stretch sorted downwards whose score is at most (or below) the bound: a few single rows are read."""
        while start < stop:
            middle = (start + stop) // 2
            row, _ = self._models.page(actor, predictions_id, offset=middle, limit=1)
            score = _score(row.iloc[0])
            if score < bound or (score == bound and not strictly):
                stop = middle
            else:
                start = middle + 1
        return start


def _score(row: Any) -> float:
    probability = row["probability"]
    return float(row["prediction"] if pd.isna(probability) else probability)


def _errors(card: ModelCard, frame: pd.DataFrame) -> np.ndarray:
    """How wrong each row's out-of-fold score was: |outcome - score|; of several classes how sure it was of a wrong one."""
    if card.task.kind == "regression":
        return np.abs(frame[TARGET].to_numpy(dtype=float) - frame[MARGIN].to_numpy(dtype=float))
    share = frame[PROBABILITY].to_numpy(dtype=float)
    if card.task.kind == "binary":
        return np.abs(frame[TARGET].to_numpy(dtype=float) - share)
    words = np.asarray(card.task.classes, dtype=object)[frame[TARGET].to_numpy(dtype=int)]
    return np.where(words == frame[PREDICTION].to_numpy(dtype=object), 1 - share, 1 + share) / 2


def _was(card: ModelCard, row: Any) -> str:
    task = card.task
    if task.kind == "regression":
        return f"{_amount(row[MARGIN])} said, {_amount(row[TARGET])} was"
    if task.kind == "multiclass":
        return f"{row[PREDICTION]} said, {task.classes[int(row[TARGET])]} was"
    return f"{float(row[PROBABILITY]):.2f}, was {task.target_label if row[TARGET] else 'no ' + task.target_label}"


def _band(card: ModelCard, row: Any) -> str:
    if card.task.kind == "multiclass":
        return f"{row['prediction']}, {float(row['probability']):.2f}"
    name = "prediction" if card.task.kind == "regression" else "probability"
    return f"{_amount(row[name + '_low'])} to {_amount(row[name + '_high'])}"


def _amount(value: Any) -> str:
    """A number at the precision it needs."""
    number = float(value)
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:,.3g}"
