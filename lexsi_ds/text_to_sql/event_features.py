"""The rules by which events before a cut-off (transactions, orders) become features: counts, sums, averages, extremes, last
values, windows, trends, time since the last, distinct counts, shares of a class, ratios to the row's own amount.

Definitions only. Each one must be readable SQL over rows that are strictly before the cut-off already; it adds no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lexsi_ds.knowledge.model import ColumnModel, TableModel
from lexsi_ds.knowledge.words import plural
from lexsi_ds.text_to_sql.task_scene import CUTOFF, ROWS, Scene

WINDOWS = (30, 90, 365)
"""Days before the cut-off over which events are counted and summed."""
RECENT = 90
"""The window of trends and net sums."""
_SHARES = 3
"""Most classes of a column that get a share."""
CORE, RECENCY, DETAIL, EXTRA = 1, 2, 3, 4
"""Ranks of the rules: where not every feature fits, those of a lower rank are made first."""


@dataclass(frozen=True)
class Aggregate:
    """A feature of one table of events."""

    name: str
    label: str
    sql: str
    unit: str | None
    zero: bool
    """Whether no rows mean zero (a count, a sum) rather than unknown."""
    rank: int = CORE


@dataclass(frozen=True)
class Events:
    """One table of events as the rules see it. ``when`` is the SQL of an event's date, empty where it has none."""

    scene: Scene
    table: TableModel
    columns: Sequence[ColumnModel]
    when: str
    links: Sequence[tuple[ColumnModel, str]]
    """Columns that point to rows of a further table, with the plural noun of those."""
    values: dict[str, tuple[str, ...]]
    """Values of columns of classes among the events before a cut-off, most frequent first."""

    @property
    def before(self) -> str:
        """How a label ends."""
        return f"before {self.scene.moment}" if self.when else "(undated)"

    def since(self, days: int) -> str:
        """A test for the last ``days`` days before the cut-off."""
        return f"{self.when} >= {ROWS}.{CUTOFF} - INTERVAL {days} DAY"

    def earlier(self) -> str:
        """A test for the stretch just before the last ``RECENT`` days, of the same length."""
        start = f"{ROWS}.{CUTOFF} - INTERVAL {2 * RECENT} DAY"
        return f"{self.when} >= {start} AND {self.when} < {ROWS}.{CUTOFF} - INTERVAL {RECENT} DAY"

    def read(self, column: ColumnModel) -> str:
        """A column's value as SQL."""
        return self.scene.names.read(self.table.name, self.table.name, column.name)


def aggregates(events: Events, own: Sequence[tuple[str, ColumnModel]]) -> list[Aggregate]:
    """Every feature that the rules make of a table. ``own`` holds the rows' own amounts: feature name and column."""
    made = [*_counts(events)]
    for column in events.columns:
        if column.role == "measure":
            made += _of_measure(events, column, own)
    for column in events.columns:
        made += [*_of_codes(events, column), *_of_classes(events, column)]
    for column, noun in events.links:
        name = f"{events.table.name}_{column.name}_distinct"
        sql = f"count(DISTINCT {events.scene.names.raw(events.table.name, column.name)})"
        made.append(Aggregate(name, f"different {noun} {events.before}", sql, None, zero=True, rank=DETAIL))
    return list({a.name: a for a in reversed(made)}.values())[::-1]


def _counts(e: Events) -> Iterator[Aggregate]:
    name, many = e.table.name, e.table.plural
    yield Aggregate(f"{name}_count", f"{many} {e.before}", "count(*)", None, zero=True)
    if not e.when:
        return
    days = f"min(date_diff('day', {e.when}, {ROWS}.{CUTOFF}))"
    said = f"days from the last {e.table.label} to {e.scene.moment}"
    yield Aggregate(f"{name}_days_since_last", said, days, "days", zero=False)
    for window in WINDOWS:
        label = f"{many} in the last {window} days {e.before}"
        rank = RECENCY if window == RECENT else DETAIL
        yield Aggregate(f"{name}_count_{window}d", label, f"count(*) FILTER (WHERE {e.since(window)})", None, zero=True, rank=rank)
    change = f"count(*) FILTER (WHERE {e.since(RECENT)}) - count(*) FILTER (WHERE {e.earlier()})"
    label = f"change in {many}: last {RECENT} days {e.before}, minus the {RECENT} days before those"
    yield Aggregate(f"{name}_count_trend_{RECENT}d", label, change, None, zero=True, rank=RECENCY)


def _of_measure(e: Events, column: ColumnModel, own: Sequence[tuple[str, ColumnModel]]) -> Iterator[Aggregate]:
    value, stem, unit = e.read(column), f"{e.table.name}_{column.name}", column.unit

    def made(suffix: str, label: str, sql: str, rank: int, *, zero: bool = False) -> Aggregate:
        return Aggregate(f"{stem}_{suffix}", f"{label} {e.before}", sql, unit, zero=zero, rank=rank)

    if e.table.flows and column.additive:
        yield from _of_flows(e, column, value, stem)
    elif column.additive:
        yield made("sum", _total(column), f"sum({value})", CORE, zero=True)
    yield made("avg", f"average {column.label}", f"avg({value})", DETAIL if e.table.flows and column.additive else CORE)
    additive = column.additive
    yield made("min", f"lowest {column.label}", f"min({value})", EXTRA if additive else CORE)
    yield made("max", f"highest {column.label}", f"max({value})", DETAIL if additive else RECENCY)
    if not e.when:
        return
    if e.table.key:
        order = f"{e.when} DESC, {e.scene.names.raw(e.table.name, e.table.key)} DESC"
        yield made("last", f"last {column.label}", f"first({value} ORDER BY {order})", DETAIL if additive else CORE)
    fn, said = ("sum", _total(column)) if additive else ("avg", f"average {column.label}")
    for window in WINDOWS:
        label = f"{said} in the last {window} days"
        sql = f"{fn}({value}) FILTER (WHERE {e.since(window)})"
        yield made(f"{fn}_{window}d", label, sql, RECENCY if window == RECENT and not e.table.flows else DETAIL, zero=additive)
    yield _trend(e, column, value, stem, fn, said)
    yield from _ratios(e, column, stem, own)


def _total(column: ColumnModel) -> str:
    """A sum in words; a column that is called a total already is not called one twice."""
    return f"sum of {column.label}" if "total" in column.label.split() else f"total {column.label}"


def _trend(e: Events, column: ColumnModel, value: str, stem: str, fn: str, said: str) -> Aggregate:
    later, before = (f"{fn}({value}) FILTER (WHERE {test})" for test in (e.since(RECENT), e.earlier()))
    if fn == "sum":
        later, before = f"coalesce({later}, 0)", f"coalesce({before}, 0)"
    label = f"change in {said}: last {RECENT} days {e.before}, minus the {RECENT} days before those"
    return Aggregate(f"{stem}_trend_{RECENT}d", label, f"{later} - {before}", column.unit, zero=fn == "sum", rank=RECENCY)


def _ratios(e: Events, column: ColumnModel, stem: str, own: Sequence[tuple[str, ColumnModel]]) -> Iterator[Aggregate]:
    """The average of the events beside the row's own amount, where both are counted in the same unit. That way round: an
    amount is seldom next to nothing, an average of few events can be."""
    for name, mine in own:
        if mine.unit != column.unit or (mine.unit is None and not column.additive):
            continue
        amount = e.scene.names.read(ROWS, mine.table, mine.name)
        label = f"average {column.label} {e.before} as a multiple of the {mine.label}"
        ratio = f"avg({e.read(column)}) / nullif(max({amount}), 0)"
        yield Aggregate(f"{stem}_avg_to_{name}", label, ratio, "times", zero=False, rank=RECENCY)


def _of_flows(e: Events, column: ColumnModel, value: str, stem: str) -> Iterator[Aggregate]:
    tests = {}
    for flow in e.table.flows:
        values = ", ".join(e.scene.names.literal(e.table.name, flow.column, v) for v in flow.values)
        tests[flow.slug] = f"{e.scene.names.raw(e.table.name, flow.column)} IN ({values})"
        sql = f"sum({value}) FILTER (WHERE {tests[flow.slug]})"
        yield Aggregate(f"{stem}_{flow.slug}", f"total {flow.label} {e.before}", sql, column.unit, zero=True)
    if e.when and {"in", "out"} <= tests.keys():
        net = f"CASE WHEN {tests['in']} THEN {value} WHEN {tests['out']} THEN -{value} END"
        label = f"paid in minus paid out in the last {RECENT} days {e.before}"
        sql = f"sum({net}) FILTER (WHERE {e.since(RECENT)})"
        yield Aggregate(f"{stem}_net_{RECENT}d", label, sql, column.unit, zero=True)


def _of_codes(e: Events, column: ColumnModel) -> Iterator[Aggregate]:
    codes = column.counted or tuple(m.value for m in column.values[:1] if column.role == "flag")
    for code in codes:
        said = e.scene.model.meaning(e.table.name, column.name, code) or code
        sql = f"count(*) FILTER (WHERE {_is(e, column, code)})"
        yield Aggregate(f"{e.table.name}_{slug(said)}_count", f"times {said} {e.before}", sql, None, zero=True)


def _of_classes(e: Events, column: ColumnModel) -> Iterator[Aggregate]:
    """How many different classes the events had, and how large a part of them the most frequent ones were."""
    name = e.scene.names.raw(e.table.name, column.name)
    chosen = e.values.get(column.name, ())
    if len(chosen) > 2:
        label = f"different {plural(column.label)} of {e.table.plural} {e.before}"
        yield Aggregate(f"{e.table.name}_{column.name}_distinct", label, f"count(DISTINCT {name})", None, zero=True, rank=DETAIL)
    for n, value in enumerate(chosen[: min(_SHARES, len(chosen) - 1)]):
        said = e.scene.model.meaning(e.table.name, column.name, value) or value
        label = f"share of {e.table.plural} with {column.label} {said} {e.before}"
        sql = f"avg(CASE WHEN {_is(e, column, value)} THEN 1.0 ELSE 0.0 END)"
        stem = f"{e.table.name}_{column.name}_{slug(said) or n}"
        yield Aggregate(f"{stem}_share", label, sql, None, zero=False, rank=DETAIL if n == 0 else EXTRA)
    for value in (m.value for m in column.values[:1] if column.role == "flag"):
        said = e.scene.model.meaning(e.table.name, column.name, value) or column.label
        sql = f"avg(CASE WHEN {_is(e, column, value)} THEN 1.0 WHEN {name} IS NOT NULL THEN 0.0 END)"
        label = f"share of {e.table.plural} with {said} {e.before}"
        yield Aggregate(f"{e.table.name}_{column.name}_share", label, sql, None, zero=False, rank=DETAIL)


def _is(e: Events, column: ColumnModel, value: str) -> str:
    return f"{e.scene.names.raw(e.table.name, column.name)} = {e.scene.names.literal(e.table.name, column.name, value)}"


def slug(text: str) -> str:
    """Words as part of a name."""
    return "_".join("".join(ch if ch.isalnum() else " " for ch in text.casefold()).split())
