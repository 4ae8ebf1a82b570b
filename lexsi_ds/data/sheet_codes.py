"""Cells that a sheet shows otherwise than they are held: a number under the format ``00000`` is a code to whoever looks at it.

What the readers of formats of xlsx, xls, xlsb and ods find, in one form. Must never: change a cell whose format is not made of
zeros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_MASK = re.compile(r"[^\W\d_]{0,8}[0\- /()]*0[0\- /()]*0[0\- /()]*")
"""Letters or none, two zeros at least, and between them only what stands between the parts of a code."""
_LETTERED = re.compile(r"(?!R0|RM|FT|KR|KG|KM|MB|GB|TB|MM|CM)[A-Z]{1,2}0")
"""One or two capitals and one zero: ``"Q"0`` shows a quarter as Q3. Amounts and measures are none."""
TEXT = "@"
"""The format of cells that are text whatever was typed into them."""
_UNQUOTED = re.compile(r'"[^"]*"|\\.')


@dataclass
class Codes:
    """Formats of one sheet's cells, by column: for each row the number of its format, 0 for none."""

    masks: tuple[str, ...]
    columns: dict[int, bytearray] = field(default_factory=dict)
    formatted: set[int] = field(default_factory=set)
    """Columns of cells seen with such a format, and of digits seen without."""
    plain: set[int] = field(default_factory=set)

    def note(self, row: int, column: int, mask: int) -> None:
        """A cell has a format."""
        held = self.columns.setdefault(column, bytearray())
        if len(held) <= row:
            held.extend(bytes(row + 1 - len(held)))
        held[row] = mask + 1

    def shown(self, row: int, column: int, text: str) -> str:
        """The cell as the sheet shows it."""
        held = self.columns.get(column, b"")
        if row >= len(held) or not held[row]:
            if text.isdecimal():
                self.plain.add(column)
            return text
        if text:
            self.formatted.add(column)
        mask = self.masks[held[row] - 1]
        return text if mask == TEXT or not text.isdecimal() else masked(text, mask)

    @property
    def texts(self) -> frozenset[str]:
        """Raw names of columns that the sheet calls texts or codes: all their digits have such a format."""
        return frozenset(f"c{column}" for column in self.formatted - self.plain)


def code_mask(code: str) -> str | None:
    """A format as the mask of a code, or ``@``; None for all other formats."""
    first = code.split(";")[0]
    if first == TEXT:
        return TEXT
    literals = "".join(re.findall(r'"([^"]*)"', first))
    mask = first.replace("\\", "").replace('"', "")
    is_code = _MASK.fullmatch(mask) or (literals and _LETTERED.fullmatch(mask))
    return mask if is_code and "0" not in literals and not re.search(r"(?i)[a-z]", _UNQUOTED.sub("", first)) else None


def masked(digits: str, mask: str) -> str:
    """Digits in a format such as ``00000`` or ``000-00``; those beyond it stand before the first one."""
    zeros = mask.count("0")
    digits = digits.zfill(zeros)
    more, rest = digits[: len(digits) - zeros], iter(digits[len(digits) - zeros :])
    made = "".join(next(rest) if mark == "0" else mark for mark in mask)
    first = mask.index("0")
    return made[:first] + more + made[first:]


@dataclass(frozen=True)
class Formats:
    """What the formats of a workbook say: cells shown as codes by the name of their sheet, and cells that became missing."""

    codes: Mapping[str, Codes]
    errors: int = 0
    """Cells that hold an error such as #DIV/0!."""
    bare: int = 0
    """Formulas without a stored result."""
