"""What a follow-up keeps of the question before: its groups where values are named, its tests beside one that denies."""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.text_to_sql.draft import Draft
from lexsi_ds.text_to_sql.logical import Logical, Predicate
from lexsi_ds.text_to_sql.tagger import Item


def values_as_filters(draft: Draft, before: Logical, items: tuple[Item, ...]) -> Draft:
    """ "only dental and injury": the values restrict the groups that are there and are no new groups."""
    if not before.dimensions or any(i.kind == "versus" for i in items):
        return draft
    said = {f.items[0].start for f in draft.filters if f.kind == "value" and len(f.items) > 1}
    told = [g for g in draft.groups if not (g.target is not None and g.grain is None and g.target.start in said)]
    return replace(draft, groups=told)


def kept_tests(before: Logical, filters: list[Predicate]) -> tuple[Predicate, ...]:
    """The tests that stay: a new one takes the place of those of its column, one that denies comes beside them."""
    taken = [f.ref for f in filters if not _denies(f)]
    return tuple(p for p in before.filters if p.ref not in taken)


def _denies(test: Predicate) -> bool:
    return test.test in ("<>", "not in") or (test.test == "any" and any(t.test in ("<>", "not in") for t in test.any_of))
