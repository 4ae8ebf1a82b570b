"""Clauses about what is made of figures once the groups are there: running totals, growth, change, and ranges to group by."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.draft import GroupAsk
from lexsi_ds.text_to_sql.logical import Band
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_WINDOWS = {"cumulative": "running", "growth": "growth", "change": "change"}


def window(parser: Parser, i: int) -> int:
    """ "running total of", "year-on-year growth", "how many more or fewer than the year before"."""
    kind = parser.kind(i)
    draft = parser.draft
    if kind == "yoy":
        grain = next((GRAINS[w] for w in parser.items[i].words if w in GRAINS), "year")
        draft.window_grain, draft.window_text = grain, parser.items[i].text  # type: ignore[assignment]
        draft.window = draft.window or "growth"
        return i + 1
    if kind not in _WINDOWS or (draft.window not in (None, _WINDOWS[kind]) and draft.window_grain is None):
        return i
    item, stop = parser.items[i], parser.skip(i + 1, "of", "in")
    draft.window, draft.window_text = _WINDOWS[kind], item.text  # type: ignore[assignment]
    grain = next((GRAINS[w] for w in item.words if w in GRAINS), None)
    if grain is not None:
        draft.window_grain = grain  # type: ignore[assignment]
    if kind == "growth" and parser.kind(stop) == "percent":
        stop += 1
    return stop


_STRETCH = re.compile(r"^(\d{1,2})[- ]?(day|week|month|quarter|year)s?$")


def moving(parser: Parser, i: int) -> int:
    """ "3-month moving average of", "7 day rolling average"."""
    size, grain, stop = None, None, i
    found = _STRETCH.match(parser.items[i].text.casefold()) if parser.kind(i) in ("stretch", "unknown") else None
    if found:
        size, grain, stop = int(found[1]), found[2], i + 1
    elif parser.kind(i) == "number" and parser.kind(i + 1) == "grain":
        size, grain, stop = int(parser.items[i].value or 0), GRAINS.get(parser.items[i + 1].words[0]), i + 2
    if parser.kind(stop) != "moving" or not size or size < 2 or grain is None or parser.draft.window:
        return i
    parser.draft.window, parser.draft.window_size, parser.draft.window_grain = "moving", size, grain  # type: ignore[assignment]
    parser.draft.window_text = " ".join(x.text for x in parser.items[i : stop + 1])
    return parser.skip(stop + 1, "of", "in")


def bands(parser: Parser, i: int) -> int:
    """ "tenure bands 0-12, 13-24 and 25+", "age groups of 10 years", "price in steps of 100,000"."""
    column, start = None, i
    if parser.kind(i) in ("by", "each"):
        start = i + 1
    if parser.is_named(start, "column"):
        column, start = parser.items[start], start + 1
    start = parser.skip(start, "in", "by", "of")
    if parser.kind(start) != "band" or (column is None and not parser.draft.columns):
        return i
    stop = parser.skip(start + 1, "of", "with", "between")
    made, after = _ranges(parser, stop)
    if made:
        ask = GroupAsk(column or parser.draft.columns[-1], bands=made, text=_text(parser, i, after))
    else:
        width, after = _width(parser, stop)
        if width is None:
            return i
        ask = GroupAsk(column or parser.draft.columns[-1], step=width, text=_text(parser, i, after))
    if column is None:
        parser.draft.columns.pop()
    parser.draft.groups.append(ask)
    return after


def _text(parser: Parser, i: int, stop: int) -> str:
    return " ".join(x.text for x in parser.items[i:stop])


def _width(parser: Parser, i: int) -> tuple[float | None, int]:
    if parser.kind(i) != "number" or not (parser.items[i].value or 0) > 0:
        return None, i
    stop = i + 1
    return parser.items[i].value, stop + (parser.kind(stop) == "grain")


def _ranges(parser: Parser, i: int) -> tuple[tuple[Band, ...], int]:
    """ "0-12, 13-24, 25 to 48 and 49+ months"; the bands must rise."""
    made: list[Band] = []
    stop = i
    while True:
        band, after = _range(parser, stop)
        if band is None:
            break
        made.append(band)
        stop = after
        following = parser.skip(stop, "mark", "and", "or")
        if following == stop or _range(parser, following)[0] is None:
            break
        stop = following
    if len(made) < 2 or not all(_follows(a, b) for a, b in pairwise(made)):
        return (), i
    return tuple(made), stop + (parser.kind(stop) == "grain")


def _follows(band: Band, following: Band) -> bool:
    if following.low is None or band.high is None or band.high > following.low:
        return False
    return band.low is None or band.low < following.low


def _range(parser: Parser, i: int) -> tuple[Band | None, int]:
    if parser.kind(i) == "less" and _number(parser, i + 1) is not None:
        return Band(label=f"under {_number_text(parser, i + 1)}", low=None, high=_number(parser, i + 1)), i + 2
    low = _number(parser, i)
    if low is None:
        return None, i
    text = _number_text(parser, i)
    if _is_mark(parser, i + 1, "+") or parser.kind(i + 1) == "at_least":
        return Band(label=f"{text}+", low=low), i + 2
    joined = _is_mark(parser, i + 1, "-", "–") or parser.kind(i + 1) == "to"
    high = _number(parser, i + 2)
    if joined and high is not None and high >= low:
        return Band(label=f"{text}-{_number_text(parser, i + 2)}", low=low, high=high), i + 3
    return None, i


def _is_mark(parser: Parser, i: int, *texts: str) -> bool:
    return parser.kind(i) == "mark" and parser.items[i].text in texts


def _number(parser: Parser, i: int) -> float | None:
    return parser.items[i].value if parser.kind(i) in ("number", "date") else None


def _number_text(parser: Parser, i: int) -> str:
    item: Item = parser.items[i]
    return item.text
