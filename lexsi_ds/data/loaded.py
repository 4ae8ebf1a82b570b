"""A table that a reader found in a file, ready to be written, and what readers refuse to pass.

Must never: hold rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexsi_ds.data.infer import Typed
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.plan import ColumnPlan, Suggestion
from lexsi_ds.data.profile import Counts
from lexsi_ds.errors import BadInput


@dataclass(frozen=True)
class Limits:
    """What a reader refuses to pass."""

    max_columns: int


@dataclass(frozen=True)
class Loaded:
    """A table that is ready to be written: ``select`` gives its rows, in order."""

    name: str
    select: str
    options: dict[str, Any] = field(default_factory=dict)
    """How the file was read: delimiter, encoding, decimal mark."""
    notes: tuple[str, ...] = ()
    comment: str | None = None
    comments: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Marks] | None = None
    rejected: int = 0
    """Lines that could not be read."""
    rejects: str | None = None
    """Query that gives them: line, reason, text, row, column."""
    flagged: int = 0
    """What it gives beyond the lines: titles above the table, cells missing in it, and lines that were filled up."""
    columns: tuple[ColumnPlan, ...] = ()
    """What was found about each column; empty when the file itself says its types."""
    suggestions: tuple[Suggestion, ...] = ()
    typed: tuple[Typed, ...] = ()
    """How each column of a text file is made."""
    check: Callable[[str, Sequence[Counts]], bool] | None = None
    """Whether the rows, once written to the table named and counted, contradict what was assumed of them."""
    instead: Callable[[], Loaded] | None = None
    """How to read them when they do, or when writing fails."""


def check_width(path: Path, columns: int, limits: Limits) -> None:
    """Raise BadInput for a table with too many columns."""
    if columns > limits.max_columns:
        raise BadInput(
            f"This table has {columns:,} columns; at most {limits.max_columns:,} can be imported.",
            where=path.name,
            to_do="Leave out columns, or raise LEXSI_DS_MAX_COLUMNS.",
        )
