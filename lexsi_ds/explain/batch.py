"""Contributions of many rows at once, written to an Arrow file chunk by chunk: a table to take away.

Must never hold all rows' contributions in memory, nor leave a row out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from lexsi_ds.explain.cases import usual_class
from lexsi_ds.explain.results import Cohort
from lexsi_ds.explain.results_local import Batch
from lexsi_ds.explain.rows import cohort_rows
from lexsi_ds.explain.scales import check_scale
from lexsi_ds.explain.shap_values import explain_rows
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.frames import column

CHUNK = 25_000
Say = Callable[[dict[str, Any]], None]


def batch(
    model: SavedModel, frame: pd.DataFrame, out: Path, scale: str, say: Say, *, output: str | None = None,
    cohort: Cohort | None = None,
) -> Batch:
    """Write entity, ``prediction``, ``base value``, ``scored`` and a column a feature (its label, told apart where two are
    alike) for every row of the cohort, in their order."""
    scale = check_scale(scale, model.card.task.kind)
    rows = cohort_rows(frame, cohort or Cohort(), model.card.task.entity_column)
    output = output or usual_class(model)
    names = column_names(model)
    writer, methods = None, set()
    with pa.OSFile(str(out), "wb") as sink:
        for start in range(0, len(rows), CHUNK):
            part = rows.iloc[start : start + CHUNK]
            explained = explain_rows(model, part, output)
            methods.add(explained.told(scale))
            table = _table(model, part, explained, scale, names)
            writer = writer or pa.ipc.new_stream(sink, table.schema)
            writer.write_table(table)
            say({"done": min(start + CHUNK, len(rows)), "total": len(rows), "text": "Explaining rows"})
        if writer is not None:
            writer.close()
    return Batch(path=str(out), rows=len(rows), columns=tuple(names), scale=scale, method="; ".join(sorted(methods)))


def column_names(model: SavedModel) -> list[str]:
    """Headers: entity, prediction, base value, scored, and each feature; a name is never used twice."""
    names = [model.card.task.entity_column, "prediction", "base value", "scored"]
    for feature in model.features:
        name = f"{feature.label} (contribution)"
        names.append(f"{feature.name} (contribution)" if name in names else name)
    unique, seen = [], set()
    for name in names:
        place = 2
        fresh = name
        while fresh in seen:
            fresh, place = f"{name} {place}", place + 1
        seen.add(fresh)
        unique.append(fresh)
    return unique


def _table(model: SavedModel, part: pd.DataFrame, explained, scale: str, names: list[str]) -> pa.Table:
    scaled = explained.on(scale)
    entity = pa.array(column(part, model.card.task.entity_column).astype(str), type=pa.string())
    numbers = [scaled.prediction, scaled.base]
    scored = pa.array(np.where(explained.rows.trained, "out_of_fold", "model"), type=pa.string())
    parts = [pa.array(scaled.contributions[:, place]) for place in range(scaled.contributions.shape[1])]
    return pa.Table.from_arrays([entity, *(pa.array(n) for n in numbers), scored, *parts], names=names)
