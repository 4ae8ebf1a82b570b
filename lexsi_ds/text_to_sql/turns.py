"""The ways in which a follow-up is put: "A instead of B", "only the first of each year", "longest first", "top 3 by capacity".

Reads words only. What they change in the query before is settled in `followup` and `orders`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexsi_ds.text_to_sql.cues import GRAINS
from lexsi_ds.text_to_sql.logical import Dimension, Logical
from lexsi_ds.text_to_sql.rules import SUPERLATIVES
from lexsi_ds.text_to_sql.tagger import Item

_PADDING = ("mark", "stop", "only", "and", "list", "too", "all")
_GROUP_WORDS = frozenset({"group", "groups", "category", "categories"})
_NAMED = ("sense", "date", "number", "grain", "monthname", "sum", "average", "median", "minimum", "maximum", "count")


@dataclass(frozen=True)
class Wish:
    """An order or an end of it that a follow-up asks for."""

    descending: bool | None = None
    target: Item | None = None
    limit: int | None = None
    ranked: bool = False
    """Whether "top" or "bottom" was said, which need an order to be taken from."""
    first: bool = False
    """Whether "first" was said, which is of the order shown and of no figure."""


@dataclass(frozen=True)
class OfEach:
    """The first of each group."""

    wish: Wish
    group: Item


def in_place(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """ "A instead of B" without the B, which goes; the words as they are where B is all that is named."""
    for n, item in enumerate(items[:-1]):
        if item.kind != "stop" or item.words != ("instead",) or items[n + 1].kind != "of":
            continue
        behind = next((k for k in range(n + 2, len(items)) if items[k].kind not in ("stop", "mark")), None)
        if behind is None or items[behind].kind not in _NAMED:
            return items
        left = (*items[:n], *items[behind + 1 :])
        return left if any(i.kind in (*_NAMED, "by") for i in left) else items
    return items


def of_each(items: tuple[Item, ...]) -> OfEach | None:
    """ "only the first of each year", "the top 2 in each group"."""
    said = _bare(items)
    each = next((n for n, i in enumerate(said) if i.kind == "each" or i.words == ("per",)), None)
    if each is None or each != len(said) - 2:
        return None
    wish = _end(tuple(i for i in said[:each] if i.kind not in ("of", "in")))
    return OfEach(wish, said[-1]) if wish is not None and wish.target is None else None


def wish_of(items: tuple[Item, ...]) -> Wish | None:
    """An order by itself: "sort by length", "largest capacity first", "top 3 by capacity", "longest first"."""
    said = _bare(items)
    if len(said) == 1 and said[0].kind in ("desc", "asc"):
        return Wish(said[0].kind == "desc")
    if said and said[0].kind == "rank":
        rest = said[1:]
        down = next((i.kind == "desc" for i in rest if i.kind in ("desc", "asc")), None)
        rest = tuple(i for i in rest if i.kind not in ("desc", "asc", "by"))
        return Wish(down, rest[0]) if len(rest) == 1 and rest[0].kind in ("sense", "grain") else None
    return _end(said)


def dimension_meant(group: Item, before: Logical) -> list[Dimension]:
    """The groups of the query before that "each GROUP" can mean."""
    word = group.words[-1] if group.words else ""
    if group.kind == "grain":
        return [d for d in before.dimensions if d.grain == GRAINS.get(word)]
    columns = {(s.table, s.column) for s in group.of("column", "verb", "value")}
    tables = {s.table for s in group.of("entity", "role")}
    found = [d for d in before.dimensions if (d.ref.table, d.ref.column) in columns]
    found = found or [d for d in before.dimensions if d.ref.table in tables and d.ref.table != before.table]
    return found or (list(before.dimensions) if word in _GROUP_WORDS else [])


def names_groups(item: Item) -> bool:
    """Whether an unknown word stands for the groups of the answer before."""
    return bool(item.words) and item.words[-1] in _GROUP_WORDS


def _bare(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(i for i in items if i.kind not in _PADDING)


def _end(said: tuple[Item, ...]) -> Wish | None:
    """ "top 3 by X", "the largest", "two longest", "largest X first", "bottom 2"."""
    if not said:
        return None
    numbers = [i for i in said if i.kind == "number"]
    rest = [i for i in said if i.kind != "number"]
    limit = int(numbers[0].value) if len(numbers) == 1 and numbers[0].value and numbers[0].value == int(numbers[0].value) else None
    if len(numbers) > 1 or (numbers and limit is None) or not rest:
        return None
    head, tail = rest[0], rest[1:]
    if head.kind in ("top", "bottom"):
        tail = tail[1:] if tail and tail[0].kind == "by" else tail
        named = tail[0] if len(tail) == 1 and tail[0].kind == "sense" else None
        first = head.words == ("first",)
        return Wish(head.kind == "top", named, limit or 1, ranked=True, first=first) if not tail or named is not None else None
    ends = {s.value for s in head.of("extreme")}
    by_word = SUPERLATIVES.get(head.kind if head.kind in SUPERLATIVES else head.cue or "")
    down = by_word if by_word is not None else ends == {"highest"} if len(ends) == 1 else None
    if down is None:
        return None
    sorts = bool(tail) and tail[-1].kind == "top" and tail[-1].words == ("first",)
    tail = tail[:-1] if sorts else tail
    named = tail[0] if len(tail) == 1 and tail[0].kind == "sense" else head if ends else None
    if len(tail) > 1 or (tail and named is None):
        return None
    return Wish(down, named, None if sorts else limit or 1, not sorts)
