"""The first of each group: "the longest track of each genre", "for each year, which district borrowed the most".

Decides only whether an order counts inside groups; the order itself is settled where every other one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.draft import GroupAsk

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def rows_per_group(r: Resolver) -> bool:
    """Whether rows are asked for, the first of each group, rather than a figure of each group."""
    draft = r.draft
    if not draft.groups or draft.measures or draft.share or draft.pending or draft.window:
        return False
    aims = [o for o in draft.order if o.target is not None and (o.fn is None or o.fn == "count")]
    if len(aims) != 1 or aims[0].target is None or aims[0].target.of("metric") or aims[0].fn is not None:
        return False
    target = aims[0].target
    if target.of("entity") and not target.of("column"):
        return r.entity_table(target) == r.base
    named = [*draft.entities, *([draft.which] if draft.which else [])]
    subject = any(i.of("entity") and any(s.table == r.base for s in i.of("entity")) for i in named)
    return subject or draft.rows or bool(draft.ids)


def inner_groups(r: Resolver) -> list[GroupAsk]:
    """What is ranked inside the groups that were said: districts, of "for each year, which district has the most loans"."""
    draft = r.draft
    which = draft.which
    if not draft.groups or not draft.order:
        return []
    if which is None:
        return _ranked_noun(r)
    entity = which.of("entity")
    if entity and {s.table for s in entity} == {r.base}:
        return []
    return [GroupAsk(which, text=which.text)]


def _ranked_noun(r: Resolver) -> list[GroupAsk]:
    """ "top 3 districts per region by number of accounts": the noun right after the number is what is ranked."""
    draft = r.draft
    if draft.limit is None and draft.place is None and not draft.top_one:
        return []
    counted = [m.target for m in draft.measures if m.target is not None]
    for item in list(draft.entities):
        other = {s.table for s in item.of("entity")} != {r.base}
        if other and item.of("entity") and all(item.start < c.start for c in counted):
            draft.entities.remove(item)
            return [GroupAsk(item, text=item.text)]
    for item in list(draft.columns):
        if r.is_group(item) and all(item.start < c.start for c in counted):
            draft.columns.remove(item)
            return [GroupAsk(item, text=item.text)]
    return []
