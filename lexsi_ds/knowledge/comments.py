"""What a database's own comments say of a column: a plainer name, and what its codes stand for.

A code's meaning counts only when the comment spells it out and the column has that code. Comments are data, never orders.
"""

from __future__ import annotations

import re

from lexsi_ds.data.handle import Column
from lexsi_ds.knowledge.model import ColumnModel, ValueMeaning
from lexsi_ds.knowledge.words import fold, phrase

_PAIR = re.compile(
    r"(?:^|[\s,;:(|/])['\"]?([A-Za-z0-9_+\-]{1,20})['\"]?\s*(?:=|:|->|–|—)\s*"  # a code and a sign
    r"['\"]?([^,;|=\n]{2,60}?)['\"]?(?=\s*(?:[,;|)\n]|$))"  # what it stands for
)
_NAME = re.compile(r"^[A-Za-z][A-Za-z' \-]{2,60}$")
_CODE_NAME = re.compile(r"^[A-Za-z]{1,3}_?\d{1,3}$")
_MOST_CODES = 60
_MOST_WORDS = 6


def wanted_codes(column: Column) -> bool:
    """Whether the values are worth reading because a comment explains some."""
    few = column.family == "text" and 1 <= column.distinct <= _MOST_CODES and not column.masked
    return few and len(_pairs(column.comment or "")) > 1


def commented(column: ColumnModel, values: list[str]) -> ColumnModel:
    """The column with what its comment adds. ``values`` are its distinct values where they were read."""
    text = column.comment.strip()
    if not text:
        return column
    changed: dict[str, object] = {}
    meanings = _meanings(text, values)
    if meanings and column.role == "category":
        changed["values"] = meanings
    short = text.rstrip(".")
    if _NAME.match(short) and len(short.split()) <= _MOST_WORDS and phrase(short) != phrase(column.label):
        if _CODE_NAME.match(column.name):
            changed["label"] = short.lower()
            changed["synonyms"] = (*column.synonyms, column.label)
        else:
            changed["synonyms"] = (*column.synonyms, short.lower())
    return column.model_copy(update=changed)


def _pairs(text: str) -> dict[str, str]:
    return {code: label.strip().rstrip(".") for code, label in _PAIR.findall(text)}


def _meanings(text: str, values: list[str]) -> tuple[ValueMeaning, ...]:
    said = {fold(code): label for code, label in _pairs(text).items()}
    found = [ValueMeaning(value=v, label=said[fold(v)].lower()) for v in values if fold(v) in said]
    return tuple(found) if len(found) > 1 else ()
