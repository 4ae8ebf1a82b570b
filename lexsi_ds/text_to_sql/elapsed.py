"""Clauses about time between two dates of a row: "average days between order and delivery", "took longer than 30 days", ages.

A side is one noun or verb of a date. Words that only such a clause explains are marked before the pass; nothing else takes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.draft import FilterAsk, MeasureAsk
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.rules import AGGREGATES, SUPERLATIVES, is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

UNITS = {"day": "day", "days": "day", "week": "week", "weeks": "week", "hour": "hour", "hours": "hour", "minute": "minute",
         "minutes": "minute"}  # fmt: skip
_TESTS = {"more": ">", "less": "<", "at_least": ">=", "at_most": "<="}
_TAKES = frozenset({"took", "take", "takes", "taken", "needed", "lasted"})
_AGE = frozenset({"age", "ages", "old", "aged"})
_LOOK = 4
"""How far behind its lead a side may end."""


def soften(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items with words marked that are unknown elsewhere and a date's name inside such a clause."""
    out = list(items)
    aged = any(x.words[:1] in (("old",), ("age",)) for x in items)
    for n, item in enumerate(items):
        if aged and (item.words in (("today",), ("now",)) or (item.words == ("years",) and items[n - 1].kind == "in")):
            out[n] = replace(item, kind="stop")
        if item.kind == "unknown" and item.words[:1] and item.words[0] in _AGE:
            out[n] = replace(item, kind="age")
        if item.kind == "unknown" and n + 1 < len(items) and items[n + 1].kind == "moving":
            out[n] = replace(item, kind="stretch")
        timed = _unit(item) is not None or item.words == ("time",)
        if not timed:
            continue
        if item.kind in ("unknown", "stop") and item.words == ("time",) and _leads(items, n + 1):
            out[n] = replace(item, kind="grain")
        if n >= 2 and items[n - 1].kind == "number":
            for k in range(max(0, n - 4), n):
                if items[k].kind == "unknown" and items[k].words[0] in _TAKES:
                    out[k] = replace(items[k], kind="be")
        leads = [k for k in range(n + 1, min(n + 3, len(items))) if _leads(items, k) or items[k].kind in ("after", "of", "before")]
        for k in range(leads[0] + 1 if leads else len(items), min(n + 3 + 2 * _LOOK, len(items))):
            opens = k == leads[0] + 1 or items[k - 1].kind in ("and", "to", "stop")
            verb = items[k].kind in ("with", "stop") and len(items[k].words[0]) > 4 and items[k].words[0].endswith(("ing", "ed"))
            if items[k].kind == "unknown" or (opens and verb):
                out[k] = replace(items[k], kind="word")
    return tuple(out)


def _leads(items: tuple[Item, ...], n: int) -> bool:
    return n < len(items) and items[n].kind in ("between", "from")


def _unit(item: Item) -> str | None:
    return UNITS.get(item.words[0]) if len(item.words) == 1 else None


def clause(parser: Parser, i: int) -> int:
    """A figure of time between two dates, a condition on it, or one date before another."""
    for rule in (_figure, _condition, _order, _age):
        stop = rule(parser, i)
        if stop > i:
            return stop
    return i


def _side(parser: Parser, i: int) -> tuple[Item | None, int]:
    """A noun or a verb of a date, or both: "account opening"."""
    i = parser.skip(i, "be", "all", "stop")
    found: list[Item] = []
    stop = i
    while stop < len(parser.items) and len(found) < 2 and _may_date(parser, stop, first=not found):
        found.append(parser.items[stop])
        stop += 1
    if not found:
        return None, i
    senses = tuple(s for x in found for s in x.senses)
    words = tuple(w for x in found for w in x.words)
    text = " ".join(x.text for x in found)
    return Item("sense", text, words, senses, start=found[0].start, end=found[-1].end), stop


def _may_date(parser: Parser, i: int, *, first: bool) -> bool:
    item = parser.items[i]
    if item.kind == "word" or (first and item.kind == "rank" and item.words in (("order",), ("ordered",))):
        return True
    dated = any(s.role == "time" for s in item.of("column", "hint")) or bool(item.of("verb"))
    return item.kind == "sense" and (dated or (first and bool(item.of("entity")) and not item.of("value")))


def _sides(parser: Parser, i: int) -> tuple[tuple[Item, Item] | None, int]:
    """ "between A and B", "from A to B"."""
    lead = parser.kind(i)
    if lead not in ("between", "from"):
        return None, i
    first, stop = _side(parser, i + 1)
    if first is None or parser.kind(stop) not in (("and",) if lead == "between" else ("to",)):
        return None, i
    second, stop = _side(parser, stop + 1)
    return ((first, second), stop) if second is not None else (None, i)


def _in_unit(parser: Parser, i: int, unit: str | None) -> tuple[str | None, int]:
    """ "... in days" behind."""
    if parser.kind(i) == "in" and i + 1 < len(parser.items) and (found := _unit(parser.items[i + 1])) is not None:
        return found, i + 2
    return unit, i


def _figure(parser: Parser, i: int) -> int:
    """ "average number of days between order and delivery", "longest time from hire to leaving in days"."""
    kind = parser.kind(i)
    fn: Fn | None = AGGREGATES.get(kind) if kind != "count" else None
    if fn is None and kind in SUPERLATIVES:
        fn = "maximum" if SUPERLATIVES[kind] else "minimum"
    stop = i + 1 if fn is not None else i
    stop = parser.skip(stop, "of", "count")
    if parser.kind(stop) not in ("grain", "unknown") or fn in ("sum", "count"):
        return i
    unit, stop = _unit(parser.items[stop]), stop + 1
    unit, stop = _in_unit(parser, stop, unit)
    sides, stop = _sides(parser, stop)
    if sides is None:
        return i
    unit, stop = _in_unit(parser, stop, unit)
    if fn is None and parser.kind(stop) in ("average", "median"):
        fn, stop = AGGREGATES[parser.kind(stop)], stop + 1
    if fn is None and parser.draft.pending and parser.draft.pending[-1] in ("average", "median"):
        fn = parser.draft.pending.pop()  # type: ignore[assignment]
    if fn is None:
        return i
    cue = " ".join(x.text for x in parser.items[i:stop])
    parser.draft.measures.append(MeasureAsk(fn, sides[1], cue=cue, since=sides[0], unit=unit or "day"))
    return stop


def _condition(parser: Parser, i: int) -> int:
    """ "longer than 30 days between A and B", "held more than 30 days after booking", "shipped within 3 days of the order"."""
    verb, start = None, i
    if _dates(parser, i):
        verb, start = parser.items[i], i + 1
    start = parser.skip(start, "be", "lasts")
    within = parser.kind(start) in ("of", "in") and parser.items[start].words == ("within",)
    if parser.kind(start) not in _TESTS and not within:
        return i
    number = parser.skip(start + 1, "than")
    if parser.kind(number) != "number" or number + 1 >= len(parser.items):
        return i
    unit, value = _unit(parser.items[number + 1]), parser.items[number].value
    if unit is None or value is None:
        return i
    test = "<=" if within else _TESTS[parser.kind(start)]
    stop = number + 2
    sides, after = _sides(parser, stop)
    if sides is None and verb is not None and parser.kind(stop) in ("after", "before", *(("of",) if within else ())):
        other, after = _side(parser, stop + 1)
        if other is not None:
            sides = (verb, other) if parser.kind(stop) == "before" else (other, verb)
    if sides is None:
        return i
    text = " ".join(x.text for x in parser.items[i:after])
    ask = FilterAsk("elapsed", (sides[1],), test=test, numbers=(value,), target=sides[0], text=text, unit_name=unit)
    parser.draft.filters.append(replace(ask, late=is_late(parser)))
    return after


def _order(parser: Parser, i: int) -> int:
    """ "returned after the due date", "delivered before it was ordered": one date of a row against another."""
    if not _dates(parser, i):
        return i
    at = parser.skip(i + 1, "be")
    if parser.kind(at) not in ("after", "before") or not _dates(parser, parser.skip(at + 1, "be")):
        return i
    second, stop = _side(parser, at + 1)
    if second is None:
        return i
    text = " ".join(x.text for x in parser.items[i:stop])
    test = ">" if parser.kind(at) == "after" else "<"
    parser.draft.filters.append(
        FilterAsk("elapsed", (parser.items[i],), test=test, target=second, text=text, late=is_late(parser))
    )
    return stop


def _dates(parser: Parser, i: int) -> bool:
    """Whether a date's own name or verb stands at ``i``."""
    if parser.kind(i) != "sense":
        return False
    item = parser.items[i]
    return bool(item.of("verb")) or any(s.role == "time" for s in item.of("column", "hint"))


def _age(parser: Parser, i: int) -> int:
    """ "average age", "how old are they on average"."""
    kind = parser.kind(i)
    if kind in ("average", "median", "maximum", "minimum") and parser.kind(parser.skip(i + 1, "of")) == "age":
        at = parser.skip(i + 1, "of")
        parser.draft.measures.append(MeasureAsk(AGGREGATES[kind], parser.items[at], cue=parser.items[i].text, unit="year"))
        return at + 1
    if kind == "age" and parser.items[i].words == ("old",) and parser.kind(i + 1) == "be":
        rest = [x.kind for x in parser.items[i:]]
        if "average" in rest:
            fn: Fn = "average"
            parser.draft.measures.append(MeasureAsk(fn, parser.items[i], cue="how old", unit="year"))
            parser.draft.said_average = True
            return i + 2
    return i
