"""A follow-up changes the query before it: "by year", "only women". Anything larger is a question of its own."""

from __future__ import annotations

from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import conditions
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft
from lexsi_ds.text_to_sql.grouping import settle_groups
from lexsi_ds.text_to_sql.logical import Logical, Order
from lexsi_ds.text_to_sql.ordering import main_measure
from lexsi_ds.text_to_sql.reading import Analytic
from lexsi_ds.text_to_sql.resolver import Settled, resolver_on
from lexsi_ds.text_to_sql.sqltext import Names


def is_followup(draft: Draft) -> bool:
    """Whether a draft only groups or restricts and says nothing of what to count."""
    says_what = (
        draft.measures
        or draft.entities
        or draft.columns
        or draft.lists
        or draft.share
        or draft.pending
        or draft.which
        or draft.order
    )
    return not says_what and bool(draft.groups or draft.filters)


def settle(draft: Draft, names: Names, values: ValueIndex, previous: Analytic) -> Settled:
    """The earlier query with the new groups in place of its own, and the new restrictions beside its own."""
    if previous.logical is None:
        raise NotUnderstood(("the question",), "there is no earlier query to change")
    before = Logical.model_validate(previous.logical)
    if not before.measures:
        raise NotUnderstood(("the question",), "the earlier answer was a list, and this does not say what to count")
    work = resolver_on(draft, names, values, before)
    dimensions = tuple(settle_groups(work)) or before.dimensions
    filters, _ = conditions.settle(work, draft.filters)
    replaced = [p.ref for p in filters]
    kept = tuple(p for p in before.filters if p.ref not in replaced)
    first = Order(name=main_measure(list(before.measures)).name, descending=True)
    by_name = tuple(Order(name=d.name, descending=False) for d in dimensions)
    timed = any(d.grain for d in dimensions)
    query = before.model_copy(
        update={
            "joins": tuple(work.scope.joins),
            "dimensions": dimensions,
            "filters": (*kept, *filters, *work.role_tests),
            "limit": None,
            "ties": False,
            "order": by_name if timed else (first, *by_name) if dimensions else (),
        }
    )
    return Settled(query, work.scope.said, work.evidence, None, ordered=False)
