"""What a person types while a question is open: one of its options, the option's number, or the words that tell it from the others.

It picks an option or none. It never takes a word that fits two options, and it never makes a new question out of a reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lexsi_ds.knowledge.words import fold, of_words, singular
from lexsi_ds.text_to_sql.draft import Draft
from lexsi_ds.text_to_sql.reading import Analytic, Clarify, Evidence, Predictive, Reading

_LONGEST = 8
"""Most words of a reply; more is a question of its own unless it is an option word for word."""
_SHORT = 5
"""Most words of a fragment that says nothing by itself while a question is open."""
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "last": -1, "former": 1, "latter": -1}
_CARDINALS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_POLITE = of_words("please thanks i mean meant want take use option number nr choice answer yes ok okay the would like")
_FILLERS = _POLITE | of_words(
    "a an no that this one it is was s my by of for in just only let us go with and to me rather then you"
)

_NONE = "picks none of the readings that were named."


def picked(reply: str, options: Sequence[str]) -> str | None:
    """The option that a reply picks; None where it picks none or could be two."""
    said = _words(reply)
    if not said or not options:
        return None
    same = [o for o in options if _words(o) == said]
    if len(same) == 1:
        return same[0]
    if len(said) > _LONGEST:
        return None
    numbered = _number(said, len(options))
    if numbered is not None:
        return options[numbered - 1 if numbered > 0 else numbered]
    return _told_apart(said, options)


def told(read: Reading, reply: str, option: str) -> Reading:
    """The reading of an option, which says that a reply picked it."""
    if not isinstance(read, Analytic | Predictive):
        return read
    evidence = Evidence(words=reply.strip(), became=f"picks \u201c{option}\u201d")
    return read.model_copy(update={"evidence": (evidence, *read.evidence)})


def ask_again(reply: str, asked: Clarify) -> Clarify:
    """The same question once more, because a reply picks none of its options."""
    before = asked.question.rpartition(_NONE)[2].strip()
    return asked.model_copy(update={"question": f"\u201c{reply.strip()}\u201d {_NONE} {before}"})


def says_nothing_alone(reply: str, draft: Draft) -> bool:
    """Whether a short text asks for nothing by itself: a noun, a value, "only offshore"."""
    asks = draft.measures or draft.pending or draft.lists or draft.which or draft.share or draft.window or draft.when or draft.who
    asks = asks or draft.order or draft.limit or draft.count_per or draft.difference or draft.ratio or draft.relation
    return not (asks or (draft.groups and draft.entities)) and len(_words(reply)) <= _SHORT


def _words(text: str) -> tuple[str, ...]:
    return tuple(singular(w) for w in re.findall(r"[^\W_]+", fold(text)))


def _number(said: tuple[str, ...], among: int) -> int | None:
    """ "2", "the second one", "option two": its place; the last one is -1."""
    left = [w for w in said if w not in _POLITE]
    if len(left) == 2 and left[1] == "one" and left[0] in _ORDINALS:
        left = left[:1]
    if len(left) != 1:
        return None
    word = re.sub(r"(?<=\d)(st|nd|rd|th)$", "", left[0])
    number = _ORDINALS.get(word) or _CARDINALS.get(word) or (int(word) if word.isdigit() else 0)
    return number if number == -1 or 1 <= number <= among else None


def _told_apart(said: tuple[str, ...], options: Sequence[str]) -> str | None:
    """The only option that holds every word of a reply, at least one of which the others do not share."""
    held = [set(_words(o)) for o in options]
    phrased = [o for o in options if f" {' '.join(said)} " in f" {' '.join(_words(o))} "]
    if len(phrased) == 1 and any(w not in _FILLERS for w in said):
        return phrased[0]
    shared = set.intersection(*held)
    content = {w for w in said if w not in _FILLERS} or set(said)
    if not content - shared:
        return None
    fits = [o for o, words in zip(options, held, strict=True) if content <= words]
    if len(fits) == 1:
        return fits[0]
    exact = [o for o, words in zip(options, held, strict=True) if words - shared - _FILLERS == content - shared]
    return exact[0] if len(exact) == 1 else None
