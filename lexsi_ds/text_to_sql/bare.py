"""A figure of groups whose function was not said: "salary by department", "revenue per month".

A sum where the figure adds up, an average where it is a level; the reading says which. What may be either is asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_LEVELS = frozenset((
    "salary", "wage", "income", "rate", "age", "score", "grade", "rating", "height", "weight", "temperature", "speed", "tenure",
    "price", "fare", "gpa", "percentage", "satisfaction",
))  # fmt: skip
"""Figures that are told as an average where they do not add up."""
_AMOUNTS = frozenset((
    "amount", "amounts", "revenue", "sales", "turnover", "quantity", "total", "profit", "cost", "costs", "payments", "fines",
    "points", "goals",
))  # fmt: skip
"""Figures that are told as a total where they add up."""


def function_of(r: Resolver) -> MeasureAsk:
    """The one figure that stands bare beside groups, with its function. Raises where it may be told in several ways."""
    item = r.draft.columns[0]
    columns = [r.names.column(s.table, s.column) for s in item.of("column")]
    if len(r.draft.columns) != 1 or not columns or any(c.role != "measure" for c in columns):
        raise NotUnderstood(
            tuple(i.text for i in r.draft.columns), "it does not say what to do with it: total, average, highest"
        )
    additive = {c.additive for c in columns}
    words = set[str]().union(*(c.label.split() for c in columns))
    summed = additive == {True}
    if len(additive) != 1 or not words & (_AMOUNTS if summed else _LEVELS):
        raise _ask(item, summed=summed)
    r.draft.columns.remove(item)
    fn = "sum" if summed else "average"
    r.scope.said.append(f"taken as the {'total' if fn == 'sum' else 'average'}, as it was not said")
    return MeasureAsk(fn, item, cue="")


def named_average(r: Resolver) -> MeasureAsk | None:
    """"average salary in Prague", where the column itself is called so: the average of the rows that are meant."""
    item = r.draft.columns[0] if len(r.draft.columns) == 1 else None
    columns = [r.names.column(s.table, s.column) for s in item.of("column")] if item is not None else []
    if item is None or not columns or any(c.role != "measure" or not c.label.startswith("average ") for c in columns):
        return None
    r.draft.columns.remove(item)
    r.scope.said.append(f"the mean of the {columns[0].label} of each {r.model.table(columns[0].table).label}, as its column has it")
    return MeasureAsk("average", item, cue="")


def _ask(item: Item, *, summed: bool) -> Ambiguous:
    firsts = ("total", "average") if summed else ("average", "maximum", "total")
    return Ambiguous(item, tuple(f"{f} {item.text}" for f in firsts), f"{item.text} of a group can be told in several ways")
