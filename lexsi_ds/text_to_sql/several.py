"""Several questions asked in one go: where one ends and the next begins, and whether each can be answered by itself.

Must never: make one query of two questions that each stand alone. "How many accounts? How many loans by status?" is not a
number of accounts by the status of their loans.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lexsi_ds.text_to_sql import one_row
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.reading import Analytic, CannotAnswer, Clarify, Predictive, Reading

_ASKS = r"how|what|which|who|when|where|is|are|was|were|do|does|did"
_ORDERS = r"show|list|give|tell|count|compare|rank|number|total|average|mean|median|sum|share|percentage"
_GOES_ON = (
    r"only|with|without|by|per|for|from|in|on|at|and|or|but|than|not|no|please|just|excluding|(?:what|how) about|sorted|ordered"
)
_SENTENCE = re.compile(
    rf"(?<=[?!.;\n])\s+(?!(?:{_GOES_ON})\b)(?=(?:{_ASKS}|{_ORDERS})\b|[^?.!]*\?)|\?(?!\s*$|\s)", re.IGNORECASE
)
"""A new sentence that asks or orders, or ends with a question mark of its own; words such as "only" go on with the one before."""
_AND_ASKS = re.compile(r",?\s+and\s+(?=(?:how (?:many|much)|what|which|who|when)\b)", re.IGNORECASE)
_FIGURE = r"(?:the )?(?:number|total|average|mean|median|sum|count|share|percentage)"
_AND_FIGURE = re.compile(rf",?\s+and\s+(?={_FIGURE}\b)", re.IGNORECASE)
_MOST = 4
_WHICH = "That is more than one question. Which one first?"

ReadAlone = Callable[[str], Reading]
"""Reads a question as the first one of a conversation; raises NotUnderstood or Ambiguous."""


def asked_in_turn(question: str, read: ReadAlone) -> Analytic | Clarify | None:
    """Questions to answer in turn or to choose from, or one row of all their figures; None where it is one question."""
    alone = _readings(_split(_SENTENCE, question), read)
    if alone and sum(isinstance(reading, Predictive) for reading in alone.values()) < 2:
        ordered = any(re.match(_ORDERS, part, re.IGNORECASE) for part in list(alone)[1:])
        if not (ordered and any(isinstance(reading, Predictive) for reading in alone.values())):
            return _several(alone, in_turn=True)
    alone = _readings(_split(_AND_ASKS, question), read)
    if alone and _stand_apart(alone, question, read):
        groups = [reading.group_columns for reading in alone.values() if isinstance(reading, Analytic)]
        row = one_row.side_by_side(tuple(alone.values()))
        return row or _several(alone, in_turn=all(groups))  # "by status" may be meant of all of them
    alone = _readings(_split(_AND_FIGURE, question), read)
    if alone and _stand_apart(alone, question, read):
        groups = [reading.group_columns for reading in alone.values() if isinstance(reading, Analytic)]
        if all(groups) and len(set(groups)) > 1:
            return _several(alone, in_turn=True)
        return None if any(groups) else one_row.side_by_side(tuple(alone.values()))
    return None


def to_choose_from(question: str, read: ReadAlone) -> Clarify | None:
    """Questions of which the whole is not understood, but each part is or needs only to be asked back about."""
    parts = _split(_SENTENCE, question)
    return Clarify(question=_WHICH, options=parts) if parts and all(_asks_something(part, read) for part in parts) else None


def _asks_something(part: str, read: ReadAlone) -> bool:
    try:
        return not isinstance(read(part), CannotAnswer)
    except Ambiguous:
        return True
    except NotUnderstood:
        return False


def _split(at: re.Pattern[str], question: str) -> tuple[str, ...]:
    pieces = (piece.strip().rstrip("?!.;,").strip() for piece in at.split(question))
    parts = tuple(piece + "?" for piece in pieces if any(ch.isalnum() for ch in piece))
    return parts if 1 < len(parts) <= _MOST else ()


def _readings(parts: tuple[str, ...], read: ReadAlone) -> dict[str, Reading]:
    """Each part with its reading; empty unless every one is understood."""
    found: dict[str, Reading] = {}
    for part in parts:
        try:
            reading = read(part)
        except (NotUnderstood, Ambiguous):
            return {}
        if isinstance(reading, CannotAnswer | Clarify):
            return {}
        found[part] = reading
    return found if len(found) > 1 else {}


def _stand_apart(alone: dict[str, Reading], question: str, read: ReadAlone) -> bool:
    """Whether one query of all would have to join what no part joins: two figures of one table are one query."""
    tables = [set(reading.tables) for reading in alone.values() if isinstance(reading, Analytic)]
    if len(tables) < len(alone):
        return False
    try:
        whole = read(question)
    except (NotUnderstood, Ambiguous):
        return True
    return not isinstance(whole, Analytic) or set(whole.tables) not in tables


def _several(alone: dict[str, Reading], *, in_turn: bool) -> Clarify:
    return Clarify(question=_WHICH, options=tuple(alone), in_turn=in_turn)
