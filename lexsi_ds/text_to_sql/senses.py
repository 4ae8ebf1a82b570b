"""One meaning that a phrase of a question may have on a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SenseKind = Literal[
    "entity",
    "column",
    "value",
    "segment",
    "metric",
    "role",
    "outcome",
    "verb",
    "rows",
    "extreme",
    "hint",
    "house",
    "deal",
    "pay",
    "boss",
]


@dataclass(frozen=True)
class Sense:
    """One meaning of a phrase."""

    kind: SenseKind
    table: str
    column: str = ""
    value: str = ""
    """Of a value: as stored, as text. Of a segment, metric, role or outcome: its id."""
    label: str = ""
    strong: bool = True
    """False for a name that only a loose reading finds."""
    role: str = ""
    """Of a column: what it is, as the semantic model says."""
