"""Years that are kept as plain numbers: ``founded``, ``model_year``, ``yr_built``. The name and the range of values say so.

Never takes a number for a year by its values alone.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Column
from lexsi_ds.knowledge.words import of_words

_DONE = of_words(
    "founded built opened established published released born constructed manufactured launched renovated retired joined hired"
    " discovered registered started created closed completed introduced incorporated graduated made"
)
_FIRST, _SURE, _LAST = 1000, 1700, 2200
"""The earliest year, the earliest where only a participle speaks of one, and the latest."""


def is_year(column: Column, words: tuple[str, ...]) -> bool:
    """Whether a column holds years: its name says so, and no value is anything else (a 0 stands for none)."""
    done = bool(words) and words[-1].endswith("ed") and len(words[-1]) > 4
    if column.family != "number" or not ("year" in words or set(words) & _DONE or done):
        return False
    if {"years", "per", "number", "experience", "count"} & set(words):
        return False
    try:
        low, high = float(column.minimum or "x"), float(column.maximum or "x")
    except ValueError:
        return False
    first = _FIRST if "year" in words or set(words) & _DONE else _SURE
    whole = low == int(low) and high == int(high)
    return whole and (low == 0 or low >= first) and first <= high <= _LAST


def label_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a year's label: they say that it is a year."""
    return words if "year" in words else ("year", *words)
