"""What a draft means once its table is known: a condition on what belongs to each row, something of the one row at the end, a
figure "per" the very rows that are counted.

Refuses where "per one" could be two figures; it never picks one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def count_belongings(r: Resolver) -> None:
    """ "accounts with at least two cards": a condition on each account's own cards, not on a group."""
    draft = r.draft
    for ask in list(draft.having):
        if ask.fn != "count" or not ask.target.of("entity") or ask.target.of("column"):
            continue
        table = r.entity_table(ask.target)
        if table != r.base and r.scope.distance(table) is None:
            draft.having.remove(ask)
            draft.filters.append(
                FilterAsk("exists", (ask.target,), test=ask.test, numbers=(ask.number,), text=ask.text)
            )


def asked_of_the_end(r: Resolver) -> None:
    """ "in which region was the smallest loan given": something of the one row at the end."""
    draft = r.draft
    aims = [o.target for o in draft.order if o.target is not None and o.fn is None]
    if (
        draft.which is None
        or draft.which.of("entity")
        or not draft.which.of("column")
        or draft.measures
        or draft.groups
    ):
        return
    if (
        len(aims) == 1
        and aims[0].of("entity")
        and not aims[0].of("column")
        and r.entity_table(aims[0]) == r.base
    ):
        draft.columns.append(draft.which)
        draft.which = None
        draft.rows = True


def per_itself(r: Resolver) -> None:
    """ "average price per house", "across all sales": each row by itself, so nothing is grouped."""
    draft = r.draft
    levels = [m for m in draft.measures if m.fn in ("average", "median", "minimum", "maximum")]
    for ask in list(draft.groups):
        own = ask.target is not None and ask.target.of("entity") and not ask.target.of("column")
        if own and ask.target is not None and levels and r.entity_table(ask.target) == r.base:
            draft.groups.remove(ask)
            draft.entities.append(ask.target)


def not_per_one(r: Resolver) -> None:
    """ "average hours per employee": of the rows, or of each one's sum? Not the same where one has many."""
    draft = r.draft
    averaged = any(m.fn in ("average", "median") for m in draft.measures)
    for ask in draft.groups:
        columns = (
            [r.names.column(s.table, s.column) for s in ask.target.of("column")]
            if ask.target is not None
            else []
        )
        rows = r.model.table(r.base).rows
        if (
            ask.per
            and averaged
            and columns
            and ask.target is not None
            and all(c.table == r.base and c.role != "time" and c.distinct > max(60, rows // 10) for c in columns)
        ):
            raise NotUnderstood(
                (f"per {ask.target.text}",),
                f"several rows can be of one {ask.target.text}: it can be their average or what they add up to",
            )
        entity = ask.per and ask.target is not None and ask.target.of("entity") and not ask.target.of("column")
        if (
            entity
            and ask.target is not None
            and r.entity_table(ask.target) != r.base
            and any(m.fn in ("average", "median") for m in draft.measures)
        ):
            noun = r.model.table(r.base).plural
            why = f"it can be the average of the {noun} of each, or the average of what each has in all"
            first = draft.measures[0]
            if len(draft.measures) == 1 and first.target is not None and 0 <= first.start < ask.target.start:
                said = f"{first.target.text} by {ask.target.text}"
                whole = Item("whole", f"per {ask.target.text}", start=first.start, end=ask.target.end)
                raise Ambiguous(whole, (f"{first.cue} {said}", f"total {said}"), why)
            raise NotUnderstood((f"per {ask.target.text}",), why)
