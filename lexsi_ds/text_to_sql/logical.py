"""The logical query: what is measured of which rows, grouped by what, joined how. Values that go to JSON and back.

It names columns and carries literals; `writer` turns it into SQL and `wording` into a sentence.
"""

from __future__ import annotations

from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.knowledge.model import Condition

Fn = Literal[
    "count", "count_distinct", "sum", "average", "median", "minimum", "maximum", "rate", "formula", "deviation", "quantile"
]
Grain = Literal["decade", "year", "quarter", "month", "week", "day", "weekday"]
Test = Literal[
    "=", "<>", "<", "<=", ">", ">=", "in", "not in", "between", "is null", "is not null", "days", "exists", "not exists", "any",
    "month", "weekday", "contains"
]
Window = Literal["share", "change", "growth", "running", "moving"]


class Ref(Value):
    """A column of a joined table."""

    alias: str
    table: str
    column: str
    since: Ref | None = None
    """An earlier date: then the time from it to this one is meant, in ``unit``."""
    until: str = ""
    """A later day: then the full years from this date to it are meant."""
    unit: str = ""


class JoinStep(Value):
    """One join, to a table that each row meets at most once."""

    alias: str
    table: str
    left: Ref
    column: str
    conditions: tuple[Condition, ...] = ()
    inner: bool = False


class Predicate(Value):
    """A test of a row. ``days`` takes a first day and the day after the last, either may be empty.

    What is tested is ``ref``, or a figure of the rows of ``sub``; it is compared with ``values``, or with ``factor`` times
    another column (``other``) or a figure of other rows (``than``). ``any`` holds where one of ``any_of`` does.
    """

    ref: Ref
    test: Test
    values: tuple[str, ...] = ()
    text: str = ""
    """How a person would say it: "in Prague"."""
    sub: Sub | None = None
    other: Ref | None = None
    than: Sub | None = None
    factor: float = 1.0
    any_of: tuple[Predicate, ...] = ()


class Sub(Value):
    """A figure of some rows seen from one row: those that belong to it where there are ``links``, else all of a table."""

    table: str
    alias: str
    joins: tuple[JoinStep, ...] = ()
    links: tuple[tuple[Ref, Ref], ...] = ()
    """Columns that must be equal: of these rows, and of the row they are seen from."""
    filters: tuple[Predicate, ...] = ()
    fn: Fn = "count"
    ref: Ref | None = None
    """What is summed or averaged; None to count."""


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
    expression: str = ""
    """Of a declared metric: SQL over the columns of ``ref``'s table, taken instead of ``ref``'s column alone."""
    window: Window | None = None
    """What is made of the figure once the groups are there: its share of all groups, its change or growth against the period
    before, its running total. The figure itself must be a measure too."""
    sub: Sub | None = None
    """Rows that are counted, or summed, for each row before the function is taken."""
    parts: tuple[Measure, ...] = ()
    made: Literal["difference", "ratio"] | None = None
    """Of a figure made of two: the two, and how."""
    times: float = 1.0
    """Of a ratio: per how many."""
    part: float | None = None
    """Of a quantile: the part of the rows at or below it, 0.9 for the 90th percentile."""
    size: int | None = None
    """Of a moving average: over how many periods."""
    within: tuple[str, ...] = ()
    """Names of the dimensions inside which a window is taken."""


class Dimension(Value):
    """A column of the result that rows are grouped by, or that a list shows."""

    ref: Ref
    name: str
    label: str
    grain: Grain | None = None
    bands: tuple[Band, ...] = ()
    """Ranges of a figure, from the lowest."""
    step: float | None = None
    """Width of equal ranges of a figure; the result holds where each begins."""


class Band(Value):
    """A range of a figure: from ``low`` up to the next band's, or up to and including ``high`` where it is the last."""

    label: str
    low: float | None
    """None for everything below."""
    high: float | None = None


class Having(Value):
    """A test of a group."""

    measure: Measure
    test: Test
    value: str


class Order(Value):
    """By which column of the result the rows are ordered."""

    name: str
    descending: bool


class Outer(Value):
    """A figure of the rows of a result."""

    fn: Literal["sum", "average", "median", "minimum", "maximum", "count", "share"]
    name: str
    label: str
    of: str = ""
    """The column of the result; empty to count rows."""
    first: int | None = None
    """Of a share: how many rows, in the result's order, are the part."""


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
    per: tuple[str, ...] = ()
    """Names of dimensions or columns inside which the order and the limit count: the best of each."""
    distinct: bool = False
    """Of a list: each combination of its columns once."""
    place: int | None = None
    """Only this place of the order: 2 for the second highest."""
    outer: tuple[Outer, ...] = ()
    """Figures taken of the rows of all this: then they are the result."""
    after: tuple[Predicate, ...] = ()
    """Days that restrict the periods shown once changes against the period before are known."""


for _made in (Ref, JoinStep, Predicate, Sub, Measure, Dimension, Having, Logical):
    _made.model_rebuild()
