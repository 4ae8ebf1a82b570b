"""A follow-up that orders the answer before or keeps the ends of it: of a list, of groups, of each group.

An order by nothing is refused: the rows of a plain list stand in no order that a first of them could be taken from.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, OrderAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Logical, Order
from lexsi_ds.text_to_sql.ordering import row_column, slug_of
from lexsi_ds.text_to_sql.reading import Analytic
from lexsi_ds.text_to_sql.resolver import Resolver, Settled, resolver_on
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.turns import OfEach, Wish, dimension_meant, of_each, wish_of
from lexsi_ds.text_to_sql.whole import named_groups


def reordered(items: tuple[Item, ...], names: Names, values: ValueIndex, previous: Analytic) -> Settled | None:
    """The answer before in another order, or the ends of it, where a follow-up asks for that alone in its own words."""
    before = Logical.model_validate(previous.logical) if previous.logical is not None else None
    each = of_each(items)
    if before is None or before.outer or (each is None and before.measures):
        return None
    if each is not None:
        work = resolver_on(Draft(), names, values, before)
        return of_each_group(work, before, each) if dimension_meant(each.group, before) else None
    wish = wish_of(items)
    return of_list(resolver_on(Draft(), names, values, before), before, wish) if wish is not None else None


def of_list(work: Resolver, before: Logical, wish: Wish) -> Settled:
    """The rows of a list in another order, or the first of them."""
    if before.place is not None or before.distinct:
        raise NotUnderstood((), "the earlier question is too involved to change by a few words; ask it whole")
    key = work.model.table(before.table).key
    columns = before.columns
    if wish.target is None:
        first = before.order[0] if before.order else None
        shown = next((c for c in columns if first is not None and c.name == first.name), None)
        if first is None or shown is None or (shown.ref.column == key and shown.ref.table == before.table):
            raise NotUnderstood((_said(wish),), "the rows were listed in no order; say by which figure")
        down = first.descending if wish.descending is None else wish.descending
        if wish.ranked and down != first.descending and wish.limit is not None:
            raise NotUnderstood((_said(wish),), "the rows were listed from the other end; say by which figure")
        made = Order(name=first.name, descending=down)
    else:
        target = _as_column(wish.target, before.table)
        column, ref = row_column(work, OrderAsk(wish.descending, target), [])
        plain = column.role in ("measure", "time")
        made = Order(name=slug_of(column), descending=(plain and wish.ranked) if wish.descending is None else wish.descending)
        if all(c.ref != ref for c in columns):
            columns = (*columns, Dimension(ref=ref, name=made.name, label=column.label))
        made = made.model_copy(update={"name": next(c.name for c in columns if c.ref == ref)})
        work.note(wish.target.text, f"ordered by {column.table}.{column.name}")
    limit = wish.limit if wish.limit is not None else before.limit
    same = bool(before.order) and (before.order[0].name, before.order[0].descending) == (made.name, made.descending)
    if before.limit is not None and not same:
        raise NotUnderstood((_said(wish),), f"it does not say whether the {before.limit} shown stay")
    rest = tuple(Order(name=c.name, descending=False) for c in columns if c.ref.column == key and c.ref.table == before.table)
    order = (made, *(o for o in rest if o.name != made.name))
    single = wish.limit == 1
    query = before.model_copy(
        update={"joins": tuple(work.scope.joins), "columns": columns, "order": order, "limit": None if single else limit,
                "ties": single or before.ties}
    )  # fmt: skip
    return Settled(query, work.scope.said, work.evidence, None, ordered=True)


def of_each_group(work: Resolver, before: Logical, asked: OfEach) -> Settled:
    """The first of each group of an answer by two groups or more."""
    found = dimension_meant(asked.group, before)
    if not before.measures or before.per or before.place or before.ties or before.limit is not None:
        raise NotUnderstood((asked.group.text,), "the answer before does not show the whole of each; ask it whole")
    keys = _whole_groups(before)
    chosen = [key for key in keys if any(d in key for d in found)]
    if len(keys) < 2 or not chosen:
        raise NotUnderstood((asked.group.text,), "the answer before has no several of each")
    if len(chosen) > 1:
        labels = tuple(dict.fromkeys(key[0].grain or key[0].label for key in chosen))
        raise Ambiguous(asked.group, labels, "there are several groups")
    main = main_measure(list(before.measures))
    first = before.order[0] if before.order else None
    by_figure = first is not None and first.name in {m.name for m in before.measures}
    down = bool(asked.wish.descending)
    if not by_figure and asked.wish.first:
        raise NotUnderstood(("first",), f"it does not say first by what: say the largest or the smallest {main.label}")
    name = first.name if first is not None and by_figure else main.name
    if first is not None and by_figure and asked.wish.first:
        down = first.descending
    per = tuple(d.name for d in chosen[0])
    names = tuple(Order(name=d.name, descending=False) for d in before.dimensions if d.name not in per)
    single = asked.wish.limit in (None, 1)
    tests = named_groups(work, list(before.dimensions))
    query = before.model_copy(
        update={"per": per, "order": (Order(name=name, descending=down), *names), "limit": None if single else asked.wish.limit,
                "ties": single, "filters": (*before.filters, *(t for t in tests if t not in before.filters))}
    )  # fmt: skip
    return Settled(query, work.scope.said, work.evidence, None, ordered=True)


def _whole_groups(before: Logical) -> list[tuple[Dimension, ...]]:
    """The groups of a query: what tells rows of one table apart is one, whichever of its columns show it."""
    made: list[tuple[Dimension, ...]] = []
    for d in before.dimensions:
        if made and d.grain is None and made[-1][-1].grain is None and made[-1][-1].ref.alias == d.ref.alias != before.table:
            made[-1] = (*made[-1], d)
        else:
            made.append((d,))
    return made


def _as_column(item: Item, table: str) -> Item:
    """A superlative's own column (longest, of a length), or the only one of the rows that a word is a part of."""
    ends = item.of("extreme") or tuple(s for s in item.of("hint") if s.table == table)
    if not ends or item.of("column") or len({s.column for s in ends}) > 1:
        return item
    return replace(item, senses=tuple(Sense("column", s.table, s.column, label=s.label) for s in ends))


def _said(wish: Wish) -> str:
    if wish.target is not None:
        return wish.target.text
    return f"top {wish.limit}" if wish.limit is not None else "the order"
