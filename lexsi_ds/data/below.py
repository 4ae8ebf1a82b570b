"""What stands under the rows of a table and is no row: notes, and a last line that adds the others up.

Both go to the file of what was rejected, and are said. Must never: take a row away that may be one; a sum is told by its
word and by its numbers, a note by standing alone where values should be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from lexsi_ds.data.column_words import is_maker
from lexsi_ds.data.forms import MISSING_WORDS, is_value
from lexsi_ds.data.raw_rows import Raw, literal

_MOST_NOTES = 30
_LAST = 40
_SAMPLE = 2_000
_SURE = 0.9
_LEAST_ADDED = 3
"""Fewer rows may add up to another one by chance."""
_TOTAL = re.compile(
    r"(grand |sub|overall )?totals?:?( .{0,20})?|sum(me|a)?:?( .{0,20})?|gesamt(summe)?:?|insgesamt:?|celkem:?|razem:?|totale?:?"
    r"|ensemble:?|součet:?|spolu:?",
    re.IGNORECASE,
)


def is_total(cell: str) -> bool:
    """Whether a cell says that its row is a total."""
    return bool(_TOTAL.fullmatch(cell.strip()))


def settle_below(con: duckdb.DuckDBPyConnection, raw: Raw, options: Mapping[str, Any]) -> Raw:
    """The raw table without what stands under its rows. Rows without any value must be gone already."""
    width = len(raw.dialect.columns)
    if width < 2 or options.get("keep_below"):
        return raw
    cells = ", ".join(f"c{i}" for i in range(width))
    last = con.execute(f"SELECT rowid, {cells} FROM {raw.table} ORDER BY rowid DESC LIMIT {_LAST}").fetchall()
    head = con.execute(f"SELECT {cells} FROM {raw.table} LIMIT {_SAMPLE}").fetchall()
    values = _value_columns(head[: len(head) - (len(last) if len(head) < _SAMPLE else 0)] or head[: len(head) // 2 + 1], width)
    notes = _notes(last, values, width)
    if any(_comes_above(row, head) for row in notes):
        notes = []  # a word that other rows have in the same column is a value of a row with gaps
    raw = _set_aside(con, raw, notes, "NOTE UNDER THE TABLE", width)
    if notes:
        many = "s" * (len(notes) > 1)
        said = f"{len(notes)} line{many} under the table, such as {_shown(notes[-1])}"
        raw = raw.noted(f"{said}, left out; in the file of rejected lines.")
    return _without_total(con, raw, last[len(notes) :], values, width, options)


def _shown(row: Sequence[Any]) -> str:
    text = next((str(cell) for cell in row[1:] if cell and str(cell).strip()), "")
    return f"“{text.strip()[:40]}”"


def _value_columns(rows: Sequence[Sequence[Any]], width: int) -> set[int]:
    found = set()
    for i in range(width):
        cells = [_cell(row[i]) for row in rows if _cell(row[i])]
        if cells and sum(is_value(c) for c in cells) >= _SURE * len(cells):
            found.add(i)
    return found


def _cell(value: Any) -> str:
    text = str(value or "").strip()
    return "" if text.upper() in MISSING_WORDS else text


def _notes(last: Sequence[Sequence[Any]], values: set[int], width: int) -> list[Sequence[Any]]:
    """Rows at the end with words in one cell alone, where the rows above have values in most columns; the last one first."""
    found = []
    for row in last[:_MOST_NOTES]:
        filled = [i for i in range(width) if _cell(row[1 + i])]
        alone = len(filled) == 1 and not is_value(str(row[1 + filled[0]])) and len(values - set(filled)) >= 1
        if not alone or (width == 2 and filled[0] not in values):
            break
        found.append(row)
    above = last[len(found)] if len(found) < len(last) else None
    full = above is not None and sum(bool(_cell(c)) for c in above[1:]) > max(1, width // 3)
    return found if full else []


def _comes_above(row: Sequence[Any], head: Sequence[Sequence[Any]]) -> bool:
    """Whether the only word of a row is one that other rows have in that column; short files have the row itself in ``head``."""
    column, word = next((i, cell) for i, cell in enumerate(row[1:]) if _cell(cell))
    return sum(above[column] == word for above in head) > (1 if len(head) < _SAMPLE else 0)


def _set_aside(
    con: duckdb.DuckDBPyConnection, raw: Raw, rows: Sequence[Sequence[Any]], reason: str, width: int
) -> Raw:
    if not rows:
        return raw
    cells = ", ".join(f"coalesce(c{i}, '')" for i in range(width))
    text = f"concat_ws({literal(raw.dialect.delimiter)}, {cells})"
    ids = ", ".join(str(int(row[0])) for row in rows)
    con.execute(
        f'INSERT INTO {raw.table}_rejects (reason, "text", "row") '
        f"SELECT ?, {text}, n FROM (SELECT *, row_number() OVER (ORDER BY rowid) AS n, rowid AS r FROM {raw.table}) "
        f"WHERE r IN ({ids})",
        [reason],
    )
    con.execute(f"DELETE FROM {raw.table} WHERE rowid IN ({ids})")
    return raw.noted(rejected=len(rows))


def _without_total(
    con: duckdb.DuckDBPyConnection, raw: Raw, last: Sequence[Sequence[Any]], values: set[int], width: int,
    options: Mapping[str, Any],
) -> Raw:  # fmt: skip
    """Set the last row aside when it says that it is a total, and a number in it is the sum of its column, or its word
    stands where numbers or dates should be; else a row that only says so is kept, and said."""
    if len(last) < 3:
        return raw
    row = last[0]
    labels = [i for i in range(width) if is_total(_cell(row[1 + i]))]
    if not labels:
        return raw
    label = _cell(row[1 + labels[0]])[:30]
    sums = [i for i in range(width) if i not in labels and i in values and _is_sum(con, raw.table, i, row)]
    chance = len(sums) < 2 and len(last) <= _LEAST_ADDED and is_maker(raw.dialect.columns[labels[0]])
    if chance or (not sums and labels[0] not in values):
        return raw.noted(f"The last row looks like a total ({label}); it was kept.")
    why = f"the sum of the rows above in {raw.dialect.columns[sums[0]]}" if sums else "its word stands among values"
    raw = _set_aside(con, raw, [row], "TOTAL UNDER THE TABLE", width)
    return raw.noted(f"The last row is a total ({label}: {why}); left out; in the file of rejected lines.")


def _is_sum(con: duckdb.DuckDBPyConnection, table: str, column: int, row: Sequence[Any]) -> bool:
    """Whether the cell is what all rows above add up to, in either way to write decimals."""
    cell = _cell(row[1 + column])
    if not cell or not is_value(cell):
        return False
    for decimal, thousands in ((".", ","), (",", ".")):
        above, here = _number(f"c{column}", decimal, thousands), _number("?", decimal, thousands)
        found = con.execute(
            f"SELECT sum({above}), any_value({here}) FROM {table} WHERE rowid < ?", [cell, int(row[0])]
        ).fetchone()
        if found and found[0] and found[1] is not None and _close(found[0], found[1]):
            return True
    return False


def _number(text: str, decimal: str, thousands: str) -> str:
    """SQL: a number however it is adorned."""
    made = f"regexp_replace(translate({text}, '−–', '--'), '[^0-9.,()-]', '', 'g')"
    made = f"replace(replace({made}, '{thousands}', ''), '{decimal}', '.')"
    made = f"regexp_replace(regexp_replace({made}, '^\\((.*)\\)$', '-\\1'), '^(.+)-$', '-\\1')"
    return f"try_cast({made} AS DOUBLE)"


def _close(total: float, said: float) -> bool:
    """The same but for rounding of what was added."""
    return abs(total - said) <= max(0.006, 1e-6 * abs(total))
