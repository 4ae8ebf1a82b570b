"""Lines with fewer cells than there are columns: which of them only lack cells at their end, and a copy that has them.

Many programs leave the last empty cells out. A line is filled up only when what is there fits its columns; one that may be
a note, or half of a line that was broken in two, is left to the rejected ones. Must never: fill up what could be either.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import duckdb

from lexsi_ds.data.dialect import Dialect
from lexsi_ds.data.forms import MISSING_WORDS, is_value

_SAMPLE = 1_000
_SURE = 0.9
_LEAST = 2
_CHUNK = 4 << 20


@dataclass(frozen=True)
class Line:
    """A line that did not fit. ``at`` is its first byte, None when that is not sure; ``number`` counts from 1."""

    rowid: int
    reason: str
    text: str
    at: int | None
    number: int


@dataclass(frozen=True)
class Short:
    """A line that lacks ``lacking`` cells at its end."""

    line: Line
    lacking: int


def find_short(
    con: duckdb.DuckDBPyConnection, table: str, lines: Sequence[Line], dialect: Dialect, quote: str
) -> list[Short]:
    """Those of the lines that only lack cells at their end."""
    width = len(dialect.columns)
    if width <= _LEAST or not any(line.reason == "MISSING COLUMNS" for line in lines):
        return []
    values = _value_columns(con, table, width)
    cells = [_cells(line, dialect, quote) for line in lines]
    good = [_fits(c, values, width) for c in cells]
    found = []
    for i, line in enumerate(lines):
        held = cells[i]
        if not good[i] or held is None or line.at is None:
            continue
        if any(_are_halves(lines, cells, good, i, j, width) for j in (i - 1, i + 1) if 0 <= j < len(lines)):
            continue
        found.append(Short(line, width - len(held)))
    return found


def fill_up(path: Path, scratch: Path, short: Sequence[Short], dialect: Dialect) -> Path:
    """A copy of the file in which the short lines have all their cells."""
    to = scratch / f"filled_{len(list(scratch.glob('filled_*')))}.utf8"
    with path.open("rb") as source, to.open("wb") as out:
        for item in short:
            assert item.line.at is not None
            _copy(source, out, item.line.at + len(item.line.text.encode()))
            out.write((dialect.delimiter * item.lacking).encode())
        shutil.copyfileobj(source, out, _CHUNK)
    return to


def _copy(source: BinaryIO, out: BinaryIO, until: int) -> None:
    left = until - source.tell()
    while left > 0 and (chunk := source.read(min(left, _CHUNK))):
        out.write(chunk)
        left -= len(chunk)


def _value_columns(con: duckdb.DuckDBPyConnection, table: str, width: int) -> set[int]:
    """Columns of numbers and dates, by the first rows."""
    rows = con.execute(f"SELECT * FROM {table} LIMIT {_SAMPLE}").fetchall()
    found = set()
    for i in range(width):
        cells = [r[i].strip() for r in rows if r[i] and r[i].strip() and r[i].strip().upper() not in MISSING_WORDS]
        if cells and sum(is_value(c) for c in cells) >= _SURE * len(cells):
            found.add(i)
    return found


def _cells(line: Line, dialect: Dialect, quote: str) -> list[str] | None:
    if line.reason != "MISSING COLUMNS":
        return None
    quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    try:
        rows = list(csv.reader([line.text], delimiter=dialect.delimiter, quotechar=quote or None, quoting=quoting))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _fits(cells: list[str] | None, values: set[int], width: int) -> bool:
    """Whether enough cells are there, and each fits its column; among texts alone only the last cell may be missing."""
    if cells is None or len(cells) < max(_LEAST, (width + 1) // 2) or len(cells) >= width:
        return False
    here = [i for i in range(len(cells)) if i in values]
    filled = [i for i in here if cells[i].strip() and cells[i].strip().upper() not in MISSING_WORDS]
    if not filled:
        return len(cells) == width - 1 and not cells[0].lstrip().startswith(("#", "*", "//"))
    return all(is_value(cells[i]) for i in filled)


def _are_halves(
    lines: Sequence[Line], cells: Sequence[list[str] | None], good: Sequence[bool], i: int, j: int, width: int
) -> bool:
    """Whether a line and the one next to it may be one line that was broken in two."""
    a, b = cells[i], cells[j]
    if b is None or a is None or abs(lines[i].number - lines[j].number) != 1:
        return False
    return not good[j] and len(a) + len(b) in (width, width + 1)
