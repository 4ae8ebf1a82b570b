"""Clauses that restrict rows by days: spans, months of any year, days of the week. And rows by what they are called."""

from __future__ import annotations

import calendar
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.dates import Span
from lexsi_ds.text_to_sql.draft import FilterAsk, GroupAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser


_MONTHS = {m.casefold(): i for i, m in enumerate(calendar.month_name) if m}


_WEEKDAYS = {d.casefold(): i for i, d in enumerate(calendar.day_name, 1)}


def part(parser: Parser, i: int) -> int:
    """ "in March", "on a Monday": a part of the date, in whatever year."""
    column, start = None, i
    if parser.is_named(i, "verb", "hint") or (parser.is_named(i, "column") and _is_dated(parser.items[i])):
        column, start = parser.items[i], parser.skip(i + 1, "be")
    stop = parser.skip(start, "in", "of", "each")
    found: list[str] = []
    kind = parser.kind(stop)
    while parser.kind(stop) == kind and kind in ("monthname", "dayname"):
        word = parser.items[stop].words[0]
        word = word[:-1] if kind == "dayname" and word.endswith("s") else word
        found.append(str(_MONTHS[word] if kind == "monthname" else _WEEKDAYS[word]))
        following = parser.skip(stop + 1, "or", "and", "mark")
        if parser.kind(following) != kind:
            stop += 1
            break
        stop = following
    if not found or (stop < len(parser.items) and parser.kind(stop) == "date" and kind == "monthname"):
        return i
    text = " ".join(item.text for item in parser.items[i:stop])
    test = "month" if kind == "monthname" else "weekday"
    names = tuple(float(f) for f in found)
    parser.draft.filters.append(FilterAsk("part", column=column, test=test, numbers=names, text=text, late=is_late(parser)))
    return stop


def called(parser: Parser, i: int) -> int:
    """ "named Anna", "called Meier": a part of what rows are called."""
    if parser.kind(i) != "called":
        return i
    stop = i + 1
    while parser.kind(stop) == "name":
        stop += 1
    if stop == i + 1:
        return i
    text = " ".join(item.text for item in parser.items[i + 1 : stop])
    parser.draft.filters.append(FilterAsk("called", items=(parser.items[i + 1],), text=text, late=is_late(parser)))
    return stop


def days(parser: Parser, i: int) -> int:
    """ "in 1997", "before 1950", "between 1994 and 1996", "since May 1995", a date column or verb just before it included."""
    column, start = None, i
    negated, first_item = parser.kind(i) == "not", i
    if negated:
        start = i = parser.skip(i + 1, "be")
    if parser.is_named(i, "verb", "hint") or (parser.is_named(i, "column") and _is_dated(parser.items[i])):
        start = parser.skip(i + 1, "be", "of")
        column = parser.items[i]
    lead = parser.kind(start)
    if lead == "date" and column is not None and column.words[-1] == "since":
        return _since(parser, i, column)
    stop = start + 1 if lead in ("in", "of", "from", "since", "before", "after", "between", "to", "by") else start
    if lead != "date":
        stop = parser.skip(stop, "in", "of")
        stop += parser.kind(stop) == "grain" and parser.items[stop].words[0] in ("year", "years")
    nothing = first_item
    if parser.kind(stop) != "date":
        return nothing
    first = parser.items[stop].span
    if first is None:
        return nothing
    ranged = _range(parser, lead, first, stop + 1)
    if ranged is None and lead == "between":
        return nothing
    span, stop = ranged or (_open(lead, first), stop + 1)
    if span is None:
        return nothing
    others, stop = _other_spans(parser, stop)
    text = " ".join(item.text for item in parser.items[first_item:stop])
    parser.draft.filters.append(
        FilterAsk("days", span=span, column=column, text=text, late=is_late(parser), negated=negated, inner=others)
    )
    return stop


def _since(parser: Parser, i: int, column: Item) -> int:
    """A column that is called since: "customers since 2020" are those of 2020 and later."""
    span = parser.items[i + 1].span
    opened = _open("since", span) if span is not None else None
    if opened is None:
        return i
    noun = [replace(column, senses=(Sense("entity", s.table),)) for s in column.of("column") if len(column.words) > 1]
    parser.draft.entities += noun[:1]
    text = f"{column.text} {parser.items[i + 1].text}"
    parser.draft.filters.append(FilterAsk("days", span=opened, column=column, text=text, late=is_late(parser)))
    return i + 2


def _other_spans(parser: Parser, i: int) -> tuple[tuple[FilterAsk, ...], int]:
    """ "... or after 1997", "1994 vs 1997": further spans, any of which will do; years set against each other are groups too."""
    made: list[FilterAsk] = []
    stop = i
    while parser.kind(stop) in ("or", "versus", "mark"):
        apart = parser.kind(stop) == "versus"
        lead = parser.kind(stop + 1)
        at = stop + 2 if lead in ("in", "since", "before", "after") else stop + 1
        if parser.kind(at) != "date" or (parser.kind(stop) == "mark" and parser.kind(at + 1) not in ("or", "mark")):
            break
        span = parser.items[at].span
        opened = _open(lead if at > stop + 1 else "in", span) if span is not None else None
        if opened is None:
            break
        made.append(FilterAsk("days", span=opened, text=parser.items[at].text))
        stop = at + 1
        if apart:
            whole = span is not None and (span.end - span.start).days > 360
            parser.draft.groups.append(GroupAsk(None, "year" if whole else "month", text="versus"))
    return tuple(made), stop


def _is_dated(item: Item) -> bool:
    """Whether a name can be a date, or a year kept as a number."""
    return any(s.role == "time" or "year" in s.label.split() for s in item.of("column"))


def _range(parser: Parser, lead: str, first: Span, i: int) -> tuple[Span, int] | None:
    joined = parser.kind(i) == "to" or (parser.kind(i) == "and" and lead == "between")
    through = parser.kind(i) == "in" and parser.items[i].words == ("through",)
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
