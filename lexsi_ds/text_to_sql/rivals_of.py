"""Two things of a row set against each other, as a test: two numbers of rows, or one thing told of two others it points to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import subqueries
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Predicate, Ref
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_WORDS = {">": "more", "<": "fewer"}


def rival(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "more cancelled than returned orders"."""
    sides = []
    for side in ask.inner:
        found = subqueries.exists(r, replace(side, kind="exists", test=">=", numbers=(1.0,), negated=False))
        if len(found) != 1 or found[0].sub is None:
            raise NotUnderstood((side.text,), "it names no rows that can be counted")
        sides.append(found[0])
    first, second = sides
    said = [s.text.removeprefix("with at least 1 ") for s in sides]
    text = f"with {_WORDS[ask.test]} {said[0]} than {said[1]}"
    r.note(ask.text, text)
    return Predicate(ref=first.ref, test=ask.test, sub=first.sub, than=second.sub, text=text)  # type: ignore[arg-type]


def apart(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "in a different city than the warehouse": the same column, told of two things that a row points to."""
    item, other = ask.items[0], ask.of
    if other is None:
        raise NotUnderstood((ask.text,), "it does not say what to compare with")
    table, column = _place(r, item)
    theirs = _told_of(r, table, column, item, other)
    own = ask.noun if ask.noun is not None and _leads(r, ask.noun, other) else None
    ours = _told_of(r, table, column, item, own)
    if ours == theirs:
        raise NotUnderstood((ask.text,), f"both are the same {item.text}")
    label = r.names.column(table, column).label
    whose = other.text.casefold()
    word = "a different" if ask.test == "<>" else "the same"
    text = f"in {word} {item.text.casefold()} {'than' if ask.test == '<>' else 'as'} the {whose}"
    r.note(ask.text, f"{label} {ask.test} the {whose}'s")
    return Predicate(ref=ours, test=ask.test, other=theirs, text=text)  # type: ignore[arg-type]


def _leads(r: Resolver, noun: Item, other: Item) -> bool:
    """Whether the noun before is another table than the counted one, or a role, and not the one that is compared with."""
    tables = {s.table for s in noun.of("entity")}
    return noun != other and r.base not in tables


def _place(r: Resolver, item: Item) -> tuple[str, str]:
    """The column that is compared: a table's key where rows are named."""
    if item.of("entity"):
        table = r.model.table(r.entity_table(item))
        if table.key is None:
            raise NotUnderstood((item.text,), f"nothing tells one {table.label} from another")
        return table.name, table.key
    named = sorted({(s.table, s.column) for s in item.of("column")})
    own = [n for n in named if n[0] == r.base] or named
    if not own:
        raise NotUnderstood((item.text,), "it names no column")
    return own[0]


def _told_of(r: Resolver, table: str, column: str, item: Item, owner: Item | None) -> Ref:
    """The column of what an owner has or is; of the row itself where there is no owner."""
    if owner is None:
        senses = [s for s in item.of("column") if s.table == r.base]
        if senses:
            return r.scope.own(senses[0].column)
        link = _own_link(r, table)
        if link is not None:
            return r.scope.own(link)
        return r.scope.ref(table, column, item)
    tables = {s.table for s in owner.of("entity")}
    senses = [s for s in item.of("column") if s.table in tables]
    if senses:
        return r.scope.ref(senses[0].table, senses[0].column, item)
    near = replace(item, senses=(Sense("column", table, column),))
    return r.scope.ref(table, column, near, of=owner)


def _own_link(r: Resolver, table: str) -> str | None:
    """The one column by which each row points to the place."""
    links = [x for x in r.model.relationships if x.child == r.base and x.parent == table]
    return links[0].child_column if len(links) == 1 else None
