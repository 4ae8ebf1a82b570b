"""One tested hypothesis, and the state of a search that its kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexsi_ds.insights.coding import Coded
from lexsi_ds.insights.dimensions import Dimension
from lexsi_ds.insights.surprise import Kind, Measure


@dataclass(frozen=True)
class Tested:
    """A hypothesis of the fixed family. ``key`` names its levels: (dimension, level) pairs."""

    kind: Kind
    measure: int
    key: tuple[tuple[int, int], ...]
    p: float
    effect: float
    error: float
    n: int
    observed: float
    expected: float

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions that it is about."""
        return tuple(d for d, _ in self.key)


@dataclass
class Scene:
    """What the kinds of surprises search in: one measure at a time."""

    coded: Coded
    dims: Sequence[Dimension]
    measure: Measure
    number: int
    min_rows: int
    rows: int = 0

    def where(self, key: tuple[tuple[int, int], ...]) -> str:
        """Rows of these levels, in the coded table."""
        return "(" + " AND ".join(f"d{d} = {level}" for d, level in key) + ")"
