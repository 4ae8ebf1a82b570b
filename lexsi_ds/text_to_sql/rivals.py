"""Clauses that set two things of a row against each other: "more bookings than payments", "more bathrooms than bedrooms", "in a
different city than the warehouse". And two belongings at once: "both card and cash payments", "either an auto or a home policy".

A side that does not say what it is borrows the noun of the other one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import belongings
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.rules import is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_TESTS = {"more": ">", "less": "<"}
_MORE = frozenset({"more", "fewer", "less", "higher", "greater", "larger", "lower", "smaller"})


def clause(parser: Parser, i: int) -> int:
    """Whichever of them begins here."""
    for rule in (_against, _both, _elsewhere):
        stop = rule(parser, i)
        if stop > i:
            return stop
    return i


def _against(parser: Parser, i: int) -> int:
    """ "more X than Y": two figures of a row, or two numbers of rows that belong to it."""
    start = parser.skip(i, "with", "be") if parser.kind(i) == "with" else i
    if parser.kind(start) not in _TESTS or parser.items[start].text.casefold() not in _MORE or parser.kind(start - 1) == "sum":
        return i
    test = _TESTS[parser.kind(start)]
    if _is_figure(parser, start + 1) and parser.kind(start + 2) == "than" and _is_figure(parser, start + 3):
        first, second = parser.items[start + 1], parser.items[start + 3]
        text = " ".join(x.text for x in parser.items[i : start + 4])
        ask = FilterAsk("versus", column=first, test=test, target=second, items=(parser.items[start],), text=text)
        parser.draft.filters.append(replace(ask, late=is_late(parser)))
        return start + 4
    first_rows, stop = _rows(parser, start + 1)
    if first_rows is None or parser.kind(stop) != "than":
        return i
    second_rows, after = _rows(parser, stop + 1)
    if second_rows is None or not (first_rows.items or second_rows.items):
        return i
    if not first_rows.items:
        first_rows = replace(first_rows, items=second_rows.items)
    if not second_rows.items:
        second_rows = replace(second_rows, items=first_rows.items)
    text = " ".join(x.text for x in parser.items[i:after])
    ask = FilterAsk("rival", test=test, inner=(first_rows, second_rows), text=text, late=is_late(parser))
    parser.draft.filters.append(ask)
    return after


def _is_figure(parser: Parser, i: int) -> bool:
    item = parser.items[i] if i < len(parser.items) else None
    if item is None or item.kind != "sense" or item.of("entity"):
        return False
    return any(s.role == "measure" for s in item.of("column"))


def _rows(parser: Parser, i: int) -> tuple[FilterAsk | None, int]:
    """Rows with what is said of them, their noun left open where it stands on the other side: "cancelled", "in 2022"."""
    found, stop = belongings.one(parser, i)
    if found is not None:
        return found, stop
    inner: list[FilterAsk] = []
    stop = parser.skip(i, "with")
    while parser.is_named(stop, "value") and not parser.is_named(stop, "entity"):
        inner.append(FilterAsk("value", (parser.items[stop],), text=parser.items[stop].text))
        stop += 1
    if not inner:
        said, stop = parser.said_of(i)
        inner = list(said)
    if not inner:
        return None, i
    return FilterAsk("exists", (), test="exists", inner=tuple(inner), text=" ".join(x.text for x in parser.items[i:stop])), stop


def _both(parser: Parser, i: int) -> int:
    """ "both a home and an auto policy", "both card and cash payments", "either cancelled or returned orders"."""
    start = parser.skip(i, "with", "be") if parser.kind(i) == "with" else i
    word = parser.items[start].text.casefold() if start < len(parser.items) else ""
    if word not in ("both", "either") or parser.kind(start) not in ("and", "either"):
        return i
    if any(parser.kind(k) == "not" for k in range(max(0, i - 2), start)):
        return i
    joint = "and" if word == "both" else "or"
    first, stop = _part(parser, start + 1)
    if first is None or parser.kind(stop) != joint or parser.items[stop].text.casefold() not in ("and", "or"):
        return i
    second, after = _part(parser, stop + 1)
    if second is None or not (first.inner and second.inner):
        return i
    noun = first.items or second.items
    late = is_late(parser)
    if word == "either":
        same = FilterAsk("value", tuple(x for a in (first, second) for f in a.inner for x in f.items), text="")
        text = " or ".join(f.text for a in (first, second) for f in a.inner)
        same = replace(same, text=text)
        if noun:
            made = [FilterAsk("exists", noun, test="exists", inner=(same,), text=text, late=late)]
        else:
            made = [replace(same, owned=True, late=late)]
    elif noun:
        made = [FilterAsk("exists", noun, test="exists", inner=a.inner, text=a.text, late=late) for a in (first, second)]
    else:
        made = [replace(f, owned=True, late=late) for a in (first, second) for f in a.inner]
    parser.draft.filters += made
    return after


def _part(parser: Parser, i: int) -> tuple[FilterAsk | None, int]:
    """One of the two: values, with or without their noun."""
    stop = i
    found: list[Item] = []
    while parser.is_named(stop, "value") and not parser.is_named(stop, "entity"):
        found.append(parser.items[stop])
        stop += 1
    if not found:
        return None, i
    inner = tuple(FilterAsk("value", (x,), text=x.text) for x in found)
    noun: tuple[Item, ...] = ()
    if parser.is_named(stop, "entity") and not parser.is_named(stop, "column", "value", "segment"):
        noun, stop = (parser.items[stop],), stop + 1
    return FilterAsk("exists", noun, inner=inner, text=" ".join(x.text for x in parser.items[i:stop])), stop


def _elsewhere(parser: Parser, i: int) -> int:
    """ "in a different city than the warehouse", "in the same district as the account"."""
    start = parser.skip(i, "in", "with", "be")
    other = parser.kind(start) == "distinct" and parser.items[start].text.casefold() == "different"
    if not other and parser.kind(start) != "same":
        return i
    if not parser.is_named(start + 1, "column", "entity"):
        return i
    link = parser.skip(start + 2, "stop")
    joined = parser.kind(link) in ("than", "from") if other else parser.kind(link) == "as"
    target = parser.skip(link + 1, "stop", "of")
    if not other:
        joined, target = True, start + 2  # "as" says nothing by itself and is passed over
    if not joined or not parser.is_named(target, "entity", "role"):
        return i
    stop = target + 1
    text = " ".join(x.text for x in parser.items[i:stop])
    ask = FilterAsk(
        "apart", (parser.items[start + 1],), test="<>" if other else "=", of=parser.items[target], text=text, late=is_late(parser),
        noun=_nearest(parser, i),
    )  # fmt: skip
    parser.draft.filters.append(ask)
    return stop


def _nearest(parser: Parser, i: int) -> Item | None:
    """Whose place is told of: the noun before."""
    for k in range(i - 1, -1, -1):
        if parser.is_named(k, "entity", "role") and not parser.is_named(k, "column"):
            return parser.items[k]
    return None
