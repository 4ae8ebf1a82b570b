"""Which words of a question are stored values, and of which columns. Masked columns give none, whatever the index holds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueHit, ValueIndex
from lexsi_ds.knowledge.words import phrase
from lexsi_ds.text_to_sql.model.relevance import LITTLE

_MOST = 24
_MOST_A_SPAN = 6
_WORD = re.compile(r"[\w'’.&+-]+")
_QUOTED = re.compile(r"[\"“']([^\"”']{2,60})[\"”']")


@dataclass(frozen=True)
class LinkedValue:
    """Words of the question and the value that they may stand for."""

    words: str
    """As they were written."""
    table: str
    column: str
    value: str
    label: str


def linked_values(question: str, model: SemanticModel, values: ValueIndex) -> tuple[LinkedValue, ...]:
    """The longest spans of words that are values, from left to right, then names among very many that are in quotes or begin with
    a capital letter."""
    hidden = {(c.table, c.column) for c in _masked(model)}
    words = [(m.group(), m.start(), m.end()) for m in _WORD.finditer(question)]
    found: list[LinkedValue] = []
    taken: set[int] = set()
    for size in range(min(values.longest, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            span = range(first, first + size)
            if taken.intersection(span):
                continue
            text = question[words[first][1] : words[first + size - 1][2]]
            hits = [h for h in _hits(text, values) if (h.table, h.column) not in hidden]
            if hits:
                taken.update(span)
                found += [_linked(text, h) for h in hits[:_MOST_A_SPAN]]
    for text in _names(question, [w for i, w in enumerate(words) if i not in taken]):
        hits = [h for h in values.search(text) if (h.table, h.column) not in hidden]
        found += [_linked(text, h) for h in hits[:_MOST_A_SPAN]]
    return tuple(dict.fromkeys(found))[:_MOST]


@dataclass(frozen=True)
class _Place:
    table: str
    column: str


def _masked(model: SemanticModel) -> list[_Place]:
    return [_Place(c.table, c.name) for c in model.columns if c.masked]


def _hits(text: str, values: ValueIndex) -> tuple[ValueHit, ...]:
    said = phrase(text)
    if not said or set(said) <= LITTLE:
        return ()
    if len(said) == 1 and len(said[0]) == 1 and not (text.isupper() or text.isdigit()):
        return ()
    return values.lookup(text)


def _names(question: str, left: list[tuple[str, int, int]]) -> list[str]:
    """What is in quotes, and runs of words that begin with a capital letter, the first word of a sentence left out."""
    found = [m.group(1) for m in _QUOTED.finditer(question)]
    run: list[tuple[str, int, int]] = []
    for word in [*left, ("", -1, -1)]:
        starts = word[1] == 0 or question[: word[1]].rstrip()[-1:] in (".", "?", "!", ":")
        joined = not run or question[run[-1][2] : word[1]].strip() == ""
        if word[0][:1].isupper() and not starts and joined:
            run.append(word)
            continue
        if run:
            found.append(question[run[0][1] : run[-1][2]])
        run = [word] if word[0][:1].isupper() and not starts else []
    return [text for text in dict.fromkeys(found) if set(phrase(text)) - LITTLE][:8]


def _linked(words: str, hit: ValueHit) -> LinkedValue:
    return LinkedValue(words, hit.table, hit.column, hit.value, hit.label)
