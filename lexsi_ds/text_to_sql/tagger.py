"""From tokens to items: each stretch of the question as a cue, a name or value of the source, a number, a date, or unknown.

Longest match wins. A misspelt word is repaired only when one known word is near it, and the repair is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from lexsi_ds.knowledge.words import (
    allowed_edits,
    fold,
    nearest,
    of_words,
    other_spelling,
    phrase,
    singular,
    split_name,
)
from lexsi_ds.text_to_sql.cues import (
    CUE_WORDS,
    CUES,
    LONGEST_CUE,
    MISSPELT,
    NEVER_STOP,
    PREDICT_CUES,
    PREDICT_WORDS,
    STOP_WORDS,
)
from lexsi_ds.text_to_sql.dates import span_at
from lexsi_ds.text_to_sql.derived import derived
from lexsi_ds.text_to_sql.figure_words import told_of_figures
from lexsi_ds.text_to_sql.items import Item as Item
from lexsi_ds.text_to_sql.items import Tagged as Tagged
from lexsi_ds.text_to_sql.items import make_item
from lexsi_ds.text_to_sql.lexicon import Lexicon, Sense
from lexsi_ds.text_to_sql.tokens import Token, tokenise

_SKIPPED = frozenset({"the", "a", "an", "our", "their", "its", "his", "her"})
_LASTING = frozenset({"still", "currently", "now", "yet"})
"""Words that leave out what has ended, where rows have a day that they end on."""
_SPELT_RIGHT = of_words("summer winter spring autumn weekend weekends morning evening night late early")
"""Words of time that are near to others and no slip of the pen: summer, and summed."""
_JOINERS = frozenset({"-", "/", "&", ".", "'", "’"})


def tag(
    question: str,
    lexicon: Lexicon,
    today: date | None,
    cues: Mapping[tuple[str, ...], str] = CUES,
) -> Tagged:
    """Tag a question; unknown words are repaired where the spelling leaves no doubt."""
    tokens = tokenise(question)
    slips = {t.word: MISSPELT[t.word] for t in tokens if t.word in MISSPELT and t.word not in lexicon.vocabulary}
    tokens = tuple(replace(t, word=slips[t.word], lemma=slips[t.word]) if t.word in slips else t for t in tokens)
    items = _items(tokens, lexicon, today, cues)
    known = lexicon.vocabulary | CUE_WORDS | (PREDICT_WORDS if cues is PREDICT_CUES else frozenset())
    repairs: dict[str, str] = {}
    for item in items:
        word = item.words[0] if item.words else ""
        if item.kind == "unknown" and (other := other_spelling(word, known)) is not None:
            repairs[word] = other
        elif item.kind == "unknown" and word.isalpha() and allowed_edits(word) and word not in _SPELT_RIGHT:
            near = nearest(word, known) or nearest(_lemma_of(tokens, word), known)
            if near is not None and not _inflected(word, near):
                repairs[word] = near
    if not repairs:
        return Tagged(tuple(items), tuple(sorted(slips.items())))
    mended = tuple(replace(t, word=repairs[t.word], lemma=singular(repairs[t.word])) if t.word in repairs else t for t in tokens)
    return Tagged(tuple(_items(mended, lexicon, today, cues)), tuple(sorted((slips | repairs).items())))


def _inflected(word: str, near: str) -> bool:
    """Whether the two are forms of one word, so that nothing was misspelt: shared, share."""
    if word[:2] in ("in", "un", "im", "no") and near[:2] != word[:2]:
        return True  # a negation is no slip of the pen: inactive, isactive
    long, short = (word, near) if len(word) > len(near) else (near, word)
    return long.startswith(short) and long[len(short) :] in ("d", "ed", "s", "es", "ing", "r", "er", "ly", "n", "y")


def _lemma_of(tokens: tuple[Token, ...], word: str) -> str:
    return next((t.lemma for t in tokens if t.word == word), word)


def _items(
    tokens: tuple[Token, ...],
    lexicon: Lexicon,
    today: date | None,
    cues: Mapping[tuple[str, ...], str],
) -> list[Item]:
    items: list[Item] = []
    i = 0
    while i < len(tokens):
        stop, item = _item_at(tokens, i, lexicon, today, cues)
        if item.kind in ("unknown", "more", "less"):
            more = derived(tokens, i, lexicon)
            if more is not None:
                stop, made = more
                items += made
                i = stop
                continue
        items.append(item)
        i = stop
    return told_of_figures(items, lexicon)


def _item_at(
    tokens: tuple[Token, ...],
    i: int,
    lexicon: Lexicon,
    today: date | None,
    cues: Mapping[tuple[str, ...], str],
) -> tuple[int, Item]:
    token = tokens[i]
    named = _sense_at(tokens, i, lexicon)
    if named and token.kind == "number" and named[0] == i + 1 and _is_count(tokens, i, named[1]):
        named = None
    if named and named[0] == i + 1 and all(s.kind == "pay" for s in named[1]):
        named = (named[0], (*named[1], *lexicon.hints(token.word)))
    if named and named[0] == i + 1 and _is_function_word(token, named[1], cues, loud=_loud(tokens)):
        named = None
    dated = span_at(tokens, i, today)
    cue = _cue_at(tokens, i, cues)
    if cue and token.word in _SKIPPED and not named and i + 1 < len(tokens):
        longer = _sense_at(tokens, i + 1, lexicon)
        if longer and longer[0] > cue[0]:
            return i + 1, make_item("stop", tokens, i, i + 1)
    if named and named[0] >= max(dated[0] if dated else 0, cue[0] if cue else 0):
        same = cue[1] if cue and cue[0] == named[0] else None
        return named[0], make_item("sense", tokens, i, named[0], senses=named[1], cue=same, value=token.value)
    if dated and dated[0] >= (cue[0] if cue else 0):
        return dated[0], make_item("date", tokens, i, dated[0], span=dated[1], value=dated[1].bare_number)
    if cue:
        return cue[0], make_item(cue[1], tokens, i, cue[0])
    if token.kind == "number":
        return i + 1, make_item("number", tokens, i, i + 1, value=token.value)
    if token.kind == "mark":
        return i + 1, make_item("mark", tokens, i, i + 1)
    lasting = token.word in _LASTING and lexicon.has_ends
    dated_verb = token.word.endswith("ed") and any(s.role == "time" for s in lexicon.hints(token.word))
    if token.kind == "word" and token.word in STOP_WORDS and token.word not in NEVER_STOP and not (lasting or dated_verb):
        return i + 1, make_item("stop", tokens, i, i + 1)
    hints = lexicon.hints(token.word) if token.kind == "word" else ()
    if hints:
        return i + 1, make_item("sense", tokens, i, i + 1, senses=hints)
    return i + 1, make_item("unknown", tokens, i, i + 1)


def _loud(tokens: tuple[Token, ...]) -> bool:
    """Whether a question is all capitals, or every word of it begins with one: then capitals say nothing."""
    words = [t.text for t in tokens if t.text.isalpha()]
    return len(words) > 2 and all(w[0].isupper() for w in words)


def _is_function_word(token: Token, senses: tuple[Sense, ...], cues: Mapping[tuple[str, ...], str], *, loud: bool) -> bool:
    """Whether a short word of grammar only happens to be a code of some column: "on", which is Ontario too."""
    plain = loud or token.text.islower() or (token.start == 0 and token.text[1:].islower())
    short = len(token.word) <= 3 and token.kind == "word" and plain
    return short and (token.word in STOP_WORDS or (token.word,) in cues) and all(s.kind == "value" for s in senses)


def _is_count(tokens: tuple[Token, ...], i: int, senses: tuple[Sense, ...]) -> bool:
    """Whether a short number that some column holds too is just a number: "top 2", unless that column is named before it."""
    if len(tokens[i].word) > 3:
        return False
    before = {t.lemma for t in tokens[max(0, i - 3) : i]}
    return not any(before >= set(split_name(s.column)) for s in senses)


def _sense_at(tokens: tuple[Token, ...], i: int, lexicon: Lexicon) -> tuple[int, tuple[Sense, ...]] | None:
    """The longest phrase of the lexicon that starts here, articles and hyphens inside it passed over."""
    shouted = _loud(tokens)
    if tokens[i].kind == "mark" or (tokens[i].word in _SKIPPED and not (tokens[i].text == "A" and i > 0 and not shouted)):
        return None
    if tokens[i].kind == "quoted":
        word = tokens[i].word
        senses = lexicon.senses(phrase(word)) or lexicon.senses(tuple(re.findall(r"[a-z0-9]+", word)))
        if re.search(r"[^\w\s.,'&/()+-]|--", word):
            senses = tuple(s for s in senses if word in (fold(s.value), fold(s.label)))
        return (i + 1, senses) if senses else None
    best, lemmas, words, j = None, [], [], i
    while j < len(tokens) and len(lemmas) <= lexicon.longest:
        token = tokens[j]
        if token.kind == "quoted" or (token.kind == "mark" and token.word not in _JOINERS):
            break
        if token.kind != "mark" and not (j > i and token.word in _SKIPPED):
            lemmas += re.findall(r"[a-z0-9]+", token.lemma)
            words += re.findall(r"[a-z0-9]+", token.word)
            senses = lexicon.senses(tuple(words)) or lexicon.senses(tuple(lemmas))
            if words != lemmas and senses:
                more = lexicon.senses(tuple(lemmas))
                senses = (*senses, *(s for s in more if s not in senses))
            if not senses and best is None:
                senses = lexicon.by_stems(tuple(words))
            if senses and not _of_other_rows(tokens, j + 1, lexicon, senses):
                best = (j + 1, senses)
        j += 1
    return best


def _of_other_rows(tokens: tuple[Token, ...], i: int, lexicon: Lexicon, senses: tuple[Sense, ...]) -> bool:
    """Whether a named rate is not meant: "share of cancelled" is of bookings, and flights stand behind it."""
    if i >= len(tokens) or any(s.kind != "metric" for s in senses) or not lexicon.is_entity(tokens[i].lemma):
        return False
    rows = {s.table for s in lexicon.senses((tokens[i].lemma,)) if s.kind == "entity"}
    return not rows & {s.table for s in senses}


def _cue_at(tokens: tuple[Token, ...], i: int, cues: Mapping[tuple[str, ...], str]) -> tuple[int, str] | None:
    words: list[str] = []
    best, j = None, i
    while j < len(tokens) and len(words) < LONGEST_CUE:
        token = tokens[j]
        if token.kind == "quoted":
            break
        if token.kind == "mark" and token.word == "-" and words:
            j += 1
            continue
        words.append(token.word)
        kind = cues.get(tuple(words))
        if kind is not None:
            best = (j + 1, kind)
        j += 1
    return best
