"""Which of the first lines are comments: only what cannot be a row of the table.

A line that begins with ``#`` may as well be a channel, a colour, or the head of a column of ranks. Must never: take a line with
as many cells as the table has columns for a comment when it could be its names or its data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lexsi_ds.data.forms import is_value

Rows = Sequence[Sequence[str]]
_MARK = ("#", "//")
_REMARK = re.compile(r"#+\s+\S|##|#!|//")
"""How a remark begins, rather than a name such as ``#channel`` or ``#``."""
_MOST = 60


def is_comment(rows: Rows, index: int, width: int) -> bool:
    """Whether a row at the top is a comment."""
    row = rows[index]
    if not _is_marked(row):
        return False
    if len(row) != width:
        return True
    if not _REMARK.match(_first(row)):
        return False
    below = [i for i in range(index + 1, len(rows)) if not _is_marked(rows[i])]
    if width == 1 or not below:
        return bool(below)
    leading = [i for i in range(index + 1, below[0]) if len(rows[i]) == width]
    if any(_are_words(rows[i]) for i in leading):
        return True
    here = rows[below[0]]
    return len(here) == width and _are_words(here) and any(is_value(c) for i in below[1:_MOST] for c in rows[i])


def are_commented_names(rows: Rows, start: int, width: int) -> bool:
    """Whether the last comment before the data names its columns: ``# id,name,value``."""
    if start == 0 or width < 2:
        return False
    above, here = rows[start - 1], rows[start]
    if not _is_marked(above) or not _first(above).startswith("#") or len(above) != width:
        return False
    return all(c.strip("# ") for c in above) and _are_words(above) and any(map(is_value, here))


def bare_name(name: str, rows: Rows) -> str:
    """The first name without its ``#``, where that marks the line and not a kind of value that stands below as well."""
    bare = name.lstrip("\ufeff# ")
    return name if not bare or any(map(_is_marked, rows)) else bare


def _first(row: Sequence[str]) -> str:
    return row[0].lstrip('\ufeff" ') if row else ""


def _is_marked(row: Sequence[str]) -> bool:
    return _first(row).startswith(_MARK)


def _are_words(row: Sequence[str]) -> bool:
    return not any(map(is_value, row))

