"""What a follow-up keeps of the question before: its groups where values are named, its tests beside one that denies."""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.logical import Logical, Predicate
from lexsi_ds.text_to_sql.tagger import Item


def values_as_filters(draft: Draft, before: Logical, items: tuple[Item, ...]) -> Draft:
    """ "only dental and injury": the values restrict the groups that are there and are no new groups."""
    if not before.dimensions or any(i.kind == "versus" for i in items):
        return draft
    said = {f.items[0].start for f in draft.filters if f.kind == "value" and len(f.items) > 1}
    told = [g for g in draft.groups if not (g.target is not None and g.grain is None and g.target.start in said)]
    return replace(draft, groups=told)


def flags_as_filters(draft: Draft) -> Draft:
    """ "same for paid", "only premium": a yes/no column restricts the rows, and is no figure of them."""
    flags = [i for i in draft.columns if i.of("value") and all(s.role == "flag" for s in i.of("column"))]
    if not flags:
        return draft
    tests = [FilterAsk("value", (i,), text=i.text, whole=i) for i in flags]
    return replace(draft, columns=[i for i in draft.columns if i not in flags], filters=[*draft.filters, *tests])


def figures_of(before: Logical, draft: Draft) -> tuple[Logical, Draft]:
    """A query without the share of all that is made of its figure, to be made again of what the figure becomes."""
    made = [m for m in before.measures if m.window]
    if len(made) != 1 or made[0].window != "share" or made[0].within or draft.window or draft.measures or draft.pending:
        return before, draft
    plain = tuple(m for m in before.measures if not m.window)
    figure = main_measure(list(plain))
    order = tuple(o.model_copy(update={"name": figure.name}) if o.name == made[0].name else o for o in before.order)
    again = replace(draft, window="share", window_text="the share", share_each=True)
    return before.model_copy(update={"measures": plain, "order": order}), again


def kept_tests(before: Logical, filters: list[Predicate]) -> tuple[Predicate, ...]:
    """The tests that stay: a new one takes the place of those of its column, one that denies comes beside them."""
    taken = [f.ref for f in filters if not _denies(f)]
    return tuple(p for p in before.filters if p.ref not in taken)


def _denies(test: Predicate) -> bool:
    return test.test in ("<>", "not in") or (test.test == "any" and any(t.test in ("<>", "not in") for t in test.any_of))
