"""What a person wrote beside a question, read as definitions: "premium loans are loans above 300000", "A11 is the average salary".

A definition only puts other words in the place of words of the question; what comes out must be understood like any question.
Nothing in it is an order, and what is no definition is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexsi_ds.knowledge.words import fold, singular
from lexsi_ds.text_to_sql.cues import CUES, STOP_WORDS
from lexsi_ds.text_to_sql.lexicon import Lexicon
from lexsi_ds.text_to_sql.tokens import tokenise

_SENTENCE = re.compile(r"[;\n]+|(?<=[^\d\W])\.(?:\s+|$)|(?<=\d)\.(?:\s+|$)")
_IS = re.compile(
    r"^\s*(?P<word>[^=:]{2,60}?)\s*(?:\b(?:is defined as|is called|is|are|means|mean|refers to|refer to|stands for|stand for"
    r"|denotes|represents|indicates)\b|=)\s*(?P<meaning>\S.{0,200}?)\s*$",
    re.IGNORECASE | re.DOTALL,
)
_RATIO = re.compile(
    r"^number of (?P<noun>[\w ]+?)(?P<rest> (?:with|in|that|which|who|whose|where)\b.+?)\s*/\s*number of (?P<all>[\w ]+?)$",
    re.I,
)
_ARTICLE = re.compile(r"^(?:the|a|an|all|any)\s+", re.IGNORECASE)
_MOST = 200


@dataclass(frozen=True)
class Definition:
    """Words and what they stand for."""

    words: str
    meaning: str


def definitions(context: str) -> tuple[Definition, ...]:
    """The definitions in a text."""
    made = []
    for sentence in _SENTENCE.split(context)[:_MOST]:
        found = _IS.match(sentence or "")
        if found:
            words, meaning = _bare(found["word"]), _bare(found["meaning"])
            if words and meaning and fold(words) != fold(meaning):
                made.append(Definition(words, meaning))
    return tuple(made)


def _bare(text: str) -> str:
    return _ARTICLE.sub("", text.strip()).strip().strip("'\"\u201c\u201d\u2018\u2019`").strip()


def rewritten(question: str, context: str, lexicon: Lexicon) -> tuple[str, tuple[Definition, ...]]:
    """The question with defined words replaced, and the definitions that were used."""
    used: list[Definition] = []
    text = question
    for definition in definitions(context):
        longer = _put(text, definition.words, _as_asked(definition.meaning))
        if longer is None and _names_something(definition.words, lexicon) and len(definition.meaning) <= 60:
            longer = _put(text, definition.meaning, _quoted(definition.words, lexicon))
        if longer is not None and fold(longer) != fold(text):
            text = longer
            used.append(definition)
    return text, tuple(used)


def _as_asked(meaning: str) -> str:
    """A ratio of counts of the same rows as the percentage that it is."""
    ratio = _RATIO.match(meaning)
    if ratio and singular(fold(ratio["noun"]).split()[-1]) == singular(fold(ratio["all"]).split()[-1]):
        return f"percentage of {ratio['noun']}{ratio['rest']}"
    return meaning


def _names_something(words: str, lexicon: Lexicon) -> bool:
    folded = tuple(re.findall(r"[a-z0-9]+", fold(words)))
    return bool(lexicon.senses(folded) or lexicon.senses(tuple(singular(w) for w in folded)))


def _quoted(words: str, lexicon: Lexicon) -> str:
    folded = tuple(re.findall(r"[a-z0-9]+", fold(words)))
    values = any(
        s.kind == "value" for s in (*lexicon.senses(folded), *lexicon.senses(tuple(singular(w) for w in folded)))
    )
    return f'"{words}"' if values else words


def _put(text: str, words: str, other: str) -> str | None:
    """The text with ``other`` in the place of ``words``, whatever their number and case; None when they are not there."""
    wanted = [singular(w) for w in re.findall(r"[a-z0-9]+", fold(words))]
    plain = {w for key in CUES for w in key} | STOP_WORDS
    if not wanted or all(w in plain for w in wanted):
        return None
    tokens = tokenise(text)
    for i in range(len(tokens) - len(wanted) + 1):
        if [t.lemma for t in tokens[i : i + len(wanted)]] != wanted:
            continue
        stop = i + len(wanted)
        first = fold(other).split()[0] if other.split() else ""
        if stop < len(tokens) and tokens[stop].kind == "word" and singular(first) == tokens[stop].lemma:
            stop += 1  # "senior clients", where senior means "clients born before 1930"
        return text[: tokens[i].start] + other + text[tokens[stop - 1].end :]
    return None
