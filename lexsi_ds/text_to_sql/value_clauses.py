"""Clauses that name values and segments: "in Prague or Brno", "women", "running", "without phone service", "churned versus not"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.draft import FilterAsk, GroupAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser


_AMONG = frozenset({"among", "amongst", "out of", "from among", "within"})
_ORDINALS = frozenset({"first", "second", "third", "last"})


def values(parser: Parser, i: int) -> int:
    """Values and segments, with "not", "or", and the column or role named beside them."""
    start, negated, column = i, False, None
    if parser.kind(i) == "not":
        after = parser.skip(i + 1, "with", "be", "in", "of")
        told = parser.skip(after + 1, "be", "of", "equal", "by", "in", "to", "from")
        if parser.is_named(after, "column", "hint") and _holds(parser.items[after], parser, told):
            negated, column, start = True, parser.items[after], told
        elif parser.is_named(after, "verb") and told > after + 1 and _is_value(parser, told):
            negated, start = True, told  # "not booked by phone": booked another way
    elif parser.is_named(start, "column", "hint"):
        after = parser.skip(start + 1, "be", "of", "in", "equal", "by", "to", "from")
        if _holds(parser.items[start], parser, after) or (
            parser.kind(after) == "not" and parser.is_named(after + 1, "value")
        ):
            column, start = parser.items[start], after
    if parser.kind(start) == "to" and parser.kind(i - 1) in ("sense", "date"):
        start += 1
    role = (
        parser.items[start]
        if parser.is_named(start, "role") and parser.is_named(parser.skip(start + 1, "in"), "value")
        else None
    )
    if role is not None and not parser.is_named(start, "value"):
        start = parser.skip(start + 1, "in")
    else:
        role = None
    if parser.kind(start) in ("not", "without"):
        negated, start = True, parser.skip(start + 1, "in", "be", "with", "of", "from")
    if not _is_value(parser, start):
        return i
    dealt = parser.kind(start - 2) in ("with", "without") or parser.is_named(start - 2, "deal", "verb", "hint")
    if parser.kind(start - 1) == "only" and dealt:
        parser.draft.left.append(parser.items[start - 1].text)  # that and nothing else
    if parser.items[start].text.casefold() in _ORDINALS and any(x.kind == "each" for x in parser.items):
        return i
    found, stop = [parser.items[start]], start + 1
    apart = False
    while parser.kind(stop) in ("or", "and", "mark", "versus"):
        following = parser.skip(stop, "or", "and", "mark", "versus")
        if not _is_value(parser, following) or not _same_column(found[0], parser.items[following]):
            break
        apart = apart or any(parser.kind(k) in ("versus", "and") for k in range(stop, following))
        found.append(parser.items[following])
        stop = following + 1
    if (
        parser.is_named(stop, "column")
        and not parser.is_named(stop, "entity", "verb")
        and _holds(parser.items[stop], parser, stop - 1)
    ):
        stop += 1
    if apart and start > 0 and parser.items[start - 1].text.casefold() == "both":
        parser.draft.left.append(parser.items[start - 1].text)  # rows of either kind at once are two conditions
    if apart and len(found) > 1 and all(x.article for x in found) and parser.kind(start - 1) in ("be", "which"):
        parser.draft.left.append(found[-1].text)  # "that are a dog and a cat": nothing is both
    if negated and parser.kind(i) == "without" and parser.is_named(stop, "value"):
        parser.draft.left.append(parser.items[stop].text)  # "without excused sick absences": both at once are absent
    if apart and not negated and found[0].of("value"):
        parser.draft.groups.append(GroupAsk(column_of_value(found[0]), text=found[0].text))
    text = " ".join(item.text for item in parser.items[i:stop])
    kind = "segment" if found[0].of("segment") and not found[0].of("value") else "value"
    parser.draft.filters.append(
        FilterAsk(
            kind,
            tuple(found),
            negated=negated,
            column=column,
            text=text,
            of=role,
            whole=_whole(parser, i, stop),
            late=is_late(parser),
            by=parser.kind(i - 1) == "by",
            among=parser.kind(i - 1) == "of" and parser.items[i - 1].text.casefold() in _AMONG,
            noun=parser.items[stop] if parser.is_named(stop, "entity") and not parser.is_named(stop, "value") else None,
            owned=parser.kind(i - 1) in ("with", "without") or parser.kind(i) in ("with", "without"),
        )
    )
    return stop


def _holds(column: Item, parser: Parser, i: int) -> bool:
    """Whether a value of this very column stands at ``i``, one that was said and not just the column's name again."""
    if not parser.is_named(i, "value"):
        return False
    named = {(s.table, s.column) for s in column.of("column", "hint")}
    return any((s.table, s.column) in named and s.strong for s in parser.items[i].of("value"))


def _is_value(parser: Parser, i: int) -> bool:
    """Whether a value stands here: one that is a column's name too ("Churn") only where a noun or a negation calls for it."""
    if not parser.is_named(i, "value", "segment"):
        return False
    item = parser.items[i]
    if (item.of("boss") and parser.kind(i - 1) in ("by", "each", "and")) or (item.of("boss") and item.article):
        return False
    if item.of("entity", "metric") or (item.of("role") and item.of("value")):
        return False
    if len(item.words) == 1 and len(item.words[0]) == 1:
        return item.text.isupper() or parser.is_named(i - 1, "column")
    if parser.kind(i + 1) == "relate" or parser.kind(i - 1) == "relate":
        return False
    if all(not s.strong for s in item.of("value")) and not item.of("segment"):
        before, after = parser.kind(i - 1), parser.items[i + 1] if i + 1 < len(parser.items) else None
        noun = after is not None and bool(after.of("entity"))
        measured = parser.draft.measures[-1].target if parser.draft.measures else None
        noun = noun or (before == "of" and measured is not None and bool(measured.of("metric")))
        return before in ("with", "without", "not", "be", "count", "share", "and", "which", "only") or noun
    return True


def _whole(parser: Parser, i: int, stop: int) -> Item:
    first, last = parser.items[i], parser.items[stop - 1]
    return Item("whole", " ".join(item.text for item in parser.items[i:stop]), start=first.start, end=last.end)


def column_of_value(item: Item) -> Item:
    """The column that a value belongs to, as a name: two values set against each other are two groups."""
    senses = tuple(Sense("column", s.table, s.column, label=s.label) for s in item.of("value"))
    return replace(item, senses=senses)


def _same_column(a: Item, b: Item) -> bool:
    ours = {(s.table, s.column) for s in a.of("value")} | {(s.table, "") for s in a.of("segment")}
    theirs = {(s.table, s.column) for s in b.of("value")} | {(s.table, "") for s in b.of("segment")}
    return bool(ours & theirs)
