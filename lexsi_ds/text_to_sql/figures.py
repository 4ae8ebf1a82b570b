"""Clauses that ask for figures: "average age", "number of women", "total and average amount", "percentage of"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import clauses, counts_per, ends
from lexsi_ds.text_to_sql.draft import MeasureAsk
from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.rules import AGGREGATES, belongs_to
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.value_clauses import values

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser


def share(parser: Parser, i: int) -> int:
    """ "percentage of loans that are running": the noun gives the whole, what follows the part."""
    if parser.kind(i) != "share" or parser.draft.share:
        return i
    parser.draft.share = True
    parser.draft.share_each = parser.kind(parser.skip(i + 1, "of", "all")) == "each"
    return parser.skip(i + 1, "of", "all")


def aggregate(parser: Parser, i: int) -> int:
    kind = parser.kind(i)
    if kind == "average" and parser.draft.said_average:
        parser.draft.said_average = False
        return i + 1
    if kind == "when":
        parser.draft.when = True
        return i + 1
    per = counts_per.clause(parser, i)
    if per > i:
        return per
    if kind == "zeros" and parser.draft.count_per is not None:
        parser.draft.zeros = True
        return i + 1
    if kind == "number" and parser.kind(i + 1) == "percentile" and 0 < (parser.items[i].value or 0) < 100:
        stop = parser.skip(i + 2, "of")
        if parser.is_named(stop, "column"):
            parser.draft.measures.append(MeasureAsk("quantile", parser.items[stop], cue=str(parser.items[i].value)))
            return stop + 1
    if kind == "too":
        parser.draft.adds = True
        return i + 1
    if kind == "about":
        parser.draft.about = True
        return i + 1
    if kind == "not" and parser.is_named(parser.skip(i + 1, "be"), "deal"):
        return i + 1
    if kind not in AGGREGATES:
        return i
    added = clauses.added_up(parser, i)
    if added > i:
        return added
    if kind in ("count", "sum") and i + 1 == len(parser.said()) and parser.draft.order and parser.kind(i - 1) == "and":
        return i + 1  # "..., and how much?"
    named = parser.draft.entities
    if kind == "count" and len(named) == 1 and parser.kind(i + 1) in ("with", "without", "be", "not"):
        parser.draft.measures.append(MeasureAsk("count", named.pop(), cue=parser.items[i].text))
        return i + 1  # "among the accounts, how many have a loan": the accounts are counted
    several = ends.several(parser, i)
    if several > i:
        return several
    fns: list[Fn] = [AGGREGATES[kind]]
    stop = i + 1
    while parser.kind(stop) in ("and", "mark") and parser.kind(stop + 1) in AGGREGATES:
        fns.append(AGGREGATES[parser.kind(stop + 1)])
        stop += 2
    stop = parser.skip(stop, "of", "all", "with", "be")
    distinct = parser.kind(stop) == "distinct"
    stop = parser.skip(stop, "distinct", "of", "all")
    if kind == "sum" and parser.kind(stop) == "count":
        return stop
    if _counts_named_value(parser, kind, stop):
        parser.draft.pending += fns
        parser.draft.counted = parser.items[stop]
        return i + 1
    if kind != "count":
        stop = _values_before(parser, stop)
    targets, stop = list_of(parser, stop, "column", "entity", "metric", "role", compounds=kind != "count")
    if not targets:
        asked = parser.items[i].text.casefold() == "how much"
        parser.draft.pending.append("how much" if asked else fns[0])
        return i + 1
    for target, of in targets:
        cue, start = parser.items[i].text, parser.items[i].start
        parser.draft.measures += [MeasureAsk(fn, target, of, distinct, cue=cue, start=start) for fn in fns]
    return stop


def _values_before(parser: Parser, i: int) -> int:
    """ "total unpaid fines", "total amount of open claims": what restricts the rows stands before their noun."""
    stop = i
    while parser.is_named(at := parser.skip(stop, "not"), "value", "segment"):
        figure = at == stop and parser.is_named(at, "column") and not _is_yes(parser.items[at])
        if figure or parser.is_named(at, "entity", "metric", "role"):
            break
        stop = at + 1
    if stop == i or not parser.is_named(stop, "entity"):
        return i
    at = i
    while at < stop:
        after = values(parser, at)
        if after == at:
            return i
        at = after
    return at


def _is_yes(item: Item) -> bool:
    """Whether a name is a yes/no column's, which is no figure."""
    return all(s.role == "flag" for s in item.of("column"))


def _counts_named_value(parser: Parser, kind: str, i: int) -> bool:
    """ "number of women": the value is a filter, and what is counted comes later or is its table."""
    return kind == "count" and parser.is_named(i, "value", "segment") and not parser.is_named(i, "entity", "role")


def list_of(parser: Parser, i: int, *kinds: str, compounds: bool = False) -> tuple[list[tuple[Item, Item | None]], int]:
    """Names joined by commas and "and", each with what it belongs to. Stops before a name of another kind."""
    found: list[tuple[Item, Item | None]] = []
    stop = i
    while parser.is_named(stop, *kinds):
        item, after = parser.items[stop], stop + 1
        of, after = belongs_to(parser, stop, after)
        if (of is None and item.text.endswith("'s") and parser.is_named(after, "column", "entity")) or (
            compounds and of is None and _is_compound(parser, item, after)
        ):
            of, item, after = item, parser.items[after], after + 1
        found.append((item, of))
        stop = after
        following = parser.skip(stop, "mark", "and")
        if following == stop or not parser.continues(following, kinds):
            break
        stop = following
    return found, stop


def _is_compound(parser: Parser, item: Item, after: int) -> bool:
    """ "track price": a figure with its noun before it."""
    if (
        not item.of("entity")
        or item.of("column")
        or not parser.is_named(after, "column")
        or parser.is_named(after, "entity")
    ):
        return False
    tables = {s.table for s in item.of("entity")}
    return any(s.table in tables and s.role == "measure" for s in parser.items[after].of("column"))
