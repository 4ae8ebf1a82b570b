"""Arithmetic between columns that every training row obeys: one is never above another, or is the product or sum of two.

Must never take chance for a rule: a rule needs many rows, and columns that could have broken it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

_LEAST_ROWS = 50
_MOST_ROWS = 2_000
_MOST_COLUMNS = 40
_MARGIN = 1e-6
_ROUNDING = 0.01
"""A product or sum may miss by one part in a hundred: instalments are rounded to whole amounts."""


@dataclass(frozen=True)
class Relations:
    """``orders``: (a, b) with a <= b always; ``products`` and ``sums``: (whole, a, b)."""

    orders: tuple[tuple[str, str], ...]
    products: tuple[tuple[str, str, str], ...]
    sums: tuple[tuple[str, str, str], ...]

    def broken(self, row: Mapping[str, float], labels: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
        """The rules that a row breaks: the columns, and the rule in words."""
        found: list[tuple[tuple[str, ...], str]] = []
        for low, high in self.orders:
            if row[low] > row[high]:
                found.append(((low, high), f"{_capital(labels[low])} is above {labels[high]}, which no training row has."))
        for whole, a, b in self.products:
            if not _near(row[whole], row[a] * row[b]):
                found.append(((whole, a, b), f"{_capital(labels[whole])} is {labels[a]} times {labels[b]} in every "
                                             "training row; here it is not."))  # fmt: skip
        for whole, a, b in self.sums:
            if not _near(row[whole], row[a] + row[b]):
                found.append(((whole, a, b), f"{_capital(labels[whole])} is {labels[a]} plus {labels[b]} in every "
                                             "training row; here it is not."))  # fmt: skip
        return found


def learn_relations(columns: Mapping[str, np.ndarray]) -> Relations:
    """The rules of these training columns (numbers, NaN where missing)."""
    names = list(columns)[:_MOST_COLUMNS]
    if not names or len(columns[names[0]]) < _LEAST_ROWS:
        return Relations((), (), ())
    rows = np.arange(len(columns[names[0]]))
    if len(rows) > _MOST_ROWS:
        rows = np.random.default_rng(7).choice(rows, _MOST_ROWS, replace=False)
    table = {name: columns[name][rows] for name in names}
    varied = [n for n in names if len(np.unique(table[n][np.isfinite(table[n])])) >= 3]
    checked = {n: columns[n] for n in varied}
    orders = tuple(
        pair for a, b in combinations(varied, 2) for pair in ((a, b), (b, a)) if _ordered(table, pair)
        and _ordered(checked, pair)
    )  # fmt: skip
    products = _combined(table, checked, varied, np.multiply)
    sums = _combined(table, checked, varied, np.add)
    return Relations(orders, products, sums)


def _ordered(table: Mapping[str, np.ndarray], pair: tuple[str, str]) -> bool:
    """a <= b in all rows, though their ranges overlap so far that shuffled rows would often break it."""
    a, b = table[pair[0]], table[pair[1]]
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < _LEAST_ROWS:
        return False
    a, b = a[both], b[both]
    if (a > b).any():
        return False
    shifted = np.random.default_rng(7).permutation(len(b))
    return float((a > b[shifted]).mean()) >= 0.05


def _combined(table, checked, names: list[str], operation) -> tuple[tuple[str, str, str], ...]:
    found = []
    for a, b in combinations(names, 2):
        with np.errstate(over="ignore", invalid="ignore"):
            made = operation(table[a], table[b])
        for whole in names:
            if whole in (a, b) or not _matches(table[whole], made, table[a], table[b]):
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                everywhere = operation(checked[a], checked[b])
            if _matches(checked[whole], everywhere, checked[a], checked[b]):
                found.append((whole, a, b))
    return tuple(found)


def _matches(whole: np.ndarray, made: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    both = np.isfinite(whole) & np.isfinite(made)
    first = np.flatnonzero(both)[:20]
    if len(first) < 20 or not _all_near(whole[first], made[first]) or both.sum() < _LEAST_ROWS:
        return False
    if not _all_near(whole[both], made[both]):
        return False
    parts = np.stack([a[both], b[both]])
    dull = (np.abs(parts) <= _ROUNDING * np.abs(whole[both]).mean()).mean(axis=1) > 0.5
    ones = (np.abs(parts - 1) < _MARGIN).mean(axis=1) > 0.5
    return not dull.any() and not ones.any()


def _all_near(whole: np.ndarray, made: np.ndarray) -> bool:
    return bool((np.abs(whole - made) <= _ROUNDING * np.abs(made) + _MARGIN).all())


def _near(whole: float, made: float) -> bool:
    if np.isnan(whole) or np.isnan(made):
        return True
    return abs(whole - made) <= _ROUNDING * abs(made) + _MARGIN


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
