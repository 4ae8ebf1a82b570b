"""Named figures and percentages: rates with their counts, formulas, parts of a whole. A part that is not clear is not guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import Condition, Formula, Metric
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.logical import Dimension, Measure, Predicate
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def of_metric(r: Resolver, metric: Metric, item: Item) -> Measure:
    r.note(item.text, metric.text or metric.label)
    if metric.kind != "rate" and metric.column:
        ref = r.scope.ref(metric.table, metric.column, item)
        fn = "sum" if metric.kind == "sum" else "average"
        return Measure(fn=fn, name=slug(metric.label), label=metric.label, ref=ref, unit=metric.unit)
    r.metric = metric
    hits = tuple(_predicate_of(r, c, item) for c in metric.conditions)
    table = r.model.table(metric.table)
    known = _known(r, hits)
    return Measure(
        fn="rate",
        name=slug(metric.label),
        label=metric.label,
        hits=hits,
        known=known,
        unit=metric.unit,
        hits_name=slug(metric.hits),
        rows_name=slug(table.plural),
    )


def of_formula(r: Resolver, ask: MeasureAsk, formula: Formula, item: Item) -> Measure:
    """A figure worked out from several columns; another function than its own needs what it is of each row."""
    fn = formula.fn
    if ask.fn in ("average", "median", "minimum", "maximum") and ask.cue != item.text:
        if not formula.row:
            raise NotUnderstood((ask.cue or ask.fn,), f"{formula.label} is one figure for all rows")
        raise NotUnderstood(
            (ask.cue or ask.fn, item.text), f"it does not say of what: {formula.label} is a sum over {r.model.table(r.base).plural}"
        )
    if formula.table != r.base:
        raise NotUnderstood((item.text,), f"{formula.label} is worked out per {r.model.table(formula.table).label}")
    r.note(item.text, formula.text or formula.expression)
    column = r.model.of_table(formula.table)[0]
    hits = tuple(_predicate_of(r, c, item) for c in formula.conditions)
    made = fn if fn in ("sum", "average") and formula.row else "formula"
    text = formula.row if made != "formula" else formula.expression
    return Measure(
        fn=made, name=slug(formula.label), label=formula.label, ref=r.scope.own(column.name), expression=text, hits=hits,
        unit=formula.unit,
    )


def _predicate_of(r: Resolver, test: Condition, item: Item) -> Predicate:
    ref = r.scope.ref(test.table, test.column, item)
    return Predicate(ref=ref, test="is not null") if test.op == "is not null" else Predicate(ref=ref, test="in", values=test.values)


def _known(r: Resolver, hits: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """Rows without a value are neither in nor out of a rate."""
    asked = [h for h in hits if h.test not in ("is null", "is not null", "any", "exists", "not exists")]
    nullable = [h.ref for h in asked if (column := r.model.column(h.ref.table, h.ref.column)) and column.nulls]
    return tuple(Predicate(ref=ref, test="is not null") for ref in nullable)


def share(r: Resolver, hits: list[Predicate]) -> Measure:
    if not hits:
        raise NotUnderstood(("percentage",), "it does not say which rows the percentage counts")
    table = r.model.table(r.base)
    text = ", ".join(h.text for h in hits)
    return Measure(
        fn="rate",
        name="percentage",
        label=f"percentage of {table.plural}: {text}",
        hits=tuple(hits),
        unit="%",
        hits_name=slug(f"{table.plural} counted"),
        rows_name=slug(table.plural),
    )


def share_of_figure(made: list[Measure], hits: list[Predicate], dimensions: list[Dimension]) -> Measure:
    """ "what share of the revenue comes from Germany": a part of a sum."""
    if len(made) != 1 or made[0].fn != "sum" or made[0].ref is None or made[0].hits:
        raise NotUnderstood(("percentage",), "a percentage is taken of rows or of one sum")
    if not hits or dimensions:
        raise NotUnderstood(("percentage",), "it is not clear which part of the sum is meant")
    text = ", ".join(h.text for h in hits)
    label = made[0].label
    return made[0].model_copy(
        update={
            "fn": "rate", "name": "percentage", "label": f"percentage of {label}: {text}", "hits": tuple(hits), "unit": "%",
            "hits_name": slug(f"{label} counted"), "rows_name": slug(label),
        }
    )
