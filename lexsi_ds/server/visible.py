"""Text from data on its way to a program that a model reads: what cannot be seen is spelled out, numbers that JSON lacks are null.

Names, descriptions, cells and statements can be written by anyone. They stay in the field they belong to, as they are, but a
character that hides or turns text around is written as its escape, so that a person and a model read the same. Must never: drop
a character.
"""

from __future__ import annotations

import math
import unicodedata
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

_KEPT = frozenset("\n\t")
_HIDING = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_JOINERS = frozenset({"\u200d", "\u200c"})
"""Part of ordinary words of some scripts and of emoji; alone they hide nothing."""


def visible(text: str) -> str:
    """The text with each hidden character as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(c) for c in text)


def as_json(value: Any) -> Any:
    """A value for the wire: every text in it visible, keys too."""
    if isinstance(value, str):
        return visible(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {visible(str(name)): as_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return as_json(float(value)) if isinstance(value, Decimal) else visible(str(value))


def _seen(character: str) -> str:
    if character in _KEPT or character in _JOINERS or unicodedata.category(character) not in _HIDING:
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
