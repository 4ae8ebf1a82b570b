"""Questions for a date: "when was the first account opened", "when was loan 5314 granted"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_FIRST = frozenset({"first", "earliest", "oldest"})
_LAST = frozenset({"last", "latest", "newest", "recent"})


def settle(r: Resolver) -> None:
    """Turn "when" into the end of a date column, or into the date shown for the rows that are named."""
    draft = r.draft
    if not draft.when:
        return
    if draft.measures or draft.pending or draft.share or draft.groups:
        raise NotUnderstood(("when",), "a date and a figure are asked for at once")
    date = _date(r)
    ends = [o for o in draft.order if o.word in _FIRST | _LAST]
    if ends:
        order = ends[0]
        draft.order = [o for o in draft.order if o is not order]
        if draft.order:
            raise NotUnderstood(("when",), "two ends are asked for at once")
        draft.measures.append(MeasureAsk("maximum" if order.word in _LAST else "minimum", date, cue=order.word))
        draft.which = None
        draft.entities = [e for e in draft.entities if e != order.target]
        return
    if not (draft.order or any(f.kind in ("key", "value") for f in draft.filters)):
        raise NotUnderstood(("when",), "it does not say of which row")
    if all({(s.table, s.column) for s in o.target.of("column")} != _columns(date) for o in draft.order if o.target):
        draft.columns.append(date)
    draft.lists = draft.rows = True


def _columns(item: Item) -> set[tuple[str, str]]:
    return {(s.table, s.column) for s in item.of("column")}


def _date(r: Resolver) -> Item:
    """The date that is asked for: a verb's, else the counted table's own."""
    draft, table = r.draft, r.model.table(r.base)
    if draft.verbs:
        verb = draft.verbs.pop(0)
        senses = tuple(Sense("column", s.table, s.column, label=s.label, role="time") for s in verb.of("verb"))
        return replace(verb, senses=senses)
    if table.time is None:
        raise NotUnderstood(("when",), f"{table.plural} have no date of their own")
    column = r.names.column(table.name, table.time)
    return Item("sense", column.label, senses=(Sense("column", table.name, column.name, label=column.label, role="time"),))
