"""Names that stand by themselves, and the words between them: "which district", "loans", "list", "ranked"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.draft import GroupAsk, MeasureAsk, OrderAsk

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_GLUE = frozenset({"be", "of", "in", "with", "all", "list", "and", "rank", "only", "polite"})
"""Words that change nothing once their neighbours are understood."""


def which(parser: Parser, i: int) -> int:
    if parser.kind(i) != "which":
        return i
    parser.draft.share_noun = parser.draft.share
    stop = parser.skip(i + 1, "of", "all", "be")
    if parser.kind(stop) == "distinct" and parser.is_named(stop + 1, "column"):
        parser.draft.lists = True
        return stop + 1
    if parser.kind(stop) == "grain" and stop == parser.skip(i + 1, "of", "all"):
        grain = GRAINS.get(parser.items[stop].words[0])
        parser.draft.groups.append(GroupAsk(None, grain, text=parser.items[stop].text))  # type: ignore[arg-type]
        return stop + 1
    parser.draft.who = parser.draft.who or (i == 0 and parser.items[i].words[0] == "who")
    chooses = bool({"which", "what"} & set(parser.items[i].words))
    parser.draft.rows = parser.draft.rows or parser.items[i].words[0] == "who"
    if (
        chooses
        and parser.draft.which is None
        and stop == parser.skip(i + 1, "of", "all")
        and parser.is_named(stop, "entity", "column")
    ):
        parser.draft.which = parser.items[stop]
        return stop + 1
    if chooses and stop == parser.skip(i + 1, "of", "all") and _is_role(parser, stop):
        parser.draft.groups.append(GroupAsk(parser.items[stop], text=parser.items[stop].text))
        return stop + 1
    return stop


def _is_role(parser: Parser, i: int) -> bool:
    """ "which destination": rows in the role that a link has, where nothing else is called so."""
    return parser.is_named(i, "role") and not parser.is_named(i, "entity", "column", "value")


def named(parser: Parser, i: int) -> int:
    """A metric, a segment, an entity, a role, a verb or a bare column."""
    if parser.kind(i) != "sense":
        return i
    item, draft = parser.items[i], parser.draft
    if item.of("house"):
        return i + 1 if parser.kind(i - 1) in ("", "in", "of", "with", "be", "count", "sense") else i
    if item.of("metric"):
        following = parser.items[i + 1] if i + 1 < len(parser.items) else None
        nouns = {s.table for s in following.of("entity")} if following is not None else set()
        if nouns and not nouns & {s.table for s in item.of("metric")}:
            return i  # "share of cancelled flights", where bookings are cancelled too
        draft.measures.append(MeasureAsk("rate", item, cue=item.text))
    elif item.of("entity"):
        draft.entities.append(item)
        draft.share_noun = draft.share
    elif item.of("pay"):
        wanted = {(s.table, s.column) for s in item.of("pay")}
        others = {(s.table, s.column) for x in parser.items if x is not item for s in x.of("column")}
        if not wanted & others:
            return i
    elif item.of("deal"):
        draft.deals.append(item)
        draft.never_dealt = draft.never_dealt or _is_never(parser, i)
    elif item.of("verb"):
        draft.verbs.append(item)
    elif item.of("role"):
        draft.roles.append(item)
    elif item.of("column"):
        draft.columns.append(item)
    else:
        return i
    return i + 1


def _is_never(parser: Parser, i: int) -> bool:
    before = i - 1
    while parser.kind(before) == "be":
        before -= 1
    return parser.kind(before) == "not"


def _of_the_column(parser: Parser, i: int) -> bool:
    """ "earn a month", "monthly income per month": the period is in the column's own name."""
    before = parser.items[i - 1] if i else None
    if before is not None and before.kind == "by":
        before = parser.items[i - 2] if i > 1 else None
    grain = GRAINS.get(parser.items[i].words[0]) if len(parser.items[i].words) == 1 else None
    labels = [s.label.split() for s in before.of("column")] if before is not None else []
    return grain is not None and bool(labels) and all(grain in w or f"{grain}ly" in w for w in labels)


def _has_period(parser: Parser, i: int) -> bool:
    """Whether a date or a period comes later."""
    return any(x.kind in ("date", "grain") for x in parser.items[i:]) or any(g.grain for g in parser.draft.groups)


def glue(parser: Parser, i: int) -> int:
    kind, draft = parser.kind(i), parser.draft
    if kind == "grain" and _of_the_column(parser, i):
        return i + 1
    if kind == "only" and (parser.is_named(i + 1, "verb", "hint", "deal") or parser.kind(i + 1) == "unknown"):
        return i  # "only booked yoga": that and nothing else, which is another question
    if kind == "echo" and draft.order:
        return i + 1
    if kind == "new" and (any(f.kind == "days" for f in draft.filters) or draft.window or _has_period(parser, i)):
        return i + 1
    if kind == "trend":
        draft.trend = parser.items[i].text
        return i + 1
    rates = any(m.fn == "rate" for m in draft.measures) or any(
        o.target and o.target.of("metric") for o in draft.order
    )
    if kind == "percent" and (draft.share or rates or draft.window in ("growth", "share")):
        return i + 1
    if kind == "percent" and draft.window == "change":
        draft.window = "growth"
        return i + 1
    if kind == "percent" and draft.window is None:
        draft.window, draft.window_text = "share", parser.items[i].text
        return parser.skip(i + 1, "of", "all")
    if kind == "list":
        draft.lists = True
        draft.everything = draft.everything or "everything" in parser.items[i].words
    if kind == "with" and parser.items[i].words[0] == "who":
        draft.rows = True
    if kind == "from" and i + 1 == len(parser.said()) and (draft.columns or draft.which):
        return i + 1  # "which region is this client from"
    if kind == "id":
        draft.ids.append(parser.items[i].text)
        return i + 1
    if kind == "rank" and parser.items[i].words[0].startswith(("rank", "sort", "order")):
        draft.order.append(OrderAsk(parser.items[i].words[0].startswith("rank")))
    return i + 1 if kind in _GLUE else i
