"""What a column may be called for short: score of ``imdb_score``, loyalty of ``loyalty_level``, plan of ``plan_type``.

Pure functions of a column's words. A short name is loose: it counts only where nothing else in the source has it, and only when
one column of its table does.
"""

from __future__ import annotations

from lexsi_ds.knowledge.values import ValueHit, ValueIndex
from lexsi_ds.knowledge.words import of_words, singular

_TAILS = of_words(
    "score name type status state level class category group code id number key count flag description title amount kind label"
)
"""Last words that say what sort of column it is rather than what it is about."""
_NO_NAME = of_words(
    "date number code id count flag description value total rate key year month day time kind label first last is has unit per"
    " start end no current new old average maximum minimum net gross home away primary secondary main other own the and of"
    " order rank sort row record list index ratio percent datetime timestamp"
)
"""Words that name no column by themselves."""
_KINDS = 12
"""Most values of a column of which each may be told by its first word."""
_EACH = of_words("price cost rate fare fee")
"""What one thing is charged: all of it in total is not called so."""
_LITTLE = of_words("of per and by to in from")


def short_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Shorter names of a column of these words, its words in the other order included."""
    found: list[tuple[str, ...]] = []
    if len(words) == 2 and words[1].endswith("ed") and len(words[1]) > 4:
        found.append((words[1], words[0]))
    if words[-1:] == ("price",):
        found.append(("cost",))
    if len(words) > 1 and words[-1] in _TAILS:
        found.append(words[:-1])
    found += [words[n:] for n in range(1, len(words)) if not (words[n - 1] == "total" and words[n] in _EACH)]
    if len(words) > 2 and words[-1] in _TAILS:
        found += [words[n:-1] for n in range(1, len(words) - 1)]
    return tuple(dict.fromkeys(" ".join(f) for f in found if _names_something(f)))


def _names_something(words: tuple[str, ...]) -> bool:
    if len(words) == 1:
        done = words[0].endswith("ed") and len(words[0]) > 4  # a verb: what a date or year of it says is found by its stem
        return len(words[0]) > 2 and singular(words[0]) not in _NO_NAME and not done
    return not {words[0], words[-1]} & _LITTLE


def first_words(values: ValueIndex, said: frozenset[str]) -> dict[str, ValueHit]:
    """Values of few by their first word, "fiber" for "Fiber optic", where nothing else of the source begins with or holds it.

    ``said`` holds the words of names. A word that ends two values, or a value and a name, tells neither.
    """
    holding: dict[str, set[tuple[str, str, str]]] = {}
    kinds: dict[tuple[str, str], set[str]] = {}
    firsts: dict[str, ValueHit] = {}
    for words, hits in values.entries():
        for hit in hits:
            kinds.setdefault((hit.table, hit.column), set()).add(hit.value)
            for word in words:
                holding.setdefault(word, set()).add((hit.table, hit.column, hit.value))
            if hit.exact and 1 < len(words) <= 3:
                firsts.setdefault(words[0], hit)
    return {
        word: hit
        for word, hit in firsts.items()
        if len(word) > 3 and word.isalpha() and word not in said | _NO_NAME
        and len(holding[word]) == 1 and len(kinds[(hit.table, hit.column)]) <= _KINDS
    }
