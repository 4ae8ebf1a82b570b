"""Clauses that ask for an end of an order: "top 10", "the largest", "oldest", "worst default rate", "who earns the most"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.words import plural, singular
from lexsi_ds.text_to_sql.draft import MeasureAsk, OrderAsk
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.rules import AGGREGATES, SUPERLATIVES, same_columns
from lexsi_ds.text_to_sql.units import is_measured
from lexsi_ds.text_to_sql.value_clauses import values

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser


_PLACES = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}


def superlative(parser: Parser, i: int) -> int:
    kind = parser.kind(i)
    if kind in ("desc", "asc"):
        parser.draft.order.append(OrderAsk(kind == "desc"))
        return i + 1
    if kind in ("common", "rare") and parser.draft.which is None:
        stop = parser.skip(i + 1, "of", "all")
        if parser.is_named(stop, "column", "entity") and not parser.is_named(stop, "metric"):
            parser.draft.which = parser.items[stop]
            parser.draft.order.append(OrderAsk(kind == "common"))
            parser.draft.top_one = parser.draft.limit is None and parser.draft.place is None
            parser.draft.pending.append("count")
            return stop + 1
    if kind in ("worst", "best"):
        stop = parser.skip(i + 1, "of")
        if parser.is_named(stop, "metric"):
            parser.draft.order.append(OrderAsk(None, parser.items[stop], judged=kind))  # type: ignore[arg-type]
            return stop + 1
        return i
    if parser.is_named(i, "extreme"):
        stop = _first_of_list(parser, i)
        return stop if stop > i else _extreme(parser, i)
    if kind in SUPERLATIVES:
        return _superlative(parser, i, descending=SUPERLATIVES[kind])
    return i


def _first_of_list(parser: Parser, i: int) -> int:
    """ "..., most expensive first": the order of groups whose figure was named before."""
    ends = {s.value for s in parser.items[i].of("extreme")}
    first = parser.kind(i + 1) == "top" and parser.items[i + 1].words == ("first",) and i + 2 >= len(parser.said())
    named = {(s.table, s.column) for m in parser.draft.measures if m.target for s in m.target.of("column")}
    same = named & {(s.table, s.column) for s in parser.items[i].of("extreme")}
    if not first or not same or len(ends) != 1 or parser.draft.order:
        return i
    parser.draft.order.append(OrderAsk(ends == {"highest"}))
    return i + 2


def _extreme(parser: Parser, i: int) -> int:
    """ "oldest", "least populated": a word that names both a column and an end of it."""
    item = parser.items[i]
    senses = item.of("extreme")
    ends = {s.value for s in senses}
    noun = parser.items[i + 1] if parser.is_named(i + 1, "entity") and not parser.is_named(i + 1, "column") else None
    if noun is not None and item.cue in SUPERLATIVES and not {s.table for s in senses} & {s.table for s in noun.of("entity")}:
        return _superlative(parser, i, descending=SUPERLATIVES[item.cue])  # the oldest loan is not of the oldest owner
    if len(ends) != 1:
        return i
    target = replace(item, senses=tuple(Sense("column", s.table, s.column, label=s.label) for s in senses))
    parser.draft.order.append(OrderAsk(ends == {"highest"}, target))
    following = parser.skip(i + 1, "and")
    stop = i + 1
    parser.draft.rows = parser.draft.rows or parser.is_named(stop, "entity", "value")
    if parser.is_named(stop, "column") and same_columns(parser.items[stop], target):
        stop += 1
    return stop if following == i + 1 else i + 1


def _superlative(parser: Parser, i: int, *, descending: bool) -> int:
    stop = parser.skip(i + 1, "of", "all")
    found = several(parser, i)
    if found > i:
        return found
    if parser.kind(stop) == "new" and any(g.grain for g in parser.draft.groups):
        stop += 1
    if parser.is_named(stop, "verb") and not parser.is_named(stop, "entity") and parser.is_named(stop + 1, "entity"):
        parser.draft.verbs.append(parser.items[stop])
        stop += 1
    fn: Fn | None = None
    if parser.kind(i) in ("most", "least"):
        stop = max(stop, values(parser, stop))
    if parser.kind(stop) in AGGREGATES:
        fn, stop = AGGREGATES[parser.kind(stop)], parser.skip(stop + 1, "of")
    listed = parser.draft.measures and not parser.draft.order and parser.kind(i - 1) in ("and", "mark") and fn is None
    if listed and parser.is_named(stop, "column") and parser.kind(i) in ("large", "small"):
        parser.draft.measures.append(
            MeasureAsk("maximum" if descending else "minimum", parser.items[stop], cue=parser.items[i].text)
        )
        return stop + 1
    if not parser.is_named(stop, "column", "entity", "metric"):
        return _superlative_behind(parser, i, descending=descending)
    counted = parser.kind(i) in ("most", "least")
    parser.draft.order.append(
        OrderAsk(descending, parser.items[stop], fn or ("count" if counted else None), word=parser.items[i].words[-1],
                 start=parser.items[i].start)
    )
    return stop + 1


def _superlative_behind(parser: Parser, i: int, *, descending: bool) -> int:
    """ "who earns the most": the figure comes before its superlative."""
    columns = parser.draft.columns
    which = parser.draft.which
    verb = parser.items[i - 1] if i else None
    if (
        parser.kind(i) in ("most", "least")
        and verb is not None
        and verb.of("verb")
        and parser.draft.verbs[-1:] == [verb]
    ):
        parser.draft.order.append(OrderAsk(descending, parser.draft.verbs.pop(), "sum"))
        return parser.skip(i + 1, "sum")
    last = parser.kind(i + 1) in ("", "mark") or parser.kind(parser.skip(i + 1, "and")) in ("by", "each", "which", "")
    if which is not None and which.of("entity") and last and parser.kind(i - 1) in ("be", "sense", "each", "with"):
        parser.draft.order.append(OrderAsk(descending, which, word=parser.items[i].words[-1]))
        return i + 1
    if parser.kind(i) in ("most", "least") and columns and columns[-1] is parser.items[i - 1]:
        parser.draft.order.append(OrderAsk(descending, columns.pop()))
        return i + 1
    return i


def several(parser: Parser, i: int) -> int:
    """ "smallest, average and biggest monthly payment"."""
    fns: list[Fn] = []
    stop = i
    while parser.kind(stop) in (*SUPERLATIVES, *AGGREGATES):
        kind = parser.kind(stop)
        fns.append(AGGREGATES[kind] if kind in AGGREGATES else "maximum" if SUPERLATIVES[kind] else "minimum")
        following = parser.skip(stop + 1, "and", "mark")
        if following == stop + 1:
            stop = following
            break
        stop = following
    stop = parser.skip(stop, "of", "all")
    if len(fns) < 2 or not parser.is_named(stop, "column") or parser.is_named(stop, "extreme"):
        return i
    parser.draft.measures += [MeasureAsk(fn, parser.items[stop], cue=fn) for fn in fns]
    return stop + 1


def limit(parser: Parser, i: int) -> int:
    """ "top 10", "bottom 5", or a number before a superlative."""
    draft = parser.draft
    if parser.kind(i) in ("top", "bottom"):
        stop = i + 1
        numbered = parser.kind(stop) == "number"
        if not numbered and parser.items[i].words[0] == "first":
            return _superlative(parser, i, descending=False)
        if numbered and (_whole(parser.items[stop].value) is None or _is_percent(parser, stop + 1)):
            return i
        behind = parser.items[stop + numbered] if stop + numbered < len(parser.items) else None
        if (
            numbered
            and parser.items[i].words[0] in ("first", "last")
            and behind is not None
            and (
                behind.kind == "grain"
                or is_measured(behind.text)
                or any(s.role == "measure" for s in behind.of("column"))
            )
        ):
            return i  # "in the first 15 minutes" is a stretch of time and no ranking
        draft.limit = _whole(parser.items[stop].value) if numbered else 10
        noun = parser.items[stop + numbered] if stop + numbered < len(parser.items) else None
        draft.limit_noun = noun
        if not numbered and noun is not None and noun.of("entity", "column") and _is_single(noun.words[-1]):
            draft.limit, draft.top_one = None, True
        draft.order.append(OrderAsk(parser.kind(i) == "top"))
        return stop + numbered
    if parser.kind(i) == "place" and (
        parser.kind(i + 1) in (*SUPERLATIVES, "worst", "best") or parser.is_named(i + 1, "extreme")
    ):
        draft.place = _PLACES[parser.items[i].words[0]]
        return i + 1
    figure = parser.skip(i + 1, "in", "by", "of", "be")
    if parser.kind(i) == "place" and figure > i + 1 and parser.is_named(figure, "metric", "column"):
        draft.place = _PLACES[parser.items[i].words[0]]
        draft.order.append(OrderAsk(True, parser.items[figure], None if parser.items[figure].of("metric") else "sum"))
        return figure + 1
    ranked = parser.kind(i + 1) in (*SUPERLATIVES, "worst", "best") or parser.is_named(i + 1, "extreme")
    if (
        parser.kind(i) == "number"
        and (ranked or _ranked_behind(parser, i))
        and _whole(parser.items[i].value) is not None
    ):
        draft.limit = _whole(parser.items[i].value)
        return i + 1
    return i


def _ranked_behind(parser: Parser, i: int) -> bool:
    """ "five artists with the most tracks"."""
    if not parser.is_named(i + 1, "entity", "column", "role") or parser.kind(i + 2) not in (
        "with",
        "by",
        "of",
        "which",
        "rank",
    ):
        return False
    stop = parser.skip(i + 2, "with", "by", "of", "which", "rank")
    return parser.kind(stop) in (*SUPERLATIVES, "worst", "best") or parser.is_named(stop, "extreme")


def _is_percent(parser: Parser, i: int) -> bool:
    return i < len(parser.items) and parser.items[i].text.casefold() in ("%", "percent", "pct")


def _is_single(word: str) -> bool:
    """Whether a noun is said in the singular."""
    return singular(word) == word and plural(word) != word


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and value == int(value) and 0 < value <= 10_000 else None
