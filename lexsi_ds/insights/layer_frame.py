"""The rows and columns that the computed components of a dataset look at: a fixed sample, and features without names of rows.

Must never: hold a masked column, an identifier, or a protected column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Column
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.insights.dimensions import like_a_key, one_in

MAX_FEATURES = 60
MAX_LEVELS = 50
Kind = Literal["continuous", "nominal"]


@dataclass(frozen=True)
class Feature:
    """A column as a feature: a number (dates count days since 1970), or one of a few words."""

    name: str
    kind: Kind
    date: bool = False


@dataclass(frozen=True)
class Sample:
    """Features of some rows; ``frame`` has a column for each feature, in order."""

    frame: pd.DataFrame
    features: tuple[Feature, ...]
    left_out: tuple[tuple[str, str], ...]
    """(column, why)."""
    rows: int
    """Rows of the dataset that the sample stands for."""


def features_of(columns: Sequence[Column], rows: int, target: str | None) -> tuple[list[Feature], list[tuple[str, str]]]:
    """Which columns are features, and why the others are none. Masked columns are not even named."""
    taken: list[Feature] = []
    left: list[tuple[str, str]] = []
    for column in columns:
        if column.masked or column.name == target:
            continue
        why = _why_not(column, rows)
        if why is None and len(taken) == MAX_FEATURES:
            why = f"the first {MAX_FEATURES} columns that fit were taken"
        if why is not None:
            left.append((column.name, why))
            continue
        date = column.family == "date"
        number = date or (column.family == "number" and column.distinct > 2)
        taken.append(Feature(column.name, "continuous" if number else "nominal", date))
    return taken, left


def sample(
    con: duckdb.DuckDBPyConnection, columns: Sequence[Column], rows: int, target: str | None, most: int
) -> tuple[Sample, pd.Series]:
    """At most about ``most`` rows of the table ``data``, the same each time, and the target's values (empty without one).

    Numbers are float64 with NaN where missing, words are text with None where missing.
    """
    features, left = features_of(columns, rows, target)
    parts = [_expression(f) for f in features] + ([f"{quoted(target)} AS y"] if target is not None else [])
    where = one_in(max(1, -(-rows // most))) + (f" AND {quoted(target)} IS NOT NULL" if target is not None else "")
    read = con.execute(f"SELECT {', '.join(parts) or '1'} FROM data WHERE {where} ORDER BY rowid").df()
    y = read.pop("y") if target is not None else pd.Series(dtype=object)
    read = read.iloc[:, : len(features)]
    read.columns = [f.name for f in features]
    for feature in features:
        values = pd.Series(read[feature.name])
        if feature.kind == "continuous":
            number = values.to_numpy(dtype="float64", na_value=np.nan)
            read[feature.name] = np.where(np.isfinite(number), number, np.nan)
        else:
            read[feature.name] = values.astype(object).where(values.notna(), None)
    return Sample(read, tuple(features), tuple(left), rows), y


def _why_not(column: Column, rows: int) -> str | None:
    if column.identifier:
        return "it is an identifier"
    if column.protected:
        return "it is protected"
    if column.distinct + bool(column.nulls) < 2:
        return "it has one value only"
    if column.family == "other":
        return f"it holds {column.type}"
    if column.family in ("number", "text") and like_a_key(column, rows):
        return "it is another value in each row, like a key"
    if column.family == "text" and column.distinct > MAX_LEVELS:
        return f"it has more than {MAX_LEVELS} words"
    return None


def _expression(feature: Feature) -> str:
    name = quoted(feature.name)
    if feature.date:
        return f"date_diff('day', DATE '1970-01-01', CAST({name} AS DATE))::DOUBLE"
    return f"{name}::DOUBLE" if feature.kind == "continuous" else f"{name}::VARCHAR"
