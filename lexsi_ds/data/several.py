"""Several tables under each other in one file or sheet, told by blank lines and by names of their own.

Each becomes a file of its own in scratch, with blank lines for what stands above it, so that numbers of lines stay right.
Must never: cut a table in two because a blank line stands in it, or read a part that looks like none apart.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexsi_ds.data.forms import MISSING_WORDS, is_value

MOST_BYTES = 4 << 20
"""Larger files are one table: a plan looks at no more than this."""
MOST_ROWS = 20_000
_SURE = 0.9


@dataclass(frozen=True)
class _Group:
    """Rows without a blank one between them, and their lines, from 1."""

    first: int
    last: int
    rows: tuple[tuple[str, ...], ...]


def split_tables(text: str, delimiter: str, quote: str, *, slashed: bool = False) -> list[str]:
    """The text as it is, or a text for each of its tables."""
    groups = _groups(text, delimiter, quote, slashed)
    if len(groups) < 2:
        return [text]
    starts = _starts(groups)
    if len(starts) < 2:
        return [text]
    lines = text.split("\n")
    ends = [groups[i].first - 1 for i in starts[1:]] + [len(lines)]
    begins = [1] + [end + 1 for end in ends[:-1]]
    return ["\n" * (a - 1) + "\n".join(lines[a - 1 : b]) + "\n" for a, b in zip(begins, ends, strict=True)]


def said(number: int, of: int) -> str:
    """What a person should know about table ``number`` of several."""
    return f"{of} tables stand under each other here; this is number {number}, and each was read as a table of its own."


def read_small(path: Path, encoding: str) -> str | None:
    """A file's text, when it is small enough to be looked at for several tables."""
    if path.stat().st_size > MOST_BYTES:
        return None
    with path.open(encoding=encoding, newline="", errors="replace") as file:
        return file.read()


def _groups(text: str, delimiter: str, quote: str, slashed: bool) -> list[_Group]:
    quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote or None, quoting=quoting,
        escapechar="\\" if slashed else None, doublequote=not slashed,
    )  # fmt: skip
    groups: list[_Group] = []
    rows: list[tuple[str, ...]] = []
    first, before, count = 1, 0, 0
    try:
        for row in reader:
            count += 1
            if any(cell.strip() for cell in row):
                first = first if rows else before + 1
                rows.append(tuple(cell.strip() for cell in row))
            elif rows:
                groups.append(_Group(first, before, tuple(rows)))
                rows = []
            before = reader.line_num
            if count >= MOST_ROWS:
                return []
    except csv.Error:
        return []
    return [*groups, _Group(first, before, tuple(rows))] if rows else groups


def _starts(groups: Sequence[_Group]) -> list[int]:
    """The groups with which a table begins; its title, when that stands alone above it, is a part of it."""
    starts: list[int] = []
    names: list[tuple[str, ...]] = []
    for i, group in enumerate(groups):
        header = _names(group)
        if header is None or header in names:
            continue
        titled = i > 0 and (not starts or i - 1 > starts[-1]) and all(_filled(row) < 2 for row in groups[i - 1].rows)
        starts.append(i - 1 if titled else i)
        names.append(header)
    return starts


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell) for cell in row)


def _names(group: _Group) -> tuple[str, ...] | None:
    """The names of a group that is a table of its own: words, and below at least one of them numbers or dates."""
    wide = [row for row in group.rows if _filled(row) > 1]
    if len(wide) < 2:
        return None
    header, body = wide[0], wide[1:]
    words = [cell for cell in header if cell]
    if any(is_value(cell) for cell in words) or len(set(words)) < len(words):
        return None
    for i, name in enumerate(header):
        cells = [row[i] for row in body if i < len(row) and row[i] and row[i].upper() not in MISSING_WORDS]
        if name and cells and sum(map(is_value, cells)) >= _SURE * len(cells):
            return tuple(words)
    return None
