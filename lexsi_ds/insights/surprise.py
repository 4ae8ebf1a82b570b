"""What a surprise is: a statistical pattern that the columns by themselves do not explain, with how sure one may be of it."""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value

Kind = Literal["unexpected_effect", "trend_shift", "concentrated_anomaly", "simpson_reversal"]


class Side(Value):
    """One value, or range of values, of a column."""

    column: str
    level: str
    """As a person reads it: ``North``, ``120 to 250``, ``March 2024``, ``missing``."""
    condition: str
    """As SQL over the dataset."""


class Measure(Value):
    """What is measured: the average of a number, or the share of rows that have a value."""

    column: str
    sql: str
    """A DOUBLE for each row, NULL where it is unknown."""
    binary: bool = False
    value: str | None = None
    """The value whose share is measured."""

    @property
    def label(self) -> str:
        """As a sentence names it."""
        return f"the share of {self.column} = {self.value}" if self.binary else f"the average {self.column}"


class Surprise(Value):
    """One surprise. ``effect`` is in units of the measure (of 1 where it is a share)."""

    kind: Kind
    measure: Measure
    sides: tuple[Side, ...]
    n: int
    """Rows that it is about."""
    observed: float
    expected: float
    effect: float
    low: float
    high: float
    """Bounds of the effect's 95% interval."""
    p: float
    q: float
    confidence: float
    """How often surprises with this bound on the local false discovery rate (Sellke, Bayarri and Berger 2001, with Storey's
    share of true nulls) were true on data of known truth. Never ``1 - q``."""
    sentence: str
    sql: str
    """A query over ``dataset`` that gives the figures again."""
    rows_sql: str
    """A query over ``dataset`` that gives the rows."""


class Search(Value):
    """What a search found and what it looked at."""

    surprises: tuple[Surprise, ...]
    tests: int
    """Size of the fixed family of hypotheses that the false discovery rate is controlled over."""
    rows: int
    dimensions: tuple[str, ...]
    measures: tuple[str, ...]
    min_rows: int
    notes: tuple[str, ...]
    """What was left out, and why."""
    seconds: float
