"""The rows that a model trained on or scored, as files beside its explanations: found by case id without reading them whole.

Must never give a row of another model, nor the columns that the model keeps for itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute

from lexsi_ds.data.frames import to_frame
from lexsi_ds.models.frames import entity_keys, write_frame

SCORED, TRAINING = "scored.arrow", "oof.arrow"


class ExplanationRows:
    """The kept rows of one model: those it scored last in ``kept``, those that trained it in ``folder``."""

    def __init__(self, kept: Path, folder: Path, entity: str) -> None:
        self._kept, self._folder, self._entity = kept / SCORED, folder / TRAINING, entity

    def keep(self, frame: pd.DataFrame) -> None:
        """Keep the rows that were scored in place of those before."""
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._kept.with_name(f"{SCORED}.{os.getpid()}.{threading.get_ident()}.tmp")
        write_frame(frame, temporary)
        temporary.replace(self._kept)

    def path(self, which: str = "") -> Path:
        """The file of the rows "scored" or of those for "training"; by default the scored ones, where there are any."""
        scored = self._kept.exists()
        if which == "training" or not scored:
            return self._folder
        return self._kept

    def scored(self) -> Path | None:
        """The file of the rows scored last, or None."""
        return self._kept if self._kept.exists() else None

    def fingerprint(self, which: str = "") -> str:
        """What tells these rows from others that were kept before or after."""
        path = self.path(which)
        if path == self._folder:
            return "training"
        stat = path.stat()
        return f"{stat.st_size:x}-{stat.st_mtime_ns:x}"

    def find(self, case_ids: Iterable[str]) -> dict[str, pd.DataFrame]:
        """The row of each of these cases, the scored one first; what is not there is left out."""
        wanted, found = [str(c) for c in case_ids], {}
        for path in (self._kept, self._folder):
            missing = [case for case in wanted if case not in found]
            if missing and path.exists():
                found |= _rows(path, self._entity, missing)
        return found


def _rows(path: Path, entity: str, wanted: Sequence[str]) -> dict[str, pd.DataFrame]:
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_stream(source).read_all()
        if entity not in table.column_names:
            return {}
        names = [n for n in table.column_names if not n.startswith("_")]
        places = _places(table.column(entity), wanted)
        if not places:
            return {}
        chosen = table.select(names)
        frame = to_frame(pa.concat_tables([chosen.slice(place, 1) for place in places.values()]))
    return {case: frame.iloc[[row]].reset_index(drop=True) for row, case in enumerate(places)}


def _is_in(column: pa.ChunkedArray, value_set: pa.Array) -> Any:
    return compute.call_function("is_in", [column], compute.SetLookupOptions(value_set))


def _places(column: pa.ChunkedArray, wanted: Sequence[str]) -> dict[str, int]:
    """Where each case id first stands in the column; numbers are compared as numbers, so that nothing is turned to text."""
    if pa.types.is_integer(column.type):
        numbers = {case: int(case) for case in wanted if case.lstrip("-").isdigit()}
        hits = _is_in(column, value_set=pa.array(list(numbers.values()), type=column.type)) if numbers else None
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        hits = _is_in(column, value_set=pa.array(list(wanted), type=column.type))
    else:
        hits = pa.array(np.isin(entity_keys(column.to_pandas()).astype(str), np.array(wanted, dtype=str)))
    if hits is None:
        return {}
    rows = np.flatnonzero(hits.to_numpy(zero_copy_only=False))
    keys = entity_keys(pd.Series([column[int(row)].as_py() for row in rows]))
    first: dict[str, int] = {}
    for key, row in zip(keys, rows, strict=True):
        first.setdefault(str(key), int(row))
    return {case: first[case] for case in wanted if case in first}
