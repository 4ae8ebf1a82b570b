"""Rankings: "top 5 customers by total charges" orders rows, "top 3 countries by revenue" groups and sums.

Only rearranges a draft in which an order was asked for; a figure is never quietly grouped by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import Ambiguous
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def rank_by(draft: Draft, names: Names) -> None:
    """Turn "by FIGURE" of a ranking from a group into what is ranked by."""
    if not draft.order or any(o.target for o in draft.order):
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
            choices = (f"average {ask.target.text}", f"highest {ask.target.text}")
            raise Ambiguous(ask.target, choices, f"several rows stand behind each {subject.text}")
        draft.measures.append(MeasureAsk("sum", ask.target, cue="total"))
        return


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
    if draft.groups or draft.which is not None or not draft.measures:
        return []
    for items in (draft.entities, draft.columns):
        for item in items:
            other = item.of("entity") and {s.table for s in item.of("entity")} != {r.base}
            category = item.of("column") and not item.of("entity") and not _is_figure(item, r.names)
            if (other or category) and _said_first(draft, item):
                items.remove(item)
                return [GroupAsk(item, text=item.text)]
    return []


def _said_first(draft: Draft, item: Item) -> bool:
    """Whether the noun comes before what is measured: "districts by default rate", not "default rate of the district"."""
    measured = [m.target.start for m in draft.measures if m.target is not None]
    return bool(measured) and item.start < min(measured)
