"""What of a row travels: features under plain names, a key made for the upload, and the outcome of training rows.

The entity's own identifier never travels; the key says which row an answer is about, and only here it can be turned back.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import numpy as np
import pandas as pd

from lexsi_ds.data.handle import Value
from lexsi_ds.models.lexsi.names import wire_names
from lexsi_ds.models.task import FeatureDef, FeatureKind, TaskKind

KEY = "row_key"
PREDICTION = "Prediction"
"""The platform fails without a prediction label, and without a column of that name; it is excluded from the features."""


class WireFeature(Value):
    """A feature and its name on the way."""

    name: str
    wire: str
    kind: FeatureKind


class Wire(Value):
    """The columns of an upload."""

    label: str
    features: tuple[WireFeature, ...]

    @classmethod
    def of(cls, features: tuple[FeatureDef, ...], target: str) -> Wire:
        """Plain names for the outcome and the features."""
        label = wire_names((target,), (KEY, PREDICTION))[target]
        names = wire_names(tuple(f.name for f in features), (KEY, PREDICTION, label))
        return cls(
            label=label, features=tuple(WireFeature(name=f.name, wire=names[f.name], kind=f.kind) for f in features)
        )

    @property
    def excluded(self) -> list[str]:
        """What is never a feature on the platform. Its own default would include the key and the outcome."""
        return [KEY, self.label, PREDICTION]

    def encodings(self) -> dict[str, str]:
        """How the platform makes numbers of words."""
        return {f.wire: "labelencode" for f in self.features if f.kind == "categorical"}

    def frame(
        self, columns: Mapping[str, np.ndarray], keys: list[str], y: np.ndarray | None = None, kind: TaskKind = "binary"
    ) -> pd.DataFrame:
        """The table to upload. ``columns`` hold float64 with NaN or words with None; ``y`` only for training rows."""
        made: dict[str, pd.Series] = {KEY: pd.Series(keys, dtype=object)}
        for feature in self.features:
            made[feature.wire] = _series(columns[feature.name], feature.kind)
        if y is not None:
            label = pd.Series(y if kind == "regression" else y.astype(np.int64))
            made |= {self.label: label, PREDICTION: label}
        return pd.DataFrame(made)


def fresh_keys(count: int) -> list[str]:
    """A key a row, never used before: letters and digits, beginning with a letter so that no reader takes it for a number."""
    upload = secrets.token_hex(5)
    return [f"r{upload}n{number}" for number in range(count)]


def _series(values: np.ndarray, kind: FeatureKind) -> pd.Series:
    if kind == "categorical":
        return pd.Series(values, dtype=object)
    numbers = pd.Series(values, dtype="float64")
    whole = numbers.dropna()
    if len(whole) and bool((whole == whole.round()).all()) and float(whole.abs().max()) < 2**53:
        return numbers.astype("Int64")
    return numbers
