"""Years that are said of two things at once: "visits in 2022 but not in 2023", "opened but not closed in 2023".

Each year becomes a condition of its own; one that cannot be told apart stops the question and is never dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql import day_clauses
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

_LEADS = ("in", "of", "since", "before", "after")


def of_belongings(parser: Parser, ask: FilterAsk, stop: int) -> tuple[list[FilterAsk], int]:
    """Rows that must be there in one year and rows, other ones, in another: each is looked for by itself."""
    held = [f for f in ask.inner if f.kind == "days" and not f.negated]
    denied = [f for f in ask.inner if f.kind == "days" and f.negated]
    more: list[FilterAsk] = []
    while held:
        found, after = _next_days(parser, stop)
        if found is None:
            break
        more.append(replace(found, column=found.column or held[-1].column))
        stop = after
    if not held or not (denied or more):
        return [ask], stop
    if ask.negated or ask.numbers or ask.test != "exists":
        parser.draft.left.append(ask.text)
        return [ask], stop
    others = tuple(f for f in ask.inner if f.kind != "days")
    made = [replace(ask, inner=(*others, *held))]
    for one in (*denied, *more):
        inner = replace(one, negated=False, column=one.column or held[-1].column)
        made.append(replace(ask, negated=one.negated, inner=(*others, inner), text=f"{ask.items[0].text} {one.text}"))
    return made, stop


def _next_days(parser: Parser, i: int) -> tuple[FilterAsk | None, int]:
    """ "and 2023", "and not in 2023", with no name before the year."""
    at = parser.skip(i, "and")
    joined = at > i or parser.kind(at) == "not"
    lead = at + (parser.kind(at) == "not")
    lead += parser.kind(lead) in _LEADS
    if not joined or parser.kind(lead) != "date":
        return None, i
    made, stop = _days(parser, at)
    return (made[0], stop) if len(made) == 1 else (None, i)


def of_two(parser: Parser, i: int) -> int:
    """ "opened but not closed in 2023", "opened and closed in 2023": the year is said of both dates."""
    if not _names_date(parser, i):
        return i
    at = parser.skip(i + 1, "and")
    negated = parser.kind(at) == "not"
    at = parser.skip(at + negated, "be")
    if at == i + 1 or not _names_date(parser, at) or _columns(parser.items[i]) & _columns(parser.items[at]):
        return i
    made, stop = _days(parser, at)
    if len(made) != 1:
        return i
    text = f"{parser.items[i].text} {made[0].text}"
    parser.draft.filters += [replace(made[0], column=parser.items[i], text=text), replace(made[0], negated=negated)]
    return stop


def _days(parser: Parser, i: int) -> tuple[list[FilterAsk], int]:
    ours, parser.draft = parser.draft, Draft(share=parser.draft.share, share_noun=parser.draft.share_noun)
    stop = day_clauses.days(parser, i)
    made, parser.draft = parser.draft.filters, ours
    return made, stop


def _columns(item: Item) -> set[tuple[str, str]]:
    return {(s.table, s.column) for s in item.of("verb", "hint", "column")}


def _names_date(parser: Parser, i: int) -> bool:
    """Whether a verb or a participle here names a date."""
    if not parser.is_named(i, "verb", "hint") or parser.is_named(i, "entity", "value"):
        return False
    return all(s.kind == "verb" or s.role == "time" for s in parser.items[i].of("verb", "hint"))
