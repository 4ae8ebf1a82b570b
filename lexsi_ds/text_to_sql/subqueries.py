"""Tests that look at other rows: rows that belong to a row or do not, a figure above the average, one column above another.

Such a test never multiplies what is counted: the other rows stay inside a query of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.amounts import only_amount
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.joins import Route, routes
from lexsi_ds.text_to_sql.lexicon import is_length
from lexsi_ds.text_to_sql.logical import Predicate, Ref, Sub
from lexsi_ds.text_to_sql.scope import Scope
from lexsi_ds.text_to_sql.sqltext import number_text
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import SAID

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_FUNCTIONS = {"average": "average", "median": "median", "maximum": "highest", "minimum": "lowest"}


def exists(r: Resolver, ask: FilterAsk) -> list[Predicate]:
    """ "without a loan", "with at least two orders"."""
    item = ask.items[0]
    table = r.entity_table(item)
    noun = r.model.table(table)
    if table == r.base:
        raise NotUnderstood((ask.text,), f"it is {noun.plural} that are asked for")
    owner = r.entity_table(ask.of) if ask.of is not None and ask.of.of("entity") else r.base
    down = _nearest(r, table, owner, item)
    if down is None and owner != r.base:
        raise NotUnderstood((ask.text,), f"no {noun.plural} belong to one {r.model.table(owner).label}")
    if down is None:
        return _upward(r, ask, table)
    if owner != r.base and ask.of is not None:
        whose = r.scope.ref(owner, down.hops[-1].to_column, ask.of, filtering=True)
    else:
        whose = r.scope.own(down.hops[-1].to_column)
    sub = _rows(r, table, down, ask.inner, whose)
    said = " ".join((noun.plural, *(t.text for t in sub.filters if t.text)))
    own = whose
    said = said if owner == r.base else f"{said} of the {r.model.table(owner).label}"
    r.note(ask.text, f"{'no ' if ask.negated else ''}{noun.plural} of the {r.model.table(r.base).label}")
    if not ask.numbers:
        test = "not exists" if ask.negated else "exists"
        return [Predicate(ref=own, test=test, sub=sub, text=f"{'without' if ask.negated else 'with'} {said}")]
    if ask.negated:
        raise NotUnderstood((ask.text,), "a number of rows is asked not to be there")
    number = number_text(ask.numbers[0])
    text = f"with {SAID[ask.test]} {number} {said}"
    return [Predicate(ref=own, test=ask.test, values=(number,), sub=sub, text=text)]  # type: ignore[arg-type]


def _nearest(r: Resolver, start: str, end: str, item: Item) -> Route | None:
    """The way from rows to what they belong to; None when they do not, and a question when there are two."""
    found = [w for w in routes(r.model, start, end) if not w.back]
    if not found:
        return None
    nearest = [w for w in found if len(w.hops) == len(found[0].hops)]
    owners = [w.hops[-1].table for w in nearest]
    if item.owner is not None:
        named = {s.table for s in item.owner.of("entity")}
        nearest = [w for w in nearest if w.hops[-1].table in named] or nearest
    if len(nearest) > 1:
        noun = item.text if item.owner is None else item.text.rpartition("'s ")[2]
        apart = len(set(owners)) == len(owners) and start not in owners
        ways = tuple(f"{r.model.table(o).label}'s {noun}" for o in owners) if apart else tuple(
            w.said[-1] if w.said else w.hops[-1].table for w in nearest
        )
        raise Ambiguous(item, ways, f"{item.text} can belong in several ways")
    if len(found) > 1 and nearest[0].said and nearest[0].said[-1] not in r.scope.said:
        r.scope.said.append(nearest[0].said[-1])
    return nearest[0]


def _rows(r: Resolver, table: str, down: Route, inner: tuple[FilterAsk, ...], whose: Ref) -> Sub:
    """The rows of ``table`` that belong to a row of the counted one, restricted by what was said of them."""
    work = r.inside(Draft(filters=list(inner)), table)
    last = down.hops[-1]
    if last.conditions:
        raise NotUnderstood((table,), f"what belongs to a {r.model.table(r.base).label} has a condition of its own")
    alias = work.scope.join(down.hops[:-1]) if len(down.hops) > 1 else work.scope.alias
    link = (Ref(alias=alias, table=last.table, column=last.column), whose)
    filters = work.filters()
    return Sub(table=table, alias=work.scope.alias, joins=tuple(work.scope.joins), links=(link,), filters=tuple(filters))


def _upward(r: Resolver, ask: FilterAsk, table: str) -> list[Predicate]:
    """Rows that each row points to, or that are tied to it by a table of pairs."""
    item = ask.items[0]
    up = [w for w in routes(r.model, r.base, table) if not w.back]
    if up and not ask.numbers:
        if not ask.negated:
            if ask.inner:
                return [p for a in ask.inner for p in r.settle_one(a)]
            r.note(ask.text, r.model.table(table).plural)
            return []
        hop = up[0].hops[0]
        if len(up[0].hops) == 1 and not hop.conditions:
            r.note(ask.text, f"{hop.table}.{hop.column} is missing")
            return [Predicate(ref=r.scope.own(hop.column), test="is null", text=f"without {r.model.table(table).label}")]
    pair = None if up else _pairing(r, table, item)
    if pair is None:
        base = r.model.table(r.base)
        raise NotUnderstood((item.text,), f"no way leads from {r.model.table(table).plural} to {base.plural}")
    middle, down, across = pair
    if ask.numbers and not r.model.table(middle).bridge:
        rows = r.model.table(middle).plural
        raise NotUnderstood((ask.text,), f"it is not clear whether {rows} or different {r.model.table(table).plural} are counted")
    work = r.inside(Draft(), middle)
    alias = work.scope.join(down.hops[:-1]) if len(down.hops) > 1 else work.scope.alias
    last = down.hops[len(down.hops) - 1]
    link = (Ref(alias=alias, table=last.table, column=last.column), r.scope.own(last.to_column))
    counted = next((Ref(alias=work.scope.alias, table=middle, column=h.column) for h in across.hops if len(across.hops) == 1), None)
    tests: list[Predicate] = []
    for inner in ask.inner:
        tests += work.settle_one(inner)
    fn = "count" if counted is None or not ask.numbers else "count_distinct"
    sub = Sub(
        table=middle, alias=work.scope.alias, joins=tuple(work.scope.joins), links=(link,), filters=tuple(tests), fn=fn,
        ref=counted if fn == "count_distinct" else None,
    )
    noun = " ".join((r.model.table(table).plural, *(t.text for t in tests if t.text)))
    own = r.scope.own(last.to_column)
    r.note(ask.text, f"{noun} tied to the {r.model.table(r.base).label} in {middle}")
    if not ask.numbers:
        word = "without" if ask.negated else "with"
        return [Predicate(ref=own, test="not exists" if ask.negated else "exists", sub=sub, text=f"{word} {noun}")]
    number = number_text(ask.numbers[0])
    return [
        Predicate(ref=own, test=ask.test, values=(number,), sub=sub, text=f"with {SAID[ask.test]} {number} {noun}")  # type: ignore[arg-type]
    ]


def _pairing(r: Resolver, table: str, item: Item) -> tuple[str, Route, Route] | None:
    """The one table whose rows tie both together, with its ways to either; None when there is none."""
    found: list[tuple[int, str, Route, Route]] = []
    for middle in r.model.tables:
        if middle.name in (r.base, table):
            continue
        down = [w for w in routes(r.model, middle.name, r.base) if not w.back]
        across = [w for w in routes(r.model, middle.name, table) if not w.back]
        if down and across:
            found.append((len(down[0].hops) + len(across[0].hops), middle.name, down[0], across[0]))
    if not found:
        return None
    least = min(n for n, *_ in found)
    best = [f for f in found if f[0] == least]
    if len(best) > 1:
        raise Ambiguous(item, tuple(r.model.table(m).plural for _, m, *_ in best), f"{item.text} are tied in several ways")
    return best[0][1:]


def versus(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "above the average", "more than half of the wage of its district"."""
    column, ref = _compared(r, ask)
    if ask.fn is None:
        return _columns(r, ask, column, ref)
    target = column
    if ask.target is not None and not _names_rows(r, ask.target):
        target, _ = r.column_of(ask.target)
    _comparable(ask, column, target)
    if target.table != r.base:
        raise NotUnderstood((ask.text,), f"the {ask.fn} would be taken over {r.model.table(target.table).plural}")
    work = r.inside(Draft(), r.base)
    links = ()
    whose = f"all {r.model.table(r.base).plural}"
    if ask.per is not None:
        links = (_shared(r, work.scope, ask.per),)
        whose = f"the same {ask.per.text.removesuffix(chr(39) + 's')}"
    sub = Sub(
        table=r.base, alias=work.scope.alias, joins=tuple(work.scope.joins), links=links, fn=ask.fn,
        ref=work.scope.own(target.name),
    )
    times = "" if ask.factor == 1 else f"{number_text(ask.factor)} times "
    text = f"{column.label} {SAID[ask.test]} {times}the {_FUNCTIONS[ask.fn]} {target.label} of {whose}"
    r.note(ask.text, text)
    return Predicate(ref=ref, test=ask.test, than=sub, factor=ask.factor, text=text)  # type: ignore[arg-type]


def _shared(r: Resolver, inner: Scope, item: Item) -> tuple[Ref, Ref]:
    """The column that rows share with this one when they are of its group."""
    if item.of("entity") and not item.of("column"):
        table = r.model.table(r.entity_table(item))
        if table.key is None:
            raise NotUnderstood((item.text,), f"nothing tells one {table.label} from another")
        return inner.ref(table.name, table.key, item), r.scope.ref(table.name, table.key, item)
    column, outer = r.column_of(item)
    return inner.ref(column.table, column.name, item), outer


def _columns(r: Resolver, ask: FilterAsk, column: ColumnModel, ref: Ref) -> Predicate:
    if ask.target is None:
        raise NotUnderstood((ask.text,), "it does not say what to compare with")
    other, theirs = r.column_of(ask.target, ask.of, filtering=True)
    _comparable(ask, column, other)
    if ref == theirs:
        raise NotUnderstood((ask.text,), "a figure is compared with itself")
    times = "" if ask.factor == 1 else f"{number_text(ask.factor)} times "
    text = f"{column.label} {SAID[ask.test]} {times}{other.label}"
    r.note(ask.text, f"{column.table}.{column.name} {ask.test} {times}{other.table}.{other.name}")
    return Predicate(ref=ref, test=ask.test, other=theirs, factor=ask.factor, text=text)  # type: ignore[arg-type]


def _comparable(ask: FilterAsk, column: ColumnModel, other: ColumnModel) -> None:
    if column.unit and other.unit and column.unit != other.unit:
        raise NotUnderstood((ask.text,), f"{column.label} is in {column.unit} and {other.label} in {other.unit}")
    if {column.role, other.role} - {"measure"} and column.role != other.role:
        raise NotUnderstood((ask.text,), f"{column.label} and {other.label} cannot be compared")


def _names_rows(r: Resolver, item: Item) -> bool:
    return bool(item.of("entity")) and not item.of("column")


def _compared(r: Resolver, ask: FilterAsk) -> tuple[ColumnModel, Ref]:
    """What is compared: the column named before, else what the figure is of, else what "longer" means of these rows."""
    if ask.column is not None:
        return r.column_of(_same_as_figure(ask.column, ask.target), filtering=True)
    if ask.target is not None and not _names_rows(r, ask.target):
        return r.column_of(ask.target, filtering=True)
    if ask.target is not None and r.entity_table(ask.target) != r.base:
        raise NotUnderstood((ask.text,), f"it does not say which figure of {ask.target.text}")
    column = by_word(r, ask.items[0].words[0] if ask.items else "")
    if column is None:
        raise NotUnderstood((ask.text,), f"it does not say which figure of {r.model.table(r.base).plural} to compare")
    return column, r.scope.own(column.name)


def _same_as_figure(column: Item, target: Item | None) -> Item:
    """ "pay more than the average monthly charge": of several things that are paid, the one that is averaged."""
    if target is None:
        return column
    wanted = {(s.table, s.column) for s in target.of("column")}
    same = tuple(s for s in column.senses if (s.table, s.column) in wanted)
    return replace(column, senses=same) if same else column


def by_word(r: Resolver, comparative: str) -> ColumnModel | None:
    """The column that "longer", "older" or "bigger" speaks of; of a table with one size, also a plain "more"."""
    table = r.model.table(r.base)
    own = r.model.of_table(r.base)
    superlative = f"{comparative[:-2]}est" if comparative.endswith("er") else comparative
    worded = [c for c in own if superlative in (*c.bigger, *c.smaller)]
    if superlative in ("longest", "shortest"):
        worded = [c for c in worded if is_length(c, r.model)]
    if len(worded) == 1:
        return worded[0]
    if not worded and table.size is not None:
        return r.names.column(table.name, table.size)
    return None if worded else only_amount(r.model, r.base)
