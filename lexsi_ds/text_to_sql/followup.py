"""A follow-up changes the query before it: "by year", "only women", "top 3", "the median instead", "what about cards?".

What the earlier query restricted and grouped by is kept unless the follow-up replaces it, and the reading shows it. Anything
larger is a question of its own.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql import conditions, kept, whole, windows_of
from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk
from lexsi_ds.text_to_sql.grouping import settle_groups
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Logical, Measure, Order, Predicate
from lexsi_ds.text_to_sql.measuring import measures_of
from lexsi_ds.text_to_sql.reading import Analytic
from lexsi_ds.text_to_sql.resolver import Resolver, Settled, resolve, resolver_on
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import measure_label, slug

_FRAGMENT = 4
"""Most names and functions of a question that is taken as a part of the one before."""


_POINTING = frozenset({"that", "they", "those", "these", "them", "it"})


def points_back(items: tuple[Item, ...]) -> bool:
    """Whether a question speaks of what was just shown: "how many are they", "how many customers is that"."""
    for i, item in enumerate(items):
        if item.kind == "stop" and item.words[0] in _POINTING:
            before = items[i - 1].kind if i else ""
            after = items[i + 1].kind if i + 1 < len(items) else "mark"
            if (before == "be" and after in ("mark", "stop")) or (
                before in ("of", "with") and item.words[0] == "those"
            ):
                return True
    return False


def is_followup(draft: Draft, items: tuple[Item, ...], *, pointing: bool = False) -> bool:
    """Whether a draft only changes a query: its groups, restrictions, order, function or figure."""
    if (
        pointing
        and (draft.measures or draft.pending or draft.share)
        and not (draft.lists or draft.which or draft.columns)
    ):
        return True
    if (
        items
        and items[0].kind == "only"
        and draft.entities
        and draft.filters
        and not (draft.measures or draft.columns or draft.lists)
    ):
        return True
    whole = draft.lists or draft.share or draft.which or draft.roles or draft.relation or draft.counted or draft.when
    if whole and not (draft.lists and (draft.order or draft.limit) and not (draft.entities or draft.columns)):
        return False
    changes = bool(
        draft.groups or draft.filters or draft.pending or draft.window or draft.order or draft.having or draft.trend
    )
    if not (draft.measures or draft.columns or draft.entities):
        return changes
    leads = bool(items) and (items[0].kind in ("and", "about") or draft.about)
    if draft.entities and not draft.measures and not draft.columns:
        return draft.about or leads
    counted = any(m.target is not None and m.target.of("entity") and not m.target.of("column") for m in draft.measures)
    if draft.entities or counted or (draft.groups and not leads):
        return False
    said = [i for i in items if i.kind not in ("mark", "and", "about", "of", "be", "only", "too")]
    return leads or len(said) <= _FRAGMENT


def settle(draft: Draft, names: Names, values: ValueIndex, previous: Analytic, items: tuple[Item, ...]) -> Settled:
    """The earlier query with what the follow-up changes. Raises NotUnderstood when it changes nothing that is there."""
    if previous.logical is None:
        raise NotUnderstood((), "there is no earlier query to change")
    before = Logical.model_validate(previous.logical)
    if before.outer:
        raise NotUnderstood((), "the earlier answer is a figure of a result; ask this as a question of its own")
    if draft.entities and not (draft.measures or draft.columns) and items[0].kind != "only":
        return _other_rows(draft, names, values, before)
    if not before.measures:
        return _of_list(draft, names, values, before)
    before, draft = kept.figures_of(before, draft)
    if before.per or before.place or any(m.window for m in before.measures):
        raise NotUnderstood(
            ("the question",), "the earlier question is too involved to change by a few words; ask it whole"
        )
    draft = kept.values_as_filters(kept.flags_as_filters(draft), before, items)
    work = resolver_on(draft, names, values, before)
    for item in draft.entities:
        if work.scope.distance(work.entity_table(item)) is None:
            raise NotUnderstood((item.text,), "they are not among what the question before is about")
    if draft.columns and any(i.kind == "only" for i in items):
        raise NotUnderstood(tuple(i.text for i in draft.columns), "it does not say which values are meant")
    if draft.share:
        raise NotUnderstood(("percentage",), "it does not say of what whole")
    found = settle_groups(work)
    adds = draft.adds or (bool(items) and items[0].kind == "and" and bool(draft.groups))  # "and by status": beside what was there
    kept_groups = [d for d in before.dimensions if all(d.ref != n.ref or d.grain != n.grain for n in found)]
    dimensions = (*kept_groups, *found) if adds else tuple(found) or before.dimensions
    filters, _ = conditions.settle(work, draft.filters)
    still = kept.kept_tests(before, filters)
    measures = _measures(work, draft, before)
    measures = windows_of.windowed(work, list(dimensions), measures)
    having = (*before.having, *work.conditions_on_groups(list(dimensions)))
    order, limit, ties = _order(work, draft, before, measures, list(dimensions), changed=bool(found))
    named = whole.named_groups(work, list(dimensions)) if order and (limit is not None or ties) else []
    filters += [t for t in named if t not in still and t not in filters]
    query = before.model_copy(
        update={
            "joins": tuple(work.scope.joins),
            "measures": tuple(measures),
            "dimensions": dimensions,
            "filters": (*still, *filters, *work.role_tests),
            "having": having,
            "limit": limit,
            "ties": ties,
            "order": order,
        }
    )
    if query == before and not draft.order:
        raise NotUnderstood((), "it changes nothing in the question before")
    return Settled(query, work.scope.said, work.evidence, None, ordered=bool(draft.order))


def _measures(work: Resolver, draft: Draft, before: Logical) -> list[Measure]:
    main = main_measure(list(before.measures))
    asks = list(draft.measures)
    fns = [f for f in draft.pending if f != "how much"]
    if len(fns) > 1 or (fns and asks):
        raise NotUnderstood(tuple(fns), "it names several functions")
    if draft.columns and not draft.order:
        if len(draft.columns) != 1 or main.fn in ("count", "rate", "formula"):
            raise NotUnderstood(
                tuple(i.text for i in draft.columns), "it does not say what to do with it: total, average, highest"
            )
        asks.append(MeasureAsk(fns.pop() if fns else main.fn, draft.columns[0]))  # type: ignore[arg-type]
    elif fns == ["count"]:
        return [work.count_rows()]
    elif fns:
        column = work.model.column(main.ref.table, main.ref.column) if main.ref is not None else None
        if column is None or main.expression or main.ref is None:
            raise NotUnderstood((fns[0],), f"it does not say of what to take the {fns[0]}")
        label = measure_label(fns[0], column.label)  # type: ignore[arg-type]
        made = Measure(fn=fns[0], name=slug(label), label=label, ref=main.ref, unit=column.unit)  # type: ignore[arg-type]
        work.note(fns[0], label)
        return [*[m for m in before.measures if m.fn == "count" and not m.hits], made]
    if not asks:
        return list(before.measures)
    made = [m for ask in asks for m in measures_of(work, ask)]
    counts = [m for m in before.measures if m.fn == "count" and not m.hits and before.dimensions]
    return [*[c for c in counts if all(c.name != m.name for m in made)], *made]


def _order(
    work: Resolver,
    draft: Draft,
    before: Logical,
    measures: list[Measure],
    dimensions: list[Dimension],
    *,
    changed: bool,
) -> tuple[tuple[Order, ...], int | None, bool]:
    """The order of the changed query: as asked, else by period, else by the figure."""
    if not dimensions:
        if draft.order or draft.limit is not None:
            raise NotUnderstood(tuple(o.word or "order" for o in draft.order), "there are no groups to put in an order")
        return (), None, False
    by_name = tuple(Order(name=d.name, descending=False) for d in dimensions)
    main = main_measure(measures)
    if draft.order and draft.limit is None and before.limit is not None and not draft.top_one and not changed:
        raise NotUnderstood(
            tuple(o.word or "order" for o in draft.order), f"it does not say whether the {before.limit} shown stay"
        )
    if draft.order:
        ask = next((o for o in draft.order if o.target is not None), draft.order[-1])
        name, descending = main.name, draft.order[-1].descending is not False
        target = ask.target or (draft.columns[0] if draft.columns else None)
        if target is not None:
            name = _named(work, target, measures, dimensions)
        rest = tuple(o for o in by_name if o.name != name)
        single = draft.top_one or (ask.target is not None and ask.word != "" and draft.limit is None)
        return (Order(name=name, descending=descending), *rest), draft.limit, single
    if not changed and before.order and measures == list(before.measures):
        return before.order, before.limit, before.ties
    if any(d.grain for d in dimensions):
        return by_name, None, False
    same = not changed and before.limit is not None and bool(before.order)
    down = before.order[0].descending if same else True
    return (Order(name=main.name, descending=down), *by_name), before.limit if same else None, False


def _named(work: Resolver, item: Item, measures: list[Measure], dimensions: list[Dimension]) -> str:
    """The column of the result that an order speaks of."""
    columns = {(s.table, s.column) for s in item.of("column")}
    for measure in reversed(measures):
        if measure.ref is not None and (measure.ref.table, measure.ref.column) in columns:
            return measure.name
    for dimension in dimensions:
        if (dimension.ref.table, dimension.ref.column) in columns:
            return dimension.name
    entity = {s.table for s in item.of("entity")}
    counted = next((m for m in measures if m.fn == "count" and entity == {work.base}), None)
    if counted is not None:
        return counted.name
    raise NotUnderstood((item.text,), "it is not among what the answer before shows")


def _of_list(draft: Draft, names: Names, values: ValueIndex, before: Logical) -> Settled:
    """A list with further restrictions, or its rows counted by a period or a group."""
    only_tests = draft.filters and not (draft.groups or draft.pending)
    if draft.measures or draft.columns or draft.window or draft.order or draft.having or (before.per and not only_tests):
        raise NotUnderstood((), "the earlier answer was a list; ask this as a question of its own")
    work = resolver_on(draft, names, values, before)
    filters, _ = conditions.settle(work, draft.filters)
    still = kept.kept_tests(before, filters)
    tests: tuple[Predicate, ...] = (*still, *filters, *work.role_tests)
    counts = draft.pending == ["count"]
    if draft.groups or counts:
        if before.limit is not None or before.ties:
            raise NotUnderstood(
                ("the question",), "the earlier answer shows only the first rows, so they are not counted"
            )
        dimensions = tuple(settle_groups(work)) if draft.groups else ()
        count = work.count_rows()
        order = tuple(Order(name=d.name, descending=False) for d in dimensions)
        query = Logical(
            table=before.table,
            joins=tuple(work.scope.joins),
            measures=(count,),
            dimensions=dimensions,
            filters=tests,
            order=order,
        )
        return Settled(query, work.scope.said, work.evidence, None)
    if draft.pending:
        raise NotUnderstood(tuple(draft.pending), "it does not say of what")
    query = before.model_copy(update={"joins": tuple(work.scope.joins), "filters": tests})
    return Settled(query, work.scope.said, work.evidence, None)


def _other_rows(draft: Draft, names: Names, values: ValueIndex, before: Logical) -> Settled:
    """ "what about cards?": the same count of other rows, by the same groups, under the same restrictions that they have."""
    counts = [m for m in before.measures if m.fn == "count" and not m.hits]
    if len(draft.entities) != 1 or len(counts) != len(before.measures) or not counts:
        raise NotUnderstood(tuple(e.text for e in draft.entities), "it does not say what to do with them")
    if (
        before.per
        or before.having
        or before.limit is not None
        or any(f.sub or f.than or f.any_of for f in before.filters)
    ):
        raise NotUnderstood(
            tuple(e.text for e in draft.entities), "the earlier question is too involved to ask of other rows"
        )
    item = draft.entities[0]
    groups = [_as_ask(d) for d in before.dimensions]
    fresh = replace(
        draft, measures=[MeasureAsk("count", item, cue="how many")], groups=[*groups, *draft.groups], entities=[]
    )
    settled = resolve(fresh, names, values)
    carried = [f for f in before.filters if f.test != "days"]
    if carried or len(before.filters) > len(carried):
        own = settled.query.table
        work = resolver_on(Draft(), names, values, settled.query)
        kept: list[Predicate] = []
        for test in before.filters:
            table = names.model.table(own)
            if test.test == "days" and table.time is not None:
                kept.append(test.model_copy(update={"ref": work.scope.own(table.time)}))
            elif test.test != "days" and test.ref.table != before.table:
                kept.append(
                    test.model_copy(
                        update={"ref": work.scope.ref(test.ref.table, test.ref.column, item, filtering=True)}
                    )
                )
            else:
                raise NotUnderstood((item.text,), f"{test.text} was said of other rows")
        update = {"filters": (*settled.query.filters, *kept), "joins": tuple(work.scope.joins)}
        settled.query = settled.query.model_copy(update=update)
    return settled


def _as_ask(dimension: Dimension) -> GroupAsk:
    """A group of the earlier query as it would be asked for again."""
    if dimension.bands or dimension.step is not None:
        raise NotUnderstood((dimension.label,), "ranges are not carried over to other rows")
    if dimension.grain is not None:
        return GroupAsk(None, dimension.grain, text=dimension.label)
    sense = Sense("column", dimension.ref.table, dimension.ref.column, label=dimension.label)
    return GroupAsk(Item("sense", dimension.label, senses=(sense,)), text=dimension.label)
