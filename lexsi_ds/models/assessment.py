"""What a model card says beside the out-of-fold figures: later rows, scored rows, calibration, threshold, intervals of
amounts, and the words of a credit desk.

Values only; each is computed in a room of its own. Must never be required: a card of an older model has none of them.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.models.figures import AnyMetrics, Interval


class OutOfTime(Value):
    """The chosen model type trained on the earlier rows and measured on the later ones, beside the random folds."""

    column: str
    first: str
    last: str
    """First and last day of the later rows, ISO 8601."""
    trained: int
    tested: int
    metrics: AnyMetrics
    difference: float
    """Main figure out of time minus the same on the random folds; below 0: worse on later rows."""
    sentence: str
    """The finding in words; it also says when the interval is too wide to tell."""


class ShiftDriver(Value):
    """A feature that tells scored rows from known ones."""

    feature: str
    label: str
    auc: float
    """How well it alone tells the two apart, 0.5 to 1."""
    known: str
    scored: str
    """What is typical on each side, in words: "median 4,200", "12% monthly"."""


class UnfinishedCohort(Value):
    """A period whose outcomes are mostly still open."""

    period: str
    known: int
    unknown: int


class Comparability(Value):
    """Known rows beside the rows to score: can what was learnt on the one be used on the other?"""

    known: int
    scored: int
    auc: Interval
    """ROC AUC of a model that tells scored rows from known ones, out of fold: 0.5 is alike, 1 is nothing in common."""
    drivers: tuple[ShiftDriver, ...] = ()
    unfinished: tuple[UnfinishedCohort, ...] = ()
    sentences: tuple[str, ...] = ()
    """Headlines, the most important first."""


class CalibrationChange(Value):
    """What calibration inside the folds did to the Brier score of rows that it did not see."""

    method: Literal["none", "platt", "isotonic"] = "none"
    tried: Literal["none", "platt", "isotonic"] = "none"
    before: float | None = None
    after: float | None = None
    sentence: str = ""


class Threshold(Value):
    """From which probability on a row counts as positive. Who set it and when is the registry's to say."""

    value: float = 0.5
    how: Literal["default", "cost", "rate"] = "default"
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None
    rate: float | None = None
    """Share of rows to flag."""


class Conformal(Value):
    """Prediction intervals of a regression from out-of-fold residuals (CV+, Barber et al. 2021)."""

    level: float
    method: str
    half_width: float
    """Half the width of an interval in units of the target; the median one where widths differ."""
    coverage: float
    """Share of training rows whose interval, made without them, holds their outcome."""
    rows: int


class Decile(Value):
    """A tenth of the rows by falling out-of-fold probability, with what it holds. Shares in 0 to 1."""

    decile: int
    rows: int
    events: int
    low: float
    high: float
    """Probabilities of its rows, from and to."""
    rate: float
    lift: float
    """Its rate over the rate of all rows."""
    captured: float
    """Share of all events in this and the deciles before it."""
    ks: float
    """Gap of the cumulated shares of events and of others after it."""


class ScoreBand(Value):
    """A band of the score 600 + 20/ln 2 (ln odds of no event - ln 30): higher is safer, 20 points double the odds."""

    low: int
    high: int
    rows: int
    events: int
    rate: float
    rate_low: float
    rate_high: float
    """Wilson interval of the rate."""


class Challenger(Value):
    """An existing score column beside the model on the rows that have it."""

    column: str
    rows: int
    auc: Interval
    model_auc: Interval
    difference: Interval
    """The model's ROC AUC minus the column's, paired."""
    sentence: str


class Credit(Value):
    """What a credit desk reads of a binary model, out of fold."""

    gini: Interval
    ks: Interval
    ks_at: float
    """Probability at which the two score distributions are furthest apart."""
    deciles: tuple[Decile, ...]
    bands: tuple[ScoreBand, ...]
    challenger: Challenger | None = None


class Importance(Value):
    """Permutation importance of a feature on held-out rows: how much the main figure falls when its values are shuffled."""

    feature: str
    label: str
    drop: Interval
    figure: str = ""
    """What falls; empty: the main figure. Of several classes it is the log likelihood, a mean over rows."""
