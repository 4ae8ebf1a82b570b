"""How a delimited text file is written: delimiter, quote, lines before the header, header and column names.

DuckDB's sniffer finds the delimiter; what the first lines mean is decided here, where it can be said in a note.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from lexsi_ds.data.text_file import TextFile

_HEAD_CHARS = 512 << 10
_HEAD_ROWS = 300
_QUICK_CHARS = 64 << 10
_DELIMITERS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"^\s*[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s*%?\s*$")
_YEAR = re.compile(r"^(19|20)\d\d$")
_DATE = re.compile(r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?\s*$")


@dataclass(frozen=True)
class Dialect:
    """What ``read_csv`` must be told. ``skip`` counts lines up to and including the header."""

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


def sniff_dialect(
    con: duckdb.DuckDBPyConnection, file: TextFile, suffix: str, options: Mapping[str, object]
) -> Dialect:
    """Find the dialect. ``options`` may fix ``delimiter``, ``quote`` and ``header``."""
    head = _head(file.path)
    delimiter, quote, escape = _marks(con, file.path, head, suffix)
    delimiter = str(options.get("delimiter") or delimiter)
    quote = str(options.get("quote", quote))
    rows, ends = _rows(head, delimiter, quote)
    width = _usual_width(rows)
    first = _first_row(rows, width)
    body = rows[first + 1 :]
    header = bool(options["header"]) if "header" in options else _looks_like_header(rows[first], body)
    notes = []
    if first:
        notes.append(f"{first} line{'s' * (first > 1)} before the column names (titles or comments) not read as data.")
    names = list(rows[first]) if header else []
    if not header:
        notes.append("The file has no line of column names; they were numbered.")
    padded = bool(names) and width < len(names)
    if padded:
        notes.append("Rows have fewer cells than there are column names; the missing cells are missing values.")
    if width == len(names) + 1 and names and any(row[-1].strip() for row in body if len(row) == width):
        names.insert(0, "row_name")
        notes.append("The first column has no name in the header; it is called row_name.")
    names += [""] * (width - len(names))
    unique, said = unique_names(names)
    skip = ends[first] if header else (ends[first - 1] if first else 0)
    return Dialect(
        delimiter, quote, escape, header, skip, unique, tuple(not n.strip() for n in names), padded,
        tuple(notes + (said if header else [])),
    )  # fmt: skip


def likely_width(file: TextFile) -> int:
    """Columns as the first lines suggest: a quick look, before DuckDB's sniffer spends long on a monstrous file."""
    rows, _ = _rows(_head(file.path)[:_QUICK_CHARS], _most_regular(_head(file.path)[:_QUICK_CHARS]), '"')
    return _usual_width(rows)


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


def _marks(con: duckdb.DuckDBPyConnection, path: Path, head: str, suffix: str) -> tuple[str, str, str]:
    """Delimiter, quote and escape."""
    line = next((x for x in head.splitlines() if x.strip()), "")
    if suffix in (".tsv", ".tab") and "\t" in line:
        return "\t", '"', '"'
    try:
        found = con.execute(
            "SELECT Delimiter, Quote, Escape FROM sniff_csv(?, all_varchar = true, ignore_errors = true)", [str(path)]
        ).fetchone()
    except duckdb.Error:
        found = None
    if found is None or found[0] not in _DELIMITERS or (found[0] not in line and len(line) > 0):
        return _most_regular(head), '"', '"'
    quote = found[1] if found[1] in ('"', "'") else '"'
    return found[0], quote, found[2] if found[2] == "\\" else quote


def _most_regular(head: str) -> str:
    """The delimiter that cuts most of the first lines into the same number of cells; a comma when none does."""

    def score(delimiter: str) -> tuple[float, int]:
        rows, _ = _rows(head, delimiter, '"')
        width, count = Counter(len(r) for r in rows).most_common(1)[0] if rows else (1, 0)
        return (count / max(len(rows), 1) if width > 1 else 0.0, width)

    return max(_DELIMITERS, key=score)


def _rows(head: str, delimiter: str, quote: str) -> tuple[list[list[str]], list[int]]:
    """The first rows, without blank lines, and for each the number of lines read up to its end."""
    rows: list[list[str]] = []
    ends: list[int] = []
    quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, quotechar=quote or None, quoting=quoting)
    try:
        for row in reader:
            if row:
                rows.append(row)
                ends.append(reader.line_num)
            if len(rows) >= _HEAD_ROWS:
                break
    except csv.Error:
        pass
    return rows or [[""]], ends or [1]


def _usual_width(rows: list[list[str]]) -> int:
    """Cells of most rows; when rows disagree the wider wins a tie."""
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width))


def _first_row(rows: list[list[str]], width: int) -> int:
    """Index of the first row that is not a title or a comment."""
    for index, row in enumerate(rows[:50]):
        filled = sum(bool(cell.strip()) for cell in row)
        if row[0].lstrip("\ufeff").startswith("#") and index + 1 < len(rows):
            continue
        if width > 2 and filled <= 1 and index + 1 < len(rows):
            continue
        return index
    return 0


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.match(cell) or _DATE.match(cell))


def _looks_like_header(first: list[str], body: list[list[str]]) -> bool:
    """Names stand above values of another kind, or are not found again among the values."""
    if not body:
        return not all(_is_value(cell) for cell in first if cell.strip()) or not any(c.strip() for c in first)
    if all(_is_value(cell) for cell in first if cell.strip()):
        return False
    for position, cell in enumerate(first):
        below = [row[position] for row in body if len(row) > position and row[position].strip()]
        if cell.strip() and not _is_value(cell) and below and all(_is_value(value) for value in below):
            return True
    values = [cell.strip() for cell in first if _is_value(cell)]
    if values:  # a row of years above a column of names is a header all the same
        return len(values) < len(first) and all(_YEAR.match(v) for v in values) and values == sorted(set(values))
    again = sum(any(len(r) > i and r[i] == cell for r in body) for i, cell in enumerate(first) if cell.strip())
    return again <= len(first) // 3
