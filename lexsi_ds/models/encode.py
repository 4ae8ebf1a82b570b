"""How features become the numbers that both estimators see: numbers and booleans as they are, words as one column a
level.

Learnt from the training features alone, never from the outcome. Every encoded column belongs to one source column, so
that SHAP values can be summed back to it. Must never drop a row: what is unknown becomes missing or "other", and is
told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.models.frames import as_numbers, as_truths, as_words, column, is_date
from lexsi_ds.models.task import FeatureDef, FeatureKind

MAX_LEVELS = 30
"""Levels of one feature that get a column of their own; the rest share "other"."""
MIN_LEVEL_ROWS = 5
"""Rows that a level needs for a column of its own."""


class EncodedFeature(Value):
    """One source column and the encoded columns it becomes."""

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    """Levels with a column of their own, most frequent first."""
    rare: tuple[str, ...] = ()
    """Levels of training that share the column "other"; levels never seen fall there too, when there is one."""
    missing: bool = False
    """Whether training had missing values: a column of its own for words, a flag for numbers in the logistic design."""

    @property
    def other(self) -> bool:
        """Whether rarer levels share a column."""
        return bool(self.rare)

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        return 1 if self.kind != "categorical" else len(self.levels) + self.other + self.missing


class Encoding(Value):
    """The encoding of a model's features, sorted by name so that column order never matters."""

    features: tuple[EncodedFeature, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The source columns, in encoded order."""
        return tuple(f.name for f in self.features)

    @property
    def groups(self) -> np.ndarray:
        """For each encoded column the position of its feature. Shape (p,)."""
        return np.repeat(np.arange(len(self.features)), [f.width for f in self.features])

    @property
    def flagged(self) -> tuple[int, ...]:
        """Encoded columns of numbers and booleans that had missing values in training."""
        starts = np.cumsum([0, *(f.width for f in self.features)])
        return tuple(
            int(start) for f, start in zip(self.features, starts, strict=False) if f.kind != "categorical" and f.missing
        )

    def matrix(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Encoded columns, shape (n, p), float64; NaN where a number or boolean is missing."""
        parts = [_encode(feature, columns[feature.name]) for feature in self.features]
        return np.concatenate(parts, axis=1)

    def unseen(self, columns: Mapping[str, np.ndarray]) -> dict[str, int]:
        """For each feature of words, how many rows hold a level that training never saw; features without are left
        out."""
        counts = {}
        for feature in self.features:
            if feature.kind == "categorical":
                known = {*feature.levels, *feature.rare}
                rows = sum(1 for v in columns[feature.name] if v is not None and v not in known)
                if rows:
                    counts[feature.name] = rows
        return counts


def learn(features: tuple[FeatureDef, ...], columns: Mapping[str, np.ndarray]) -> Encoding:
    """The encoding of these training columns."""
    return Encoding(features=tuple(_learn(f, columns[f.name]) for f in sorted(features, key=lambda f: f.name)))


def read_columns(
    frame: pd.DataFrame, features: tuple[FeatureDef, ...], *, strict: bool = True
) -> dict[str, np.ndarray]:
    """The features of a frame that is to be scored, each as its kind; a value that is not of it is refused, unless the
    frame is one that trained, where it counts as missing."""
    columns = {}
    for feature in features:
        values, unreadable = read_column(column(frame, feature.name), feature.kind)
        if unreadable and strict:
            kind = "a number" if feature.kind == "numeric" else "true or false"
            raise BadInput(
                f"{unreadable:,} of {len(frame):,} values of {feature.name} are not {kind}, as the model expects.",
                where=feature.name,
                to_do="Correct the values, or leave them empty: a missing value is allowed.",
            )
        columns[feature.name] = values
    return columns


def read_column(values: pd.Series, kind: FeatureKind) -> tuple[np.ndarray, int]:
    """A column as its kind, and how many values were not of it (now missing)."""
    if kind == "categorical":
        return as_words(values), 0
    if is_date(values):
        return np.full(len(values), np.nan), int(values.notna().sum())
    return as_numbers(values) if kind == "numeric" else as_truths(values)


def _learn(feature: FeatureDef, values: np.ndarray) -> EncodedFeature:
    if feature.kind != "categorical":
        return EncodedFeature(name=feature.name, kind=feature.kind, missing=bool(np.isnan(values).any()))
    counts = Counter(v for v in values if v is not None)
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    levels = tuple(level for level in ranked[:MAX_LEVELS] if counts[level] >= MIN_LEVEL_ROWS)
    return EncodedFeature(
        name=feature.name,
        kind="categorical",
        levels=levels,
        rare=tuple(ranked[len(levels) :]),
        missing=any(v is None for v in values),
    )


def _encode(feature: EncodedFeature, values: np.ndarray) -> np.ndarray:
    if feature.kind != "categorical":
        return values.astype(np.float64).reshape(-1, 1)
    position = {level: i for i, level in enumerate(feature.levels)}
    other = len(feature.levels) if feature.other else None
    missing = len(feature.levels) + feature.other if feature.missing else None
    columns = [missing if v is None else position.get(v, other) for v in values]
    encoded = np.zeros((len(values), feature.width))
    rows = [i for i, column in enumerate(columns) if column is not None]
    encoded[rows, [c for c in columns if c is not None]] = 1.0
    return encoded
