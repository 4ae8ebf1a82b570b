"""Clauses that group: "by contract and year", "for each region", "split by men and women", "monthly"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.draft import GroupAsk
from lexsi_ds.text_to_sql.rules import AGGREGATES, SUPERLATIVES, belongs_to, same_columns
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.value_clauses import column_of_value

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser


def group(parser: Parser, i: int) -> int:
    if parser.kind(i) == "from" and _names_value(parser, i + 1) and parser.kind(i + 1) != "date":
        return i + 1
    if parser.kind(i) not in ("by", "each"):
        item = parser.items[i]
        alone = len(item.words) == 1 and item.words[0] in ("year", "month", "quarter", "week", "day")
        plural = len(item.words) == 1 and item.words[0].endswith("s")
        after = parser.skip(i + 1, "with", "be", "of", "in", "rank")
        if alone and after > i + 1 and (parser.kind(after) in SUPERLATIVES or parser.is_named(after, "extreme")):
            parser.draft.groups.append(GroupAsk(None, GRAINS.get(item.words[0]), text=item.text))  # type: ignore[arg-type]
            return i + 1
        if item.kind == "grain" and not alone and not plural and GRAINS.get(item.words[0]):
            if parser.kind(i - 1) in ("average", "median") and parser.is_named(i + 1, "column"):
                parser.draft.left.append(item.text)  # the average of the months' totals, or of the rows of each month
            parser.draft.groups.append(GroupAsk(None, GRAINS.get(parser.items[i].words[0]), text=parser.items[i].text))  # type: ignore[arg-type]
            return i + 1
        return i
    stop = parser.skip(i + 1, "distinct", "of", "all")
    if parser.kind(stop) == "number" and (parser.items[stop].value or 0) > 1 and parser.is_named(stop + 1, "column"):
        text = f"{parser.items[stop].text} {parser.items[stop + 1].text}"
        ask = GroupAsk(parser.items[stop + 1], text=text, per=True, times=parser.items[stop].value)
        parser.draft.groups.append(ask)
        return stop + 2
    if parser.kind(stop) == "band" and any(g.bands or g.step for g in parser.draft.groups):
        return stop + 1
    if parser.kind(i) == "by" and parser.items[i].text.casefold() == "by" and _names_value(parser, stop):
        return stop
    counted = parser.skip(stop + 1, "of", "all", "distinct")
    if parser.kind(stop) == "count" and parser.is_named(counted, "entity") and parser.draft.measures and not parser.draft.order:
        parser.draft.left.append(parser.items[stop].text)  # groups by how many there are, and no second figure
    figure = (
        parser.kind(stop) == "count" and parser.is_named(counted, "column") and not parser.is_named(counted, "entity")
    )
    if figure and not parser.draft.order:
        stop = counted
    elif parser.kind(i) == "by" and (parser.kind(stop) in (*AGGREGATES, "share") or parser.is_named(stop, "metric")):
        return stop
    before = len(parser.draft.groups)
    while True:
        group, after = _one_group(parser, stop)
        if group is None:
            break
        within = "within" in parser.items[i].words and parser.draft.share
        per = parser.items[i].text.casefold() == "per"
        parser.draft.groups.append(replace(group, within=within, per=per) if within or per else group)
        if parser.kind(i) == "by" and parser.draft.measures and _does_it(parser, stop, after):
            parser.draft.left.append(parser.items[stop].text)  # "by buyers from France": whose they are, or one row for each
        stop = after
        following = parser.skip(stop, "mark", "and")
        if following == stop or not (
            parser.kind(following) == "grain" or parser.continues(following, ("column", "entity"))
        ):
            break
        stop = following
    return stop if len(parser.draft.groups) > before else i


def _names_value(parser: Parser, i: int) -> bool:
    """ "albums by Iron Maiden": whose they are, and nothing to group by."""
    if not parser.is_named(i, "value") or parser.is_named(i, "column", "entity", "metric", "boss"):
        return False
    following = parser.skip(i + 1, "and", "or", "versus")
    return following == i + 1 or not parser.is_named(following, "value")


def _one_group(parser: Parser, i: int) -> tuple[GroupAsk | None, int]:
    if parser.kind(i) == "grain":
        grain, stop = GRAINS.get(parser.items[i].words[0]), parser.skip(i + 1, "of", "in")
        if parser.is_named(stop, "verb") or (parser.is_named(stop, "column") and _is_time(parser.items[stop])):
            return GroupAsk(parser.items[stop], grain, text=parser.items[i].text), stop + 1  # type: ignore[arg-type]
        return GroupAsk(None, grain, text=parser.items[i].text), i + 1  # type: ignore[arg-type]
    if parser.is_named(i, "value") and not parser.is_named(i, "column", "entity", "boss"):
        return _opposites(parser, i)
    if parser.is_named(i, "hint") and parser.kind(i + 1) == "grain" and any(s.role == "time" for s in parser.items[i].of("hint")):
        return GroupAsk(parser.items[i], GRAINS.get(parser.items[i + 1].words[0]), text=parser.items[i].text), i + 2  # type: ignore[arg-type]
    if not parser.is_named(i, "column", "entity", "role", "boss"):
        return None, i
    item, stop = parser.items[i], i + 1
    of, stop = belongs_to(parser, i, stop)
    if of is None and item.text.endswith("'s") and parser.is_named(stop, "column", "entity"):
        of, item, stop = item, parser.items[stop], stop + 1
    if parser.kind(stop) == "grain" and _is_time(item):
        return GroupAsk(item, GRAINS.get(parser.items[stop].words[0]), of, text=item.text), stop + 1  # type: ignore[arg-type]
    plain = of is None and bool(item.of("entity", "role")) and not item.of("column")
    if plain and stop == i + 1 and parser.is_named(stop, "entity") and not parser.is_named(stop, "column", "value"):
        parser.draft.left.append(parser.items[stop].text)  # "by researcher department": the department of each researcher
    return GroupAsk(item, None, of, text=item.text), stop


def _does_it(parser: Parser, i: int, after: int) -> bool:
    """Whether rows in the plural stand here with a condition behind them: those who did it rather than groups."""
    item = parser.items[i]
    if after != i + 1 or not item.of("entity") or item.of("column") or not item.words[-1].endswith("s"):
        return False
    told = parser.skip(after, "from", "of", "in", "which", "be")
    return parser.is_named(after, "verb", "hint") or (told > after and parser.is_named(told, "value", "verb", "hint"))


def _opposites(parser: Parser, i: int) -> tuple[GroupAsk | None, int]:
    """ "split by men and women": the values of one column name the column."""
    stop = parser.skip(i + 1, "and", "or", "versus")
    if stop == i + 1 or not parser.is_named(stop, "value"):
        return None, i
    first, second = column_of_value(parser.items[i]), column_of_value(parser.items[stop])
    if not same_columns(first, second):
        return None, i
    return GroupAsk(first, text=first.text), stop + 1


def relation(parser: Parser, i: int) -> int:
    """ "does overtime go with attrition": two columns on either side of the verb."""
    columns, stop = parser.draft.columns, parser.skip(i + 1, "of", "with", "all", "which")
    if (
        parser.kind(i) != "relate"
        or not columns
        or not parser.is_named(stop, "column")
        or parser.draft.relation is not None
    ):
        return i
    parser.draft.relation = (columns.pop(), parser.items[stop])
    return stop + 1


def _is_time(item: Item) -> bool:
    return any(s.kind == "verb" for s in item.senses) or any("date" in s.label for s in item.of("column"))
