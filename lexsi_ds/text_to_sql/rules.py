"""What the rules of the parser share: which cues are functions, which are ends of an order, what belongs to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.text_to_sql.logical import Fn
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.parser import Parser

AGGREGATES: dict[str, Fn] = {
    "count": "count",
    "sum": "sum",
    "average": "average",
    "median": "median",
    "minimum": "minimum",
    "maximum": "maximum",
    "deviation": "deviation",
}
SUPERLATIVES = {
    "large": True,
    "most": True,
    "long": True,
    "late": True,
    "small": False,
    "least": False,
    "short": False,
    "early": False,
}


def belongs_to(parser: Parser, i: int, after: int) -> tuple[Item | None, int]:
    """ "of the account owner" after a name: what it belongs to, and the position after it."""
    stop = parser.skip(after, "of")
    if stop > after and parser.is_named(stop, "entity", "role") and not parser.is_named(stop, "column"):
        return parser.items[stop], stop + 1
    return None, after


def is_late(parser: Parser) -> bool:
    return parser.draft.share and parser.draft.share_noun


def same_columns(a: Item, b: Item) -> bool:
    return bool({(s.table, s.column) for s in a.of("column")} & {(s.table, s.column) for s in b.of("column")})
