"""Whether two results say the same: multisets of cells, extra columns allowed, floats within 1e-5, equal spellings equal.

By this several readings of a question are told alike or apart, and the benches judge an answer by it. It knows no question.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

_TRUE, _FALSE = {"true", "yes", "y", "t"}, {"false", "no", "n", "f"}
_MOST_TRIED = 20_000
_MOST_MATCHED = 2_000
"""Most rows that are matched one by one."""
Row = tuple[Any, ...]


def same_rows(ours: Sequence[Row], gold: Sequence[Row], *, ordered: bool, rel: float = 1e-5) -> bool:
    """Whether ``gold``, the expected rows, equals some choice and order of columns of ``ours``."""
    if len(ours) != len(gold):
        return False
    if not gold:
        return True
    left, right = [tuple(map(_cell, r)) for r in ours], [tuple(map(_cell, r)) for r in gold]
    numbered = [(*a, *b) for a, b in zip(left, _month_numbers(left), strict=True)]
    pairs = [(left, right), (numbered, right), (left, _months_as_numbers(right))]
    return any(_some_columns(a, b, ordered, rel) for a, b in pairs if b)


def _some_columns(left: list[Row], right: list[Row], ordered: bool, rel: float) -> bool:
    width, wanted = len(left[0]), len(right[0])
    if joined := _names_joined(left, right, ordered, rel):
        return joined
    if width < wanted:
        return False
    return any(
        _equal([tuple(r[i] for i in pick) for r in left], right, ordered, rel)
        for pick in _picks(left, right, width, wanted, rel)
    )


def _months_of_one_year(column: Sequence[Any]) -> bool:
    """Whether every cell is the first day of a month, all of one year."""
    texts = [v for v in column if isinstance(v, str) and re.fullmatch(r"\d{4}-\d{2}-01", v)]
    return len(texts) == len(column) and len({t[:4] for t in texts}) == 1


def _month_numbers(rows: list[Row]) -> list[Row]:
    """A further column of month numbers for each column of months of one year."""
    months = [i for i in range(len(rows[0])) if _months_of_one_year([r[i] for r in rows])]
    return [tuple(float(r[i][5:7]) for i in months) for r in rows]


def _months_as_numbers(rows: list[Row]) -> list[Row]:
    """The rows with months of one year as their numbers; empty when no column holds such months."""
    months = {i for i in range(len(rows[0])) if _months_of_one_year([r[i] for r in rows])}
    return [tuple(float(v[5:7]) if i in months else v for i, v in enumerate(r)) for r in rows] if months else []


def _picks(left: list[Row], right: list[Row], width: int, wanted: int, rel: float) -> list[tuple[int, ...]]:
    """Choices of our columns whose sorted values could be the gold's columns."""
    fits = [
        [i for i in range(width) if _equal([(r[i],) for r in left], [(r[j],) for r in right], False, rel)]
        for j in range(wanted)
    ]
    picks = itertools.islice(itertools.product(*fits), _MOST_TRIED)
    return [p for p in picks if len(set(p)) == len(p)]


def _names_joined(left: list[Row], right: list[Row], ordered: bool, rel: float) -> bool:
    """First and last name in two columns against one joined, either way round."""
    for a, b in ((left, right), (right, left)):
        if len(a[0]) >= 2 and len(b[0]) >= 1:
            texts = [i for i in range(len(a[0])) if all(isinstance(r[i], str) for r in a)]
            for i, j in itertools.permutations(texts, 2):
                merged = [(f"{r[i]} {r[j]}", *(v for k, v in enumerate(r) if k not in (i, j))) for r in a]
                if len(merged[0]) == len(b[0]) and _equal(merged, b, ordered, rel):
                    return True
    return False


def _equal(left: list[Row], right: list[Row], ordered: bool, rel: float) -> bool:
    if not ordered:
        left, right = sorted(left, key=_key), sorted(right, key=_key)
    if all(_same_row(a, b, rel) for a, b in zip(left, right, strict=True)):
        return True
    return not ordered and len(left) <= _MOST_MATCHED and _matched(left, right, rel)


def _same_row(a: Row, b: Row, rel: float) -> bool:
    return len(a) == len(b) and all(_same(x, y, rel) for x, y in zip(a, b, strict=True))


def _matched(left: list[Row], right: list[Row], rel: float) -> bool:
    """Whether each row finds one of the others, where rounding put equal figures in another order."""
    rest = list(right)
    for row in left:
        found = next((i for i, other in enumerate(rest) if _same_row(row, other, rel)), None)
        if found is None:
            return False
        rest.pop(found)
    return True


def _same(a: Any, b: Any, rel: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        if a.is_integer() and b.is_integer():
            return a == b  # counts and ids
        return math.isclose(a, b, rel_tol=rel, abs_tol=1e-9)
    return a == b


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(
        (type(v).__name__, _rounded(v) if isinstance(v, float) else v if v is not None else "") for v in row
    )


def _rounded(value: float) -> float:
    return value if value.is_integer() else float(f"{value:.5g}")


def _cell(value: Any) -> Any:
    """A cell as it is compared: numbers and numeric texts as floats, truths as yes and no, dates as ISO."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (datetime, date)):
        return _when(value.isoformat())
    if isinstance(value, str):
        text = value.strip()
        if text.casefold() in _TRUE:
            return "yes"
        if text.casefold() in _FALSE:
            return "no"
        try:
            return float(text)
        except ValueError:
            return _when(text)
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _when(text: str) -> Any:
    """A month, its first day, and a year alone are told alike."""
    text = re.sub(r"[T ]00:00:00.*$", "", text)
    if re.fullmatch(r"\d{4}-\d{2}", text):
        return text + "-01"
    return text
