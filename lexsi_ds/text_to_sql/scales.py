"""Numbers beside columns that are kept in thousands or millions: "a budget above 150 million" of ``budget_musd``; metres.

A number that is as large as the scale is meant in ones and divided; a smaller one is meant as the column has it. Never both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.name_units import scale_of
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.units import factor

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_METERS = re.compile(r"([\d.,]*\d)\s?m$")
_NEAR = 10
"""A number within this factor of one unit of the column is already too large to be counted in it."""


def settle(r: Resolver) -> None:
    """Bring the numbers of a draft to the scale of the columns that they are compared with."""
    r.draft.filters = [_scaled(r, ask) for ask in r.draft.filters]
    for i, ask in enumerate(r.draft.having):
        scale = _scale(r, ask.target) if ask.fn != "count" else 1.0
        if scale != 1 and ask.number >= scale / _NEAR:
            r.draft.having[i] = replace(ask, number=ask.number / scale)


def _scaled(r: Resolver, ask: FilterAsk) -> FilterAsk:
    inner = tuple(_scaled(r, i) for i in ask.inner)
    ask = _in_meters(r, ask)
    scale = _scale(r, ask.column) if ask.kind == "compare" and ask.unit is None else 1.0
    if scale == 1:
        return replace(ask, inner=inner) if inner != ask.inner else ask
    numbers = tuple(n / scale if abs(n) >= scale / _NEAR else n for n in ask.numbers)
    return replace(ask, inner=inner, numbers=numbers)


def _in_meters(r: Resolver, ask: FilterAsk) -> FilterAsk:
    """ "taller than 1.85 m": beside a length an m is a metre and no million."""
    said = _METERS.search(ask.text) if ask.kind == "compare" and ask.column is not None and ask.unit is None else None
    kept = {c.unit for s in ask.column.of("column") if (c := r.names.column(s.table, s.column))} if said and ask.column else set()
    factors = {factor("m", unit) if unit else None for unit in kept}
    if said is None or len(ask.numbers) != 1 or len(factors) != 1 or None in factors:
        return ask
    return replace(ask, numbers=(float(said[1].replace(",", "")) * (factors.pop() or 1.0),))


def _scale(r: Resolver, item: Item | None) -> float:
    """The scale of the column that an item names; 1 where it may name columns of different scales."""
    if item is None:
        return 1.0
    found = {(c.label, scale_of(c.unit)) for s in item.of("column") if (c := r.names.column(s.table, s.column))}
    scales = {scale for _, scale in found}
    if len(scales) != 1 or scales == {1.0}:
        return 1.0
    said = f"{next(iter(found))[0]} is kept in {'millions' if scales == {1e6} else 'thousands' if scales == {1e3} else 'billions'}"
    if said not in r.scope.said:
        r.scope.said.append(said)
    return scales.pop()
