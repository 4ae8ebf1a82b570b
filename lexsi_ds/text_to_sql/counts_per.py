"""Figures of counts: "average number of orders per account". Over whom it is taken is asked when some have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from lexsi_ds.text_to_sql import combined
from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk, GroupAsk, MeasureAsk
from lexsi_ds.text_to_sql.logical import Fn, Logical, Measure, Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug
from lexsi_ds.text_to_sql.writer import write

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser
    from lexsi_ds.text_to_sql.resolver import Resolver

_FUNCTIONS: dict[str, Fn] = {"average": "average", "median": "median", "large": "maximum", "small": "minimum", "maximum": "maximum",
                             "minimum": "minimum"}  # fmt: skip
_LABELS = {"average": "average", "median": "median", "maximum": "highest", "minimum": "lowest"}


@dataclass(frozen=True)
class CountPer:
    """A function of how many rows belong to each row of another table."""

    fn: Fn
    counted: Item
    each: Item
    text: str


def clause(parser: Parser, i: int) -> int:
    """ "average number of orders per account"."""
    if parser.kind(i) not in _FUNCTIONS:
        return i
    stop = parser.skip(i + 1, "of")
    if parser.kind(stop) != "count":
        return i
    stop = parser.skip(stop + 1, "of", "distinct", "all")
    if not parser.is_named(stop, "entity") or parser.is_named(stop, "column", "value"):
        return i
    counted, stop = parser.items[stop], stop + 1
    each = parser.skip(stop, "by", "each")
    if each > stop and parser.kind(each) == "grain" and (grain := GRAINS.get(parser.items[each].words[0])):
        parser.draft.measures.append(MeasureAsk("count", counted, cue="number of"))
        parser.draft.groups.append(GroupAsk(None, grain, text=parser.items[each].text))  # type: ignore[arg-type]
        parser.draft.over = _FUNCTIONS[parser.kind(i)]  # type: ignore[assignment]
        return each + 1
    if each == stop or not parser.is_named(each, "entity") or parser.is_named(each, "column"):
        return i
    text = " ".join(x.text for x in parser.items[i : each + 1])
    parser.draft.count_per = CountPer(_FUNCTIONS[parser.kind(i)], counted, parser.items[each], text)
    return each + 1


def move_filters(r: Resolver) -> None:
    """Give the restrictions of what is counted to it: "orders per account in 1997" speaks of the orders' year."""
    draft, ask = r.draft, r.draft.count_per
    combined.move_filters(r)
    if ask is None:
        return
    if draft.measures or draft.groups or draft.share or draft.window or draft.order:
        raise NotUnderstood((ask.text,), "it stands beside something else that is asked for")
    counted = r.entity_table(ask.counted)
    inner: list[FilterAsk] = []
    for f in list(draft.filters):
        tables = {s.table for i in f.items[:1] for s in i.of("value", "segment")}
        if f.kind == "days" and f.column is None:
            if r.model.table(counted).time is None:
                raise NotUnderstood((f.text,), f"{r.model.table(counted).plural} have no date of their own")
            inner.append(f)
        elif f.kind == "value" and counted in tables:
            inner.append(f)
        elif f.kind == "exists" or (f.kind == "value" and r.base in tables):
            continue
        else:
            raise NotUnderstood(
                (f.text,), f"it is not clear whether it is said of {ask.counted.text} or of {ask.each.text}"
            )
    draft.filters = [f for f in draft.filters if f not in inner]
    r.count_inner = tuple(inner)


def measure(r: Resolver) -> list[Measure]:
    """The figure, as a function over a count of each row."""
    ask = r.draft.count_per
    if ask is None:
        return []
    found = r.belonging(
        FilterAsk("exists", (ask.counted,), test=">=", numbers=(1.0,), inner=r.count_inner, text=ask.text)
    )
    if len(found) != 1 or found[0].sub is None:
        raise NotUnderstood((ask.text,), "one does not belong to the other")
    base, counted = r.model.table(r.base), r.model.table(r.entity_table(ask.counted))
    said = ", ".join(t.text for t in found[0].sub.filters if t.text)
    label = f"{_LABELS[ask.fn]} number of {counted.plural}{f' ({said})' if said else ''} per {base.label}"
    r.note(ask.text, label)
    name = slug(f"{_LABELS[ask.fn]} number of {counted.plural}")
    return [Measure(fn=ask.fn, name=name, label=label, ref=found[0].ref, sub=found[0].sub)]


def check_none(draft: Draft, query: Logical, names: Names, run: Callable[[str], pd.DataFrame]) -> None:
    """Raises Ambiguous where some rows have none and it was not said whether they count."""
    ask = draft.count_per
    if ask is None or draft.zeros or ask.fn == "maximum":
        return
    sub = next((m.sub for m in query.measures if m.sub is not None), None)
    own = next((m.ref for m in query.measures if m.sub is not None), None)
    if (
        sub is None
        or own is None
        or any(f.test == "exists" and f.sub is not None and f.sub.table == sub.table for f in query.filters)
    ):
        return
    none = Predicate(ref=own, test="not exists", sub=sub)
    count = Measure(fn="count", name="n", label="n")
    empty = int(
        run(write(Logical(table=query.table, measures=(count,), filters=(*query.filters, none)), names))["n"].iloc[0]
    )
    if empty:
        base, counted = names.model.table(query.table), names.model.table(sub.table)
        raise Ambiguous(
            ask.each,
            (f"{base.label} with {counted.plural}", f"{base.label}, counting those without any"),
            f"{empty:,} {base.plural} have no {counted.plural}",
        )


def check_fewest(query: Logical, names: Names, run: Callable[[str], pd.DataFrame]) -> None:
    """Raises NotUnderstood where the fewest are asked for among rows of which some have none, and so are not even listed."""
    first = query.order[0] if query.order and query.dimensions else None
    counted = next((m for m in query.measures if first is not None and m.name == first.name and m.fn == "count"), None)
    if first is None or first.descending or counted is None or counted.hits or not (query.ties or query.limit) or query.per:
        return
    for step in query.joins:
        table = names.model.table(step.table)
        shown = any(d.ref.alias == step.alias and d.ref.column in (table.key, *table.names) for d in query.dimensions)
        if not shown or table.key is None or query.filters:
            continue
        ref = Ref(alias=step.alias, table=step.table, column=table.key)
        there = Measure(fn="count_distinct", name="n", label="n", ref=ref)
        found = int(run(write(Logical(table=query.table, joins=query.joins, measures=(there,)), names))["n"].iloc[0])
        if found < table.rows:
            plural = names.model.table(query.table).plural
            raise NotUnderstood((f"fewest {plural}",), f"{table.rows - found:,} {table.plural} have no {plural} at all")
