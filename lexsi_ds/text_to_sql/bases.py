"""Which table a question counts or lists, and which table a name in it means.

Asks by raising where a name means several tables; it never takes the first of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def base_of(r: Resolver) -> str:
    """The table whose rows are counted, listed or measured."""
    for find in (
        _of_measures,
        _of_order,
        _of_having,
        _of_counted,
        _of_nouns,
        _of_filters,
        _of_groups,
    ):
        found = find(r)
        if found is not None:
            return found
    raise NotUnderstood(tuple(i.text for i in r.draft.columns), "it does not say what to count or list")


def _of_measures(r: Resolver) -> str | None:
    for ask in r.draft.measures:
        if ask.target is None:
            continue
        if ask.target.of("metric"):
            return metric_table(r, ask.target)
        if ask.fn == "count" and ask.target.of("entity", "role") and not ask.distinct:
            return entity_table(r, ask.target)
    for ask in r.draft.measures:
        if ask.target is not None and ask.target.of("column", "entity"):
            return column_table(r, ask.target)
    return None


def _of_order(r: Resolver) -> str | None:
    """ "which district has the most accounts" counts accounts; "the largest loans" lists loans."""
    for ask in r.draft.order:
        if ask.target is None:
            continue
        if ask.target.of("metric"):
            return metric_table(r, ask.target)
        if ask.fn == "count" and ask.target.of("entity"):
            return entity_table(r, ask.target)
        if ask.target.of("verb") and ask.fn == "sum":
            return ask.target.of("verb")[0].table
        if ask.fn is not None and ask.target.of("column"):
            return column_table(r, ask.target)
    return None


def _of_having(r: Resolver) -> str | None:
    grouped = bool(r.draft.groups or r.draft.which or r.draft.columns)
    counted = [h for h in r.draft.having if h.fn == "count"]
    summed = [h for h in r.draft.having if h.fn != "count" and h.target.of("column")]
    if summed and not r.draft.measures:
        return column_table(r, summed[0].target)
    return entity_table(r, counted[0].target) if counted and grouped else None


def _of_counted(r: Resolver) -> str | None:
    """ "how many running loans": the table of what is counted by a value."""
    counted = r.draft.counted
    tables = (
        {s.table for s in counted.of("value", "segment")} if counted is not None and r.draft.pending else set()
    )
    behind = [e for e in r.draft.entities if counted is not None and 0 <= e.start - counted.end <= 2]
    if behind:
        return entity_table(r, behind[0]) if len(r.draft.entities) > 1 else None
    return next(iter(tables)) if len(tables) == 1 else None


def _of_nouns(r: Resolver) -> str | None:
    for item in (
        *r.draft.entities,
        *([r.draft.which] if r.draft.which else []),
        *[o.target for o in r.draft.order if o.target and o.target.of("entity")],
    ):
        if item.of("entity"):
            return entity_table(r, item)
    which = [r.draft.which] if r.draft.which else []
    for item in (*r.draft.columns, *which, *[o.target for o in r.draft.order if o.target]):
        if item.of("column"):
            return column_table(r, item)
    return entity_table(r, r.draft.roles[0]) if r.draft.roles else None


def _of_filters(r: Resolver) -> str | None:
    counted = r.draft.counted
    if counted is not None and len({s.table for s in counted.of("value", "segment")}) == 1:
        return counted.of("value", "segment")[0].table
    plain = [f for f in r.draft.filters if not f.owned and f.kind != "exists"] or r.draft.filters
    tables = {s.table for f in plain for i in f.items[:1] for s in i.of("value", "segment")}
    if not tables:
        tables = {s.table for f in plain if f.kind == "key" for i in f.items for s in i.of("entity")}
    if not tables:
        tables = {s.table for f in r.draft.filters if f.column for s in f.column.of("column", "verb", "hint")}
    return next(iter(tables)) if len(tables) == 1 else None


def _of_groups(r: Resolver) -> str | None:
    """ "share of each status within each region": rows of the first group's own table."""
    draft = r.draft
    if not (draft.share_each or draft.pending == ["count"]) or not draft.groups or draft.groups[0].target is None:
        return None
    tables = {s.table for s in draft.groups[0].target.of("column")}
    return tables.pop() if len(tables) == 1 else None


def metric_table(r: Resolver, item: Item) -> str:
    """The table of a named figure; of several, the one with the fewest rows that everything else named can be told by."""
    tables = {s.table for s in item.of("metric")} | {s.table for s in item.of("column")}
    wanted = {frozenset(s.table for s in i.senses if s.table) for i in _told_by(r, item)}
    ranked = sorted(tables, key=lambda t: (r.model.table(t).rows, t))
    for table in ranked:
        near = {t.name for t in r.model.tables if any(not w.back for w in routes(r.model, table, t.name))}
        if all(not w or w & near for w in wanted):
            return table
    return ranked[-1]


def _told_by(r: Resolver, item: Item) -> list[Item]:
    """Everything named beside a figure."""
    values = [i for f in r.draft.filters for i in f.items if f.kind != "exists"]
    return [i for i in (*nouns(r), *r.draft.columns, *r.draft.roles, *values) if i != item]


def nouns(r: Resolver) -> list[Item]:
    """Every name of the draft that may say which rows are meant."""
    draft = r.draft
    groups = [g.target for g in draft.groups if g.target] + [g.of for g in draft.groups if g.of]
    counted = (
        [m.target for m in draft.measures if m.target]
        + [h.target for h in draft.having]
        + [m.of for m in draft.measures if m.of]
    )
    keys = [i for f in draft.filters if f.kind == "key" for i in f.items]
    return [
        *keys,
        *draft.entities,
        *groups,
        *counted,
        *([draft.which] if draft.which else []),
        *[o.target for o in draft.order if o.target],
    ]


def entity_table(r: Resolver, item: Item) -> str:
    """The table whose rows a noun means."""
    people = {p.name for p in r.model.paths}
    senses = item.of("entity") or tuple(s for s in item.of("role") if s.value in people) or item.of("role")
    if not senses:
        raise NotUnderstood((item.text,), "it names no rows")
    tables = sorted({s.table for s in senses if s.strong}) or sorted({s.table for s in senses})
    if len(tables) > 1:
        raise Ambiguous(
            item, tuple(r.model.table(t).plural for t in tables), f"{item.text} can mean several tables"
        )
    return tables[0]


def column_table(r: Resolver, item: Item) -> str:
    """The table whose column a name means; of several, the one that something else names."""
    senses = item.of("column") or item.of("entity")
    tables = {s.table for s in senses}
    if len(tables) == 1:
        return tables.pop()
    valued = {s.table for f in r.draft.filters for i in f.items for s in i.of("value", "segment")}
    named = [t for t in tables if t in r.mentioned] or [t for t in tables if t in valued]
    if len(named) == 1:
        return named[0]
    choices = tuple(_full_name(r, s) for s in senses if not named or s.table in named)
    raise Ambiguous(item, choices, f"{item.text} exists in several tables")


def _full_name(r: Resolver, sense: Sense) -> str:
    noun = r.model.table(sense.table).label
    return sense.label if noun in sense.label else f"{noun} {sense.label}"
