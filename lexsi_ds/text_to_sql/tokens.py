"""A question as tokens: words folded and made singular, numbers in figures or in words, quoted texts, marks.

Knows English and nothing of any data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from lexsi_ds.knowledge.words import fold, singular

TokenKind = Literal["word", "number", "quoted", "mark"]

_PIECE = re.compile(
    r"(?P<quoted>\"[^\"]{1,80}\"|“[^”]{1,80}”|(?<!\w)'[^']{1,80}'(?!\w)|‘[^’]{1,80}’)"
    r"|(?P<abbreviation>\b(?:i\.\s?e\.|e\.\s?g\.|vs\.))"
    r"|(?P<date>\d{4}-\d{2}(?:-\d{2})?(?!\d))"
    r"|(?P<code>(?=[0-9-]*[A-Za-z])[A-Za-z]*\d+[A-Za-z0-9]*(?:-[A-Za-z0-9]+)+)"
    r"|(?P<number>(?:(?<!\S)-(?=\d))?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<ordinal>(?:st|nd|rd|th)\b)?)(?P<scale>\s?(?:k|m|mn|bn|thousand|million|billion)(?![A-Za-z]))?"
    r"|(?P<top>top)(?=\d)"
    r"|(?P<word>[^\W\d]\w*(?:['’][^\W\d_]+)?|['’]s\b)"
    r"|(?P<mark>[^\s])",
    re.IGNORECASE,
)
SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_UNITS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "dozen": 12,
}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_BIG = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_CONTRACTIONS = {
    "what's": ("what", "is"),
    "who's": ("who", "is"),
    "where's": ("where", "is"),
    "how's": ("how", "is"),
    "that's": ("that", "is"),
    "it's": ("it", "is"),
    "there's": ("there", "is"),
    "let's": ("let", "us"),
    "i'm": ("i", "am"),
    "i'd": ("i", "would"),
    "we're": ("we", "are"),
    "we've": ("we", "have"),
    "they're": ("they", "are"),
    "i've": ("i", "have"),
    "we'd": ("we", "would"),
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "haven't": ("have", "not"),
    "hasn't": ("has", "not"),
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "couldn't": ("could", "not"),
    "i'll": ("i", "will"),
    "we'll": ("we", "will"),
    "you're": ("you", "are"),
}


@dataclass(frozen=True)
class Token:
    """One piece of a question. ``word`` is folded, ``lemma`` singular; ``value`` is set for numbers."""

    text: str
    word: str
    lemma: str
    kind: TokenKind
    start: int
    end: int
    value: float | None = None
    possessive: bool = False


def tokenise(question: str) -> tuple[Token, ...]:
    """The tokens of a question, number words joined into numbers."""
    made: list[Token] = []
    for match in _PIECE.finditer(question):
        made += _of_match(match)
    return tuple(_join_numbers(made))


def _of_match(match: re.Match[str]) -> list[Token]:
    text, (start, end) = match.group(), match.span()
    if match["quoted"]:
        inner = text[1:-1]
        return [Token(inner, fold(inner), fold(inner), "quoted", start, end)]
    if match["number"]:
        value = float(match["number"].removesuffix(match["ordinal"] or "").replace(",", "")) * SCALES.get(
            (match["scale"] or "").strip().casefold(), 1
        )
        return [Token(text, fold(text), fold(text), "number", start, end, value=value)]
    if match["abbreviation"]:
        bare = re.sub(r"[.\s]", "", fold(text))
        return [Token(text, bare, bare, "word", start, end)]
    if match["mark"]:
        return [Token(text, text, text, "mark", start, end)]
    return _words(text, start, end)


def _words(text: str, start: int, end: int) -> list[Token]:
    folded = fold(text).replace("’", "'")
    if folded == "'s":
        return []
    if folded in _CONTRACTIONS:
        return [Token(text, w, singular(w), "word", start, end) for w in _CONTRACTIONS[folded]]
    possessive = folded.endswith("'s")
    bare = folded[:-2] if possessive else folded.replace("'", "")
    return [Token(text, bare, singular(bare), "word", start, end, possessive=possessive)]


def _join_numbers(tokens: list[Token]) -> list[Token]:
    out, i = [], 0
    while i < len(tokens):
        stop, value = _number_at(tokens, i)
        if value is not None:
            first, last = tokens[i], tokens[stop - 1]
            text = " ".join(t.text for t in tokens[i:stop])
            out.append(
                replace(first, text=text, word=fold(text), lemma=fold(text), kind="number", end=last.end, value=value)
            )
            i = stop
        else:
            out.append(tokens[i])
            i += 1
    return out


def _number_at(tokens: list[Token], i: int) -> tuple[int, float | None]:
    """Number words from ``i`` on and their value: "twenty-five", "three hundred", "nineteen fifty"."""
    total, part, stop = 0.0, None, i
    while stop < len(tokens):
        word = tokens[stop].word
        if word == "-" and part is not None and stop + 1 < len(tokens) and tokens[stop + 1].word in _UNITS:
            stop += 1
            continue
        if (
            word == "and"
            and part is not None
            and part >= 100
            and stop + 1 < len(tokens)
            and _is_number_word(tokens[stop + 1].word)
        ):
            stop += 1
            continue
        if word in _UNITS or word in _TENS:
            small = _UNITS.get(word, _TENS.get(word, 0))
            if part is None:
                part = small
            elif 13 <= part <= 20 and small >= 10:
                part = part * 100 + small  # a year: nineteen fifty
            elif part % 100 == 0 or (part % 10 == 0 and small < 10 and part % 100 != 10):
                part += small
            else:
                break
        elif word in _BIG and part is not None:
            if _BIG[word] == 100:
                part *= 100
            else:
                total, part = total + part * _BIG[word], 0
        else:
            break
        stop += 1
    return (stop, total + part) if part is not None else (i, None)


def _is_number_word(word: str) -> bool:
    return word in _UNITS or word in _TENS or word in _BIG
