"""What must be said beside a query's numbers: small groups, periods whose outcome is still open, missing values.

It may ask the data for counts; it never changes what was asked, only adds a column that the caveat speaks of.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pandas as pd

from lexsi_ds.knowledge.model import Metric
from lexsi_ds.text_to_sql.logical import Logical, Measure, Predicate, Ref
from lexsi_ds.text_to_sql.resolver import Settled
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.wording import slug
from lexsi_ds.text_to_sql.writer import write

_SMALL = 10
_MOST_LOOKED = 1_000
"""Longest top n whose cut is looked at."""
_OPEN_SHARE = 0.5


def caveats_of(
    settled: Settled, names: Names, query: Callable[[str], pd.DataFrame]
) -> tuple[Logical, tuple[str, ...], tuple[str, ...]]:
    """The query, with a column for open outcomes where needed; the caveats; and questions worth asking next."""
    logical, metric = settled.query, settled.metric
    if logical.outer:
        return logical, (*_missing(logical, names), *_beyond(logical, names), *_cut_ties(logical, names, query)), ()
    said: list[str] = []
    more: list[str] = []
    rates = any(m.fn == "rate" for m in logical.measures)
    if metric is not None and metric.unsettled and any(d.grain for d in logical.dimensions):
        logical = _with_open(logical, metric)
        said += _open_periods(logical, metric, names, query)
    if rates and logical.dimensions and not logical.having and not any(d.grain for d in logical.dimensions):
        noun = names.model.table(logical.table).plural
        said.append(f"Groups differ in size: read each rate with its number of {noun}.")
        if logical.ties and metric is not None:
            group = logical.dimensions[-1].label
            end = "worst" if (metric.higher_is == "worse") == logical.order[0].descending else "best"
            more.append(f"Which {group} has the {end} {metric.label} with at least {_SMALL} {noun}?")
    if logical.per and logical.limit is not None and not logical.ties:
        said.append("Where places tie at the cut of a group, the order of names decides.")
    said += _missing(logical, names)
    said += _beyond(logical, names)
    said += _negated(logical, names)
    said += _unknown_in_whole(logical, names)
    said += _cut_ties(logical, names, query)
    return logical, tuple(said), tuple(more)


def _with_open(logical: Logical, metric: Metric) -> Logical:
    tests = tuple(
        Predicate(ref=Ref(alias=logical.table, table=c.table, column=c.column), test="in", values=c.values)
        for c in metric.unsettled
    )
    label = metric.unsettled_label or "outcome still open"
    extra = Measure(
        fn="count", name=slug("still running" if "running" in label else "still open"), label=label, hits=tests
    )
    rates = [m for m in logical.measures if m.fn == "rate"]
    others = [m for m in logical.measures if m.fn != "rate"]
    return logical.model_copy(update={"measures": (*others, *rates, extra)})


def _open_periods(logical: Logical, metric: Metric, names: Names, query: Callable[[str], pd.DataFrame]) -> list[str]:
    """One sentence for each period in which most rows have no settled outcome yet."""
    frame = query(write(logical, names))
    rate = next(m for m in logical.measures if m.fn == "rate")
    still = logical.measures[-1].name
    period = next(d for d in logical.dimensions if d.grain)
    noun = names.model.table(logical.table).plural
    totals: dict[str, list[int]] = {}
    for row in frame.to_dict("records"):
        sums = totals.setdefault(_period(row[period.name]), [0, 0, 0])
        for i, name in enumerate((rate.rows_name, rate.hits_name, still)):
            sums[i] += int(row[name])
    said, settled = [], []
    for when, (total, hits, waiting) in sorted(totals.items()):
        if total and waiting > _OPEN_SHARE * total:
            said.append(
                f"{when} is not mature: {waiting:,} of its {total:,} {noun} are {metric.unsettled_label},"
                f" so its {rate.label} of {100 * hits / total:.1f}% says little yet."
            )
        elif total:
            settled.append(when)
    if said:
        said.append(f"Compare only {', '.join(settled)}." if settled else "No period is mature yet.")
    return said


def _period(value: object) -> str:
    return str(value)[:10] if isinstance(value, datetime) else str(value)


def _cut_ties(logical: Logical, names: Names, query: Callable[[str], pd.DataFrame]) -> list[str]:
    """Whether the last of a top n ties with the first that was left out."""
    limit = logical.limit
    if limit is None or logical.ties or logical.per or logical.place or not logical.order or limit > _MOST_LOOKED:
        return []
    name = logical.order[0].name
    longer = query(write(logical.model_copy(update={"limit": limit + 1, "outer": ()}), names))
    if len(longer) <= limit or name not in longer.columns:
        return []
    last, left_out = longer[name].iloc[limit - 1], longer[name].iloc[limit]
    if pd.isna(last) or last != left_out:
        return []
    return [f"Place {limit} is tied: others with the same value are left out."]


def _unknown_in_whole(logical: Logical, names: Names) -> list[str]:
    """Rows without a value are in the whole of a percentage, and not in the part."""
    said = []
    for measure in logical.measures:
        for test in measure.hits if measure.fn == "rate" and not measure.known else ():
            column = names.model.column(test.ref.table, test.ref.column)
            if column is not None and column.nulls and test.sub is None and test.test not in ("is null", "is not null", "any"):
                said.append(f"Rows without a {column.label} ({column.nulls:,} in {column.table}) are counted in the whole.")
    return list(dict.fromkeys(said))


def _negated(logical: Logical, names: Names) -> list[str]:
    """A test for "not" passes over rows without a value."""
    said = []
    for test in logical.filters:
        column = names.model.column(test.ref.table, test.ref.column)
        if test.test in ("<>", "not in") and test.sub is None and column is not None and column.nulls:
            said.append(f"Rows without a {column.label} ({column.nulls:,} in {column.table}) are left out as well.")
    return list(dict.fromkeys(said))


def _beyond(logical: Logical, names: Names) -> list[str]:
    """Days that were asked about and that the data does not reach: a 0 there says nothing."""
    said = []
    for test in (*logical.filters, *logical.after, *(h for m in logical.measures for h in m.hits)):
        table = names.handle.table(test.ref.table)
        column = table.column(test.ref.column) if table else None
        if test.test != "days" or column is None or not column.minimum or not column.maximum:
            continue
        first, after = (*test.values, "", "")[:2]
        low, high = column.minimum[:10], column.maximum[:10]
        if len(low) == 10 and ((first and first > high) or (after and after <= low)):
            label = names.column(test.ref.table, test.ref.column).label
            said.append(f"The data does not reach that time: every {label} lies between {low} and {high}.")
    return list(dict.fromkeys(said))


def _missing(logical: Logical, names: Names) -> list[str]:
    said = []
    for measure in logical.measures:
        if measure.ref is None or measure.sub is not None or measure.fn == "count_distinct":
            continue
        column = names.column(measure.ref.table, measure.ref.column)
        if column.nulls:
            values = "value is" if column.nulls == 1 else "values are"
            said.append(f"{column.nulls:,} {values} missing in {column.table}.{column.name} and not counted.")
    return list(dict.fromkeys(said))
