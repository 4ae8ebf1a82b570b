"""Rows that point to rows of their own table: employees and their managers. Joined to itself by the named role only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.logical import Dimension, JoinStep, Predicate, Ref
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser
    from lexsi_ds.text_to_sql.resolver import Resolver


def clause(parser: Parser, i: int) -> int:
    """ "with a manager", "without a boss", "together with the boss they report to"."""
    kind = parser.kind(i)
    if kind in ("with", "without", "not") and parser.is_named(_after(parser, i), "boss"):
        at = _after(parser, i)
        item = parser.items[at]
        if kind == "not" and not any(parser.kind(n) == "with" for n in range(i + 1, at)):
            return i  # "are not managers" is what they are, not whom they have
        negated = kind != "with"
        owned = item.article or negated or parser.items[i].words[0] in ("have", "has", "had", "having")
        if not owned:
            return i
        text = " ".join(x.text for x in parser.items[i : at + 1])
        parser.draft.filters.append(FilterAsk("boss", (item,), negated=negated, text=text, late=is_late(parser)))
        return at + 1
    if kind == "and" and parser.is_named(i + 1, "boss"):
        parser.draft.bosses.append(parser.items[i + 1])
        stop = i + 2
        verb = stop < len(parser.items) and any(
            s.column == parser.items[i + 1].of("boss")[0].column for s in parser.items[stop].of("column")
        )
        return stop + bool(verb)
    return i


def _after(parser: Parser, i: int) -> int:
    return parser.skip(i + 1, "with", "be", "all")


def filled(r: Resolver, ask: FilterAsk) -> Predicate:
    """Whether a row points to another at all."""
    sense = _sense(r, ask.items[0])
    r.note(ask.text, f"{r.base}.{sense[0]} is {'missing' if ask.negated else 'there'}")
    text = f"{'without' if ask.negated else 'with'} {ask.items[0].text}"
    return Predicate(ref=r.scope.own(sense[0]), test="is null" if ask.negated else "is not null", text=text)


def dimensions(r: Resolver, item: Item, *, grouping: bool = False) -> list[Dimension]:
    """What the other row is called, joined by the role. Rows that point to none are no group."""
    column, key = _sense(r, item)
    table = r.model.table(r.base)
    alias = next((j.alias for j in r.scope.joins if j.table == r.base and j.left.column == column), None)
    if alias is None:
        alias = r.scope.fresh(r.base)
        r.scope.joins.append(JoinStep(alias=alias, table=r.base, left=r.scope.own(column), column=key))
    noun = item.text.casefold().removesuffix("s") if item.text.casefold().endswith("s") else item.text.casefold()
    names = [*table.names] or [key]
    pointing = r.scope.own(column)
    if grouping and r.names.column(r.base, column).nulls and all(t.ref != pointing for t in r.role_tests):
        r.role_tests.append(Predicate(ref=pointing, test="is not null"))
        r.scope.said.append(f"{table.plural} without a {item.text.casefold()} left out")
    r.note(item.text, f"the {noun} that {r.base}.{column} points to")
    made = []
    for name in dict.fromkeys([key, *names]):
        label = r.names.column(r.base, name).label
        label = f"{noun} {label.removeprefix(table.label).strip() or label}"
        made.append(Dimension(ref=Ref(alias=alias, table=r.base, column=name), name=slug(label), label=label))
    return made


def _sense(r: Resolver, item: Item) -> tuple[str, str]:
    """The column that points, and the one it points to."""
    for link in r.model.hierarchies:
        if link.parent == r.base and any(s.column == link.child_column and s.table == r.base for s in item.of("boss")):
            return link.child_column, link.parent_column
    raise NotUnderstood((item.text,), f"{r.model.table(r.base).plural} have none")
