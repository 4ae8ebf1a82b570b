"""Figures that follow from the shape of a table: revenue, where its rows have a price and a quantity.

Must never: offer one where two columns could be the price, or two the quantity.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.distinct import quoted
from lexsi_ds.knowledge.metric_sql import shape_of
from lexsi_ds.knowledge.model import ColumnModel, Formula, TableModel
from lexsi_ds.knowledge.words import of_words, singular, split_name

_PRICES = (("unit", "price"), ("price", "each"), ("price", "per", "unit"), ("sale", "price"), ("sales", "price"), ("price",))
_QUANTITIES = frozenset({"quantity", "units", "pieces"})
_MORE = of_words("stock min minimum max maximum level reorder on per available returned ordered")
_LINES = of_words("line detail order sale invoice transaction basket cart receipt purchase booking")
"""Words of a table of line items; stock has prices and quantities too, and is no revenue."""
_TAKINGS = of_words("amount total revenue sales turnover value")
"""What a line's own amount of money is called last."""
_BILLS = of_words("invoice bill sale receipt booking ticket")
_CHARGED = of_words("amount total fare price value")
_WORDS = ("revenue", "sales", "turnover", "sales revenue", "total revenue", "total sales", "sales volume")


def formulas_of(handle: DatasetHandle, tables: Sequence[TableModel], columns: Sequence[ColumnModel]) -> tuple[Formula, ...]:
    """Revenue of every table of line items."""
    made: list[Formula] = []
    for table in tables:
        own = [c for c in columns if c.table == table.name and c.role == "measure" and not c.masked]
        price, quantity = _price(own), _quantity(own)
        if price is not None and quantity is not None and _has_lines(table, columns, alone=len(tables) == 1):
            kept = [c for c in own if c.additive and c.label.split()[-1] in _TAKINGS and c not in (price, quantity)]
            if not kept:
                made.append(_revenue(table, price, quantity, _discount(handle, own), first=not made))
            elif len(kept) == 1 and _native(kept[0]):
                made.append(_kept_revenue(table, kept[0], first=not made))
    return tuple(made) or _billed(tables, columns)


def _billed(tables: Sequence[TableModel], columns: Sequence[ColumnModel]) -> tuple[Formula, ...]:
    """Where nothing has a price and a quantity: the one amount of the one table of bills."""
    found: list[tuple[TableModel, ColumnModel]] = []
    for table in tables:
        if {singular(w) for w in split_name(table.name)} & _BILLS:
            own = [c for c in columns if c.table == table.name and c.role == "measure" and not c.masked and _native(c)]
            kept = [c for c in own if c.additive and set(c.label.split()) & _CHARGED]
            found += [(table, kept[0])] if len(kept) == 1 else []
    return (_kept_revenue(*found[0], first=True),) if len(found) == 1 else ()


def _has_lines(table: TableModel, columns: Sequence[ColumnModel], *, alone: bool) -> bool:
    named = {singular(w) for w in split_name(table.name)} & _LINES
    links = [c for c in columns if c.table == table.name and c.role == "link"]
    return bool(named) or (alone and table.time is not None) or (len(links) > 1 and table.key not in [c.name for c in links])


def _kept_revenue(table: TableModel, kept: ColumnModel, *, first: bool) -> Formula:
    """Revenue where the lines have their own amount: what was worked out already is not worked out again, or otherwise."""
    shape = shape_of(f"SUM({quoted(kept.name)})")
    return Formula(
        id="revenue" if first else f"{table.name}_revenue", label="revenue", table=table.name, words=_WORDS,
        expression=shape.sql, row=shape.row, fn="sum", unit=kept.unit, text=f"sum of {kept.label} of each {table.label}",
    )


def _revenue(
    table: TableModel, price: ColumnModel, quantity: ColumnModel, discount: ColumnModel | None, *, first: bool
) -> Formula:
    row = f"{quoted(price.name)} * {quoted(quantity.name)}"
    text = f"{price.label} times {quantity.label} of each {table.label}"
    if discount is not None:
        share = f"coalesce({quoted(discount.name)}, 0)" + (" / 100.0" if discount.unit == "%" else "")
        row += f" * (1 - {share})"
        text += f", less {discount.label}"
    shape = shape_of(f"SUM({row})")
    return Formula(
        id="revenue" if first else f"{table.name}_revenue", label="revenue", table=table.name, words=_WORDS,
        expression=shape.sql, row=shape.row, fn="sum", unit=price.unit, text=f"sum of {text}",
    )


def _price(own: list[ColumnModel]) -> ColumnModel | None:
    for wanted in _PRICES:
        found = [c for c in own if tuple(split_name(c.name))[-len(wanted) :] == wanted]
        if found:
            return found[0] if len(found) == 1 and _native(found[0]) else None
    return None


def _quantity(own: list[ColumnModel]) -> ColumnModel | None:
    found = [c for c in own if set(split_name(c.name)) & _QUANTITIES and not set(split_name(c.name)) & _MORE]
    return found[0] if len(found) == 1 and _native(found[0]) else None


def _discount(handle: DatasetHandle, own: list[ColumnModel]) -> ColumnModel | None:
    """The discount, when it is a share of the price: between 0 and 1, or a percentage that its name says it is."""
    found = [c for c in own if c.label.split()[-1:] == ["discount"] and _is_share(handle, c)]
    return found[0] if len(found) == 1 else None


def _is_share(handle: DatasetHandle, column: ColumnModel) -> bool:
    table = handle.table(column.table)
    stored = table.column(column.name) if table else None
    try:
        most = 100 if column.unit == "%" else 1
        return stored is not None and float(stored.minimum or "") >= 0 and float(stored.maximum or "") <= most
    except ValueError:
        return False


def _native(column: ColumnModel) -> bool:
    return column.stored == "native"
