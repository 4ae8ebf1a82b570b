"""Clauses about rows that belong to what is asked for: "without a loan", "have a card and at least two orders", "with no album".

What is said of those rows right behind them ("a loan granted in 1996") restricts them and not what is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import shared_days
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_TESTS = {"more": ">", "less": "<", "at_least": ">=", "at_most": "<=", "equal": "="}


def owning(parser: Parser, i: int) -> int:
    """ "with" or "without" and a list of rows, or of one figure or text that may be missing."""
    negated, start = _lead(parser, i)
    if start == i:
        return i
    missing = _missing(parser, i, start, negated=negated)
    if missing > i:
        return missing
    counted, start = _how_many_of_all(parser, start)
    made: list[FilterAsk] = []
    stop, listed = start, 0
    while True:
        ask, after = one(parser, stop, negated=negated)
        if ask is None:
            break
        others = _no_others(parser, stop, ask)
        apart, stop = shared_days.of_belongings(parser, ask, after)
        made += [*apart, *others]
        listed += 1
        turned, following = _joiner(parser, stop, negated=negated)
        if following == stop or not _starts_one(parser, following):
            break
        negated, stop = turned, following
    if not made or (counted is not None and counted != listed):
        return i
    plain = len(made) == 1 and made[0].numbers and not made[0].negated and not (made[0].inner and _has_subject(parser))
    if plain and parser.kind(start) in _TESTS:
        return i  # a condition on groups as well as on rows: `comparison` takes it
    owner = _owner(parser, i)
    parser.draft.filters += [replace(a, late=is_late(parser), of=owner) for a in made]
    return stop


def _owner(parser: Parser, i: int) -> Item | None:
    """Whose belongings they are, where that is not what is asked for: "employees in departments with projects"."""
    before = parser.items[i - 1] if i else None
    if before is None or not parser.is_named(i - 1, "entity") or parser.is_named(i - 1, "column", "value"):
        return None
    if parser.kind(i - 2) not in ("in", "of"):
        return None
    named = [*parser.draft.entities, *(m.target for m in parser.draft.measures if m.target is not None)]
    return before if any(n.start < before.start and n.of("entity") for n in named) else None


def _has_subject(parser: Parser) -> bool:
    """Whether rows were named before, which the belongings are told of."""
    draft = parser.draft
    named = [*draft.entities, *([draft.which] if draft.which else []), *(m.target for m in draft.measures if m.target)]
    return any(n.of("entity") and not n.of("column") for n in named)


def _is_participle(item: Item) -> bool:
    """Whether a word says that something was done."""
    return item.words[0].endswith("ed") or item.words[0] in ("left", "sold", "paid", "sent", "built", "won", "lost")


def happened(parser: Parser, i: int) -> int:
    """ "been renovated", "never shipped": what a column of that name holds, whatever it is."""
    negated = parser.kind(i) == "not"
    at = parser.skip(i + 1, "be") if negated else i
    if negated and parser.kind(at) == "rank" and parser.items[at].words == ("ordered",) and parser.kind(at + 1) != "by":
        text = " ".join(x.text for x in parser.items[i : at + 1])
        parser.draft.filters.append(FilterAsk("done", (parser.items[at],), negated=True, text=text, late=is_late(parser)))
        return at + 1
    participle = parser.is_named(at, "hint", "column") and _is_participle(parser.items[at])
    participle = participle and not parser.is_named(at, "value", "entity")
    verb = parser.is_named(at, "verb") and not parser.is_named(at, "entity", "value")
    participle = participle or ((negated or is_late(parser)) and verb)
    left = participle and parser.kind(i - 1) == "with"
    if not participle or (not negated and parser.kind(i - 1) != "be" and not left):
        return i
    following = parser.skip(at + 1, "be", "of", "in", "by", "since", "before", "after", "between", "to", "from")
    if parser.kind(following) in ("date", "number") or parser.is_named(following, "value"):
        return i
    item = parser.items[at]
    text = " ".join(x.text for x in parser.items[i : at + 1])
    parser.draft.filters.append(
        FilterAsk("filled", (item,), negated=negated, column=item, text=text, late=is_late(parser))
    )
    return at + 1


def _lead(parser: Parser, i: int) -> tuple[bool, int]:
    """Whether a list of belongings starts here, whether they must be absent, and where the list goes on."""
    kind = parser.kind(i)
    if kind == "without":
        return True, parser.skip(i + 1, "with", "all")
    if kind == "not" and parser.kind(i + 1) == "with":
        return True, parser.skip(i + 1, "with", "all")
    if kind == "with":
        stop = parser.skip(i, "with", "be")
        if parser.kind(stop) in ("not", "without"):
            return True, parser.skip(stop + 1, "with", "all")
        both = parser.kind(stop) == "and" and parser.items[stop].text.casefold() == "both"
        return False, stop + both
    return False, i


def _how_many_of_all(parser: Parser, i: int) -> tuple[int | None, int]:
    """ "all three: a loan, a card and two orders"."""
    if parser.kind(i) == "all" and parser.kind(i + 1) == "number" and _starts_one(parser, i + 2):
        value = parser.items[i + 1].value
        return (int(value) if value else None), i + 2
    return None, parser.skip(i, "all")


def _joiner(parser: Parser, i: int, *, negated: bool) -> tuple[bool, int]:
    """Where the next of a list starts, and whether it is negated: "a loan but no card", "neither a loan nor a card"."""
    stop = parser.skip(i, "mark", "and")
    if parser.kind(stop) == "not" and parser.items[stop].text.casefold() == "nor":
        return True, stop + 1
    if stop == i:
        return negated, i
    if parser.kind(stop) in ("without", "not"):
        return True, parser.skip(stop + 1, "with", "all")
    if parser.kind(stop) == "with":
        return False, parser.skip(stop, "with")
    return negated, stop


def _starts_one(parser: Parser, i: int) -> bool:
    stop = _after_count(parser, i)[2]
    return _belongs(parser, _described(parser, stop)[1])


def _after_count(parser: Parser, i: int) -> tuple[str, float | None, int]:
    """ "at least two", "more than 3", "5": the test, the number, and where the noun stands."""
    if parser.kind(i) in _TESTS:
        stop = parser.skip(i + 1, "than")
        if parser.kind(stop) == "number":
            return _TESTS[parser.kind(i)], parser.items[stop].value, stop + 1
    if parser.kind(i) == "number":
        if parser.kind(i + 1) in ("at_least", "at_most"):
            return _TESTS[parser.kind(i + 1)], parser.items[i].value, i + 2
        return "=", parser.items[i].value, i + 1
    return "", None, parser.skip(i, "all", "distinct")


def one(parser: Parser, i: int, *, negated: bool = False) -> tuple[FilterAsk | None, int]:
    only = parser.kind(i) == "only"
    test, number, stop = _after_count(parser, i + only)
    said, stop = _described(parser, stop)
    if not _belongs(parser, stop):
        return None, i
    if only and number is None and not (said and not negated):
        parser.draft.left.append(parser.items[i].text)  # only such rows and no others: that is another question
    item, after = parser.items[stop], stop + 1
    inner, after = parser.said_of(after)
    inner = (*said, *inner)
    text = " ".join(x.text for x in parser.items[i:after])
    numbers = (number,) if number is not None else ()
    ask = FilterAsk("exists", (item,), negated=negated, test=test or "exists", numbers=numbers, inner=inner, text=text)
    return ask, after


def _no_others(parser: Parser, i: int, ask: FilterAsk) -> list[FilterAsk]:
    """ "only delivered orders": such rows, and none that are not such."""
    if parser.kind(i) != "only" or ask.numbers or len(ask.inner) != 1 or ask.inner[0].kind != "value":
        return []
    return [replace(ask, negated=True, inner=(replace(ask.inner[0], negated=True, strictly=True),))]


def _described(parser: Parser, i: int) -> tuple[tuple[FilterAsk, ...], int]:
    """A value before the noun: "cancelled orders", "life policies"."""
    stop = i
    while parser.is_named(stop, "value") and not parser.is_named(stop, "entity", "column", "segment"):
        stop += 1
    if stop == i or not _belongs(parser, stop):
        return (), i
    noun = parser.items[stop]
    return tuple(FilterAsk("value", (x,), text=x.text, noun=noun) for x in parser.items[i:stop]), stop


def _belongs(parser: Parser, i: int) -> bool:
    """Whether rows are named here, and neither one of them by its key nor a value, a figure or a group."""
    if not parser.is_named(i, "entity"):
        return False
    item: Item = parser.items[i]
    if item.of("column", "value", "segment", "metric", "house"):
        return False
    keyed = parser.kind(i + 1) in ("number", "date") and parser.kind(i - 1) not in ("number", "at_least", "more")
    return not keyed


def _missing(parser: Parser, i: int, start: int, *, negated: bool) -> int:
    """ "without a composer", "with a basement": whether a column is filled."""
    if not parser.is_named(start, "column", "hint") or parser.is_named(start, "entity", "value", "metric", "segment", "extreme"):
        return i
    following = parser.skip(start + 1, "be", "of", "in", "than")
    if parser.kind(following) in (*_TESTS, "between", "number", "date", "versus", "percent", "older", "younger"):
        return i
    if parser.is_named(following, "value"):
        return i
    item = parser.items[start]
    if not negated and not item.article and parser.kind(i - 1) != "only":
        return i
    text = " ".join(x.text for x in parser.items[i : start + 1])
    parser.draft.filters.append(
        FilterAsk("filled", (item,), negated=negated, column=item, text=text, late=is_late(parser))
    )
    return start + 1
