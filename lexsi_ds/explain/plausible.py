"""What speaks against a made-up row: values outside of training, words never seen, combinations that never occurred.

Rules are learnt from the training rows and hold in all of them: orders between two columns, one column as the product or
sum of two others, words that never meet, the range of a number among rows of a word. Must never call a row of the
training data impossible.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from lexsi_ds.explain.relations import Relations, learn_relations
from lexsi_ds.explain.results import Cell
from lexsi_ds.explain.results_local import Doubt
from lexsi_ds.explain.wording import number
from lexsi_ds.models.bundle import SavedModel
from lexsi_ds.models.encode import read_column
from lexsi_ds.models.frames import as_words, column
from lexsi_ds.models.task import FeatureDef

_LEAST_MEETINGS = 10.0
_LEAST_ROWS = 50
_MOST_LISTED = 8


class Known:
    """What the training rows allow, feature by feature and between features."""

    def __init__(self, model: SavedModel) -> None:
        self.features: dict[str, FeatureDef] = {f.name: f for f in model.features}
        self._values: dict[str, np.ndarray] = {
            f.name: read_column(column(model.training, f.name), f.kind)[0] for f in model.features
        }
        self.numbers = [f.name for f in model.features if f.kind == "numeric"]
        self.words = [f.name for f in model.features if f.kind == "categorical"]
        self._relations: Relations | None = None

    @property
    def relations(self) -> Relations:
        """Arithmetic that holds in every training row; learnt when first needed."""
        if self._relations is None:
            self._relations = learn_relations({name: self._values[name] for name in self.numbers})
        return self._relations

    def range_of(self, feature: str) -> tuple[float, float]:
        """Smallest and largest value of a number in training; (0, 1) for true and false."""
        values = self._values[feature]
        known = values[np.isfinite(values)]
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)

    def words_of(self, feature: str) -> tuple[str, ...]:
        """The words of training, most frequent first."""
        return tuple(str(w) for w in pd.Series(self._values[feature], dtype=object).value_counts().index)

    def whole(self, feature: str) -> bool:
        """Whether all its training values are whole numbers."""
        values = self._values[feature]
        known = values[np.isfinite(values)]
        return bool(len(known)) and bool((known == np.round(known)).all())

    def has_missing(self, feature: str) -> bool:
        """Whether training had rows without a value of it."""
        values = self._values[feature]
        return any(v is None for v in values) if feature in self.words else bool(np.isnan(values).any())

    def spread(self, feature: str) -> float:
        """Standard deviation of a number in training; 1 when it has none."""
        values = self._values[feature]
        deviation = float(np.nanstd(values)) if np.isfinite(values).any() else 0.0
        return deviation if deviation > 0 else 1.0

    def values(self, feature: str) -> np.ndarray:
        """The training values of a feature, as the model read them."""
        return self._values[feature]

    def doubts(self, row: Mapping[str, Cell], changed: set[str] | None = None) -> tuple[Doubt, ...]:
        """What speaks against a row (feature to value); only what touches ``changed`` where that is given."""
        look = set(self.features) if changed is None else changed & set(self.features)
        found = [doubt for name in sorted(look) if (doubt := self._alone(name, row.get(name))) is not None]
        found += self._never_met(row, look)
        found += self._outside_word(row, look)
        numbers = {name: _float(row.get(name)) for name in self.numbers}
        for names, sentence in self.relations.broken(numbers, {n: f.label for n, f in self.features.items()}):
            if look & set(names):
                found.append(Doubt(features=names, severity="unlikely", sentence=sentence))
        return tuple(found)

    def _alone(self, name: str, value: Cell) -> Doubt | None:
        feature = self.features[name]
        if value is None:
            if self.has_missing(name):
                return None
            return _doubt(name, f"{_capital(feature.label)} was never missing in training.")
        if feature.kind == "categorical":
            word = as_words(pd.Series([value], dtype=object))[0]
            known = self.words_of(name)
            if word in known:
                return None
            some = ", ".join(known[:_MOST_LISTED])
            return _doubt(name, f'Training never saw {feature.label} "{word}"; it knows {some}.', refused=True)
        if feature.kind == "boolean":
            return None
        low, high = self.range_of(name)
        amount = _float(value)
        if np.isnan(amount) or low <= amount <= high:
            return None
        unit = f" {feature.unit}" if feature.unit else ""
        side = f"below the smallest value of training, {number(low)[0]}" if amount < low else (
            f"above the largest value of training, {number(high)[0]}"
        )  # fmt: skip
        return _doubt(name, f"{_capital(feature.label)} of {number(amount)[0]}{unit} is {side}{unit}.")

    def _never_met(self, row: Mapping[str, Cell], look: set[str]) -> list[Doubt]:
        """Two words that are each frequent enough to meet by chance and never did."""
        found = []
        masks = {name: self._values[name] == _word(row.get(name)) for name in self.words if row.get(name) is not None}
        for first, second in combinations(masks, 2):
            if not look & {first, second}:
                continue
            a, b = masks[first], masks[second]
            expected = float(a.sum()) * float(b.sum()) / max(1, len(a))
            if expected >= _LEAST_MEETINGS and not (a & b).any():
                found.append(Doubt(
                    features=(first, second), severity="unlikely",
                    sentence=(
                        f'{_capital(self.features[first].label)} "{_word(row[first])}" never occurs with '
                        f'{self.features[second].label} "{_word(row[second])}" in training; by chance about '
                        f"{round(expected):,} rows would."
                    ),
                ))  # fmt: skip
        return found

    def _outside_word(self, row: Mapping[str, Cell], look: set[str]) -> list[Doubt]:
        """A number inside of the range of training but outside of it among the rows of one of the row's words."""
        found = []
        for word_name in self.words:
            if row.get(word_name) is None:
                continue
            here = self._values[word_name] == _word(row[word_name])
            if here.sum() < _LEAST_ROWS:
                continue
            for name in self.numbers:
                amount = _float(row.get(name))
                if not look & {name, word_name} or np.isnan(amount):
                    continue
                low, high = self.range_of(name)
                own = self._values[name][here]
                own = own[np.isfinite(own)]
                if not len(own) or not low <= amount <= high:
                    continue
                reach = 0.05 * (high - low)
                if own.min() - reach <= amount <= own.max() + reach:
                    continue
                found.append(Doubt(
                    features=(name, word_name), severity="unlikely",
                    sentence=(
                        f'Rows with {self.features[word_name].label} "{_word(row[word_name])}" have '
                        f"{self.features[name].label} from {number(float(own.min()))[0]} to "
                        f"{number(float(own.max()))[0]} in training, not {number(amount)[0]}."
                    ),
                ))  # fmt: skip
        return found


def known_of(model: SavedModel) -> Known:
    """What the training rows of a model allow; read once for an opened model."""
    kept = model.__dict__.get("_known")
    if kept is None:
        kept = model.__dict__["_known"] = Known(model)
    return kept


def _doubt(name: str, sentence: str, *, refused: bool = False) -> Doubt:
    return Doubt(features=(name,), severity="refused" if refused else "unlikely", sentence=sentence)


def _float(value: Cell) -> float:
    try:
        return float("nan") if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return float("nan")


def _word(value: Cell) -> str | None:
    return as_words(pd.Series([value], dtype=object))[0]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
