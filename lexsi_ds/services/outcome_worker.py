"""What a worker runs on outcomes: handlers that take and give JSON, with rows as Arrow files. Must never print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import as_words, column, read_frame
from lexsi_ds.services.outcome_figures import held, paired

Say = Callable[[dict[str, Any]], None]


def backtest(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Figures of the rows in ``rows``: ``outcome``, ``moment`` and the columns of predictions. Args: folder, rows, threshold."""
    say({"done": 0, "total": 1, "text": "Measuring how right it was"})
    card = SavedModel(Path(args["folder"])).card
    rows = read_frame(Path(args["rows"]))
    y = column(rows, "outcome").to_numpy(dtype=float)
    kind, inside = card.task.kind, None
    if kind == "multiclass":
        told = np.stack([column(rows, f"p: {word}").to_numpy(dtype=float) for word in card.task.classes], axis=1)
    elif kind == "regression":
        told = column(rows, "prediction").to_numpy(dtype=float)
        if "prediction_low" in rows.columns:
            low, high = (column(rows, name).to_numpy(dtype=float) for name in ("prediction_low", "prediction_high"))
            inside = (low <= y) & (y <= high)
    else:
        told = column(rows, "probability").to_numpy(dtype=float)
    moments = column(rows, "moment").to_numpy() if "moment" in rows.columns else None
    found = held(card, y, told, moments=moments, threshold=float(args["threshold"]), inside=inside)
    return found.model_dump(mode="json")


def compare(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Two models on the rows that both scored. Args: first, second (folders)."""
    say({"done": 0, "total": 1, "text": "Measuring both on the same rows"})
    return paired(Path(args["first"]), Path(args["second"])).model_dump(mode="json")


def positions(values: Any, classes: tuple[str, ...]) -> np.ndarray:
    """Words as positions among the classes; NaN for a word that is none of them."""
    place = {word: float(i) for i, word in enumerate(classes)}
    return np.array([np.nan if w is None else place.get(w, np.nan) for w in as_words(values)])
