"""Clauses that compare with a figure of other rows, or with another column: "above the average", "more than half of the wage".

A comparison with a plain number is no business of theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.rules import AGGREGATES, belongs_to, is_late
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_TESTS = {"more": ">", "less": "<", "at_least": ">=", "at_most": "<=", "equal": "=", "older": ">", "younger": "<"}
_FIGURES = ("average", "median", "maximum", "minimum")


def versus(parser: Parser, i: int) -> int:
    """A column (or none), a test, a factor (or none), then a function or a column."""
    column, start = None, i
    if parser.is_named(i, "column"):
        column, start = parser.items[i], parser.skip(i + 1, "be", "of")
    elif parser.kind(i) == "lasts":
        start = i + 1
    elif parser.is_named(i, "pay") and parser.kind(i + 1) in _TESTS:
        column, start = paid(parser.items[i]), i + 1
    if parser.kind(start) not in _TESTS:
        return i
    test = parser.items[start]
    factor, stop = _factor(parser, parser.skip(start + 1, "than"))
    group, stop = _owner_of_figure(parser, stop)
    fn = AGGREGATES[parser.kind(stop)] if parser.kind(stop) in _FIGURES else None
    if fn is None and not _is_column(parser, stop, column):
        return i
    target = None
    if fn is not None:
        stop = parser.skip(stop + 1, "of", "all", "be") if _names_figure(parser, parser.skip(stop + 1, "of", "all")) else stop + 1
    if fn is not None and _names_figure(parser, stop) and parser.items[stop].theirs and not _is_group(parser, stop):
        return i  # "the average of their duration": of rows of the same duration, or of the duration itself?
    if _names_figure(parser, stop) and (fn is None or not _is_group(parser, stop)):
        target, stop = parser.items[stop], stop + 1
    elif _names_figure(parser, stop) and fn is not None and group is None:
        group, stop = parser.items[stop], stop + 1
    of, stop = belongs_to(parser, stop - 1, stop) if fn is None else (None, stop)
    if fn is not None and group is None:
        group, stop = _group_behind(parser, stop)
    if fn is not None and parser.kind(stop) == "of" and parser.is_named(stop + 1, "value", "segment"):
        return i  # "above the average age of women": of other rows than these
    parser.draft.filters.append(
        FilterAsk(
            "versus",
            column=column,
            test=_TESTS[test.kind],
            fn=fn,
            target=target,
            per=group,
            factor=factor,
            of=of,
            items=(test,),
            text=" ".join(x.text for x in parser.items[i:stop]),
            late=is_late(parser),
        )
    )
    return stop


def paid(item: Item) -> Item:
    """A verb of charges as the charges it may speak of."""
    return replace(item, senses=tuple(replace(s, kind="column") for s in item.of("pay")))


def _is_column(parser: Parser, i: int, column: Item | None) -> bool:
    """Whether a plain column is compared with: only where what is compared was named too."""
    return column is not None and parser.is_named(i, "column") and not parser.is_named(i, "value", "entity")


def _factor(parser: Parser, i: int) -> tuple[float, int]:
    """ "half of", "twice", "double", "three times", "80 percent of"."""
    if parser.kind(i) == "factor":
        word = parser.items[i].words[0]
        return {"half": 0.5, "twice": 2.0, "double": 2.0, "triple": 3.0, "thrice": 3.0}.get(word, 1.0), parser.skip(i + 1, "of")
    if parser.kind(i) == "number" and parser.kind(i + 1) == "times":
        return parser.items[i].value or 1.0, parser.skip(i + 2, "of")
    percent = i + 1 < len(parser.items) and parser.items[i + 1].text.casefold() in ("%", "percent", "pct")
    if parser.kind(i) == "number" and percent and parser.kind(i + 2) == "of":
        return (parser.items[i].value or 100.0) / 100, i + 3
    return 1.0, i


def _owner_of_figure(parser: Parser, i: int) -> tuple[Item | None, int]:
    """ "their department's average"."""
    owned = parser.is_named(i, "column", "entity") and parser.items[i].text.casefold().endswith(("'s", "’s"))
    if owned and parser.kind(i + 1) in _FIGURES:
        return parser.items[i], i + 1
    return None, i


def _names_figure(parser: Parser, i: int) -> bool:
    return parser.is_named(i, "column", "entity") and not parser.is_named(i, "value")


def _is_group(parser: Parser, i: int) -> bool:
    """Whether what stands behind "average of" is whose average it is and not what the average is of."""
    item = parser.items[i]
    before = parser.items[i - 1].kind if i else ""
    return before == "of" and bool(item.of("column", "entity")) and parser.is_group(item)


def _group_behind(parser: Parser, i: int) -> tuple[Item | None, int]:
    """ "of their own department", "in its region", "for its genre"."""
    stop = parser.skip(i, "of", "in", "own", "same")
    if stop > i and parser.is_named(stop, "column", "entity") and not parser.is_named(stop, "value"):
        own = any(parser.kind(k) in ("own", "same") for k in range(i, stop))
        if own or parser.is_group(parser.items[stop]):
            return parser.items[stop], stop + 1
    return None, i
