"""Distinct values of many columns of a table in few queries: a wide table must not cost a query a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

_AT_ONCE = 50


def chunks(names: Sequence[str], size: int = _AT_ONCE) -> list[Sequence[str]]:
    """The names in runs of at most ``size``."""
    return [names[i : i + size] for i in range(0, len(names), size)]


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def distinct_values(table: str, columns: Sequence[str], read: Callable[[str], pd.DataFrame]) -> dict[str, list[str]]:
    """The distinct values of each column as text, sorted, missing ones left out."""
    found: dict[str, list[str]] = {name: [] for name in columns}
    for some in chunks(columns):
        parts = [
            f"SELECT {i} AS c, CAST({quoted(n)} AS VARCHAR) AS v FROM {quoted(table)} WHERE {quoted(n)} IS NOT NULL GROUP BY ALL"
            for i, n in enumerate(some)
        ]
        frame = read(" UNION ALL ".join(parts) + " ORDER BY c, v")
        for i, value in zip(frame["c"].tolist(), frame["v"].tolist(), strict=True):
            found[some[int(i)]].append(str(value))
    return found
