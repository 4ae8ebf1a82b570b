"""What is said of one row, as values: a subset of drivers, a changed row, counterfactuals, rows like it, a batch.

Values only. Must never show a contribution without the prediction that it belongs to.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lexsi_ds.data.handle import Value
from lexsi_ds.explain.results import Cell
from lexsi_ds.models.engine import CaseDriver, CaseExplanation

Severity = Literal["refused", "unlikely"]


class Subset(Value):
    """Some drivers of a case with the rest as one: base + shown + rest = prediction, the same headline as the whole."""

    case_id: str
    scale: str
    base_value: float
    prediction: float
    shown: tuple[CaseDriver, ...]
    shown_total: float
    rest_total: float
    rest_count: int
    sentence: str
    facts: dict[str, float | int | str]


class Change(Value):
    """One column of a row set to another value."""

    feature: str
    label: str
    before: Cell
    after: Cell
    unit: str | None = None


class Doubt(Value):
    """Why a row is outside of what the model has seen, in words of the data."""

    features: tuple[str, ...]
    severity: Severity
    sentence: str


class WhatIf(Value):
    """A row as it is and as it would be, with what speaks against trusting the second."""

    before: CaseExplanation
    after: CaseExplanation
    changes: tuple[Change, ...]
    doubts: tuple[Doubt, ...]
    sentence: str
    facts: dict[str, float | int | str] = Field(default_factory=dict)


class Counterfactual(Value):
    """A row like the one asked about that the model judges otherwise; checked with the model itself."""

    changes: tuple[Change, ...]
    prediction: float
    """On the probability scale, or in units of the target."""
    distance: float
    """Sum over the changes: deviations of a number, 1 for a word."""
    doubts: tuple[Doubt, ...] = ()


class Counterfactuals(Value):
    """What was searched and found; an empty list says why."""

    case_id: str
    prediction: float
    wanted: str
    """In words: "probability of default below 50%"."""
    found: tuple[Counterfactual, ...]
    tried: int
    """Rows that the model judged."""
    seconds: float
    stopped: bool
    """Whether the time limit ended the search."""
    actionable: tuple[str, ...]
    sentence: str
    facts: dict[str, float | int | str] = Field(default_factory=dict)


class SimilarCase(Value):
    """A training row near a case, with what became of it."""

    entity: Any
    distance: float
    outcome: Cell
    probability: float | None
    """Out-of-fold probability, or the out-of-fold amount of a regression."""
    display: dict[str, Any]


class Batch(Value):
    """Contributions of many rows in an Arrow file: entity, prediction, base value, a column a feature."""

    path: str
    rows: int
    columns: tuple[str, ...]
    scale: str
    method: str


class Cases(Value):
    """Explained rows, in their order."""

    cases: tuple[CaseExplanation, ...]


class SimilarCases(Value):
    """For each row asked about its nearest training rows."""

    cases: tuple[tuple[SimilarCase, ...], ...]


class FeatureRange(Value):
    """What training held of one feature."""

    feature: str
    label: str
    unit: str | None
    kind: str
    low: float | None
    high: float | None
    whole: bool
    """All its values are whole numbers."""
    words: tuple[str, ...]
    missing: bool
    """Some training rows have no value of it."""


class FeatureRanges(Value):
    """What may be typed into a what-if."""

    features: tuple[FeatureRange, ...]
