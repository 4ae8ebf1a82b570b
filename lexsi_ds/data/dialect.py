"""How a delimited text file is written: delimiter, quote, escape; then which of its lines name the columns.

Delimiters and quotes are tried on the first lines: the pair wins whose rows have the same number of cells, with
numbers, dates and clean words in them. Must never: read the whole file.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexsi_ds.data.forms import is_value
from lexsi_ds.data.header import Header, find_header, usual_width
from lexsi_ds.data.header_words import may_be_name
from lexsi_ds.data.text_file import TextFile

_HEAD_CHARS = 512 << 10
_HEAD_ROWS = 300
_QUICK_CHARS = 64 << 10
_LONGEST_FIELD = 64 << 20
_DELIMITERS = (",", ";", "\t", "|")
_RARE_DELIMITERS = ("\x01", "^", "~", "¦", ":")
_UNUSED = ("\x1f", "\x1e", "\x1d")
_LEAST_SHARE = 0.5
_LEAST_NAMES = 2
_SHORT_NAME = re.compile(r"[\w.#%()/-]{1,24}( [\w.#%()/-]{1,24})?")
"""Of two names each is a word or two: a line of text with one comma is no line of names."""
_FAIR = 0.2


@dataclass(frozen=True)
class Dialect:
    """What ``read_csv`` must be told. ``skip`` counts rows up to and including the header: one of several lines counts once."""

    delimiter: str
    quote: str
    escape: str
    header: bool
    skip: int
    columns: tuple[str, ...]
    """Unique, non-empty names."""
    unnamed: tuple[bool, ...]
    """Whether the file gave the column no name."""
    padded: bool
    """Rows may have fewer cells than the header; the missing ones are null."""
    notes: tuple[str, ...]
    header_lines: tuple[int, ...] = ()
    """Numbers of the lines that hold names, from 1."""
    first_line: int = 1
    """The first line that is neither title nor comment."""
    above: tuple[tuple[int, str], ...] = ()
    """Titles and comments: number of the line, and its text."""


@dataclass(frozen=True)
class _Rows:
    """The first rows, without blank lines, the line on which each ends, and the rows up to it, blank ones among them."""

    cells: list[list[str]]
    ends: list[int]
    counts: list[int]


def sniff_dialect(file: TextFile, suffix: str, options: Mapping[str, Any]) -> Dialect:
    """Find the dialect. ``options`` may fix ``delimiter``, ``quote``, ``escape``, ``header``, ``header_lines``, ``skip``."""
    head = _head(file.path)
    delimiter, quote, escape = _marks(head, suffix, options)
    rows = _rows(head, delimiter, quote, escape)
    first, lines = _fixed(rows, options)
    found = find_header(rows.cells, first=first, lines=lines)
    made = _dialect(rows, found, delimiter, quote, escape)
    return replace(made, above=_above(head, made.first_line - 1)) if found.first else made


def _above(head: str, count: int) -> tuple[tuple[int, str], ...]:
    """The first lines as they stand, without blank ones and the one that names the delimiter."""
    lines = [line.strip("\r\n") for line in itertools.islice(io.StringIO(head, newline=""), count)]
    listed = enumerate(lines, start=1)
    return tuple((i, text) for i, text in listed if text.strip() and not (i == 1 and text.lower().startswith("sep=")))


def _dialect(rows: _Rows, found: Header, delimiter: str, quote: str, escape: str) -> Dialect:
    ends = rows.ends
    notes = []
    before = ends[found.first - 1] if found.first else 0
    if found.first:
        what = "titles or comments"
        count = found.first
        place = "before the column names" if found.lines else "at the top"
        notes.append(f"{count} line{'s' * (count > 1)} {place} ({what}) not read as data; kept with the rejected lines.")
    unique, said = unique_names(found.names)
    last = found.first + found.lines - 1
    return Dialect(
        delimiter, quote, escape, found.lines > 0, rows.counts[last] if last >= 0 else 0, unique,
        tuple(not n.strip() for n in found.names), found.padded,
        tuple(notes) + found.notes + tuple(said if found.lines else []),
        tuple(ends[found.first : last + 1]), before + 1,
    )  # fmt: skip


def _fixed(rows: _Rows, options: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """First row and number of header rows that a person chose."""
    if lines := options.get("header_lines"):
        chosen = [i for i, end in enumerate(rows.ends) if end in set(lines)]
        if chosen:
            return chosen[0], chosen[-1] - chosen[0] + 1
    first = None
    if options.get("skip") is not None and "skip" in options:
        first = next((i for i, end in enumerate(rows.ends) if end > int(options["skip"])), 0)
    if "header" not in options:
        return first, None
    return first, int(bool(options["header"]))


def marks_of(file: TextFile, suffix: str, options: Mapping[str, Any]) -> tuple[str, str, str]:
    """Delimiter, quote and escape: those chosen, else the likeliest."""
    return _marks(_head(file.path), suffix, options)


def likely_width(file: TextFile) -> int:
    """Columns as the first lines suggest: a quick look, before more time is spent on a monstrous file."""
    head = _head(file.path)[:_QUICK_CHARS]
    line = head.partition("\n")[0]
    return max(line.count(d) + 1 for d in _DELIMITERS) if len(line) > _QUICK_CHARS // 2 else usual_width(
        max((_rows(head, d, '"', '"').cells for d in _DELIMITERS), key=lambda cells: _score(cells)[0])
    )


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names with none empty and none twice, whatever the case; and sentences that say what was changed."""
    taken: set[str] = set()
    result, empty, repeated = [], 0, []
    for position, raw in enumerate(names, start=1):
        name = " ".join(raw.replace("\ufeff", "").replace("\x00", "").split())
        if not name:
            name, empty = f"column_{position}", empty + 1
        base, suffix = name, 2
        while name.casefold() in taken:
            name, suffix = f"{base}_{suffix}", suffix + 1
        if name != base and raw.strip():
            repeated.append(name)
        taken.add(name.casefold())
        result.append(name)
    notes = []
    if empty:
        notes.append(f"{empty} column{'s' * (empty > 1)} without a name got one, such as column_1.")
    if repeated:
        shown = ", ".join(repeated[:5]) + (", …" if len(repeated) > 5 else "")
        notes.append(f"Column names that came twice were numbered: {shown}.")
    return tuple(result), notes


def _head(path: Path) -> str:
    """The first whole lines of the UTF-8 file."""
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        text = file.read(_HEAD_CHARS)
        return text if len(text) < _HEAD_CHARS else text[: text.rfind("\n") + 1] or text


def _marks(head: str, suffix: str, options: Mapping[str, Any]) -> tuple[str, str, str]:
    """Delimiter, quote and escape: those chosen, else the likeliest."""
    quote = str(options["quote"]) if "quote" in options else _quote(head)
    escape = str(options.get("escape") or ("\\" if quote and f"\\{quote}" in head and quote * 2 not in head else quote))
    if given := options.get("delimiter"):
        return _delimiter(str(given)), quote, escape
    line = next((x for x in head.splitlines() if x.strip()), "")
    if line.lower().startswith("sep=") and len(line.strip()) == 5:
        return line.strip()[4], quote, escape
    if suffix in (".tsv", ".tab") and "\t" in head:
        return "\t", quote, escape
    scored = {d: _score(_rows(head, d, quote, escape).cells) for d in _DELIMITERS if d in head}
    best = max(scored, key=lambda d: scored[d][0], default=None)
    if best is None or scored[best][1] < 2 or _is_cut_by_rare(head, best, quote, escape):
        rare = {d: _score(_rows(head, d, quote, escape).cells) for d in _RARE_DELIMITERS if d in head}
        rare = {d: s for d, s in rare.items() if s[1] > 1 and s[2] > 0.9 and (d != ":" or s[1] > 2)}
        best = max(rare, key=lambda d: rare[d][0], default=None)
    if best is None or (best in scored and scored[best][2] < _LEAST_SHARE):
        if named := next((d for d in _DELIMITERS if d in head and _names_are_cut(_rows(head, d, quote, escape).cells)), None):
            return named, quote, escape
        return next(d for d in (*_DELIMITERS, *_UNUSED) if d not in head), quote, escape
    return best, quote, escape


def _is_cut_by_rare(head: str, best: str, quote: str, escape: str) -> bool:
    """Whether a rare delimiter cuts every line alike, where the usual one does not cut the first line as it cuts the others."""
    usual = [len(row) for row in _rows(head, best, quote, escape).cells]
    if len(usual) < 2 or usual[0] >= max(usual):
        return False
    marks = [d for d in _RARE_DELIMITERS if d in head.partition("\n")[0] and d != ":"]
    return any(len(w := {len(row) for row in _rows(head, d, quote, escape).cells}) == 1 and max(w) > 1 for d in marks)


def _names_are_cut(rows: list[list[str]]) -> bool:
    """Whether the first line is names without blanks around its marks, most lines have the mark, and a fair part is as wide."""
    first, *body = rows
    if len(first) < _LEAST_NAMES or not body or (len(first) == _LEAST_NAMES and not all(map(_SHORT_NAME.fullmatch, first))):
        return False
    named = all(cell and cell == cell.strip() and not is_value(cell) and may_be_name(cell) for cell in first)
    cut = sum(len(row) > 1 for row in body) / len(body)
    fit = sum(len(row) == len(first) for row in body) / len(body)
    return named and len(set(first)) == len(first) and cut >= _LEAST_SHARE and fit >= _FAIR


def _delimiter(given: str) -> str:
    names = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
    return names.get(given.lower(), given)[:1] or ","


def _quote(head: str) -> str:
    """A single quote only where cells begin and end with it and none does with a double quote."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", head, re.MULTILINE))
    double = len(re.findall(r'(?:^|[,;\t|])"[^"]*"(?=[,;\t|\r\n]|$)', head, re.MULTILINE))
    return "'" if single > 2 and single > 3 * double else '"'


def _score(rows: list[list[str]]) -> tuple[float, int, float]:
    """How well rows hang together: score, usual width, and the share of rows that have it."""
    if not rows:
        return 0.0, 1, 0.0
    counts = Counter(len(row) for row in rows)
    width = max(counts, key=lambda w: (counts[w] * (w - 1) / w, w))
    if width < 2 or (counts[width] == 1 and len(rows) > 2):  # one comma in a text makes no column
        return 0.0, 1, counts[width] / len(rows)
    start = next(i for i, row in enumerate(rows) if len(row) == width)
    share = counts[width] / (len(rows) - start)
    alike = [row for row in rows if len(row) == width]
    cells = [cell for row in alike[:100] for cell in row[:60]]
    clean = sum(_is_clean(cell) for cell in cells) / len(cells)
    covered = counts[width] / len(rows)
    return share * share * (0.2 + 0.8 * clean) * (width - 1) / width * (0.5 + 0.5 * covered), width, share


def _is_clean(cell: str) -> bool:
    """A number, a date, or words without a delimiter or half a quote in them."""
    text = cell.strip()
    if not text or is_value(text):
        return True
    if any(mark in text for mark in ";\t|") or re.search(r",\S", text):
        return False
    return not (text[0] in "\"'" or text[-1] == '"')


def _rows(head: str, delimiter: str, quote: str, escape: str) -> _Rows:
    """The first rows, without blank lines, and for each the number of lines read up to its end."""
    if csv.field_size_limit() < _LONGEST_FIELD:
        csv.field_size_limit(_LONGEST_FIELD)
    rows: list[list[str]] = []
    ends: list[int] = []
    counts: list[int] = []
    quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    slashed = bool(quote) and escape == "\\"
    reader = csv.reader(
        io.StringIO(head, newline=""), delimiter=delimiter, quotechar=quote or None, quoting=quoting,
        escapechar="\\" if slashed else None, doublequote=not slashed,
        skipinitialspace=bool(quote) and f"{delimiter} {quote}" in head,
    )  # fmt: skip
    try:
        for count, row in enumerate(reader, start=1):
            if row:
                rows.append(row)
                ends.append(reader.line_num)
                counts.append(count)
            if len(rows) >= _HEAD_ROWS:
                break
    except csv.Error:
        pass
    if len(rows) > 2 and len(rows[-1]) == 1 and len(rows[-1][0]) > 10_000:  # an open quote swallowed the rest
        rows.pop()
        ends.pop()
        counts.pop()
    return _Rows(rows or [[""]], ends or [1], counts or [1])
