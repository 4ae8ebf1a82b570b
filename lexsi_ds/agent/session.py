"""Rows that a conversation keeps by name, from the turns before: where they lie, and how large they are.

They stay on disk as the run that made them wrote them, and the store holds their names, so a reload, a second tab and another
process find the same ones. The oldest go when all together are larger than the limit, and the person is told. Must never: put
rows into a run that does not ask for them by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.models.frames import read_frame

LAST = "result"
"""Name of a turn's rows that have no label."""


class Remembered(Value):
    """The rows of one query of an earlier turn."""

    name: str
    """``turn2.context_df``."""
    path: Path
    rows: int
    bytes: int
    snapshot_id: str
    question: str

    def frame(self) -> pd.DataFrame | None:
        """The rows; None when their file is gone."""
        return read_frame(self.path) if self.path.is_file() else None


def made(turn: int, question: str, cache: Mapping[str, Any], snapshot_id: str) -> tuple[Remembered, ...]:
    """What a turn's queries left: each labelled frame of its cache, and the last one without a label."""
    paths = {key.removeprefix("_path:"): Path(path) for key, path in cache.items() if key.startswith("_path:")}
    last = cache.get("_last_path")
    if last is not None and last not in paths.values():
        paths[LAST] = Path(last)
    found = []
    for label, path in paths.items():
        frame = cache.get("last_sql_result") if label == LAST else cache.get(f"sql_result:{label}")
        if path.is_file() and isinstance(frame, pd.DataFrame):
            found.append(Remembered(
                name=f"turn{turn}.{label}", path=path, rows=len(frame), bytes=path.stat().st_size, snapshot_id=snapshot_id,
                question=question[:120],
            ))  # fmt: skip
    return tuple(found)


def fitting(values: tuple[Remembered, ...], most_bytes: int) -> tuple[tuple[Remembered, ...], tuple[Remembered, ...]]:
    """The newest values that fit together, and those that go, oldest first."""
    room, first = most_bytes, len(values)
    while first and values[first - 1].bytes <= room:
        first -= 1
        room -= values[first].bytes
    return values[first:], values[:first]


def notice(gone: tuple[Remembered, ...], most_bytes: int) -> str:
    """What a person is told of values that went."""
    names = ", ".join(f"{g.name} ({g.rows:,} rows)" for g in gone[-3:])
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    return (
        f"This conversation keeps at most {most_bytes / 2**20:,.4g} MB of rows at hand: {names}{more} went. "
        "They still stand in their turns; ask for them again to work on with them."
    )
