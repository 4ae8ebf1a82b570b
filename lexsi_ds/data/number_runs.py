"""Numbers that DuckDB would read as others than they are, found among the bytes of a large file: decimals of more digits than
floating point holds, and codes such as ``1E5`` under whole numbers.

Works on whole chunks at once, as it goes over every byte. Must never: miss one for where a chunk ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_CARRY = 64
"""Bytes of the chunk before that are looked at again: longer numbers are no numbers."""
_EXACT, _WRITTEN = 16, 18
"""Digits from which a decimal may not be held exactly; from which it is not, though programs write up to 17."""
_CENTS = 2
_WIDTH = 30
"""What is looked at of a long number; of one that goes on, these digits count."""
_PLACES = np.arange(_WIDTH)
_SMALL_PLACES = _PLACES.astype(np.uint8)
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


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
        if self.decimals and NumberRuns(self.delimiter, True, False).is_odd(sample + b"\n"):
            self.most = _WRITTEN

    def is_odd(self, chunk: bytes) -> bool:
        """Whether a cell of this chunk, or one that began in the one before, is such a number; a line end ends the last one."""
        data = self._carry + chunk
        self._carry = data[-_CARRY:]
        a = np.frombuffer(data, dtype=np.uint8)
        if len(a) < 3:
            return False
        digits = (a - np.uint8(48)) < 10
        if self.whole and self._has_code(a, digits):
            return True
        return self.decimals and self._has_long(a, digits | (a == 46))

    def _has_long(self, a: Bytes, part: Any) -> bool:
        """Whether a cell is a decimal with too many digits that count."""
        long = part
        for step in (1, 2, 4, 8):
            long = long[:-step] & long[step:]
        if len(long) < 2:
            return False
        starts = np.flatnonzero(long[1:] & ~part[: len(long) - 1]) + 1
        starts = starts[self._closing(43, 45)[a[starts - 1]]]
        if not len(starts):
            return False
        cells = a[np.minimum(starts[:, None] + _PLACES, len(a) - 1)]
        ends = (~((cells - np.uint8(48) < 10) | (cells == 46))).argmax(axis=1)
        ends = np.where(ends == 0, _WIDTH - 1, ends)  # one that is longer than what is looked at counts in full
        rows = np.arange(len(cells))
        whole = (self._closing(69, 101)[cells[rows, ends]] | (ends == _WIDTH - 1)) & (starts + ends < len(a))
        inside = ends.astype(np.uint8)[:, None] > _SMALL_PLACES
        points = (cells == 46) & inside
        one = whole & (points.sum(axis=1) == 1)
        point = points.argmax(axis=1)
        counts = (cells > 48) & inside
        first, last = counts.argmax(axis=1), _WIDTH - 1 - counts[:, ::-1].argmax(axis=1)
        digits = last - first + 1 - ((point > first) & (point < last))
        cents = (ends - point - 1 <= _CENTS) & (digits >= _EXACT)
        return bool(np.any(one & ((digits >= self.most) | cents)))

    def _has_code(self, a: Bytes, digits: Any) -> bool:
        """Whether a cell is digits, an E and up to three digits."""
        letters = (a[1:-1] | np.uint8(32)) == 101
        letters &= digits[:-2]
        letters &= digits[2:]
        if not letters.any():
            return False
        powers = np.flatnonzero(letters) + 1
        closing = self._closing()
        behind = np.full(len(powers), False)
        for size in (2, 3, 4):
            at = powers + size
            inside = at < len(a)
            behind |= inside & closing[a[np.minimum(at, len(a) - 1)]] & digits[np.minimum(at, len(a)) - 1]
        for power in powers[behind]:
            begins = int(power) - 1
            while begins >= 0 and digits[begins]:
                begins -= 1
            if begins >= 0 and closing[a[begins]]:
                return True
        return False

    def _closing(self, *more: int) -> Any:
        """By byte: whether a cell begins behind it or ends before it."""
        table = np.zeros(256, dtype=bool)
        table[[self.delimiter, 10, 13, 34, *more]] = True
        return table
