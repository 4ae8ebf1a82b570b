"""What belongs to a row without being named as rows: "accounts with a disponent", "customers who bought jazz", "tracks never sold".

Turns such words into belongings of the draft, which `subqueries` settles; it never joins anything itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.amounts import is_person
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def settle_deals(draft: Draft, names: Names) -> str | None:
    """Work "bought" and "sold" into a draft. The table that must be counted, when they decide it."""
    if not draft.deals:
        return None
    item = draft.deals[0]
    table = item.of("deal")[0].table
    if any(d.of("deal")[0].table != table for d in draft.deals):
        raise NotUnderstood(tuple(d.text for d in draft.deals), "they are told of different rows")
    rows = _rows_item(item, names, table)
    if draft.never_dealt:
        draft.filters.append(
            FilterAsk("exists", (rows,), negated=True, text=item.text, late=draft.share and draft.share_noun)
        )
        return None
    if item.of("deal")[0].value == "spend":
        return _spent(draft, names, item, table)
    forced = None
    for i, ask in enumerate(draft.measures):
        if ask.fn == "count" and ask.target is not None and ask.target.of("entity"):
            draft.measures[i] = _counted(ask, names, table)
            forced = table
    for i, order in enumerate(draft.order):
        if order.fn == "count" and order.target is not None and order.target.of("entity"):
            ask = _counted(MeasureAsk("count", order.target), names, table)
            draft.order[i] = replace(order, target=ask.target, fn=ask.fn)
            forced = table
    if forced is None and not any(m.target is not None for m in draft.measures):
        days = [f for f in draft.filters if f.kind == "days" and f.column is None]
        draft.filters = [f for f in draft.filters if f not in days]
        draft.filters.append(FilterAsk("exists", (rows,), inner=tuple(days), text=item.text))
    return forced


def _rows_item(item: Item, names: Names, table: str) -> Item:
    label = names.model.table(table).label
    return replace(item, kind="sense", senses=(Sense("entity", table, label=label),))


def _counted(ask: MeasureAsk, names: Names, table: str) -> MeasureAsk:
    """ "tracks sold" is how many pieces; "customers who bought" and "different genres bought" are how many of them."""
    entity = ask.target.of("entity")[0] if ask.target is not None else None
    if entity is None or ask.target is None:
        return ask
    person = is_person(names.model.table(entity.table))
    near = [w for w in routes(names.model, table, entity.table) if not w.back and len(w.hops) == 1]
    pieces = [c for c in names.model.of_table(table) if c.role == "measure" and "quantity" in c.label.split()]
    if person or ask.distinct or not near or len(pieces) != 1:
        return replace(ask, distinct=True)
    sense = Sense("column", table, pieces[0].name, label=pieces[0].label, role="measure")
    return MeasureAsk("sum", replace(ask.target, senses=(sense,)), cue=ask.cue)


def _spent(draft: Draft, names: Names, item: Item, table: str) -> str | None:
    """ "who spent the most": by whom the figure of the deals is added up."""
    formulas = [f for f in names.model.formulas if f.table == table]
    if len(formulas) != 1:
        raise NotUnderstood((item.text,), "it does not say which figure was spent")
    figure = replace(item, senses=(Sense("metric", table, value=formulas[0].id, label=formulas[0].label),))
    draft.order = [OrderAsk(o.descending, figure) if o.target is None and o.fn is None else o for o in draft.order]
    if not draft.order or draft.order[0].target is not figure:
        draft.measures.append(MeasureAsk("rate", figure, cue=item.text))
    if draft.which is None and draft.rows:
        people = [
            t
            for t in names.model.tables
            if is_person(t)
            and any(not w.back for w in routes(names.model, table, t.name))
        ]
        nearest = sorted(people, key=lambda t: min(len(w.hops) for w in routes(names.model, table, t.name)))
        if not nearest:
            raise NotUnderstood((item.text,), "it does not say who spent")
        draft.which = replace(item, senses=(Sense("entity", nearest[0].name, label=nearest[0].label),))
    return None


def gather(r: Resolver) -> None:
    """Values of rows that belong to the counted ones, as belongings: "accounts with a disponent"."""
    draft = r.draft
    kept: list[FilterAsk] = []
    found: dict[tuple[str, bool, int], list[FilterAsk]] = {}
    for ask in draft.filters:
        if ask.kind == "exists" and not (ask.negated or ask.numbers) and r.entity_table(ask.items[0]) == r.base:
            kept += [replace(i, late=ask.late) for i in ask.inner]
            continue
        table = _elsewhere(r, ask)
        if table is None:
            kept.append(ask)
        else:
            told = {(s.table, s.column) for s in ask.items[0].of("value")}
            again = 0
            while any(
                told & {(s.table, s.column) for s in a.items[0].of("value")}
                for a in found.get((table, ask.negated, again), [])
            ):
                again += 1  # two values of one column are never of one row
            found.setdefault((table, ask.negated, again), []).append(ask)
    for (table, negated, _), asks in found.items():
        item = asks[0].items[0] if asks[0].items else Item("sense", asks[0].text)
        rows = replace(item, senses=(Sense("entity", table, label=r.model.table(table).label),))
        inner = tuple(replace(a, negated=False, late=False) for a in asks)
        text = " ".join(a.text for a in asks)
        kept.append(FilterAsk("exists", (rows,), negated=negated, inner=inner, text=text, late=asks[0].late))
        told = {s.table for a in asks for i in a.items for s in i.of("value")}
        draft.entities = [e for e in draft.entities if not {s.table for s in e.of("entity")} <= told]
    draft.filters = kept


def _elsewhere(r: Resolver, ask: FilterAsk) -> str | None:
    """The table whose rows tie a value to the counted rows, when it is none of their own and was said to be had or dealt in."""
    if ask.kind != "value":
        return None
    senses = ask.items[0].of("value")
    if not (ask.owned or r.draft.deals or {s.table for s in senses} & r.mentioned):
        return None
    if ask.column is not None:
        named = {(s.table, s.column) for s in ask.column.of("column", "hint")}
        senses = tuple(s for s in senses if (s.table, s.column) in named)
    tables = {s.table for s in senses}
    near = {t for t in tables if (far := r.scope.distance(t)) is not None and far < 10}
    if not tables or near:
        return None
    ties = {t for table in tables for t in _ties(r, table)}
    if len(ties) > 1:
        raise Ambiguous(
            ask.items[0], tuple(r.model.table(t).label for t in sorted(ties)), f"{ask.text} can be told of several rows"
        )
    return ties.pop() if ties else None


def _ties(r: Resolver, table: str) -> set[str]:
    """The value's own table where its rows belong to the counted ones, else the deals that reach both."""
    if any(not w.back for w in routes(r.model, table, r.base)):
        return {table}
    middle = {d.of("deal")[0].table for d in r.draft.deals} or {t.name for t in r.model.tables if t.bridge}
    found = {
        m
        for m in middle
        if any(not w.back for w in routes(r.model, m, table)) and any(not w.back for w in routes(r.model, m, r.base))
    }
    return found or {t.name for t in r.model.tables if _between(r, t.name, table)}


def _between(r: Resolver, middle: str, table: str) -> bool:
    """Whether each row of a table points straight to both: an order line to its order and its product."""
    ways = [[w for w in routes(r.model, middle, end) if not w.back and len(w.hops) == 1] for end in (table, r.base)]
    return middle not in (table, r.base) and all(ways)


def below(r_base: str, draft: Draft, names: Names) -> str | None:
    """The table below the counted one by whose column it is grouped: patients by diagnosis are counted once each, in admissions."""
    counts = [m for m in draft.measures if m.fn == "count" and m.target is not None and m.target.of("entity")]
    if not counts or len(counts) != len(draft.measures) or draft.share or draft.pending:
        return None
    found: set[str] = set()
    for ask in draft.groups:
        if ask.target is None or not ask.target.of("column") or ask.target.of("entity"):
            continue
        tables = {s.table for s in ask.target.of("column")}
        if any(w for t in tables for w in routes(names.model, r_base, t) if not w.back):
            continue
        found |= {t for t in tables if any(not w.back for w in routes(names.model, t, r_base))}
    if len(found) != 1 or names.model.table(r_base).key is None:
        return None
    draft.measures = [replace(m, distinct=True) for m in draft.measures]
    return found.pop()
