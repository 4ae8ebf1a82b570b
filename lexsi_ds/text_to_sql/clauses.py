"""Clauses that restrict rows: comparisons, days, values. Each takes a position and gives the one after what it understood.

A clause that does not fit takes nothing; it never takes a word and drops it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.dates import Span
from lexsi_ds.text_to_sql.draft import FilterAsk, GroupAsk, HavingAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import _Parser as Parser

_TESTS = {"more": ">", "less": "<", "at_least": ">=", "at_most": "<=", "equal": "=", "older": ">", "younger": "<"}
_POSTFIX = ("at_least", "at_most")


def belongs_to(parser: Parser, i: int, after: int) -> tuple[Item | None, int]:
    """ "of the account owner" after a name: what it belongs to, and the position after it."""
    stop = parser.skip(after, "of")
    if stop > after and parser.is_named(stop, "entity", "role") and not parser.is_named(stop, "column"):
        return parser.items[stop], stop + 1
    return None, after


def comparison(parser: Parser, i: int) -> int:
    """ "above 9000", "between 5 and 10", "at least 10 loans", "10 or more", "3 bedrooms"."""
    column, start = _column_before(parser, i)
    test, stop = _test_at(parser, start)
    if test is None:
        return _plain_number(parser, i)
    years = parser.kind(stop) == "date"
    numbers, stop = _numbers_at(parser, stop, 2 if test == "between" else 1)
    if not numbers or (
        years and column is None and not parser.is_named(stop, "entity", "column") and not _is_unit(parser, stop)
    ):
        return i
    return _compared(parser, i, column, test, numbers, stop)


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
        if parser.kind(i) in _POSTFIX and count == 1:
            i += 1
        if len(numbers) < count:
            i = parser.skip(i, "and", "to")
    return (tuple(numbers), i) if len(numbers) == count else ((), i)


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
        FilterAsk("compare", column=column, test=test, numbers=numbers, unit=unit, text=text, late=_late(parser))
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
    return (
        item is not None
        and item.kind in ("unknown", "mark")
        and item.text.casefold()
        in (
            "czk",
            "crowns",
            "crown",
            "kc",
            "eur",
            "euros",
            "usd",
            "dollars",
            "percent",
            "%",
            "pct",
        )
    )


def _plain_number(parser: Parser, i: int) -> int:
    """ "grade 10", "3 bedrooms", "loan 5314": equality with a column or the key beside the number."""
    if parser.is_named(i, "entity") and parser.kind(i + 1) in ("number", "date") and parser.kind(i + 2) not in _POSTFIX:
        entity, key = parser.items[i], parser.items[i + 1]
        if key.value is not None and not _is_top(parser, i):
            parser.draft.filters.append(
                FilterAsk("key", (entity,), numbers=(key.value,), text=f"{entity.text} {key.text}")
            )
            return i + 2
    if parser.is_named(i, "column") and parser.kind(i + 1) == "number" and parser.kind(i + 2) not in (*_POSTFIX,):
        column, number, stop = parser.items[i], parser.items[i + 1], i + 2
    elif (
        parser.kind(i) == "number"
        and parser.is_named(i + 1, "column")
        and parser.kind(i - 1) in ("with", "of", "be", "in")
    ):
        column, number, stop = parser.items[i + 1], parser.items[i], i + 2
    else:
        return i
    if number.value is None:
        return i
    text = f"{column.text} {number.text}"
    parser.draft.filters.append(
        FilterAsk("compare", column=column, test="=", numbers=(number.value,), text=text, late=_late(parser))
    )
    return stop


def _is_top(parser: Parser, i: int) -> bool:
    """Whether the number after this noun starts something else: "loans 10 largest"."""
    return parser.kind(i + 2) in ("large", "small", "most", "least", "long", "short", "late", "early", "best", "worst")


def days(parser: Parser, i: int) -> int:
    """ "in 1997", "before 1950", "between 1994 and 1996", "since May 1995", a date column or verb just before it included."""
    column, start = None, i
    if parser.is_named(i, "column", "verb", "hint"):
        start = parser.skip(i + 1, "be", "of")
        column = parser.items[i]
    lead = parser.kind(start)
    stop = start + 1 if lead in ("in", "of", "from", "since", "before", "after", "between", "to", "by") else start
    stop = parser.skip(stop, "in", "of", "grain") if lead != "date" else stop
    if parser.kind(stop) != "date":
        return i
    first = parser.items[stop].span
    if first is None:
        return i
    ranged = _range(parser, lead, first, stop + 1)
    if ranged is None and lead == "between":
        return i
    span, stop = ranged or (_open(lead, first), stop + 1)
    if span is None:
        return i
    text = " ".join(item.text for item in parser.items[i:stop])
    parser.draft.filters.append(FilterAsk("days", span=span, column=column, text=text, late=_late(parser)))
    return stop


def _range(parser: Parser, lead: str, first: Span, i: int) -> tuple[Span, int] | None:
    joined = parser.kind(i) == "to" or (parser.kind(i) == "and" and lead == "between")
    through = parser.kind(i) == "in" and parser.items[i].text.casefold() == "through"
    if (joined or through) and parser.kind(i + 1) == "date":
        last = parser.items[i + 1].span
        if last is not None and last.start >= first.start:
            return Span(first.start, last.end, f"{first.text} to {last.text}"), i + 2
    return None


def _open(lead: str, span: Span) -> Span | None:
    far_past, far_future = span.start.replace(year=1), span.start.replace(year=9999)
    if lead == "before":
        return Span(far_past, span.start, f"before {span.text}")
    if lead == "after":
        return Span(span.end, far_future, f"after {span.text}")
    if lead in ("since", "from"):
        return Span(span.start, far_future, f"since {span.text}")
    if lead == "to":
        return Span(far_past, span.end, f"up to {(span.end - timedelta(days=1)).isoformat()}")
    return None if lead == "by" else span


def values(parser: Parser, i: int) -> int:
    """Values and segments, with "not", "or", and the column or role named beside them."""
    start, negated, column = i, False, None
    if parser.kind(i) == "not":
        after = parser.skip(i + 1, "with", "be", "in")
        if parser.is_named(after, "column") and _holds(
            parser.items[after], parser, parser.skip(after + 1, "be", "of", "equal")
        ):
            negated, column, start = True, parser.items[after], parser.skip(after + 1, "be", "of", "equal")
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
        negated, start = True, parser.skip(start + 1, "in", "be", "with")
    if not _is_value(parser, start):
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
    if apart and found[0].of("value"):
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
            late=_late(parser),
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
    if item.of("entity", "metric") or (item.of("role") and item.of("value")):
        return False
    if len(item.words) == 1 and len(item.words[0]) == 1:
        return item.text.isupper() or parser.is_named(i - 1, "column")
    if all(not s.strong for s in item.of("value")) and not item.of("segment"):
        before, after = parser.kind(i - 1), parser.items[i + 1] if i + 1 < len(parser.items) else None
        noun = after is not None and bool(after.of("entity"))
        measured = parser.draft.measures[-1].target if parser.draft.measures else None
        noun = noun or (before == "of" and measured is not None and bool(measured.of("metric")))
        return before in ("with", "without", "not", "be", "count", "share", "and", "which") or noun
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


def _late(parser: Parser) -> bool:
    return parser.draft.share and parser.draft.share_noun
