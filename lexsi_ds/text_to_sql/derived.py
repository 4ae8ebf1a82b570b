"""Words that are made of known ones: inactive of active, remotely of remote, taller of tallest; and words that only say that a row
came to be, such as "made" of orders.

Reads words only where they are otherwise unknown. A negation is kept as one, and a word that could restrict is never passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.words import of_words, singular, stem
from lexsi_ds.text_to_sql.cues import CUE_WORDS
from lexsi_ds.text_to_sql.items import Item, make_item
from lexsi_ds.text_to_sql.senses import Sense
from lexsi_ds.text_to_sql.tokens import Token

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.lexicon import Lexicon

_NEGATIONS = ("non", "un", "in", "im", "ir", "dis")
_MADE = of_words(
    "made placed recorded logged listed played issued taken held carried happened occurred entered reported filed submitted scored"
    " conducted performed organised organized captured observed measured took happen occur"
)
"""What is said of rows when they came to be; every row did."""
_AGENTS = ("er", "or", "ist", "ant", "ent")
_DENIES = of_words("not never no without non neither nor isn't hardly")


def negated(word: str, lexicon: Lexicon) -> tuple[str, tuple[Sense, ...]] | None:
    """ "inactive": the word that is negated, and its values."""
    for prefix in _NEGATIONS:
        rest = word.removeprefix(prefix).lstrip("-")
        if rest == word or len(rest) < 4:
            continue
        senses = lexicon.senses((singular(rest),)) or lexicon.senses((rest,))
        found = tuple(s for s in senses if s.kind in ("value", "segment", "verb"))
        if found:
            return rest, found
    return None


def adverb(word: str, lexicon: Lexicon) -> tuple[Sense, ...]:
    """ "remotely": the values of its adjective."""
    if not word.endswith("ly") or len(word) < 6:
        return ()
    return tuple(s for s in lexicon.senses((word[:-2],)) if s.kind == "value")


def doing(word: str, lexicon: Lexicon) -> tuple[Sense, ...]:
    """ "smoke": the values of who does it, a smoker."""
    verb = stem(word)
    if len(verb) < 4:
        return ()
    found = (s for end in _AGENTS[:2] for s in lexicon.senses((verb + end,)) if s.kind == "value")
    return tuple(replace(s, strong=True) for s in found)


def compared(tokens: Sequence[Token], i: int, lexicon: Lexicon) -> tuple[int, str, tuple[Sense, ...]] | None:
    """ "taller than", "more expensive than": where "than" stands, whether more or less is meant, and the columns."""
    word = tokens[i].word
    following = tokens[i + 1].word if i + 1 < len(tokens) else ""
    if following == "than":
        phrases, stop = _superlatives(word), i + 1
    elif word in ("more", "less") and i + 2 < len(tokens) and tokens[i + 2].word == "than":
        phrases, stop = (("most" if word == "more" else "least", following),), i + 2
    else:
        return None
    for phrase in phrases:
        senses = tuple(s for s in lexicon.senses(phrase) if s.kind == "extreme")
        ends = {s.value for s in senses}
        if len(ends) == 1 and not lexicon.is_of_time(senses):
            return stop, "more" if ends == {"highest"} else "less", senses
    return None


def _superlatives(word: str) -> tuple[tuple[str, ...], ...]:
    if not word.endswith("er") or len(word) < 5:
        return ()
    return ((word[:-2] + "est",),)


def came_to_be(tokens: Sequence[Token], i: int, lexicon: Lexicon) -> bool:
    """Whether a word only says that the rows before it are there: "orders made in 2023", "each course a teacher teaches"."""
    word = tokens[i].word
    near = {t.word for t in tokens[max(0, i - 3) : i]} | {t.word for t in tokens[i + 1 : i + 2]}
    if i == 0 or near & _DENIES:
        return False
    if word in _MADE:
        return True
    return any(_does(stem(word), t.lemma) for t in tokens if t is not tokens[i] and lexicon.is_entity(t.lemma))


def _does(verb: str, noun: str) -> bool:
    """Whether a noun is whoever does the verb: teach, teacher."""
    return len(verb) > 3 and any(noun == verb + end for end in _AGENTS)


def derived(tokens: tuple[Token, ...], i: int, lexicon: Lexicon) -> tuple[int, list[Item]] | None:
    """What an unknown word is made of: a negation and its word, an adverb's adjective, a column and its comparison."""
    than = compared(tokens, i, lexicon)
    if than is not None:
        stop, kind, senses = than
        columns = tuple(Sense("column", s.table, s.column, label=s.label) for s in senses)
        return stop, [make_item("sense", tokens, i, stop, senses=columns), make_item(kind, tokens, i, stop)]
    word = tokens[i].word
    if tokens[i].kind != "word" or word in CUE_WORDS:
        return None
    turned = negated(word, lexicon)
    if turned is not None:
        rest, senses = turned
        item = make_item("sense", tokens, i, i + 1, senses=senses)
        return i + 1, [replace(make_item("not", tokens, i, i + 1), words=("not",)), replace(item, text=rest, words=(rest,))]
    adjective = adverb(word, lexicon) or doing(word, lexicon)
    if adjective:
        return i + 1, [make_item("sense", tokens, i, i + 1, senses=adjective)]
    if came_to_be(tokens, i, lexicon):
        by = i + 2 < len(tokens) and tokens[i + 1].word == "by" and lexicon.is_sort(tokens[i + 2].lemma)
        return i + 1 + by, [make_item("stop", tokens, i, i + 1 + by)]
    return None
