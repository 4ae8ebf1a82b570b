"""What a query measures: counts, figures of columns, named metrics, percentages. A figure that was not named is not guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql import (
    bare,
    combined,
    counted,
    counts_per,
    day_tests,
    elapsed_of,
    firsts,
    ordering,
    rates,
    windows_of,
)
from lexsi_ds.text_to_sql.counted import count_rows as count_rows
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Measure, Predicate, Ref
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import measure_label, slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def settle_measures(r: Resolver, dimensions: list[Dimension], hits: list[Predicate]) -> list[Measure]:
    draft = r.draft
    made: list[Measure] = []
    whole = draft.share and not hits and bool(dimensions)
    figures = [m for m in draft.measures if m.fn not in ("count", "count_distinct")]
    if draft.share and hits and not draft.measures and len(draft.columns) == 1:
        columns = [r.names.column(s.table, s.column) for s in draft.columns[0].of("column")]
        if columns and all(c.role == "measure" and c.additive for c in columns):
            figures = [MeasureAsk("sum", draft.columns.pop(), cue="total")]
            draft.measures += figures
    if whole:
        draft.window, draft.window_text = "share", "percentage"
    elif draft.share and figures:
        made.append(rates.share_of_figure([m for ask in figures for m in measures_of(r, ask)], hits, dimensions))
        draft.measures = [m for m in draft.measures if m not in figures]
    elif draft.share:
        made.append(rates.share(r, hits))
        draft.share_measure = made[-1]
    made += counts_per.measure(r)
    made += combined.ratio(r)
    for ask in (*draft.measures, *_pending(r)):
        made += measures_of(r, ask)
    made += _extreme(r, dimensions, made)
    for order in draft.order:
        if order.target is not None and (order.target.of("metric") or (order.fn and dimensions)):
            fn = order.fn or "rate"
            made += [m for m in measures_of(r, MeasureAsk(fn, order.target)) if all(m.name != k.name for k in made)]
    plain_list = draft.lists or draft.which is not None
    if not made and draft.window and len(draft.columns) == 1:
        made += _implied_sum(r)
    if not made:
        made += _named_totals(r)
    if not made and dimensions:
        made += _group_default(r)
    if not made and not dimensions and draft.columns and ordering.finds_rows(r):
        return []
    if not made and not plain_list and not draft.order and draft.columns and not dimensions:
        made += measures_of(r, named) if (named := bare.named_average(r)) is not None else []
    if not made and not plain_list and not draft.order and draft.columns and not dimensions:
        raise NotUnderstood(
            tuple(i.text for i in draft.columns), "it does not say what to do with it: total, average, highest"
        )
    made = combined.difference(r, made)
    if dimensions and made and all(m.fn not in ("count", "rate", "count_distinct") for m in made):
        made.insert(0, count_rows(r))
    return windows_of.windowed(r, dimensions, _unlike(made))


def _implied_sum(r: Resolver) -> list[Measure]:
    """ "running total of loan amount": what is added up needs no word for it."""
    columns = [r.names.column(s.table, s.column) for s in r.draft.columns[0].of("column")]
    if not columns or not all(c.role == "measure" and c.additive for c in columns):
        return []
    return measures_of(r, MeasureAsk("sum", r.draft.columns.pop(), cue="total"))


def _named_totals(r: Resolver) -> list[Measure]:
    """A figure called "number of …" is a total by its name: number of inhabitants in Prague."""
    made = []
    for item in list(r.draft.columns):
        labels = {s.label for s in item.of("column")}
        ranked = any(o.target is not None and o.fn is None for o in r.draft.order)
        if ranked and (r.draft.limit is not None or r.draft.entities):
            continue
        if len(labels) == 1 and next(iter(labels)).startswith("number of ") and not ordering.finds_rows(r):
            r.draft.columns.remove(item)
            made += measures_of(r, MeasureAsk("sum", item))
    return made


def _extreme(r: Resolver, dimensions: list[Dimension], made: list[Measure]) -> list[Measure]:
    """ "the highest balance" is a figure; "the client with the highest balance" and "top 5" are rows."""
    draft = r.draft
    orders = [o for o in draft.order if o.target is not None and o.fn is None and o.target.of("column")]
    both_ends = len(orders) == 2 and orders[0].descending != orders[1].descending and not (dimensions or made)
    rows = dimensions or made or draft.rows or draft.limit is not None or draft.which is not None or draft.place is not None
    rows = rows or any(e.start < o.target.start for e in draft.entities for o in orders if o.target)
    if not orders or (rows and not both_ends):
        return []
    if both_ends:
        ends = {(s.table, s.column) for o in orders if o.target for s in o.target.of("column")}
        draft.columns = [c for c in draft.columns if not ends & {(s.table, s.column) for s in c.of("column")}]
    draft.order = [o for o in draft.order if o not in orders]
    found: list[Measure] = []
    for order in orders:
        if order.target is not None:
            found += measures_of(r, MeasureAsk("maximum" if order.descending else "minimum", order.target))
    return found


def _group_default(r: Resolver) -> list[Measure]:
    """ "loans by status" counts; "which region has more than 500 accounts" too; a bare figure takes the function of its kind."""
    return measures_of(r, bare.function_of(r)) if r.draft.columns else [count_rows(r)]


def _pending(r: Resolver) -> list[MeasureAsk]:
    """Functions said before or after their target: "women who travel, count", "revenue, in total"."""
    asks = []
    for fn in r.draft.pending:
        if fn == "count":
            asks.append(MeasureAsk("count", None))
        elif fn == "how much":
            asks.append(_how_much(r))
        elif len(r.draft.columns) == 1 and r.draft.columns:
            asks.append(MeasureAsk(fn, r.draft.columns.pop()))  # type: ignore[arg-type]
        elif fn != "count" and (first := firsts.bare_sum(r, fn, ordering.row_column)) is not None:
            asks.append(first)
        elif fn == "sum" and r.draft.measures:
            continue
        else:
            raise NotUnderstood((fn,), f"it does not say of what to take the {fn}")
    return asks


def _how_much(r: Resolver) -> MeasureAsk:
    """ "how much was lent": the size of what was done."""
    draft, size = r.draft, r.model.table(r.base).size
    if len(draft.columns) == 1:
        return MeasureAsk("sum", draft.columns.pop())
    if not draft.verbs or size is None or {s.table for s in draft.verbs[0].of("verb")} != {r.base}:
        raise NotUnderstood(("how much",), "it does not say of what")
    verb = draft.verbs[0]
    return MeasureAsk("sum", replace(verb, senses=(Sense("column", r.base, size, role="measure"),)), cue="how much")


def measures_of(r: Resolver, ask: MeasureAsk) -> list[Measure]:
    target = ask.target
    if ask.fn == "rate" and r.draft.share_measure is not None and target is not None and not target.of("metric"):
        return [r.draft.share_measure]
    if ask.unit:
        return [elapsed_of.measure(r, ask)]
    if target is not None and ask.fn == "count" and target.of("metric") and not target.of("entity", "column"):
        raise NotUnderstood((ask.cue, target.text), f"{target.text} is a figure, not something to count")
    if target is None:
        r.note("count", f"count(*) of {r.base}")
        return [count_rows(r)]
    if target.of("metric") and (ask.fn == "rate" or not target.of("column")) and _is_base_column(r, target):
        ask = MeasureAsk("sum", target, ask.of, cue=ask.cue)
    elif target.of("verb") and ask.fn == "sum" and not target.of("column"):
        return [_of_verb(r, target)]
    elif target.of("metric"):
        sense = next((s for s in target.of("metric") if s.table == r.base), target.of("metric")[0])
        metric = next((m for m in r.model.metrics if m.id == sense.value), None)
        if metric is None:
            return [rates.of_formula(r, ask, next(f for f in r.model.formulas if f.id == sense.value), target)]
        return [rates.of_metric(r, metric, target)]
    if ask.fn == "count":
        return [counted.measure(r, ask, target, of_column)]
    if target.of("entity") and not target.of("column"):
        return [counted.of_entity(r, ask, target, of_column)]
    column, ref = r.column_of(target, ask.of)
    return [of_column(r, ask, target, column, ref)]


def _is_base_column(r: Resolver, item: Item) -> bool:
    """Whether a named figure is kept as a column of the counted table, and is not worked out there."""
    return all(s.table != r.base for s in item.of("metric")) and any(s.table == r.base for s in item.of("column"))


def _of_verb(r: Resolver, item: Item) -> Measure:
    """ "which district borrowed the most": the size of what was done."""
    table = r.model.table(r.base)
    if table.size is None:
        raise NotUnderstood((item.text,), f"it does not say which figure of {table.plural}")
    column = r.names.column(table.name, table.size)
    return of_column(r, MeasureAsk("sum", item, cue=item.text), item, column, r.scope.own(table.size))


def of_column(r: Resolver, ask: MeasureAsk, target: Item, column: ColumnModel, ref: Ref) -> Measure:
    family = r.names.family(column.table, column.name)
    numeric = family == "number" or column.stored == "number_text"
    ends = ask.fn in ("minimum", "maximum")
    if not (numeric or (ends and column.role == "time")) or column.role in ("key", "link"):
        raise NotUnderstood((ask.cue or ask.fn, target.text), f"{column.label} is not a figure to take the {ask.fn} of")
    if column.role == "flag" and ask.fn not in ("count", "count_distinct"):
        raise NotUnderstood((ask.cue or ask.fn, target.text), f"{column.label} is a yes or no and no figure")
    _check_meaning(r, ask, column)
    r.note(f"{ask.cue} {target.text}".strip(), f"{ask.fn} of {column.table}.{column.name}")
    label = measure_label(ask.fn, column.label)
    if ask.fn == "quantile":
        part = float(ask.cue) / 100
        label = f"{ask.cue.removesuffix('.0')}th percentile of {column.label}"
        return Measure(fn="quantile", name=slug(f"p {label}"), label=label, ref=ref, unit=column.unit, part=part)
    if day_tests.has_zero(r, column):
        there = Predicate(ref=ref, test=">", values=("0",), text="")
        r.scope.said.append(f"rows whose {column.label} is 0 left out")
        return Measure(fn=ask.fn, name=slug(label), label=label, ref=ref, unit=column.unit, hits=(there,))
    return Measure(fn=ask.fn, name=slug(label), label=label, ref=ref, unit=column.unit)


def _check_meaning(r: Resolver, ask: MeasureAsk, column: ColumnModel) -> None:
    """A level is no amount: its sum means nothing, and over events it is not the level of what they belong to."""
    if column.described and ask.fn == "sum" and not column.additive:
        raise NotUnderstood((ask.cue or ask.fn,), f"a sum of {column.label} means nothing")
    table = r.model.table(column.table)
    owners = r.mentioned - {
        r.base,
        *(g.target.of("entity")[0].table for g in r.draft.groups if g.target and g.target.of("entity")),
    }
    if table.flows and not column.additive and owners and ask.fn in ("sum", "average", "median"):
        owner = r.model.table(sorted(owners)[0])
        raise NotUnderstood((ask.cue or ask.fn, column.label), f"it is known per {table.label}, not per {owner.label}")


def _unlike(measures: list[Measure]) -> list[Measure]:
    seen: dict[str, Measure] = {}
    for measure in measures:
        seen.setdefault(measure.name, measure)
    return list(seen.values())
