"""What a question asks for, in its own order and before anything is decided: measures, groups, filters, order, limits.

Values only, made by `parser` and settled by `resolver`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from lexsi_ds.text_to_sql.dates import Span
from lexsi_ds.text_to_sql.logical import Band, Dimension, Fn, Grain, Measure, Window
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.combined import Ratio
    from lexsi_ds.text_to_sql.counts_per import CountPer
    from lexsi_ds.text_to_sql.differences import Difference

FilterKind = Literal[
    "value", "segment", "compare", "days", "key", "exists", "versus", "filled", "part", "called", "boss", "done", "elapsed",
    "rival", "apart",
]


@dataclass(frozen=True)
class MeasureAsk:
    """A number asked for: a function of something."""

    fn: Fn
    target: Item | None
    of: Item | None = None
    """What the target belongs to: "district of the owner"."""
    distinct: bool = False
    cue: str = ""
    since: Item | None = None
    """The earlier date of time between two dates; the target is the later one."""
    unit: str = ""
    start: int = -1
    """Where its function stands in the question; -1 when that is not known."""


@dataclass(frozen=True)
class GroupAsk:
    """By what to group."""

    target: Item | None
    grain: Grain | None = None
    of: Item | None = None
    text: str = ""
    per: bool = False
    """Whether "per" stood before it."""
    times: float | None = None
    """ "per 1000": then what is grouped by is what a figure is divided by."""
    within: bool = False
    """Whether "within each" stood before it."""
    bands: tuple[Band, ...] = ()
    step: float | None = None
    """Ranges of a figure: these, or equal ones of this width."""


@dataclass(frozen=True)
class FilterAsk:
    """A restriction of the rows."""

    kind: FilterKind
    items: tuple[Item, ...] = ()
    """Of a value: the values, any of which will do."""
    negated: bool = False
    test: str = "="
    numbers: tuple[float, ...] = ()
    column: Item | None = None
    """The column named beside it."""
    unit: Item | None = None
    span: Span | None = None
    text: str = ""
    of: Item | None = None
    whole: Item | None = None
    """The whole stretch of the question, for asking back about it."""
    late: bool = False
    """Said after the noun, as in "percentage of loans that are running"."""
    inner: tuple[FilterAsk, ...] = ()
    """Of rows that must be there, or not: what is said of them."""
    fn: Fn | None = None
    """Of a comparison with a figure of other rows: the figure's function; None for a plain column."""
    target: Item | None = None
    """What that figure is of; None for the same column again."""
    per: Item | None = None
    """The group that those other rows share with this one: "of their own department"."""
    factor: float = 1.0
    noun: Item | None = None
    """Rows named right behind a value: French customers."""
    unit_name: str = ""
    """Of time between two dates: what the number counts."""
    among: bool = False
    """Whether "among" stands before it: then it is the whole of a percentage."""
    strictly: bool = False
    """Of a value that is negated: rows without any are others too."""
    owned: bool = False
    """Whether "with" or "have" stands before a value."""
    by: bool = False
    """Whether "by" stands before the value: whose the rows are, not what they are called."""


@dataclass(frozen=True)
class HavingAsk:
    """A test of a group: with at least ten loans."""

    fn: Fn
    target: Item
    test: str
    number: float
    text: str
    unit: Item | None = None


@dataclass(frozen=True)
class OrderAsk:
    """What to order by."""

    descending: bool | None
    """None when only better or worse was said."""
    target: Item | None = None
    fn: Fn | None = None
    judged: Literal["worst", "best"] | None = None
    word: str = ""
    """The superlative: "longest"."""
    start: int = -1
    """Where the superlative stands in the question; -1 when that is not known."""


@dataclass
class Draft:
    """Everything asked for so far, and the words that no rule took."""

    measures: list[MeasureAsk] = field(default_factory=list)
    groups: list[GroupAsk] = field(default_factory=list)
    filters: list[FilterAsk] = field(default_factory=list)
    having: list[HavingAsk] = field(default_factory=list)
    entities: list[Item] = field(default_factory=list)
    columns: list[Item] = field(default_factory=list)
    roles: list[Item] = field(default_factory=list)
    verbs: list[Item] = field(default_factory=list)
    bosses: list[Item] = field(default_factory=list)
    """Roles of the table itself that a list shows too: "together with the boss"."""
    deals: list[Item] = field(default_factory=list)
    """ "bought", "sold"."""
    never_dealt: bool = False
    when: bool = False
    """Whether a date is asked for."""
    count_per: CountPer | None = None
    """ "average number of orders per account"."""
    share_measure: Measure | None = None
    """The percentage, once it is settled: a condition on groups may speak of it."""
    over: Literal["average", "median", "maximum", "minimum", "count", "share"] | None = None
    """What is taken of the groups once they are there."""
    first_rows: tuple[Dimension, bool, int] | None = None
    """By what, from which end and how many rows a figure is taken of."""
    window_size: int | None = None
    difference: Difference | None = None
    """By how much two kinds of rows, or two ends, differ."""
    ratio: Ratio | None = None
    """ "loans per 1000 inhabitants"."""
    said_average: bool = False
    """Whether "on average" belongs to a figure that stands before it."""
    zeros: bool = False
    """Whether those without any count in it."""
    adds: bool = False
    """ "too", "as well": what is said comes beside what was there."""
    about: bool = False
    """Whether it begins like "what about": the rest stands for a part of the question before."""
    order: list[OrderAsk] = field(default_factory=list)
    limit: int | None = None
    which: Item | None = None
    lists: bool = False
    who: bool = False
    """Whether it begins with "who": then people are the answer."""
    everything: bool = False
    """Whether all that is known of the rows is asked for."""
    rows: bool = False
    """Whether the end of an order asks for whose it is and not for the figure: "who earns the most"."""
    share: bool = False
    share_noun: bool = False
    """Whether the noun after "percentage of" has been passed, so that what follows restricts the counted rows only."""
    share_each: bool = False
    """Whether the shares of the groups themselves are asked for: "share of each region among ..."."""
    relation: tuple[Item, Item] | None = None
    """Two columns that are asked to go together."""
    trend: str | None = None
    window: Window | None = None
    """What is wanted of the figure over the groups: running total, change, growth, share of all."""
    window_text: str = ""
    window_grain: Grain | None = None
    """The period that a change is taken against, where it was said: "year on year"."""
    place: int | None = None
    """The second, the third highest."""
    pending: list[str] = field(default_factory=list)
    """Functions whose target has not come yet, or came before: "count" at the end."""
    counted: Item | None = None
    """A value said for the rows that are counted: "how many women"."""
    left: list[str] = field(default_factory=list)
    """Words that no rule took."""
    limit_noun: Item | None = None
    """What stands right behind "top 3"."""
    top_one: bool = False
    """ "top category": the first only."""
    ids: list[str] = field(default_factory=list)
    """Words for "their id": lists show the key anyway."""
