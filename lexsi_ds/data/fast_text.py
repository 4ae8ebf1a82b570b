"""The quick way for large clean text files: DuckDB reads numbers and dates itself, and everything is checked for what it
would read too kindly.

A sample proposes the types. DuckDB alone would read 1.7 as 2, 007 as 7 and drop a time of day, so whole numbers are
read as decimals and dates as times, the bytes are searched for leading zeros, and texts for codes. Whatever contradicts
the sample sends the file the careful way. Must never: keep a table of which one cell was read otherwise than there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from lexsi_ds.data.below import is_total
from lexsi_ds.data.column_words import is_code
from lexsi_ds.data.forms import MISSING_CODES
from lexsi_ds.data.infer import Typed
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.number_runs import NumberRuns, OddNumbers, all_in_texts
from lexsi_ds.data.profile import Counts
from lexsi_ds.data.raw_rows import literal, quoted
from lexsi_ds.data.readers import read_text

FAST_FROM = 24 << 20
"""Smaller files go the careful way at once."""
_SAMPLE = 1 << 20
_CHUNK = 128 << 10
"""More does not stay in a processor's cache; an array beyond it is fetched anew from the system each time."""
_EXACT = 9e15
_READ_AS = {"BIGINT": "DOUBLE", "DATE": "TIMESTAMP", "BOOLEAN": "VARCHAR"}
_CHOICES = {
    "columns", "missing", "decimal", "thousands", "date_order", "encoding", "header_lines", "skip", "keep_empty_rows",
    "keep_below", "cuts",
}  # fmt: skip
_SPACED_NUMBER = re.compile(rb"""[,;|\t\n"]-?\d+(_\d+)+[,;|\t\r\n".eE]""")
_INNER_MARK = b"\n" + codecs.BOM_UTF8
_OFFSET = re.compile(rb":\d\d(?:\.\d+)?[+-]\d\d")
"""A time with an offset from UTC, which DuckDB would drop."""


_NONE = OddNumbers()


@dataclass(frozen=True)
class _Bytes:
    """What a look at all bytes found."""

    clean: bool
    zeros: int = 0
    """Cells that begin with a zero and another digit."""
    odd: OddNumbers = _NONE
    """Cells that are numbers which DuckDB would read as others."""


def read_fast(
    con: duckdb.DuckDBPyConnection, path: Path, name: str, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Loaded:
    """As ``read_text``, the quick way when the file is large and clean."""
    careful = partial(read_text, con, path, name, scratch, limits, options)
    if path.stat().st_size < FAST_FROM or _CHOICES & set(options):
        return careful()
    sample = _sample(path, scratch)
    found = read_text(con, sample, name, scratch, limits, options)
    if not _is_clean(found):
        return careful()
    beside = ThreadPoolExecutor(1)  # the bytes are searched while DuckDB reads and writes
    timed = any(t.type == "TIMESTAMP" for t in found.typed)
    runs = _runs(found, sample)
    seen = beside.submit(scan_bytes, path, str(found.options["delimiter"]), timed=timed, runs=runs)
    beside.shutdown(wait=False)
    notes = tuple(_of_first_rows(n) for n in found.notes)
    return replace(
        found, select=_select(path, found), notes=notes, instead=careful,
        check=partial(_contradicted, con, found.typed, seen, runs.again()), options=found.options | {"lines": None},
    )  # fmt: skip


def _runs(found: Loaded, sample: Path) -> NumberRuns:
    """Which numbers to look for among the bytes."""
    types = {t.type for t in found.typed}
    runs = NumberRuns(ord(str(found.options["delimiter"])), "DOUBLE" in types, "BIGINT" in types)
    runs.allow(sample.read_bytes())
    return runs


def _of_first_rows(note: str) -> str:
    """A note with a count of the sample says so."""
    if " blanks around " in note:
        return f"In the first rows: {note}"
    return note.replace(" times in ", " times in the first rows of ")


def scan_bytes(path: Path, delimiter: str, *, timed: bool = True, runs: NumberRuns | None = None) -> _Bytes:
    """One pass: valid UTF-8, one kind of line end, no NUL, no 1_000, no offset of times; and the counts of leading zeros and
    of numbers that ``runs`` finds odd."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    zeros, carry, returns, ends, odd = 0, b"\n", 0, 0, _NONE
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if b"\x00" in chunk:
                return _Bytes(False)
            if not chunk.isascii() or decoder.getstate()[0]:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    return _Bytes(False)
            if b"\r" in chunk or returns:
                returns += chunk.count(b"\r")
                ends += chunk.count(b"\n")
            joined = carry + chunk
            found = _leading_zeros(joined, ord(delimiter))
            if runs is not None:
                odd += runs.count(chunk)
            if not joined.isascii() and _INNER_MARK in joined[1 if carry == b"\n" else 0 :]:
                return _Bytes(False)
            if found is None or (timed and _has_offset(joined)) or (b"_" in chunk and _SPACED_NUMBER.search(chunk)):
                return _Bytes(False)
            zeros += found
            carry = chunk[-3:]
            zeros -= _leading_zeros(carry, ord(delimiter)) or 0  # it is counted again with the next chunk
    if runs is not None:
        odd += runs.count(b"\n")
    zeros += _leading_zeros(carry, ord(delimiter)) or 0
    return _Bytes(not decoder.getstate()[0] and (not returns or abs(returns - ends) <= 1), zeros, odd)


def _has_offset(data: bytes) -> bool:
    """Whether a time has an offset; a quick look at what stands behind seconds comes before the search."""
    a = np.frombuffer(data, dtype=np.uint8)
    behind = a[3:]
    near = behind == 43
    near |= behind == 45
    near |= behind == 46
    near &= a[:-3] == 58
    return bool(near.any()) and _OFFSET.search(data) is not None


def _leading_zeros(data: bytes, delimiter: int) -> int | None:
    """Cells that begin with 0 and a digit, or with a minus before that; None when one begins with a plus."""
    a = np.frombuffer(data, dtype=np.uint8)
    if len(a) < 3:
        return 0
    starts = a == delimiter
    starts |= a == 10
    if b'"' in data:
        starts |= a == 34
    if b"+" in data and bool(np.any(starts[:-1] & (a[1:] == 43))):
        return None
    pairs = (a[1:] - np.uint8(48)) < 10
    pairs &= a[:-1] == 48
    count = int(np.count_nonzero(starts[:-2] & pairs[1:]))
    if len(a) > 3:
        count += int(np.count_nonzero(starts[:-3] & (a[1:-2] == 45) & pairs[2:]))
    return count


def _sample(path: Path, scratch: Path) -> Path:
    folder = scratch / f"sample_{len(list(scratch.glob('sample_*')))}"
    folder.mkdir()
    to = folder / path.name
    with path.open("rb") as source:
        head = source.read(_SAMPLE)
    to.write_bytes(head[: head.rfind(b"\n") + 1] or head)
    return to


def _is_clean(found: Loaded) -> bool:
    """Whether the sample has only what DuckDB reads as we do."""
    said = found.options
    if said["encoding"] not in ("utf-8", "utf-8-sig") or found.rejected or said["quote"] not in ('"', ""):
        return False
    if found.flagged != said["above"]:  # titles and comments are kept the same either way
        return False
    mark = str(said["delimiter"])
    if said["cuts"] is not None or len(mark) != 1 or ord(mark) > 127 or mark in "0123456789-+_.x":
        return False
    if said.get("padded") or len(found.typed) != said["width"] or any("empty row" in note for note in found.notes):
        return False
    return all(_is_plain(t) for t in found.typed)


def _is_plain(t: Typed) -> bool:
    d = t.decision
    if d is None or t.empty or t.missing or d.open or d.bared or "became missing" in " ".join(t.notes):
        return False
    match t.type:
        case "DOUBLE" if is_code(t.column.name):  # of which zeros at the end are kept
            return False
        case "BIGINT" | "DOUBLE":
            return d.style is not None and d.style.decimal == "." and not d.style.thousands
        case "DATE" | "TIMESTAMP":
            return d.dates == ("iso",)
        case _:
            return t.type in ("VARCHAR", "BOOLEAN")


def _select(path: Path, found: Loaded) -> str:
    said = found.options
    columns = ", ".join(f"'c{i}': '{_READ_AS.get(t.type, t.type)}'" for i, t in enumerate(found.typed))
    made = ", ".join(f"{_checked(f'c{i}', t)} AS {quoted(t.column.name)}" for i, t in enumerate(found.typed))
    quote = str(said["quote"])
    return (
        f"SELECT {made} FROM read_csv({literal(str(path))}, auto_detect = false, header = false, columns = {{{columns}}}, "
        f"delim = {literal(str(said['delimiter']))}, quote = {literal(quote)}, "
        f"escape = {literal(str(said['escape']) if quote else '')}, skip = {said['skipped_lines']}, nullstr = '')"
    )


def _checked(cell: str, t: Typed) -> str:
    """The value, or an error that ends the quick way."""
    if t.type == "BIGINT":
        test = f"{cell} = trunc({cell}) AND abs({cell}) < {_EXACT}"
    elif t.type == "DATE":
        test = f"isfinite({cell}) AND {cell} = date_trunc('day', {cell})"
    elif t.type == "BOOLEAN":  # 1 and t are true to DuckDB
        test = f"{cell} IN ('true', 'false', 'True', 'False', 'TRUE', 'FALSE')"
    elif t.type in ("DOUBLE", "TIMESTAMP"):
        test = f"isfinite({cell})"
    else:
        return cell
    return f"CASE WHEN {cell} IS NULL OR ({test}) THEN CAST({cell} AS {t.type}) ELSE error('odd') END"


def _contradicted(
    con: duckdb.DuckDBPyConnection, typed: tuple[Typed, ...], scan: Future[_Bytes], runs: NumberRuns, table: str,
    counts: Sequence[Counts],
) -> bool:  # fmt: skip
    """Whether the rows in ``table``, of which ``counts`` tell, hold something that the careful way would have read otherwise."""
    seen = scan.result()
    if not seen.clean:
        return True
    texts = [(quoted(t.column.name), c) for t, c in zip(typed, counts, strict=True) if t.type == "VARCHAR"]
    begins = [f"count(*) FILTER (WHERE {test})" for c, found in texts if seen.zeros and (test := _zero_test(c, found))]
    odd = [f"count(*) FILTER (WHERE {test})" for c, found in texts if (test := _odd_test(c, found))]
    names = [(quoted(t.column.name), literal(t.column.name)) for t in typed]
    if all(found.nulls for found in counts):
        odd.append(f"count(*) FILTER (WHERE {' AND '.join(f'{c} IS NULL' for c, _ in names)})")
    if len(texts) == len(typed):  # the line of names again
        odd.append(f"count(*) FILTER (WHERE {' AND '.join(f'{c} = {name}' for c, name in names)})")
    row = (0, 0)
    if begins or odd:
        row = con.execute(f"SELECT {' + '.join(begins) or 0}, {' + '.join(odd) or 0} FROM {table}").fetchone()
    assert row is not None
    if row[0] != seen.zeros or row[1] or not all_in_texts(con, table, [c for c, _ in texts], runs, seen.odd):
        return True
    listed = ", ".join(c for c, _ in texts)
    last = con.execute(f"SELECT {listed or 'NULL'} FROM {table} ORDER BY rowid DESC LIMIT 1").fetchone()
    return any(cell is not None and is_total(str(cell)) for cell in last or ())


def _zero_test(cell: str, found: Counts) -> str | None:
    """SQL: whether a text begins with a zero and a digit, a minus before it or not; None where the extremes say that none does."""
    if found.minimum is None or found.minimum >= "1":
        return None
    return (
        f"CASE WHEN {cell} < '1' THEN ({cell} >= '00' AND {cell} < '0:') OR ({cell} >= '-00' AND {cell} < '-0:') ELSE false END"
    )


def _odd_test(cell: str, found: Counts) -> str | None:
    """SQL: whether a text is blank or a code for a missing value; None where the extremes say that none is."""
    low, high = found.minimum, found.maximum
    if low is None or high is None:
        return None
    parts = []
    codes = [code for code in MISSING_CODES if low <= code <= high]
    if codes:
        listed = ", ".join(map(literal, codes))
        parts.append(f"CASE WHEN strlen({cell}) <= {max(map(len, codes))} THEN {cell} IN ({listed}) ELSE false END")
    if low < "!" or high >= "\u00a0":
        blank = f"trim({cell}, ' \t\u00a0') = ''"
        parts.append(f"CASE WHEN {cell} < '!' OR starts_with({cell}, '\u00a0') THEN {blank} ELSE false END")
    return " OR ".join(parts) or None
