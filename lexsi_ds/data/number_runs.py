"""Numbers that DuckDB would read as others than they are, found among the bytes of a large file: decimals of more digits than
floating point holds, and codes such as ``1E5`` under whole numbers.

Works on whole chunks at once, as it goes over every byte. Bytes do not tell the column: what is found is counted, and texts
of the table are counted by the same rules, so that a hash which happens to be digits, an ``e`` and a digit makes no
difference. Must never: miss one, or count one twice, for where a chunk ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from lexsi_ds.data.raw_rows import literal

_CARRY = 64
"""Bytes of the chunk before that are looked at again: longer numbers are no numbers."""
_EXACT, _WRITTEN = 16, 18
"""Digits from which a decimal may not be held exactly; from which it is not, though programs write up to 17."""
_CENTS = 2
_WIDTH = 30
"""What is looked at of a long number; of one that goes on, these digits count."""
_PLACES = np.arange(_WIDTH)
_SMALL_PLACES = _PLACES.astype(np.uint8)
_LONGEST = 40
"""Digits of a code that are looked at; a number with more is too large to be held anyway."""
_NAMED = 50
"""Most codes that are kept to be looked for by themselves."""
_ROWS = 8192
"""Texts that are fetched at once."""
_POINT = 46
_PADDING = b"\x00" * 16
"""What no number has and no cell ends at, so that a look ahead stays inside."""
_EIGHT = 0x0101010101010101
"""Eight places of truth."""
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class OddNumbers:
    """How many were found."""

    codes: int = 0
    decimals: int = 0
    named: frozenset[bytes] = frozenset()
    """Codes, some of them when there are many."""

    def __add__(self, other: OddNumbers) -> OddNumbers:
        named = self.named if len(self.named) >= _NAMED else self.named | other.named
        return OddNumbers(self.codes + other.codes, self.decimals + other.decimals, named)


@dataclass
class NumberRuns:
    """What to look for, given the columns that there are, and the end of the chunk before."""

    delimiter: int
    decimals: bool
    """Whether there is a column of decimals."""
    whole: bool
    """Whether there is one of whole numbers."""
    most: int = _EXACT
    """Digits of a decimal from which it is odd."""
    _carry: bytes = b"\n"

    def allow(self, sample: bytes) -> None:
        """Take decimals of 16 and 17 digits, as programs write them, where the first rows have such."""
        if self.decimals and NumberRuns(self.delimiter, True, False).count(sample + b"\n").decimals:
            self.most = _WRITTEN

    def again(self) -> NumberRuns:
        """The same, for other bytes."""
        return replace(self, _carry=b"\n")

    def pattern(self, odd: OddNumbers) -> str:
        """A regular expression that every text matches in which there is one of the kinds of ``odd``."""
        closing = "".join(f"\\x{byte:02x}" for byte in self._closings())
        code = f"(^|[{closing}])[0-9]+[eE][0-9]{{1,3}}($|[{closing}])"
        decimal = f"(^|[{closing}+-])[0-9.]{{16}}"
        return "|".join([code] * bool(odd.codes) + [decimal] * bool(odd.decimals))

    def count(self, chunk: bytes) -> OddNumbers:
        """Cells that are such numbers and end in this chunk; a line end ends the last one."""
        data = self._carry + chunk
        new = len(self._carry)
        self._carry = data[-_CARRY:]
        a = np.frombuffer(data + _PADDING, dtype=np.uint8)
        digits = (a - np.uint8(48)) < 10
        codes = self._codes(a, digits, new) if self.whole else ()
        return OddNumbers(len(codes), self._long(a, digits, new) if self.decimals else 0, frozenset(codes[:_NAMED]))

    def _long(self, a: Bytes, digits: Any, new: int) -> int:
        """How many cells with an end from ``new`` on are decimals with too many digits that count."""
        starts = self._starts_of_long(a, digits)
        if not len(starts):
            return 0
        last = len(a) - len(_PADDING)
        cells = a[np.minimum(starts[:, None] + _PLACES, len(a) - 1)]
        ends = (~((cells - np.uint8(48) < 10) | (cells == _POINT))).argmax(axis=1)
        ends = np.where(ends == 0, _WIDTH - 1, ends)  # one that is longer than what is looked at counts in full
        rows = np.arange(len(cells))
        whole = (self._closing(69, 101)[cells[rows, ends]] | (ends == _WIDTH - 1)) & (starts + ends < last)
        inside = ends.astype(np.uint8)[:, None] > _SMALL_PLACES
        points = (cells == _POINT) & inside
        one = whole & (points.sum(axis=1) == 1) & (starts + ends >= new)
        point = points.argmax(axis=1)
        counts = (cells > 48) & inside
        first, final = counts.argmax(axis=1), _WIDTH - 1 - counts[:, ::-1].argmax(axis=1)
        size = final - first + 1 - ((point > first) & (point < final))
        cents = (ends - point - 1 <= _CENTS) & (size >= _EXACT)
        return int(np.count_nonzero(one & ((size >= self.most) | cents)))

    def _starts_of_long(self, a: Bytes, digits: Any) -> Any:
        """Where digits and points begin that are behind the begin of a cell or a sign, and fill eight places of a multiple of
        eight, as every run of fifteen does: a look at every eighth place is much less than one at all."""
        part = digits | (a == _POINT)
        places = len(a) // 8
        blocks = np.flatnonzero(part[: places * 8].view(np.uint64) == _EIGHT)
        blocks = blocks[blocks > 0]
        if not len(blocks):
            return blocks
        before = part[: places * 8].reshape(-1, 8)[blocks - 1]
        firsts = ~before.all(axis=1)
        starts = blocks[firsts] * 8 - (~before[firsts][:, ::-1]).argmax(axis=1)
        starts = starts[self._closing(43, 45)[a[starts - 1]]]
        return starts[part[np.minimum(starts[:, None] + _PLACES[:_EXACT], len(part) - 1)].all(axis=1)]

    def _codes(self, a: Bytes, digits: Any, new: int) -> list[bytes]:
        """Cells with an end from ``new`` on that are digits, an E and up to three digits."""
        letters = (a[1:-1] | np.uint8(32)) == 101
        letters &= digits[:-2]
        letters &= digits[2:]
        powers = np.flatnonzero(letters) + 1
        closing = self._closing()
        powers = powers[closing[a[powers + 2]] | closing[a[powers + 3]] | closing[a[powers + 4]]]
        powers = powers[(digits[powers + 2] | closing[a[powers + 2]]) & (digits[powers - 2] | closing[a[powers - 2]])]
        found = []
        for power in powers.tolist():
            end = power + 2
            while end < power + 4 and digits[end]:
                end += 1
            begins = power - 1
            least = max(begins - _LONGEST, 0)
            while begins > least and digits[begins]:
                begins -= 1
            if end >= new and closing[a[end]] and closing[a[begins]]:
                found.append(a[begins + 1 : end].tobytes())
        return found

    def _closings(self, *more: int) -> list[int]:
        """Bytes behind which a cell begins or before which it ends."""
        return [self.delimiter, 10, 13, 34, *more]

    def _closing(self, *more: int) -> Any:
        """The same as a table by byte."""
        table = np.zeros(256, dtype=bool)
        table[self._closings(*more)] = True
        return table


def all_in_texts(
    con: duckdb.DuckDBPyConnection, table: str, texts: Sequence[str], runs: NumberRuns, seen: OddNumbers
) -> bool:
    """Whether all odd numbers that the bytes showed stand in columns of text, which keep them as they are.

    A few codes that are whole texts are looked for as such, which is quicker than to look into every text.
    """
    if not (seen.codes or seen.decimals):
        return True
    if not texts:
        return False
    if not seen.decimals and len(seen.named) == seen.codes:
        listed = ", ".join(literal(code.decode()) for code in seen.named)
        counted = " + ".join(f"count(*) FILTER (WHERE {cell} IN ({listed}))" for cell in texts)
        if con.execute(f"SELECT {counted} FROM {table}").fetchall()[0][0] == seen.codes:
            return True
    odd = OddNumbers()
    for cell in texts:
        found = con.execute(f"SELECT {cell} FROM {table} WHERE regexp_matches({cell}, ?)", [runs.pattern(seen)])
        while rows := found.fetchmany(_ROWS):
            odd += runs.count("".join(f"{text}\n" for (text,) in rows).encode())
    return (odd.codes, odd.decimals) == (seen.codes, seen.decimals)
