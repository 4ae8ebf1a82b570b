"""Clauses that ask by how much two things differ: "how much more do women earn than men on average", "difference between the
largest and the smallest payment", "how many more orders in 2023 than in 2022". The first less the second, in the order said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.draft import FilterAsk, MeasureAsk
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.nested import paid
from lexsi_ds.text_to_sql.rules import AGGREGATES, SUPERLATIVES
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_MORE = frozenset({"more", "less", "fewer", "higher", "lower", "larger", "smaller", "bigger", "greater", "longer"})


@dataclass(frozen=True)
class Difference:
    """What is measured is in the draft; these are the rows on either side. None: the highest less the lowest."""

    sides: tuple[tuple[FilterAsk, ...], tuple[FilterAsk, ...]] | None
    text: str
    turned: bool = False
    """Whether less was asked for, so that the second comes first."""


def clause(parser: Parser, i: int) -> int:
    """Whichever form begins here; one question asks for one difference."""
    if parser.draft.difference is not None:
        return i
    for rule in (_ends, _between, _more):
        stop = rule(parser, i)
        if stop > i:
            return stop
    return i


def _ends(parser: Parser, i: int) -> int:
    """ "difference between the largest and the smallest X"."""
    if parser.kind(i) != "difference":
        return i
    first = parser.skip(i + 1, "of", "in", "between")
    second = parser.skip(first + 1, "and", "to")
    high, low = _end(parser, first), _end(parser, second)
    target = parser.skip(second + 1, "of")
    if second == first + 1 or {high, low} != {True, False} or not parser.is_named(target, "column"):
        return i
    parser.draft.measures += [MeasureAsk(fn, parser.items[target], cue=fn) for fn in ("maximum", "minimum")]
    parser.draft.difference = Difference(None, _text(parser, i, target + 1))
    return target + 1


def _end(parser: Parser, i: int) -> bool | None:
    kind = parser.kind(i)
    return {"maximum": True, "minimum": False}.get(kind, SUPERLATIVES.get(kind))


def _between(parser: Parser, i: int) -> int:
    """ "difference between the average wage of men and women", "difference in average wage between men and women"."""
    if parser.kind(i) != "difference":
        return i
    start = parser.skip(i + 1, "of", "in", "between")
    asked, stop = _figure(parser, start)
    if asked is None:
        sides, stop = _two(parser, start)
        asked, stop = _figure(parser, parser.skip(stop, "in", "of")) if sides is not None else (None, i)
    else:
        sides, stop = _two(parser, parser.skip(stop, "of", "between", "in", "from"))
    if asked is None or sides is None:
        return i
    parser.draft.measures.append(asked)
    parser.draft.difference = Difference(sides, _text(parser, i, stop))
    return stop


def _figure(parser: Parser, i: int) -> tuple[MeasureAsk | None, int]:
    kind = parser.kind(i)
    if kind in AGGREGATES:
        at = parser.skip(i + 1, "of", "all")
        if parser.is_named(at, "entity" if kind == "count" else "column") or parser.is_named(at, "metric"):
            return MeasureAsk(AGGREGATES[kind], parser.items[at], cue=parser.items[i].text), at + 1
        return None, i
    if parser.is_named(i, "metric"):
        return MeasureAsk("rate", parser.items[i], cue=parser.items[i].text), i + 1
    return None, i


def _two(parser: Parser, i: int) -> tuple[tuple[tuple[FilterAsk, ...], tuple[FilterAsk, ...]] | None, int]:
    """ "men and women", "premium and basic members", "2023 and 2022"."""
    first, stop = _one(parser, i)
    if not first or parser.kind(stop) not in ("and", "versus"):
        return None, i
    second, stop = _one(parser, parser.skip(stop + 1, "of", "in"))
    return ((first, second), stop) if second else (None, i)


def _one(parser: Parser, i: int) -> tuple[tuple[FilterAsk, ...], int]:
    """What tells one side: a value with or without its noun, or days."""
    stop = parser.skip(i, "all")
    noun = None
    if parser.is_named(stop, "entity") and not parser.is_named(stop, "value", "column"):
        noun, stop = parser.items[stop], stop + 1
    made: list[FilterAsk] = []
    while parser.is_named(stop, "value") and not parser.is_named(stop, "entity"):
        made.append(FilterAsk("value", (parser.items[stop],), text=parser.items[stop].text))
        stop += 1
    at = parser.skip(stop, "in", "be", "with", "of")
    span = parser.items[at].span if parser.kind(at) == "date" else None
    if not made and span is not None:
        made, stop = [FilterAsk("days", span=span, text=parser.items[at].text)], at + 1
    if made and noun is None and parser.is_named(stop, "entity") and not parser.is_named(stop, "value", "column"):
        noun, stop = parser.items[stop], stop + 1
    if not made:
        return (), i
    if noun is not None:
        _name(parser, noun)
    return tuple(made), stop


def _name(parser: Parser, noun: Item) -> None:
    if all(noun.text.casefold() != e.text.casefold() for e in parser.draft.entities):
        parser.draft.entities.append(noun)


def _more(parser: Parser, i: int) -> int:
    """ "how many more orders in 2023 than in 2022", "how much more do women earn than men on average"."""
    asked = parser.items[i].text.casefold()
    at = i + 1
    if asked not in ("how many", "how much") or parser.kind(at) not in ("more", "less"):
        return i
    word = parser.items[at].text.casefold()
    if word not in _MORE:
        return i
    entities = list(parser.draft.entities)
    measured, stop = _measured(parser, parser.skip(at + 1, "be", "stop"))
    first, stop = _one(parser, parser.skip(stop, "be", "with", "of"))
    behind, stop = _measured(parser, stop) if measured is None else (measured, stop)
    if not first or parser.kind(stop) != "than":
        parser.draft.entities = entities
        return i
    second, stop = _one(parser, parser.skip(stop + 1, "of", "in"))
    average = parser.kind(stop) == "average"
    fn: Fn = "average" if average else "count"
    if not second or (behind is None and asked == "how much") or (asked == "how many" and average):
        parser.draft.entities = entities
        return i
    if behind is None:
        noun = next(iter(parser.draft.entities[len(entities):]), None)
        if noun is not None:
            parser.draft.entities.remove(noun)
            parser.draft.measures.append(MeasureAsk("count", noun, cue=asked))
        else:
            parser.draft.pending.append("count")
            parser.draft.counted = first[0].items[0] if first[0].items else None
    elif isinstance(behind, MeasureAsk):
        parser.draft.measures.append(behind)
    elif asked == "how many" or not average:
        parser.draft.entities = entities
        return i
    else:
        parser.draft.measures.append(MeasureAsk(fn, behind, cue="average"))
    parser.draft.difference = Difference((first, second), _text(parser, i, stop), turned=parser.kind(at) == "less")
    return stop + average


def _measured(parser: Parser, i: int) -> tuple[MeasureAsk | Item | None, int]:
    """A figure with its function, or a column or verb of charges that "on average" behind will be taken of."""
    found, stop = _figure(parser, i)
    if found is not None:
        return found, stop
    item = parser.items[i] if i < len(parser.items) else None
    if item is not None and item.kind == "sense" and not item.of("entity", "value"):
        if any(s.role == "measure" for s in item.of("column")):
            return item, i + 1
        if item.of("pay"):
            return paid(item), i + 1
    return None, i


def _text(parser: Parser, i: int, stop: int) -> str:
    return " ".join(x.text for x in parser.items[i:stop])
