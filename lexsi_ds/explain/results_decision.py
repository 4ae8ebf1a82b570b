"""What a decision with a model costs and whom it meets, as values: thresholds, error slices, groups, residuals.

Values only. Must never carry a rate without its rows and interval.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Value
from lexsi_ds.explain.results import Condition
from lexsi_ds.models.figures import CalibrationBin, Interval


class ConfusionAt(Value):
    """Held-out rows at one threshold: flagged from this probability on."""

    threshold: float
    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int
    precision: Interval
    recall: Interval
    specificity: Interval
    flagged_share: float
    cost: float
    cost_per_row: float
    scored_flagged: int
    """Rows without an outcome that would be flagged."""
    scored_rows: int


class Flagged(Value):
    """One scored row that would be flagged."""

    case_id: str
    probability: float


class ThresholdView(Value):
    """Cost and confusion along the threshold, on out-of-fold scores, and the cheapest one with its uncertainty."""

    rows: int
    positives: int
    cost_false_positive: float
    cost_false_negative: float
    thresholds: tuple[float, ...]
    costs: tuple[float, ...]
    """Mean cost of a row."""
    flagged: tuple[float, ...]
    """Share flagged."""
    precision: tuple[float | None, ...]
    recall: tuple[float, ...]
    best: ConfusionAt
    best_interval: tuple[float, float]
    """95% of bootstrap samples have their cheapest threshold in here."""
    chosen: ConfusionAt
    flagged_cases: tuple[Flagged, ...]
    """The scored rows flagged at the chosen threshold, most probable first; at most 200, counted whole in ``chosen``."""
    calibration: tuple[CalibrationBin, ...]
    near: CalibrationBin | None
    """Held-out rows whose probability is next to the chosen threshold: is it true there?"""
    warnings: tuple[str, ...] = ()


class Slice(Value):
    """A part of the rows where the model errs more, found on one half of the rows and tested on the other."""

    conditions: tuple[Condition, ...]
    label: str
    rows: int
    """Rows of the test half in it."""
    error: Interval
    """Mean error in it on the test half."""
    rest_error: float
    expected: float | None
    """The log loss in it that the model's own probabilities lead to expect: rows that are merely hard to tell are near it."""
    p_value: float
    p_adjusted: float
    """Benjamini-Hochberg over all slices tested."""
    holds: bool
    """Whether it is worse than the rest at a false discovery rate of 5%."""


class ErrorSlices(Value):
    """Slices by how much worse they are; an empty list says that none was found."""

    error: str
    """``log loss`` or ``absolute error``."""
    overall: float
    rows: int
    tested: int
    slices: tuple[Slice, ...]
    sentence: str


class GroupFigures(Value):
    """The figures of one group, each with its 95% interval."""

    group: str
    rows: int
    positives: int
    figures: dict[str, Interval]


class Fairness(Value):
    """Figures by group of a protected column that the model did not use."""

    column: str
    threshold: float | None
    groups: tuple[GroupFigures, ...]
    differences: dict[str, Interval]
    """Largest minus smallest among groups with enough rows, with a bootstrap interval."""
    small: tuple[str, ...]
    """Groups too small to compare."""
    sentences: tuple[str, ...]


class FairnessViews(Value):
    """One view a column; ``protected`` lists the protected columns kept with the model."""

    protected: tuple[str, ...]
    columns: tuple[Fairness, ...]
    absent: tuple[str, ...] = ()
    """Protected columns that were asked for and are not among the training rows, such as dates, whose days are no groups."""


class ResidualBin(Value):
    """Residuals of rows with a like prediction."""

    low: float
    high: float
    rows: int
    mean: Interval
    spread: float


class ResidualPoint(Value):
    """One training row: what was predicted out of fold and what became of it."""

    case_id: str
    predicted: float
    actual: float


class Residuals(Value):
    """Out-of-fold residuals (actual minus predicted) of a model of an amount."""

    rows: int
    mean: Interval
    rmse: float
    median_absolute: float
    quantiles: dict[str, float]
    bins: tuple[ResidualBin, ...]
    points: tuple[ResidualPoint, ...]
    """A sample to draw."""
    largest: tuple[ResidualPoint, ...]
    warnings: tuple[str, ...] = ()
