"""Rankings: "top 5 customers by total charges" orders rows, "top 3 countries by revenue" groups and sums.

Only rearranges a draft in which an order was asked for; a figure is never quietly grouped by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import combined, firsts
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item

_FEW = 12
"""Most values of a figure that is taken for groups when a figure of each is ranked."""
TIMES = frozenset({"latest", "newest", "recent", "last", "earliest", "first"})
"""Superlatives that mean a table's own date."""

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def rank_by(draft: Draft, names: Names) -> None:
    """Turn "by FIGURE" of a ranking from a group into what is ranked by."""
    combined.settle_ratio(draft, names)
    firsts.settle(draft, names)
    if not draft.order or any(o.target for o in draft.order):
        _rank_rows_by(draft, names)
        return
    for ask in list(draft.groups):
        if ask.target is None or ask.grain is not None or not _is_figure(ask.target, names):
            continue
        draft.groups.remove(ask)
        order = draft.order[0]
        subject = _subject(draft)
        if subject is None or _has_column(subject, ask.target):
            draft.order[0] = OrderAsk(order.descending, ask.target)
            return
        column = names.column(ask.target.of("column")[0].table, ask.target.of("column")[0].column)
        if not column.additive:
            choices = tuple(f"{fn} {ask.target.text}" for fn in ("average", "maximum", "total"))
            raise Ambiguous(ask.target, choices, f"several rows stand behind each {subject.text}")
        draft.measures.append(MeasureAsk("sum", ask.target, cue="total"))
        return


def _rank_rows_by(draft: Draft, names: Names) -> None:
    """ "the three smallest districts by population": the figure says by what rows are small."""
    if len(draft.order) != 1 or draft.order[0].target is None or not draft.order[0].target.of("entity"):
        return
    order, subject = draft.order[0], draft.order[0].target
    for ask in list(draft.groups):
        figure = ask.target is not None and ask.grain is None and _is_figure(ask.target, names)
        if figure and ask.target is not None and _has_column(subject, ask.target):
            draft.groups.remove(ask)
            draft.entities.append(subject)
            draft.order[0] = replace(order, target=ask.target)
            return


def at_the_end(draft: Draft, names: Names) -> None:
    """ "latest balance": the figure of the latest row, not the highest figure."""
    for order in list(draft.order):
        columns = [names.column(s.table, s.column) for s in order.target.of("column")] if order.target is not None else []
        if order.word not in TIMES or not columns or any(c.role != "measure" for c in columns) or order.target is None:
            continue
        tables = {c.table for c in columns if names.model.table(c.table).time}
        if len(tables) != 1 or len(draft.order) > 1:
            raise NotUnderstood((order.word, order.target.text), "there is no one date that says which is last")
        table = names.model.table(tables.pop())
        time = names.column(table.name, table.time or "")
        sense = Sense("column", table.name, time.name, label=time.label, role="time")
        draft.columns.append(order.target)
        draft.order = [replace(order, target=replace(order.target, text=time.label, senses=(sense,)))]
        draft.rows = True


def relate(draft: Draft, names: Names) -> None:
    """Turn "does A go with B" into a measure of one by the groups of the other: the rate of an event, if either is one."""
    if draft.relation is None:
        return
    first, second = draft.relation
    ordered = sorted((second, first), key=lambda item: -_weight(item, names))
    measured, grouped = ordered
    metric = _rate_of(measured, names)
    if metric is not None:
        draft.measures.append(MeasureAsk("rate", metric, cue=measured.text))
    elif _is_figure(measured, names) and not _is_figure(grouped, names):
        draft.measures.append(MeasureAsk("average", measured, cue="average"))
    else:
        raise NotUnderstood(
            (first.text, second.text), "it takes a rate or a figure on one side and groups on the other"
        )
    draft.groups.append(GroupAsk(grouped, text=grouped.text))


def _weight(item: Item, names: Names) -> int:
    """How much a column is what is measured: an event most, then any yes/no, then a figure."""
    columns = {(s.table, s.column) for s in item.of("column")}
    events = {(o.table, c) for o in names.model.outcomes if o.event for c in o.target_columns}
    if columns & events:
        return 3
    return 2 if _rate_of(item, names) else 1 if _is_figure(item, names) else 0


def _rate_of(item: Item, names: Names) -> Item | None:
    columns = {(s.table, s.column) for s in item.of("column")}
    for metric in names.model.metrics:
        simple = metric.kind == "rate" and len(metric.conditions) == 1 and len(metric.conditions[0].values) == 1
        if simple and (metric.table, metric.conditions[0].column) in columns:
            return replace(item, senses=(Sense("metric", metric.table, value=metric.id, label=metric.label),))
    return None


def _is_figure(item: Item, names: Names) -> bool:
    columns = [names.column(s.table, s.column) for s in item.of("column")]
    return bool(columns) and all(c.role == "measure" for c in columns) and not item.of("entity")


def _subject(draft: Draft) -> Item | None:
    """What is ranked."""
    for found in (draft.entities, draft.columns, [draft.which] if draft.which else []):
        if found:
            return found[0]
    return None


def _has_column(subject: Item, figure: Item) -> bool:
    """Whether the figure is the subject's own, so that rows are ranked and not groups."""
    return bool({s.table for s in subject.of("entity")} & {s.table for s in figure.of("column")})


def ranked_groups(r: Resolver) -> list[GroupAsk]:
    """What a ranking or a bare "regions by number of accounts" groups by: the noun that is not counted."""
    draft = r.draft
    figures = draft.measures or _measured_ends(draft)
    if draft.groups or draft.which is not None or not figures:
        return []
    for items in (draft.entities, draft.columns):
        for item in items:
            other = item.of("entity") and {s.table for s in item.of("entity")} != {r.base}
            category = item.of("column") and not item.of("entity") and _tells_groups(item, r.names)
            if (other or category) and _said_first(draft, item):
                items.remove(item)
                return [GroupAsk(item, text=item.text)]
    return []


def _measured_ends(draft: Draft) -> list[OrderAsk]:
    """Ends of a figure of each group: "the highest average fare", "the worst default rate"."""
    return [o for o in draft.order if o.target is not None and (o.fn is not None or o.target.of("metric"))]


def _tells_groups(item: Item, names: Names) -> bool:
    """Whether a column is something to group by: no figure, or one with few values, such as a class or a grade."""
    return all(
        c.role != "measure" or 1 < c.distinct <= _FEW for c in (names.column(s.table, s.column) for s in item.of("column"))
    )


def _said_first(draft: Draft, item: Item) -> bool:
    """Whether the noun comes before what is measured: "districts by default rate", not "default rate of the district"."""
    measured = [m.target.start for m in draft.measures if m.target is not None]
    measured += [o.target.start for o in _measured_ends(draft) if o.target is not None]
    return bool(measured) and item.start < min(measured)
