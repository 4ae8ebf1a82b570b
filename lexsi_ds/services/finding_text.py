"""The words of a finding, made safe to keep and to show: one line, no invisible characters, known columns."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

from lexsi_ds.data.handle import Table
from lexsi_ds.errors import BadInput

MAX_NOTE = 2_000
_JOINERS = {0x200C, 0x200D}
"""Invisible characters that scripts and emoji need; all others reorder or hide text: what is shown would not be what is kept."""


def clean_line(text: str, what: str, longest: int) -> str:
    """One line without control characters. Raises BadInput when nothing is left or it is too long."""
    line = " ".join(_visible(text).split())
    if not line:
        raise BadInput(f"The {what} is empty.", where="finding", to_do=f"Write a {what}.")
    if len(line) > longest:
        raise BadInput(
            f"The {what} has {len(line):,} characters; {longest} are the most.", where="finding", to_do="Shorten it."
        )
    return line


def clean_note(text: str) -> str:
    """A note without control characters; it may be empty and may have lines. Raises BadInput when it is too long."""
    note = "\n".join(_visible(line).rstrip() for line in text.splitlines()).strip()
    if len(note) > MAX_NOTE:
        raise BadInput(f"The note has {len(note):,} characters; {MAX_NOTE:,} are the most.", where="finding")
    return note


def known_columns(table: Table, names: Iterable[str]) -> tuple[str, ...]:
    """The columns as the table spells them, each once. Raises BadInput for one that it does not have."""
    found: dict[str, None] = {}
    for name in names:
        column = table.column(name)
        if column is None:
            near = difflib.get_close_matches(name, [c.name for c in table.columns], n=1)
            hint = f"Did you mean {near[0]}?" if near else "Choose from its columns."
            raise BadInput(f"{table.name} has no column {name!r}.", where="finding", to_do=hint)
        found[column.name] = None
    return tuple(found)


def visible_text(text: str) -> str:
    """A text of several lines without characters that cannot be seen."""
    return "".join(c for c in text if c in "\t\n\r" or not _invisible(c))


def hides(text: str) -> bool:
    """Whether a text of several lines has characters that cannot be seen, or that turn what follows."""
    return any(c not in "\t\n\r" and _invisible(c) for c in text)


def _visible(text: str) -> str:
    kept = (" " if c in "\t\n\r" else c for c in text)
    return "".join(c for c in kept if not _invisible(c))


def _invisible(char: str) -> bool:
    return ord(char) not in _JOINERS and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
