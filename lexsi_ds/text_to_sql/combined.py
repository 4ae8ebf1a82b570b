"""Figures made of two figures: a difference between two kinds of rows, a ratio to another figure of the same rows.

Both figures stand beside the result, so that it can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.words import plural, singular
from lexsi_ds.text_to_sql import subqueries
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.logical import Measure
from lexsi_ds.text_to_sql.sqltext import Names, number_text
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.units import is_measured
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_EXTENTS = frozenset({"area", "staff", "population", "headcount", "workforce"})
"""Figures that others are told per, whatever their number."""


@dataclass(frozen=True)
class Ratio:
    """A figure or a number of rows, per so many of another figure."""

    counted: Item
    per: Item
    times: float
    text: str


# -- differences ----------------------------------------------------------------------------------------------------------
def difference(r: Resolver, made: list[Measure]) -> list[Measure]:
    """The figure of either side, and the first less the second."""
    ask = r.draft.difference
    if ask is None:
        return made
    if r.draft.share or r.draft.window or r.draft.having:
        raise NotUnderstood((ask.text,), "it stands beside something else that is asked for")
    if ask.sides is None:
        if len(made) != 2:
            raise NotUnderstood((ask.text,), "it takes two ends of one figure")
        first, second = made
    else:
        figures = [m for m in made if m.fn != "count"] or made
        if len(figures) != 1 or figures[0].sub is not None:
            raise NotUnderstood((ask.text,), "it takes one figure of two kinds of rows")
        sides = ask.sides[::-1] if ask.turned else ask.sides
        first, second = (_of_side(r, figures[0], side) for side in sides)
    if first.name == second.name:
        raise NotUnderstood((ask.text,), "both sides are the same")
    label = f"{first.label} less {second.label}"
    r.note(ask.text, label)
    result = Measure(fn="formula", name="difference", label=label, parts=(first, second), made="difference", unit=first.unit)
    return [first, second, result]


def _of_side(r: Resolver, figure: Measure, side: tuple[FilterAsk, ...]) -> Measure:
    tests = [t for ask in side for t in r.settle_one(ask)]
    said = ", ".join(t.text for t in tests if t.text)
    if figure.fn == "rate":
        if figure.ref is not None:
            raise NotUnderstood((said,), f"{figure.label} of two kinds of rows is not worked out here")
        known = (*figure.known, *tests)
        hits = (*figure.hits, *tests)
        names = {"hits_name": slug(f"{figure.hits_name} {said}"), "rows_name": slug(f"{figure.rows_name} {said}")}
    else:
        known, hits, names = figure.known, (*figure.hits, *tests), {}
    label = f"{figure.label} ({said})"
    return figure.model_copy(update={"name": slug(label), "label": label, "hits": hits, "known": known, **names})


# -- ratios ---------------------------------------------------------------------------------------------------------------
def settle_ratio(draft: Draft, names: Names) -> None:
    """Turn "per inhabitant" from a group into what a figure is divided by, where it can be no group."""
    for ask in list(draft.groups):
        if not ask.per or ask.target is None or ask.grain is not None or draft.ratio is not None:
            continue
        columns = [names.column(s.table, s.column) for s in ask.target.of("column")]
        if len(columns) != 1 or columns[0].role != "measure" or ask.target.of("entity", "metric"):
            continue
        labels = columns[0].label.split()
        head = labels[-1]
        said = ask.target.words[-1]
        one_of_many = singular(said) == said and (head == plural(said) or (head != said and singular(head) == said))
        if not (ask.times or one_of_many or set(labels) & _EXTENTS or is_measured(said)):
            continue
        counted = _counted(draft)
        if counted is None:
            continue
        draft.groups.remove(ask)
        draft.ratio = Ratio(counted, ask.target, ask.times or 1.0, f"{counted.text} per {ask.text}")


def _counted(draft: Draft) -> Item | None:
    """What is divided: taken out of the draft."""
    if len(draft.measures) == 1 and draft.measures[0].fn in ("count", "sum") and draft.measures[0].target is not None:
        return draft.measures.pop().target
    if draft.measures or draft.pending:
        return None
    for kept in (draft.columns, draft.entities):
        if len(kept) == 1:
            return kept.pop()
    return None


def base_of(draft: Draft) -> str | None:
    """The table of the figure that is divided by."""
    return draft.ratio.per.of("column")[0].table if draft.ratio is not None else None


def ratio(r: Resolver) -> list[Measure]:
    """Both figures and their ratio, over all rows of a group."""
    ask = r.draft.ratio
    if ask is None:
        return []
    if r.draft.share or r.draft.window or r.draft.having or r.draft.measures:
        raise NotUnderstood((ask.text,), "it stands beside something else that is asked for")
    column, ref = r.column_of(ask.per)
    below = Measure(fn="sum", name=slug(f"total {column.label}"), label=f"total {column.label}", ref=ref, unit=column.unit)
    above = _above(r, ask)
    times = "" if ask.times == 1 else f"{number_text(ask.times)} "
    noun = column.label.removeprefix("number of ")
    of = noun if times else singular(noun)
    label = f"{above.label.removeprefix('number of ').removeprefix('total ')} per {times}{of}"
    r.scope.said.append("totals divided, not the average of each row's ratio")
    r.note(ask.text, f"{above.label} / {below.label}" + (f" * {times.strip()}" if times else ""))
    made = Measure(fn="formula", name=slug(label), label=label, parts=(above, below), made="ratio", times=ask.times)
    return [above, below, made]


def _above(r: Resolver, ask: Ratio) -> Measure:
    item = ask.counted
    own = [s for s in item.of("column") if s.table == r.base and s.role == "measure"]
    if own:
        column = r.names.column(r.base, own[0].column)
        label = f"total {column.label}"
        return Measure(fn="sum", name=slug(label), label=label, ref=r.scope.own(column.name), unit=column.unit)
    if not item.of("entity") or item.of("column"):
        raise NotUnderstood((ask.text,), f"{item.text} is not known of {r.model.table(r.base).plural}")
    table = r.entity_table(item)
    if all(w.back for w in routes(r.model, table, r.base)):
        raise NotUnderstood((ask.text,), f"{item.text} do not belong to {r.model.table(r.base).plural}")
    found = subqueries.exists(r, FilterAsk("exists", (item,), test=">=", numbers=(1.0,), inner=r.count_inner, text=ask.text))
    if len(found) != 1 or found[0].sub is None:
        raise NotUnderstood((ask.text,), f"{item.text} do not belong to {r.model.table(r.base).plural}")
    label = f"number of {r.model.table(table).plural}"
    said = ", ".join(t.text for t in found[0].sub.filters if t.text)
    label = f"{label} ({said})" if said else label
    return Measure(fn="sum", name=slug(r.model.table(table).plural), label=label, ref=found[0].ref, sub=found[0].sub)


def move_filters(r: Resolver) -> None:
    """What was said of the rows that are counted goes to them: "orders in 2023 per 1000 inhabitants"."""
    ask = r.draft.ratio
    if ask is None or not ask.counted.of("entity"):
        return
    inner = []
    for f in list(r.draft.filters):
        tables = {s.table for i in f.items[:1] for s in i.of("value", "segment")}
        above = any((far := r.scope.distance(t)) is not None and far < 10 for t in tables)
        if f.kind == "days" or (f.kind == "value" and tables and not above):
            inner.append(replace(f, late=False))
            r.draft.filters.remove(f)
        elif f.kind != "value":
            raise NotUnderstood((f.text,), f"it is not clear of what it is said beside {ask.text}")
    r.count_inner = tuple(inner)
