"""Which lines of a table are titles, which are column names, and where the data begins.

Goes by the cells of the first few hundred rows, whatever the file they came from. Must never: know a file by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lexsi_ds.data.comments import are_commented_names, bare_name, is_comment
from lexsi_ds.data.forms import MISSING_WORDS, is_date, is_value
from lexsi_ds.data.header_words import are_units, may_be_name, names_a_person

_MOST_PREAMBLE = 60
_MOST_HEADER = 6
_NEAR = 12
_YEAR = re.compile(r"^(19|20)\d\d$")
_SURE = 0.8
_LOOKED_AT = 20
_FAIR = 0.2
_LEAST_DAYS = 2
_IDENTIFIES = re.compile(r"(?i)(.*[_ -])?(id|ids|nr|no|num|number|key|code|name|index|row|#)|.*[a-z]Id|[a-z]{1,10}id")
_UNNAMED = (
    "All lines have one cell more than there are column names, so it is not known which name belongs to which column: they were "
    "numbered. The names are: {}. A comma within a text or a number may be the reason; put such cells in quotes."
)
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Header:
    """Indexes into the rows: ``first`` row that counts, number of ``lines`` with names (0 without), and the names."""

    first: int
    lines: int
    names: tuple[str, ...]
    width: int
    notes: tuple[str, ...] = ()
    padded: bool = False
    """Rows may have fewer cells than there are names."""


def find_header(rows: Rows, *, first: int | None = None, lines: int | None = None) -> Header:
    """Find titles, names and width. ``first`` and ``lines`` fix what a person chose."""
    width = _named_width(rows, usual_width(rows))
    start = _first_row(rows, width) if first is None else min(first, len(rows) - 1)
    commented = first is None and lines is None and are_commented_names(rows, start, width)
    if commented:
        start -= 1
    count = lines if lines is not None else 1 if commented else _header_rows(rows, start, width)
    body = rows[start + count :]
    notes: list[str] = []
    names = _joined([list(row) for row in rows[start : start + count]], width)
    if names and names[0].lstrip("\ufeff ").startswith("#"):
        names[0] = bare_name(names[0], body)
    if count > 1:
        notes.append(f"Column names stand on {count} lines and were joined.")
    if lines is None and count and _is_doubtful(rows, start + count, width):
        notes.append(
            "The first row under the column names has words where other rows have values; it was read as data. "
            "If it belongs to the names, set the lines of the header."
        )
    if not count:
        notes.append("The file has no line of column names; they were numbered.")
    while len(names) > width and not names[-1].strip():
        names.pop()
    padded = bool(names) and width < len(names)
    if padded:
        notes.append("Rows have fewer cells than there are column names; the missing cells are missing values.")
    if width == len(names) + 1 and names and any(row[-1].strip() for row in body if len(row) == width):
        if _are_row_names([row[0].strip() for row in body if len(row) == width], names):
            names.insert(0, "row_name")
            notes.append("The first column has no name in the header; it is called row_name.")
        else:
            notes.append(_UNNAMED.format(", ".join(names)[:200]))
            names = []
    names += [""] * (width - len(names))
    return Header(start, count, tuple(names), max(width, len(names)), tuple(notes), padded)


def _named_width(rows: Rows, width: int) -> int:
    """The width of the names, where a fair part of the rows has it though others are wider: those have a mark too many."""
    for row in rows[:_LOOKED_AT]:
        if len(row) >= max(2, width - 1):
            break
    else:
        return width
    fit = sum(len(other) == len(row) for other in rows) - 1
    named = all(cell.strip() and not is_value(cell) and may_be_name(cell) for cell in row)
    return len(row) if len(row) == width - 1 and named and fit >= max(1, _FAIR * (len(rows) - 1)) else width


def _are_row_names(first: list[str], names: Sequence[str]) -> bool:
    """Whether the cells before those that have names tell the rows apart, as programs write them without a name for the column.

    Where the first name is itself that of such a column, the lines have a mark too many in one of their cells.
    """
    return len(set(first)) == len(first) and all(first) and not _IDENTIFIES.fullmatch(names[0].strip())


def usual_width(rows: Rows) -> int:
    """Cells of most rows; when rows disagree the wider wins a tie."""
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width)) if counts else 1


def _filled(row: Sequence[str]) -> list[int]:
    return [i for i, cell in enumerate(row) if cell.strip()]


def _first_row(rows: Rows, width: int) -> int:
    """Index of the first row that is neither a title nor a comment. Columns that are empty all the way do not count."""
    used = 1 + max((max(_filled(row), default=0) for row in rows if len(row) == width), default=0)
    for index, row in enumerate(rows[:_MOST_PREAMBLE]):
        if index + 1 < len(rows) and _is_preamble(row, rows, index, width, used):
            continue
        return index
    return 0


def _is_preamble(row: Sequence[str], rows: Rows, index: int, width: int, used: int) -> bool:
    if is_comment(rows, index, width):
        return True
    if row and index == 0 and row[0].lower().startswith("sep=") and not any(row[1:]):
        return True
    filled = _filled(row)
    if used > 2 and len(filled) <= 1 and not (len(row) == width and _is_lone_group(filled)):
        return True
    if used == 2 and filled in ([], [0]) and _is_pair_below(rows[index + 1 :]):
        return True
    if width == 2 and len(row) == 1 and len(rows[index + 1]) <= 2 and index + 1 < len(rows):
        return True
    if width > 2 and len(row) < width and _is_named_below(rows[index + 1 : index + 12], width):
        return True
    few = len(filled) <= max(2, used // 3) and used >= 4 and max(filled, default=0) <= 1
    return few or (len(row) <= width // 2 and width > 2)


def _is_pair_below(rows: Rows) -> bool:
    """Whether the next row with more than one cell is two names, and their second one stands over numbers or dates."""
    at = next((i for i, row in enumerate(rows[:_NEAR]) if len(_filled(row)) > 1), None)
    if at is None:
        return False
    names = [rows[at][i] for i in _filled(rows[at])]
    return all(may_be_name(n) and not is_value(n) for n in names) and _filled(rows[at]) == [0, 1] and (
        1 in _value_columns(rows[at + 1 :], 2)
    )


def _is_named_below(rows: Rows, width: int) -> bool:
    """Whether a full row of words follows, and then a full row with a number or a date."""
    full = [row for row in rows if len(row) == width]
    words = [i for i, row in enumerate(full) if all(c.strip() and not is_value(c) for c in row)]
    return bool(words) and any(is_value(cell) for row in full[words[0] + 1 :] for cell in row)


def _is_lone_group(filled: list[int]) -> bool:
    """One cell far from the left: the name of a group of columns, rather than a title."""
    return bool(filled) and filled[0] > 1


def _value_columns(rows: Rows, width: int) -> set[int]:
    """Columns whose cells are numbers or dates in nearly every row."""
    found = set()
    for position in range(width):
        cells = [row[position].strip() for row in rows if len(row) > position]
        cells = [cell for cell in cells if cell and cell.upper() not in MISSING_WORDS]
        if cells and sum(is_value(cell) for cell in cells) >= _SURE * len(cells):
            found.add(position)
    return found


def _header_rows(rows: Rows, start: int, width: int) -> int:
    """How many rows from ``start`` hold names; 0 when the first one holds data."""
    rows = [*rows[: start + 1], *(row for row in rows[start + 1 :] if row != rows[start])]  # names may come again
    tail = rows[start + max(1, min(_MOST_HEADER, (len(rows) - start + 1) // 2)) :]
    values = _value_columns(tail, width)
    if not tail:
        first = [c for c in rows[start] if c.strip()]
        return int(not first or not all(is_value(c) or names_a_person(c) for c in first))
    if not values:
        return int(_differs(rows[start], rows[start + 1 :]))
    last = -1
    for index in range(start, min(start + _MOST_HEADER, len(rows))):
        row, below = rows[index], rows[index + 1 :]
        if not all(may_be_name(cell) for cell in row) or _comes_again(row, below, values):
            break
        if last >= 0 and not _belongs_below(rows[start : last + 1], row, values, width):
            break
        under = last >= 0 and _fills_gaps(rows[index - 1], row, values)
        if under or _names_columns(row, values, below, upper=index == start):
            last = index
        elif last >= 0 or not _is_group_row(row, values, width):
            break
    return last - start + 1


def _comes_again(row: Sequence[str], below: Rows, values: set[int]) -> bool:
    """Whether a word that stands where numbers should be stands among them again: then it is no name."""
    for i in values:
        word = row[i].strip() if i < len(row) else ""
        if word and not is_value(word) and any(len(other) > i and other[i].strip() == word for other in below):
            return True
    return False


def _belongs_below(names: Rows, row: Sequence[str], values: set[int], width: int) -> bool:
    """Whether the names may go on in ``row``: under gaps or groups of the rows so far, or as the units of full names.

    The first row with a name for each column ends the names: words below it are data, whatever stands under them.
    """
    named = [any(i < len(line) and line[i].strip() for line in names) for i in range(width)]
    free = [i for i in range(width) if not named[i]]
    groups = len(free) > 1 or (free[:1] > [0] and _leaves_names(names[0], row))
    if groups or _has_groups(names[-1], row):
        return True
    units = [row[i] for i in _filled(row) if i not in free]
    return are_units(units) and set(_filled(row)) - set(free) <= values


def _leaves_names(above: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row has nothing below a name, or the name again, as below cells that are merged downwards."""
    return any(name.strip() and (i >= len(row) or row[i].strip() in ("", name.strip())) for i, name in enumerate(above))


def _has_groups(above: Sequence[str], row: Sequence[str]) -> bool:
    """Whether names come several times side by side, each with another word below, as names of groups do."""
    pairs = [i for i in range(1, len(above)) if above[i].strip() and above[i] == above[i - 1]]
    return bool(pairs) and all(i < len(row) and row[i].strip() != row[i - 1].strip() for i in pairs)


def _is_doubtful(rows: Rows, index: int, width: int) -> bool:
    """Whether a row has only words where most of the rows below have values."""
    if index + 2 >= len(rows):
        return False
    values = _value_columns(rows[index + 1 :], width)
    cells = [rows[index][i].strip() for i in sorted(values) if i < len(rows[index])]
    cells = [cell for cell in cells if cell and cell.upper() not in MISSING_WORDS]
    return bool(cells) and not any(map(is_value, cells))


def _names_columns(row: Sequence[str], values: set[int], below: Rows, *, upper: bool) -> bool:
    """Whether words stand above the numbers. Below the first row of names, above most of them."""
    cells = [row[i].strip() for i in sorted(values) if i < len(row) and row[i].strip()]
    cells = [cell for cell in cells if cell.upper() not in MISSING_WORDS]
    if not cells:
        return False
    numbers = [cell for cell in cells if is_value(cell)]
    if numbers:
        named = _are_years(numbers) or _are_days(numbers, below)
        return upper and named and (len(numbers) > 1 or len(cells) > 1 or len(_filled(row)) > 1)
    return upper or len(cells) >= max(1, len(values) / 2) or len(_filled(row)) < len(row) / 2


def _are_years(cells: list[str]) -> bool:
    return all(_YEAR.match(cell) for cell in cells) and cells == sorted(set(cells))


def _are_days(cells: list[str], below: Rows) -> bool:
    """Whether days name columns, side by side and each another one, above values that are no dates."""
    if len(cells) < _LEAST_DAYS or len(set(cells)) < len(cells) or not all(is_date(cell) for cell in cells):
        return False
    return not any(is_date(cell) for row in below for cell in row)


def _fills_gaps(above: Sequence[str], row: Sequence[str], values: set[int]) -> bool:
    """Whether a row without a number stands under gaps of the row of names above it."""
    filled = _filled(row)
    gaps = {i for i, cell in enumerate(above) if not cell.strip()}
    return bool(filled) and bool(gaps & set(filled)) and not any(is_value(row[i]) for i in filled)


def _is_group_row(row: Sequence[str], values: set[int], width: int) -> bool:
    """A row of group names (or years) with gaps, such as stands above the names of a report."""
    filled = _filled(row)
    return 0 < len(filled) < width and all(not is_value(row[i]) or _YEAR.match(row[i].strip()) for i in filled)


def _differs(first: Sequence[str], body: Rows) -> bool:
    """Among text only: names are not found again among the values, and none is missing."""
    if any(is_value(cell) or not may_be_name(cell) for cell in first if cell.strip()):
        return False
    again = sum(any(len(r) > i and r[i] == cell for r in body) for i, cell in enumerate(first) if cell.strip())
    return again <= len(first) // 3


def _joined(lines: list[list[str]], width: int) -> list[str]:
    """One name a column: names of groups reach over the gaps to their right, as merged cells do."""
    if not lines:
        return []
    if len(lines) == 1:
        return lines[0]
    width = max(width, *(len(line) for line in lines))
    cells = [[c.strip() for c in line] + [""] * (width - len(line)) for line in lines]
    starts = [False] * width  # where a group of an upper line begins, so that lower ones do not reach over it
    for line in cells[:-1]:
        current = ""
        for i in range(width):
            if line[i]:
                current, starts[i] = line[i], True
            elif starts[i] or not any(other[i] for other in cells):
                current = ""
            else:
                line[i] = current
    names = []
    for i in range(width):
        parts = list(dict.fromkeys(line[i] for line in cells if line[i]))
        names.append(" ".join(parts))
    return names
