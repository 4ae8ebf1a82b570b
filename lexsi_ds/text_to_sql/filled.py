"""Whether a column of a row is filled, or whether anything was done to it: "without a composer", "renovated", "never ordered"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import TableModel
from lexsi_ds.knowledge.words import fold, stem
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Predicate
from lexsi_ds.text_to_sql.subqueries import exists

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


_NOTHING = frozenset(["none", "no", "n/a", "na", "nil", "null", "nothing", "keine", "kein", "-", "nobody"])
"""Values by which a column says that there is nothing."""


def filled_or_there(r: Resolver, ask: FilterAsk) -> list[Predicate]:
    """A column of a row that is filled; or, of rows that belong to it, whether there are any: "never ordered"."""
    item = ask.items[0]
    said = stem(item.words[-1])
    tables = [t for t in r.model.tables if said in {stem(w) for w in t.label.split()[-1:]}]
    tables = tables or _of_a_day(r, ask)
    away = [t for t in tables if (far := r.scope.distance(t.name)) is None or far >= 10]
    if ask.kind == "filled" and not ask.negated and item.words[-1].endswith("ed"):
        column, _ = r.column_of(item)
        if column.role == "time" and not column.nulls:
            return []  # every row was: "cards that have been issued"
    if ask.kind == "filled" and ((item.of("column") and not ask.negated) or len(tables) != 1 or len(away) != 1):
        return [filled(r, ask)]
    if len(away) != 1 or len(tables) != 1:
        raise NotUnderstood((ask.text,), "nothing here is done so")
    rows = replace(item, kind="sense", senses=(Sense("entity", away[0].name, label=away[0].label),))
    return exists(r, replace(ask, kind="exists", items=(rows,), test="exists", column=None))


def _of_a_day(r: Resolver, ask: FilterAsk) -> list[TableModel]:
    """ "never admitted": the rows whose every one has such a day, where those are not the ones asked for but belong to them."""
    senses = ask.items[0].of("column", "verb", "hint")
    dated = [r.names.column(s.table, s.column) for s in senses]
    tables = {c.table for c in dated if c.role == "time" and not c.nulls and c.table != r.base}
    if not ask.negated or not dated or len({c.table for c in dated}) != 1 or len(tables) != 1:
        return []
    return [r.model.table(t) for t in tables if any(w.hops for w in routes(r.model, t, r.base) if not w.back)]


def filled(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "without a composer": missing. "with a basement", of a figure that is 0 where there is none: above 0."""
    if ask.column is None:
        raise NotUnderstood((ask.text,), "it names no column")
    column, ref = r.column_of(ask.column, filtering=True)
    table = r.names.handle.table(column.table)
    kept = table.column(column.name) if table else None
    least = kept.minimum if kept else None
    number = r.names.family(column.table, column.name) == "number"
    zeros = number and least is not None and _is_zero(least)
    if zeros and column.nulls:
        raise NotUnderstood((ask.text,), f"{column.label} is missing on some rows and 0 on others")
    said = f"{'no' if ask.negated else 'a'} {column.label}"
    if zeros:
        r.note(ask.text, f"{column.table}.{column.name} {'= 0' if ask.negated else '> 0'}")
        text = f"with {said} ({column.label} {'0' if ask.negated else 'above 0'})"
        return Predicate(ref=ref, test="=" if ask.negated else ">", values=("0",), text=text)
    nothing = sorted({
        h.value for _, hits in r.values.entries() for h in hits
        if (h.table, h.column, h.exact) == (column.table, column.name, True) and fold(h.value) in _NOTHING
    })
    if nothing:
        gone = Predicate(ref=ref, test="is null")
        called = Predicate(ref=ref, test="not in" if not ask.negated else "in", values=tuple(nothing))
        r.note(ask.text, f"{column.table}.{column.name} is missing or {' or '.join(nothing)}" if ask.negated else
               f"{column.table}.{column.name} is there and not {' or '.join(nothing)}")
        text = f"with {said} (missing and {', '.join(nothing)} taken for none)"
        if ask.negated:
            return Predicate(ref=ref, test="any", any_of=(gone, called) if column.nulls else (called,), text=text)
        return called.model_copy(update={"text": text})
    if not column.nulls:
        raise NotUnderstood((ask.text,), f"every row has a {column.label}")
    r.note(ask.text, f"{column.table}.{column.name} is {'missing' if ask.negated else 'there'}")
    return Predicate(ref=ref, test="is null" if ask.negated else "is not null", text=f"with {said}")


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False
