"""Order and limit of a query: groups by a measure, rows by a column. Ties are kept for "which", broken by key for "top 10"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel, TableModel
from lexsi_ds.knowledge.words import stem
from lexsi_ds.text_to_sql import bosses, firsts
from lexsi_ds.text_to_sql.amounts import is_person, main_measure, only_amount
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, OrderAsk
from lexsi_ds.text_to_sql.lexicon import is_length
from lexsi_ds.text_to_sql.logical import Dimension, Measure, Order, Ref
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


_MOST_FIGURES = 4
"""Most figures that are offered where a superlative names none."""
_AMOUNTS = frozenset({"amount", "total", "value", "sum"})
_SIZES = frozenset({"largest", "biggest", "highest", "greatest", "smallest", "lowest"})
"""Superlatives that mean a table's own size, where it has one."""


_TIMES = frozenset({"latest", "newest", "recent", "last", "earliest", "first", "oldest"})
"""Superlatives that mean a table's own date."""


def _ask_by_which(ask: OrderAsk, target: Item, labels: list[str], end: str) -> None:
    """ "oldest turbine", of several dates: each as a question of its own."""
    if ask.start < 0 or len(labels) < 2:
        return
    whole = Item("whole", f"{ask.word} {target.text}", start=ask.start, end=target.end)
    choices = tuple(f"{target.text} with the {end} {label}" for label in labels)
    raise Ambiguous(whole, choices, f"{ask.word} can be told by several of their columns")


def order_groups(
    r: Resolver, measures: list[Measure], dimensions: list[Dimension]
) -> tuple[list[Order], int | None, bool]:
    """Order of groups."""
    draft = r.draft
    if not dimensions:
        if draft.limit is not None and not firsts.take(r, measures, row_column):
            raise NotUnderstood((f"top {draft.limit}",), "there is nothing to rank")
        return [], None, False
    by_name = [Order(name=d.name, descending=False) for d in dimensions]
    asked = _asked(r, measures, dimensions)
    if asked is None:
        if any(d.grain or _sorts_itself(r, d) for d in dimensions):
            return by_name, draft.limit, False
        return [Order(name=main_measure(measures).name, descending=True), *by_name], draft.limit, False
    measure = next((m for m in measures if m.name == asked.name), None)
    if measure is not None and measure.fn in ("count", "count_distinct") and not asked.descending:
        r.scope.said.append(f"those without any {r.model.table(r.base).plural} are not listed")
    rest = [o for o in by_name if o.name != asked.name]
    single = draft.limit is None and (draft.top_one or any(o.target is not None for o in draft.order))
    return [asked, *rest], draft.limit, single


def _asked(r: Resolver, measures: list[Measure], dimensions: list[Dimension]) -> Order | None:
    if not r.draft.order:
        return None
    ask = next((o for o in r.draft.order if o.target is not None), r.draft.order[0])
    measure = _measure_meant(r, ask, measures)
    if measure is None and ask.target is not None and ask.fn is None:
        _ask_which_figure(r, ask)
    if measure is None:
        raise NotUnderstood((ask.target.text if ask.target else "order",), "it is not among what was asked for")
    descending = ask.descending
    if ask.judged is not None:
        if r.metric is None or r.metric.higher_is is None:
            raise NotUnderstood((ask.judged,), "it does not say whether more is better or worse")
        descending = (r.metric.higher_is == "worse") == (ask.judged == "worst")
    return Order(name=measure.name, descending=bool(descending))


def _ask_which_figure(r: Resolver, ask: OrderAsk) -> None:
    """ "which zip code is the most expensive": by the average of its rows, or by their extreme?"""
    target = ask.target
    columns = [r.names.column(s.table, s.column) for s in target.of("column")] if target is not None else []
    if target is None or len(columns) != 1 or columns[0].role != "measure":
        return
    end = "highest" if ask.descending else "lowest"
    label = columns[0].label
    choices = [f"{end} average {label}", f"{end} {'maximum' if ask.descending else 'minimum'} {label}"]
    if columns[0].additive:
        choices.append(f"{end} total {label}")
    raise Ambiguous(
        target, tuple(choices), f"several rows stand behind each group, so {target.text} can be told in several ways"
    )


def _measure_meant(r: Resolver, ask: OrderAsk, measures: list[Measure]) -> Measure | None:
    if ask.target is None:
        return main_measure(measures)
    if ask.target.of("metric"):
        return next((m for m in measures if m.fn == "rate"), main_measure(measures))
    if ask.target.of("verb"):
        return main_measure(measures)
    if ask.fn == "count":
        return next((m for m in measures if m.fn in ("count", "count_distinct")), None)
    columns = {(s.table, s.column) for s in ask.target.of("column")}
    return next((m for m in measures if m.ref and (m.ref.table, m.ref.column) in columns), None)


def _sorts_itself(r: Resolver, dimension: Dimension) -> bool:
    return r.names.family(dimension.ref.table, dimension.ref.column) in ("number", "date")


def order_rows(r: Resolver) -> tuple[list[Order], int | None, bool, list[Dimension]]:
    """A list of rows of the base table."""
    draft, table = r.draft, r.model.table(r.base)
    named = any(c.role == "text" and c.name in table.names for c in r.model.of_table(r.base))
    if draft.who and not (is_person(table) or named or draft.columns or draft.roles or draft.bosses):
        raise NotUnderstood(("who",), f"{table.plural} are no people")
    if any(o.fn not in (None, "count") for o in draft.order):
        words = tuple(o.target.text for o in draft.order if o.target is not None)
        raise NotUnderstood(words, "there are no groups to take that figure of")
    if draft.place is not None and not any(o.target is not None for o in draft.order):
        raise NotUnderstood(("second",), "it does not say by what the place is taken")
    lookup = bool(draft.columns) and finds_rows(r)
    if not (
        lookup
        or draft.bosses
        or draft.filters
        or draft.lists
        or draft.which is not None
        or draft.order
        or draft.limit is not None
    ):
        noun = table.plural
        item = next((e for e in draft.entities if e.of("entity")), None)
        if item is None:
            raise NotUnderstood((noun,), f"it does not say whether to count or to list {noun}")
        raise Ambiguous(item, (f"number of {noun}", f"list of {noun}"), f"{noun} can be counted or listed")
    named = [table.key, *table.names] if table.key else [*table.names]
    if draft.ids and table.key is None:
        named = [*_ids(r), *named]
    elif table.key is None and not table.names:
        named = [c.name for c in r.model.of_table(r.base) if c.name.casefold() == "id" and not c.masked]
    aims = [o.target for o in draft.order if o.target is not None]
    if len(aims) > 1:
        raise NotUnderstood(tuple(a.text for a in aims), "rows can be put in one order only")
    shown: list[tuple[ColumnModel, Ref]] = [_own(r, n) for n in dict.fromkeys(named)]
    for item in draft.columns:
        shown.append(r.column_of(item))
        r.note(item.text, f"{shown[-1][0].table}.{shown[-1][0].name}")
    shown += _looked_up(r)
    others = [d for item in draft.bosses for d in bosses.dimensions(r, item)]
    orders: list[Order] = []
    ask = next((o for o in draft.order if o.target is not None), draft.order[0] if draft.order else None)
    if ask is not None:
        column, ref = row_column(r, ask, draft.columns)
        shown.append((column, ref))
        orders.append(Order(name=slug_of(column), descending=bool(ask.descending)))
        r.note(ask.target.text if ask.target else "order", f"ordered by {column.table}.{column.name}")
    if len(shown) <= 1 + bool(table.names) and not draft.columns and ask is None:
        shown += [_own(r, c.name) for c in r.model.of_table(r.base) if not c.masked and (draft.everything or c.role != "link")]
    columns = [*_dimensions(shown), *others]
    key = next((c.name for c in columns if c.ref.column == table.key and c.ref.table == r.base), None)
    ties = ask is not None and draft.limit is None and ask.target is not None
    named = draft.entities or draft.which is not None or draft.ids or draft.rows or draft.columns
    if (
        draft.place is not None
        and not named
        and ask is not None
        and ask.target is not None
        and not ask.target.of("entity")
    ):
        r.only_value = True
        columns = [c for c in columns if c.name == orders[0].name]
        return orders, None, True, columns
    orders += [
        Order(name=n, descending=False)
        for n in ([key] if key else [c.name for c in columns])
        if n not in {o.name for o in orders}
    ]
    return orders, draft.limit, ties, columns


def _ids(r: Resolver) -> list[str]:
    """The column that tells rows apart by its name where no column does so for certain."""
    found = [
        c.name
        for c in r.model.of_table(r.base)
        if c.name.casefold() in ("id", f"{r.base.casefold()}_id") and not c.masked
    ]
    if len(found) != 1:
        raise NotUnderstood(tuple(r.draft.ids), f"{r.model.table(r.base).plural} have no column for it")
    return found


def show_beside(draft: Draft, names: Names) -> None:
    """ "the ten least populated districts with their number of inhabitants": the figure of each row is shown, not summed."""
    ranked = [o for o in draft.order if o.target is not None and o.fn is None]
    if not ranked or draft.groups or not (draft.limit is not None or draft.rows or draft.entities):
        return
    for ask in list(draft.measures):
        if ask.fn != "count" or ask.target is None or ask.distinct:
            continue
        columns = [names.column(s.table, s.column) for s in ask.target.of("column")]
        if columns and not ask.target.of("entity") and all(c.role == "measure" for c in columns):
            draft.measures.remove(ask)
            draft.columns.append(ask.target)


def _looked_up(r: Resolver) -> list[tuple[ColumnModel, Ref]]:
    """ "district and region for loan 4990": what the rows named beside the one looked up are called."""
    found: list[tuple[ColumnModel, Ref]] = []
    if not any(f.kind == "key" and r.entity_table(f.items[0]) == r.base for f in r.draft.filters):
        return found
    for item in r.draft.entities:
        table = r.model.table(r.entity_table(item)) if item.of("entity") else None
        far = r.scope.distance(table.name) if table is not None else None
        if table is None or table.name == r.base or far is None or far >= 10:
            continue
        for name in table.names or ((table.key,) if table.key else ()):
            found.append((r.names.column(table.name, name), r.scope.ref(table.name, name, item)))
    return found


def finds_rows(r: Resolver) -> bool:
    """Whether a filter names single rows, by key or by what they are called, so that a bare column asks for its value there."""
    table = r.model.table(r.base)
    named = {(r.base, n) for n in (table.key, *table.names)}
    for ask in r.draft.filters:
        if ask.kind == "key" or any((s.table, s.column) in named for i in ask.items for s in i.of("value")):
            return True
    return False


def _own(r: Resolver, name: str) -> tuple[ColumnModel, Ref]:
    return r.names.column(r.base, name), r.scope.own(name)


def slug_of(column: ColumnModel) -> str:
    """Name of a column of a list: its own where that says enough, else its label."""
    return column.name if len(column.name) > 3 else slug(column.label)


def _dimensions(shown: list[tuple[ColumnModel, Ref]]) -> list[Dimension]:
    made: list[Dimension] = []
    for column, ref in shown:
        if any(d.ref == ref for d in made):
            continue
        made.append(Dimension(ref=ref, name=slug_of(column), label=column.label))
    return made


def _is_when_it_happened(column: ColumnModel, table: TableModel) -> bool:
    """Whether a date is when the row came about, of several dates that it has: an order's "ordered on"."""
    return bool({stem(w) for w in column.label.split()} & {stem(w) for w in table.label.split()})


def row_column(r: Resolver, ask: OrderAsk, columns: list[Item]) -> tuple[ColumnModel, Ref]:
    """What rows are ordered by: the column named, or the size that "largest loan" means."""
    target = ask.target
    if target is None and len(columns) == 1:
        return r.column_of(columns[0])
    if target is not None and target.of("column"):
        column, ref = r.column_of(target)
        if column.table != r.base and column.table not in r.mentioned and column.role == "measure":
            owner = r.model.table(column.table)
            raise NotUnderstood(
                (target.text,), f"{column.label} is known per {owner.label}, not per {r.model.table(r.base).label}"
            )
        return column, ref
    table = r.model.table(r.base)
    if target is not None and target.of("entity") and ask.fn is None:
        worded = [c for c in r.model.of_table(r.base) if ask.word in (c.bigger if ask.descending else c.smaller)]
        if ask.word in ("longest", "shortest"):
            worded = [c for c in worded if is_length(c, r.model)]
        if len(worded) == 1:
            return _own(r, worded[0].name)
        if ask.word in _TIMES and table.time is not None:
            dated = [
                c.label
                for c in r.model.of_table(r.base)
                if c.role == "time" or ("year" in c.label.split() and c.role == "measure")
            ]
            if len(dated) > 1 and not r.draft.verbs:
                if not _is_when_it_happened(r.names.column(table.name, table.time), table):
                    _ask_by_which(ask, target, dated, "latest" if ask.descending else "earliest")
                    raise NotUnderstood((ask.word,), f"{table.plural} have several dates: {', '.join(dated)}")
                r.scope.said.append(f"by {r.names.column(table.name, table.time).label}")
            return _own(r, table.time)
        if ask.word in _SIZES and table.size is not None:
            return _own(r, table.size)
        amount = only_amount(r.model, r.base)
        if ask.word in _SIZES and amount is not None and set(amount.label.split()) & _AMOUNTS:
            return _own(r, amount.name)
        open_ones = [c for c in r.model.of_table(r.base) if c.role == "measure" and not c.masked]
        figures = [c.label for c in open_ones if "year" not in c.label.split()]
        if ask.word in _SIZES and len(figures) <= _MOST_FIGURES:
            _ask_by_which(ask, target, figures, "highest" if ask.descending else "lowest")
    raise NotUnderstood((target.text if target else "top",), f"it does not say by what to order {table.plural}")
