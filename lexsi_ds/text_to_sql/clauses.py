"""Clauses that restrict rows by figures: comparisons and keys. Each gives the position after what it understood.

A clause that does not fit takes nothing; it never takes a word and drops it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import units
from lexsi_ds.text_to_sql.draft import FilterAsk, GroupAsk, HavingAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.tokens import SCALES

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_TESTS = {"more": ">", "less": "<", "at_least": ">=", "at_most": "<=", "equal": "=", "older": ">", "younger": "<"}
_POSTFIX = ("at_least", "at_most")


def comparison(parser: Parser, i: int) -> int:
    """ "above 9000", "between 5 and 10", "at least 10 loans", "10 or more", "3 bedrooms", "lasting over ten minutes"."""
    column, start = _column_before(parser, i)
    lasts = parser.kind(start) == "lasts"
    if lasts:
        start = parser.skip(start + 1, "of", "be")
        stop = parser.skip(start, "more", "less", "at_least", "at_most", "than", "between")
        if parser.kind(stop) not in ("number", "date") or not (_is_unit(parser, stop + 1) or parser.kind(stop + 1) == "grain"):
            return i
        if parser.kind(start) == "number" and parser.kind(start + 1) not in _POSTFIX:
            return _compared(parser, i, None, "=", (parser.items[start].value or 0.0,), start + 1)
    test, stop = _test_at(parser, start)
    if test is None:
        return _plain_number(parser, i)
    shared = _share_of_each(parser, i, test, stop)
    if shared > i:
        return shared
    years = parser.kind(stop) == "date"
    numbers, stop = _numbers_at(parser, stop, 2 if test == "between" else 1)
    if not numbers or (
        years and column is None and not parser.is_named(stop, "entity", "column") and not _is_unit(parser, stop)
    ):
        return i
    return _compared(parser, i, column, test, numbers, stop)


def _share_of_each(parser: Parser, i: int, test: str, at: int) -> int:
    """ "branches where more than 30% of the members have left": a condition on a percentage of each group."""
    draft = parser.draft
    numbers, stop = _numbers_at(parser, at, 1)
    percent = stop < len(parser.items) and parser.items[stop].text.casefold() in ("%", "percent", "pct")
    shared = parser.kind(stop) == "share" and parser.items[stop].words[0] in ("percent", "pct")
    noun = parser.skip(stop + 1, "of", "all")
    told = shared or (percent and noun > stop + 1)
    if not numbers or not told or draft.share or draft.measures or not parser.is_named(noun, "entity"):
        return i
    groups = [draft.which] if draft.which is not None else [*draft.entities[-1:]] or [*draft.columns[-1:]]
    if len(groups) != 1 or draft.groups or test == "between":
        return i
    draft.which = None
    draft.entities = [e for e in draft.entities if e is not groups[0]]
    draft.columns = [c for c in draft.columns if c is not groups[0]]
    text = " ".join(x.text for x in parser.items[i : noun + 1])
    draft.groups.append(GroupAsk(groups[0], text=groups[0].text))
    draft.entities.append(parser.items[noun])
    draft.having.append(HavingAsk("rate", parser.items[noun], test, numbers[0], text))
    draft.share = draft.share_noun = True
    return noun + 1


def added_up(parser: Parser, i: int) -> int:
    """ "add up to more than 24 hours of playing time": a condition on the sum of each group."""
    if parser.kind(i) != "sum":
        return i
    test, start = _test_at(parser, parser.skip(i + 1, "of", "be"))
    if test is None or test == "between":
        return i
    numbers, stop = _numbers_at(parser, start, 1)
    unit = parser.items[stop] if numbers and _is_unit(parser, stop) else None
    stop = parser.skip(stop + (unit is not None), "of", "in")
    if not numbers or not parser.is_named(stop, "column"):
        return i
    text = " ".join(item.text for item in parser.items[i : stop + 1])
    parser.draft.having.append(HavingAsk("sum", parser.items[stop], test, numbers[0], text, unit))
    return stop + 1


def _column_before(parser: Parser, i: int) -> tuple[Item | None, int]:
    """A column with its comparison: "wages above", "price of at least"."""
    if parser.is_named(i, "column"):
        stop = parser.skip(i + 1, "be", "of", "than")
        if parser.kind(stop) in (*_TESTS, "between") or _is_postfix(parser, stop):
            return parser.items[i], stop
    return None, i


def _is_postfix(parser: Parser, i: int) -> bool:
    return parser.kind(i) in ("number", "date") and parser.kind(i + 1) in _POSTFIX


def _test_at(parser: Parser, i: int) -> tuple[str | None, int]:
    kind = parser.kind(i)
    if kind in ("older", "younger", "between") or kind in _TESTS:
        return ("between" if kind == "between" else _TESTS[kind]), parser.skip(i + 1, "than")
    if _is_postfix(parser, i):
        return _TESTS[parser.kind(i + 1)], i
    return None, i


def _numbers_at(parser: Parser, i: int, count: int) -> tuple[tuple[float, ...], int]:
    numbers: list[float] = []
    while len(numbers) < count and parser.kind(i) in ("number", "date"):
        item = parser.items[i]
        if item.value is None:
            return (), i
        numbers.append(item.value)
        i += 1
        if len(numbers) < count and parser.kind(i) == "mark" and parser.items[i].text in ("-", "–"):
            i += 1
        if parser.kind(i) in _POSTFIX and count == 1:
            i += 1
        if len(numbers) < count:
            i = parser.skip(i, "and", "to")
    if len(numbers) == 2:
        numbers = _one_scale(numbers, parser.items[i - 1].text)
    return (tuple(numbers), i) if len(numbers) == count else ((), i)


def _one_scale(numbers: list[float], last: str) -> list[float]:
    """ "between 10 and 20 thousand": the scale is meant of both."""
    found = re.search(r"[a-z]+$", last.casefold())
    scale = SCALES.get(found[0]) if found else None
    if scale is not None and numbers[0] < numbers[1] / scale:
        return [numbers[0] * scale, numbers[1]]
    return numbers


def _compared(parser: Parser, i: int, column: Item | None, test: str, numbers: tuple[float, ...], stop: int) -> int:
    text = " ".join(item.text for item in parser.items[i:stop])
    unit = parser.items[stop] if parser.kind(stop) == "grain" or _is_unit(parser, stop) else None
    if unit is not None:
        stop += 1
    elif column is None and parser.is_named(stop, "entity") and len(numbers) == 1:
        parser.draft.having.append(
            HavingAsk("count", parser.items[stop], test, numbers[0], f"{text} {parser.items[stop].text}")
        )
        return stop + 1
    elif column is None and parser.is_named(stop, "column"):
        column, stop = parser.items[stop], stop + 1
    if column is None and unit is None and _was_measure(parser, i):
        ask = parser.draft.measures[-1]
        if ask.target is not None and ask.fn not in ("count",) and len(numbers) == 1:
            parser.draft.having.append(HavingAsk(ask.fn, ask.target, test, numbers[0], text))
            parser.draft.measures.pop()
            return stop
    parser.draft.filters.append(
        FilterAsk("compare", column=column, test=test, numbers=numbers, unit=unit, text=text, late=is_late(parser))
    )
    return stop


def _was_measure(parser: Parser, i: int) -> bool:
    """Whether the comparison stands right behind an aggregate, as in "average salary above 6400"."""
    draft = parser.draft
    if not draft.measures or not (draft.groups or draft.which or draft.columns or draft.entities):
        return False
    before = i - 1
    while parser.kind(before) in ("be", "of"):
        before -= 1
    target = draft.measures[-1].target
    return target is not None and before >= 0 and parser.items[before].end == target.end


def _is_unit(parser: Parser, i: int) -> bool:
    item = parser.items[i] if i < len(parser.items) else None
    if item is not None and item.kind in ("unknown", "grain") and units.is_measured(item.text):
        return True
    said = item is not None and item.kind in ("unknown", "mark")
    return item is not None and said and (bool(units.currency(item.text)) or item.text.casefold() in ("percent", "%", "pct"))


def _plain_number(parser: Parser, i: int) -> int:
    """ "grade 10", "3 bedrooms", "loan 5314": equality with a column or the key beside the number."""
    at = i + 1
    if parser.kind(at) in ("with", "rank") and parser.kind(at + 1) == "id":
        at += 1  # "the client with the id 3541"
    while parser.kind(at) == "id" or (parser.kind(at) == "count" and parser.items[at].text.casefold() in ("number", "no", "nr")):
        at += 1
    if parser.is_named(i, "entity") and parser.kind(at) in ("number", "date") and parser.kind(at + 1) not in _POSTFIX:
        entity, key = parser.items[i], parser.items[at]
        if key.value is not None and not _is_top(parser, i):
            looked_up = parser.draft.columns and not parser.draft.entities
            if looked_up and not parser.draft.measures and not parser.draft.order and parser.kind(i - 1) in ("of", "with"):
                parser.draft.entities.insert(0, entity)  # "region of client 3541": it is the client that is looked up
            parser.draft.filters.append(
                FilterAsk("key", (entity,), numbers=(key.value,), text=f"{entity.text} {key.text}")
            )
            return at + 1
    if parser.is_named(i, "column") and parser.kind(i + 1) == "number" and parser.kind(i + 2) not in (*_POSTFIX,):
        column, number, stop = parser.items[i], parser.items[i + 1], i + 2
        if number.value is not None and all(s.role == "key" for s in column.of("column")) and not column.of("entity"):
            return _key(parser, column, number, stop)
    elif (
        parser.kind(i) == "number"
        and parser.is_named(i + 1, "column")
        and parser.kind(i - 1) in ("with", "of", "be", "in")
    ):
        column, number, stop = parser.items[i + 1], parser.items[i], i + 2
    elif parser.kind(i - 1) == "with" and parser.is_named(i, "column") and _reads(parser, i + 1, "of", "number"):
        return _compared(parser, i, parser.items[i], "=", (parser.items[i + 2].value or 0.0,), i + 3)
    else:
        return i
    if number.value is None:
        return i
    text = f"{column.text} {number.text}"
    parser.draft.filters.append(
        FilterAsk("compare", column=column, test="=", numbers=(number.value,), text=text, late=is_late(parser))
    )
    return stop


def _reads(parser: Parser, i: int, *kinds: str) -> bool:
    return all(parser.kind(i + n) == kind for n, kind in enumerate(kinds))


def _key(parser: Parser, column: Item, number: Item, stop: int) -> int:
    """ "loan id 4990": the row of that key."""
    rows = replace(column, senses=tuple(Sense("entity", s.table) for s in column.of("column")))
    parser.draft.entities.insert(0, rows)
    parser.draft.filters.append(
        FilterAsk("key", (rows,), numbers=(number.value or 0.0,), text=f"{column.text} {number.text}")
    )
    return stop


def _is_top(parser: Parser, i: int) -> bool:
    """Whether the number after this noun starts something else: "loans 10 largest"."""
    return parser.kind(i + 2) in ("large", "small", "most", "least", "long", "short", "late", "early", "best", "worst")
















