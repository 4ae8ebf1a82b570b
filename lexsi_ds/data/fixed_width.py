"""Text whose columns are told by blanks: of fixed width, or with one or several blanks between them.

Such a file is written anew with a delimiter of our own, a line for a line, and then read as any other. Must never: cut
through a word: a line with a letter where columns were cut is left whole, so that it is rejected and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexsi_ds.data.forms import MISSING_WORDS, is_value
from lexsi_ds.data.text_file import TextFile

DELIMITER = "\x1f"
_HEAD_LINES = 300
_LEAST_LINES = 3
_SURE = 0.95
_WIDEST = 4_000
_RUNS = re.compile(r" {2,}")
_RULE = re.compile(r" *[-=_]{3,}([ +|]+[-=_]{3,})*[ +|]*")
"""A line drawn under the names, or above a total: it holds nothing."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Cut:
    """The file with our delimiter, and where its columns were cut (from 1; empty when blanks alone tell them)."""

    file: TextFile
    cuts: tuple[int, ...] = ()


def cut_by_blanks(file: TextFile, scratch: Path, options: Mapping[str, Any]) -> Cut | None:
    """The file cut into columns; None when blanks do not tell them. ``cuts`` of the options say where columns begin."""
    lines = _head(file.path)
    if given := options.get("cuts"):
        starts = sorted({max(0, int(cut) - 1) for cut in given} | {0})
        note = f"Cut into columns at {', '.join(str(s + 1) for s in starts)}, as chosen."
        return Cut(_write(file, scratch, lambda line: _slices(line, starts), note), tuple(s + 1 for s in starts))
    if len(lines) < _LEAST_LINES or any(DELIMITER in line or "\t" in line for line in lines):
        return None
    if sum(map(is_value, lines[1:])) >= _SURE * (len(lines) - 1):
        return None  # one column of times, or of numbers in groups
    for split, what in ((str.split, "blanks"), (_by_runs, "two or more blanks")):
        rows = [split(line) for line in lines]
        if _is_table(rows) and (split is _by_runs or not _cuts_words(lines)):
            return Cut(_write(file, scratch, split, f"Columns are told by {what} between them."))
    starts, ends = _segments(lines)
    if len(starts) < 2 or not _is_table([_slices(line, starts) for line in lines]):
        return None
    shown = ", ".join(str(s + 1) for s in starts)
    note = f"Columns of fixed width, cut where all of the first lines are blank (they begin at {shown}); check them."
    return Cut(
        _write(file, scratch, lambda line: _checked(line, starts, ends), note), tuple(s + 1 for s in starts)
    )


def likely_fixed(file: TextFile) -> bool:
    """Whether all lines are equally long, and long: they may be columns without a blank between them."""
    lines = _head(file.path)
    return len(lines) >= _LEAST_LINES and len({len(line) for line in lines}) == 1 and len(lines[0]) >= 20


def _head(path: Path) -> list[str]:
    lines: list[str] = []
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        while len(lines) < _HEAD_LINES and (line := file.readline(_CHUNK)):
            if line.strip() and not _RULE.fullmatch(line.rstrip("\r\n")):
                lines.append(line.rstrip("\r\n"))
    return [] if any(len(line) > _WIDEST for line in lines) else lines


def _by_runs(line: str) -> list[str]:
    return _RUNS.split(line.strip())


def _cuts_words(lines: Sequence[str]) -> bool:
    """Whether single blanks stand within words, and two or more between columns: then single ones do not tell columns."""
    rows = [_by_runs(line) for line in lines]
    if not _is_table(rows):
        return False
    inner = [cell for row in rows for cell in row if " " in cell]
    return bool(inner) and all(any(part.isalpha() for part in cell.split()) for cell in inner)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows have equally many cells, and a column of numbers or dates under the first."""
    width = max((len(row) for row in rows), key=[len(row) for row in rows].count)
    alike = [row for row in rows if len(row) == width]
    if width < 2 or len(rows[0]) != width or len(alike) < _SURE * len(rows) or len(alike) < _LEAST_LINES:
        return False
    for i in range(width):
        cells = [row[i].strip() for row in alike[1:]]
        cells = [cell for cell in cells if cell and cell.upper() not in MISSING_WORDS]
        if cells and sum(map(is_value, cells)) >= _SURE * len(cells):
            return True
    return False


def _segments(lines: Sequence[str]) -> tuple[list[int], list[int]]:
    """First and last places between which some line has a letter; those without a name join the one on their left."""
    width = max(len(line) for line in lines)
    used = [any(len(line) > i and line[i] != " " for line in lines) for i in range(width)]
    starts = [i for i in range(width) if used[i] and (i == 0 or not used[i - 1])]
    ends = [i for i in range(width) if used[i] and (i + 1 == width or not used[i + 1])]
    first = lines[0]
    words = first.split()
    if len(words) > 1 and not any(is_value(word) for word in words):
        named = [bool(first[a : b + 1].strip()) or i == 0 for i, (a, b) in enumerate(zip(starts, ends, strict=True))]
        ends = [
            next((ends[k - 1] for k in range(i + 1, len(named)) if named[k]), ends[-1]) for i in range(len(named)) if named[i]
        ]
        starts = [a for a, keep in zip(starts, named, strict=True) if keep]
    return starts, ends


def _slices(line: str, starts: Sequence[int]) -> list[str]:
    return [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]


def _checked(line: str, starts: Sequence[int], ends: Sequence[int]) -> list[str]:
    """The cells; the whole line as one when it has a letter between two columns."""
    gaps = zip(ends[:-1], starts[1:], strict=True)
    if line[: starts[0]].strip() or any(line[end + 1 : start].strip() for end, start in gaps):
        return [line]
    return _slices(line, starts)


def _write(file: TextFile, scratch: Path, split: Callable[[str], list[str]], note: str) -> TextFile:
    to = scratch / f"cut_{len(list(scratch.glob('cut_*')))}.utf8"
    with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as source, to.open(
        "w", encoding="utf-8", newline="\n"
    ) as out:
        for line in source:
            text = line.rstrip("\r\n")
            out.write(DELIMITER.join(split(text)) if text.strip() and not _RULE.fullmatch(text) else "")
            out.write("\n")
    return replace(file, path=to, notes=(*file.notes, note))
