"""What is counted, and what rows are measured by that no figure was named of: "how many loans", "total loans".

A number and an amount that may both be meant are asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel, TableModel
from lexsi_ds.knowledge.words import singular
from lexsi_ds.text_to_sql import amounts, conditions
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.logical import Measure, Ref
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

OfColumn = Callable[["Resolver", MeasureAsk, Item, ColumnModel, Ref], Measure]
"""How a function of a column becomes a measure; `measuring` knows."""


def count_rows(r: Resolver) -> Measure:
    """The count of the counted table's rows."""
    table = r.model.table(r.base)
    return Measure(fn="count", name=slug(table.plural), label=f"number of {table.plural}")


def measure(r: Resolver, ask: MeasureAsk, target: Item, of_column: OfColumn) -> Measure:
    """The count of what is named: the rows themselves, the rows that they point to, the different values of a column."""
    if target.of("entity", "role") and r.entity_table(target) == r.base:
        if target.of("role"):
            conditions.owner_role(r, target)
        r.note(f"{ask.cue} {target.text}".strip(), f"count(*) of {r.base}")
        return count_rows(r)
    if target.of("entity"):
        table = r.model.table(r.entity_table(target))
        if table.key is None:
            raise NotUnderstood((target.text,), f"nothing tells one {table.label} from another")
        ref = r.scope.ref(table.name, table.key, target, of=ask.of)
        r.note(target.text, f"count of different {table.name}.{table.key}")
        label = f"number of different {table.plural}"
        return Measure(
            fn="count_distinct",
            name=slug(f"different {table.plural}"),
            label=f"number of different {table.plural}",
            ref=ref,
        )
    column, ref = r.column_of(target, ask.of)
    head = column.label.split()[0] if column.label else ""
    if column.role == "measure" and column.additive and (head == "number" or head.endswith("s")):
        return of_column(r, MeasureAsk("sum", target, ask.of, cue=ask.cue), target, column, ref)
    if column.role not in ("category", "text", "link", "key"):
        raise NotUnderstood((target.text,), f"{column.label} is a figure, not something to count")
    r.note(target.text, f"count of different {column.table}.{column.name}")
    label = f"number of different values of {column.label}"
    return Measure(fn="count_distinct", name=slug(f"different {column.label}"), label=label, ref=ref)


def of_entity(r: Resolver, ask: MeasureAsk, target: Item, of_column: OfColumn) -> Measure:
    """ "total loans": the number or the amount? Asked, unless the table has no measure that could be meant."""
    table = r.model.table(r.entity_table(target))
    worded = _figure_in_cue(r, ask, table)
    if worded is not None:
        return of_column(r, ask, target, worded, r.scope.ref(table.name, worded.name, target))
    if ask.fn != "sum":
        timed = any(g.grain for g in r.draft.groups)
        size = amounts.own_size(r.model, table)
        if size is None or table.name != r.base or timed or singular(target.words[-1]) != target.words[-1]:
            raise NotUnderstood((ask.cue, target.text), f"it does not say of which figure of {table.plural}")
        return of_column(r, ask, target, r.names.column(table.name, size), r.scope.own(size))
    size = amounts.own_size(r.model, table)
    if size is None:
        r.note(f"{ask.cue} {target.text}", f"count(*) of {table.name}")
        return count_rows(r)
    column = r.names.column(table.name, size)
    said = column.label if table.label in column.label else f"{table.label} {column.label}"
    raise Ambiguous(
        target, (f"number of {table.plural}", said), f"total {target.text} can be their number or their {column.label}"
    )


def _figure_in_cue(r: Resolver, ask: MeasureAsk, table: TableModel) -> ColumnModel | None:
    """ "total amount of orders": the figure stands among the function words."""
    said = {w for w in ask.cue.casefold().split() if w in ("amount", "value", "price", "cost", "quantity")}
    found = [c for c in r.model.of_table(table.name) if c.role == "measure" and said & set(c.label.split())]
    return found[0] if len(found) == 1 else None
