"""Figures of the held-out rows that a card does not carry: the confusion of classes, precision against recall.

Read from the out-of-fold scores that the model keeps, only the columns needed. Must never: count a row that the model
that scored it had seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.bundle import PREDICTION, PROBABILITY, TARGET
from lexsi_ds.models.threshold import threshold_by_rate
from lexsi_ds.services.access import Actor
from lexsi_ds.services.models import Models

_POINTS = 201


class ClassConfusion(Value):
    """Held-out rows by what they were and what the model said, classes in the task's order."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """One row a true class, one column a said class."""


class PrecisionRecall(Value):
    """Precision and recall of the held-out rows as the threshold falls."""

    rows: int
    positives: int
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    threshold: tuple[float, ...]


def class_confusion(models: Models, actor: Actor, model_id: str, **_: Any) -> ClassConfusion:
    """What was said of the rows of each class, out of fold."""
    classes = models.get(actor, model_id).task.classes
    kept = held_out(models.ref(actor, model_id).folder, TARGET, PREDICTION)
    places = {name: place for place, name in enumerate(classes)}
    said = np.array([places.get(str(word), -1) for word in kept[PREDICTION].to_pylist()])
    was = np.asarray(kept[TARGET].to_numpy(zero_copy_only=False), dtype=np.int64)
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    known = said >= 0
    np.add.at(counts, (was[known], said[known]), 1)
    return ClassConfusion(classes=classes, counts=tuple(tuple(int(n) for n in row) for row in counts))


def precision_recall(models: Models, actor: Actor, model_id: str, **_: Any) -> PrecisionRecall:
    """The curve, thinned to what a chart can show."""
    kept = held_out(models.ref(actor, model_id).folder, TARGET, PROBABILITY)
    y = np.asarray(kept[TARGET].to_numpy(zero_copy_only=False), dtype=float) > 0.5
    p = np.asarray(kept[PROBABILITY].to_numpy(zero_copy_only=False), dtype=float)
    order = np.argsort(-p, kind="stable")
    ranked, hits = p[order], np.cumsum(y[order])
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, _POINTS).round().astype(int))]
    return PrecisionRecall(
        rows=len(y), positives=int(y.sum()), threshold=tuple(ranked[ends].tolist()),
        recall=tuple((hits[ends] / max(1, y.sum())).tolist()), precision=tuple((hits[ends] / (ends + 1)).tolist()),
    )


def threshold_for_rate(models: Models, actor: Actor, model_id: str, rate: float, **_: Any) -> float:
    """The threshold that flags this share of the held-out rows and never more."""
    kept = held_out(models.ref(actor, model_id).folder, PROBABILITY)
    return threshold_by_rate(np.asarray(kept[PROBABILITY].to_numpy(zero_copy_only=False), dtype=float), rate).value


def held_out(folder: Path, *names: str) -> pa.Table:
    """These columns of the held-out rows that a model keeps; BadInput where they are elsewhere."""
    path = folder / "oof.arrow"
    if not path.is_file():
        raise BadInput("This model was trained elsewhere: its held-out rows are not here.", where=folder.name)
    with pa.memory_map(str(path)) as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
        table = reader.read_all()
        return pa.table({name: table[name].combine_chunks() for name in names})
