"""Names that are written in one word, taken apart: ``orderdate``, ``creditlimit``, ``totalweight``, ``shipmentno``.

Pure functions of one folded word and the word lists. A word that may well be one word stays one.
"""

from __future__ import annotations

from functools import lru_cache

from lexsi_ds.knowledge.abbreviations import meanings
from lexsi_ds.knowledge.name_words import COMMON, ENDS, SURE_ENDS, WHOLE

_SHORTEST = 3
_BY_LENGTH = tuple(sorted(ENDS, key=len, reverse=True))


@lru_cache(maxsize=20_000)
def taken_apart(word: str) -> tuple[str, ...]:
    """The words of a name written in one; the word itself when it is one."""
    if word in WHOLE or word in COMMON or len(word) < 5 or not word.isalpha():
        return (word,)
    for end in _BY_LENGTH:
        before = word[: -len(end)]
        if not word.endswith(end) or (len(before) < _SHORTEST and not meanings(before)):
            continue
        if _is_word(before):
            return (before, end)
        parts = taken_apart(before)
        if len(parts) > 1 and all(_is_word(p) or p in ENDS for p in parts):
            return (*parts, end)
        if end in SURE_ENDS and len(before) > (_SHORTEST if end != "flag" else 2):
            return (before, end)
    return (word,)


def _is_word(text: str) -> bool:
    """Whether a beginning is a word that names begin with, or short for one."""
    if text in COMMON:
        return True
    plural = text.endswith("s") and text[:-1] in COMMON
    return plural or (len(text) <= 5 and bool(meanings(text)))
