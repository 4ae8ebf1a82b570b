"""The logical query: what is measured of which rows, grouped by what, joined how. Values that go to JSON and back.

It names columns and carries literals; `writer` turns it into SQL and `wording` into a sentence.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.knowledge.model import Condition

Fn = Literal["count", "count_distinct", "sum", "average", "median", "minimum", "maximum", "rate"]
Grain = Literal["year", "quarter", "month", "week", "day", "weekday"]
Test = Literal["=", "<>", "<", "<=", ">", ">=", "in", "not in", "between", "is null", "is not null", "days"]


class Ref(Value):
    """A column of a joined table."""

    alias: str
    table: str
    column: str


class JoinStep(Value):
    """One join, to a table that each row meets at most once."""

    alias: str
    table: str
    left: Ref
    column: str
    conditions: tuple[Condition, ...] = ()
    inner: bool = False


class Predicate(Value):
    """A test of a column. ``days`` takes a first day and the day after the last, either may be empty."""

    ref: Ref
    test: Test
    values: tuple[str, ...] = ()
    text: str = ""
    """How a person would say it: "in Prague"."""


class Measure(Value):
    """A number asked for."""

    fn: Fn
    name: str
    """The column of the result."""
    label: str
    ref: Ref | None = None
    hits: tuple[Predicate, ...] = ()
    """Of a rate, and of a count of some rows only: the tests that the counted rows pass, all of them."""
    known: tuple[Predicate, ...] = ()
    """Of a rate: the rows that it is taken over."""
    hits_name: str = ""
    rows_name: str = ""
    """Of a rate: the columns that hold its two counts."""
    unit: str | None = None


class Dimension(Value):
    """A column of the result that rows are grouped by, or that a list shows."""

    ref: Ref
    name: str
    label: str
    grain: Grain | None = None


class Having(Value):
    """A test of a group."""

    measure: Measure
    test: Test
    value: str


class Order(Value):
    """By which column of the result the rows are ordered."""

    name: str
    descending: bool


class Logical(Value):
    """A whole query over one table and what it points to."""

    table: str
    joins: tuple[JoinStep, ...] = ()
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    columns: tuple[Dimension, ...] = ()
    """Of a list of rows: what is shown. Empty for aggregates."""
    filters: tuple[Predicate, ...] = ()
    having: tuple[Having, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    ties: bool = False
    """Keep every group that ties with the first instead of cutting at ``limit``."""
