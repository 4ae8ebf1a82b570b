"""Figures of a result: the total of the five largest, the share that the top ten make, the average per month, how many groups.

The query inside is an ordinary one; the figure outside is taken of its rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, GroupAsk, MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Dimension, Logical, Measure, Order, Outer, Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import measure_label, slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

RowColumn = Callable[["Resolver", OrderAsk, list[Item]], tuple[ColumnModel, Ref]]
"""What rows are ordered by, as `ordering` settles it."""
_FIGURES = ("sum", "average", "median", "minimum", "maximum")
_LABELS = {"average": "average", "median": "median", "maximum": "highest", "minimum": "lowest"}


def settle(draft: Draft, names: Names) -> None:
    """Turn a share of the first n, and a number of groups with a condition, into groups that a figure is taken of."""
    noun = draft.limit_noun
    if draft.share and draft.limit is not None and noun is not None and not (draft.groups or draft.filters or draft.pending):
        _share_of_first(draft, names, noun)
    counts = [m for m in draft.measures if m.fn == "count" and m.target is not None]
    if len(counts) == len(draft.measures) == 1 and draft.having and not (draft.groups or draft.share or draft.which or draft.order):
        target = counts[0].target
        if target is None or (target.of("entity") and all(h.fn == "count" for h in draft.having)):
            return
        if any(h.target == target for h in draft.having):
            return
        draft.measures, draft.groups, draft.over = [], [GroupAsk(target, text=target.text)], "count"


def _share_of_first(draft: Draft, names: Names, noun: Item) -> None:
    figures = [*(m.target for m in draft.measures if m.target is not None), *draft.columns]
    if len(figures) != 1 or not noun.of("entity") or len(draft.order) != 1 or draft.order[0].target is not None:
        return
    tables = {s.table for s in figures[0].of("column", "metric")}
    if not tables or {s.table for s in noun.of("entity")} & tables:
        return
    if not draft.measures:
        draft.measures, draft.columns = [MeasureAsk("sum", figures[0], cue="total")], []
    draft.share, draft.lists, draft.over = False, False, "share"
    draft.entities = [e for e in draft.entities if e != noun]
    draft.groups = [GroupAsk(noun, text=noun.text)]
    draft.limit_noun = None


def bare_sum(r: Resolver, fn: str, row_column: RowColumn) -> MeasureAsk | None:
    """ "total of the five largest payments": of the figure by which they are the largest."""
    draft = r.draft
    if draft.limit is None or len(draft.order) != 1 or draft.order[0].target is None or draft.columns:
        return None
    column, _ = row_column(r, draft.order[0], [])
    if column.role != "measure" or column.table != r.base:
        return None
    sense = Sense("column", column.table, column.name, label=column.label, role="measure")
    return MeasureAsk(fn, replace(draft.order[0].target, senses=(sense,)), cue=fn)  # type: ignore[arg-type]


def take(r: Resolver, measures: list[Measure], row_column: RowColumn) -> bool:
    """Note that figures are asked of the first rows; False where they are not."""
    draft = r.draft
    plain = all(m.fn in _FIGURES and m.ref is not None and not (m.hits or m.sub or m.expression or m.window) for m in measures)
    if draft.limit is None or len(draft.order) != 1 or not plain or draft.share or draft.place is not None:
        return False
    ask = draft.order[0]
    if ask.target is None:
        if len(measures) != 1 or measures[0].ref is None:
            return False
        ref = measures[0].ref
        column = r.names.column(ref.table, ref.column)
    else:
        column, ref = row_column(r, ask, [])
    draft.first_rows = (Dimension(ref=ref, name="ranked_by", label=column.label), bool(ask.descending), draft.limit)
    draft.order, draft.limit, draft.limit_noun = [], None, None
    return True


def outside(r: Resolver, query: Logical) -> Logical:
    """The query with the figure that is taken of its rows."""
    draft = r.draft
    if draft.first_rows is not None:
        return _of_rows(r, query)
    if draft.over is None:
        return query
    if not query.measures or not query.dimensions or query.per or query.place:
        raise NotUnderstood((str(draft.over),), "there are no groups to take that of")
    named = [d for d in query.dimensions if (c := r.model.column(d.ref.table, d.ref.column)) and c.nulls]
    there = tuple(Predicate(ref=d.ref, test="is not null") for d in named)
    figure = main_measure(list(query.measures))
    groups = " and ".join(dict.fromkeys(d.label for d in query.dimensions))
    plain = query.model_copy(update={"filters": (*query.filters, *there)})
    if draft.over == "share":
        if figure.fn not in ("sum", "count") or query.limit is None or not query.order:
            raise NotUnderstood(("share",), f"{figure.label} does not add up")
        label = f"share of the top {query.limit} {groups} in {figure.label}"
        outer = Outer(fn="share", name="percentage", label=label, of=figure.name, first=query.limit)
        return plain.model_copy(update={"outer": (outer,), "limit": None, "ties": False})
    if draft.over == "count":
        label = f"number of {groups}"
        outer = Outer(fn="count", name=slug(label), label=label)
        return plain.model_copy(update={"outer": (outer,), "order": (), "limit": None, "ties": False})
    if draft.over != "maximum" and query.dimensions[0].grain in ("day", "week"):
        raise NotUnderstood((f"per {query.dimensions[0].grain}",), "it is not clear whether those without any count")
    label = f"{_LABELS[draft.over]} {figure.label} per {query.dimensions[0].grain or groups}"
    r.scope.said.append(f"over those {query.dimensions[0].grain or groups}s that have any")
    outer = Outer(fn=draft.over, name=slug(label), label=label, of=figure.name)  # type: ignore[arg-type]
    return plain.model_copy(update={"outer": (outer,), "order": (), "limit": None, "ties": False})


def _of_rows(r: Resolver, query: Logical) -> Logical:
    if r.draft.first_rows is None or query.dimensions or query.having:
        raise NotUnderstood(("top",), "the first rows and groups are asked for at once")
    ranked, descending, limit = r.draft.first_rows
    columns = [ranked]
    outers = []
    for m in query.measures:
        if m.ref is None:
            continue
        column = r.names.column(m.ref.table, m.ref.column)
        shown = next((c for c in columns if c.ref == m.ref), None)
        if shown is None:
            shown = Dimension(ref=m.ref, name=slug(column.label), label=column.label)
            columns.append(shown)
        end = "highest" if descending else "lowest"
        noun = r.model.table(r.base).plural
        label = f"{measure_label(m.fn, column.label)} of the {limit} {noun} with the {end} {ranked.label}"
        outers.append(Outer(fn=m.fn, name=m.name, label=label, of=shown.name))  # type: ignore[arg-type]
    table = r.model.table(r.base)
    key = (Order(name=slug("row"), descending=False),) if table.key else ()
    if table.key:
        columns.append(Dimension(ref=r.scope.own(table.key), name="row", label=table.key))
    return query.model_copy(
        update={
            "measures": (), "columns": tuple(columns), "order": (Order(name=ranked.name, descending=descending), *key),
            "limit": limit, "outer": tuple(outers),
        }
    )  # fmt: skip
