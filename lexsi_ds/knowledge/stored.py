"""Which text columns really hold numbers or dates, found by reading all of their values.

A column counts only when every value that is not blank converts: one that does not would silently vanish from a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import pandas as pd

from lexsi_ds.data.handle import Table, Value
from lexsi_ds.knowledge.distinct import chunks, quoted

_FORMATS = ("%Y%m%dT%H%M%S", "%Y%m%d", "%d/%m/%Y %H.%M.%S", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")


class StoredAs(Value):
    """How a text column is to be read."""

    kind: Literal["number_text", "date_text"]
    date_format: str | None = None
    blanks: int = 0
    """Blank texts, which become missing."""


def stored_as(table: Table, texts: Sequence[str], values: Callable[[str], pd.DataFrame]) -> dict[str, StoredAs]:
    """For each of these text columns that holds numbers or dates throughout, how to read it."""
    if not table.rows:
        return {}
    found: dict[str, StoredAs] = {}
    for some in chunks(texts):
        likely = [n for n, kind in _test(table, some, values, limit=1000).items() if kind]
        if likely:
            found |= {n: kind for n, kind in _test(table, likely, values, limit=None).items() if kind}
    return found


def _test(
    table: Table, names: Sequence[str], values: Callable[[str], pd.DataFrame], *, limit: int | None
) -> dict[str, StoredAs | None]:
    source = quoted(table.name) if limit is None else f"(SELECT * FROM {quoted(table.name)} LIMIT {limit})"
    parts = []
    for i, name in enumerate(names):
        text = f"nullif(trim({quoted(name)}), '')"
        parts += [
            f"count({text}) AS n{i}",
            f"count({quoted(name)}) AS a{i}",
            f"count(TRY_CAST({text} AS DOUBLE)) AS f{i}",
            f"count(TRY_CAST({text} AS TIMESTAMP)) AS d{i}",
        ]
        parts += [f"count(try_strptime({text}, '{form}')) AS d{i}_{j}" for j, form in enumerate(_FORMATS)]
    frame = values(f"SELECT {', '.join(parts)} FROM {source} AS t")
    row = {str(name): int(value) for name, value in frame.to_dict("records")[0].items()}
    return {name: _verdict(row, i, name) for i, name in enumerate(names)}


def _verdict(row: dict[str, int], i: int, name: str) -> StoredAs | None:
    filled, blanks = row[f"n{i}"], row[f"a{i}"] - row[f"n{i}"]
    if not filled:
        return None
    if row[f"d{i}"] == filled and row[f"f{i}"] < filled:
        return StoredAs(kind="date_text", blanks=blanks)
    dated = next((form for j, form in enumerate(_FORMATS) if row[f"d{i}_{j}"] == filled), None)
    if dated and (dated != "%Y%m%d" or "date" in name.casefold()):
        return StoredAs(kind="date_text", date_format=dated, blanks=blanks)
    return StoredAs(kind="number_text", blanks=blanks) if row[f"f{i}"] == filled else None
