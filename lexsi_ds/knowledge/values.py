"""The value index: which words of a question are values of which column, whatever their case, accents or small misspellings.

It holds all values of columns with few of them by their words. Texts of columns with very many are looked up by parts of their
spelling, in an index that is made at the first such look. Values of masked columns are never read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.distinct import distinct_values
from lexsi_ds.knowledge.model import ColumnModel, SemanticModel
from lexsi_ds.knowledge.ngrams import MOST_TEXTS, NgramIndex
from lexsi_ds.knowledge.places import NAMED, said_for
from lexsi_ds.knowledge.words import nearest, phrase, split_name

_MOST_DISTINCT = 2000
_FEW = 60
_MOST_VALUES = 50_000
"""Most values of one table."""
_LONGEST = 6
"""Most words of a value that is looked for in a question."""
_FILLER = frozenset({"and", "the", "of", "or"})
_SEX = {
    "f": ("woman", "lady", "female", "girl"),
    "w": ("woman", "lady", "female", "girl"),
    "female": ("woman", "lady", "girl"),
    "woman": ("female", "lady"),
    "girl": ("female",),
    "m": ("man", "gentleman", "male", "boy"),
    "male": ("man", "gentleman", "boy"),
    "man": ("male", "gentleman"),
    "boy": ("male",),
}
"""What people say for the values of a column named sex or gender."""


@dataclass(frozen=True)
class ValueHit:
    """A value of a column that some words may mean."""

    table: str
    column: str
    value: str
    """As it is stored, as text."""
    label: str
    words: tuple[str, ...]
    """The folded words it was found by."""
    exact: bool
    """Whether the value itself was said, rather than a word for it."""


@dataclass
class LargeColumn:
    """A text column with so many values that they are only read when one is looked for."""

    table: str
    column: str
    read: Callable[[], list[str]]
    _index: NgramIndex | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def index(self) -> NgramIndex:
        """Its spelling index; made once."""
        with self._lock:
            if self._index is None:
                self._index = NgramIndex(self.read())
            return self._index


class ValueIndex:
    """Values by their folded words, and columns with very many values by spelling."""

    def __init__(self, hits: Iterable[ValueHit], large: Sequence[LargeColumn] = ()) -> None:
        self.large = tuple(large)
        self._by_words: dict[tuple[str, ...], list[ValueHit]] = {}
        for hit in hits:
            found = self._by_words.setdefault(hit.words, [])
            if all((h.table, h.column, h.value) != (hit.table, hit.column, hit.value) for h in found):
                found.append(hit)
        self._vocabulary = frozenset(w for words in self._by_words for w in words if not w.isdigit())

    @property
    def longest(self) -> int:
        """Most words of any entry."""
        return max((len(w) for w in self._by_words), default=0)

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every folded word of every value."""
        return self._vocabulary

    def find(self, words: tuple[str, ...]) -> tuple[ValueHit, ...]:
        """Values that exactly these folded singular words stand for."""
        return tuple(self._by_words.get(words, ()))

    def lookup(self, text: str) -> tuple[ValueHit, ...]:
        """Values that a text stands for; with a small misspelling when that leaves one word only."""
        words = phrase(text)
        found = self.find(words)
        if found or not words:
            return found
        repaired = tuple(w if w in self._vocabulary else (nearest(w, self._vocabulary) or w) for w in words)
        return self.find(repaired)

    def search(self, text: str, most: int = 8) -> tuple[ValueHit, ...]:
        """Values that a text stands for, those with few values first, then names among very many; same spelling first.

        The first look into a column with very many values reads them, which may take seconds at a million.
        """
        found = list(self.lookup(text))
        words = phrase(text)
        near = [
            ValueHit(column.table, column.column, value, value, words, exact=same)
            for column in (self.large if words else ())
            for value, same in column.index().find(text, most)
        ]
        return tuple([*found, *sorted(near, key=lambda h: not h.exact)][:most])

    def entries(self) -> Iterable[tuple[tuple[str, ...], list[ValueHit]]]:
        """All entries, for whoever builds a larger lexicon."""
        return self._by_words.items()


def build_values(handle: DatasetHandle, model: SemanticModel, read: Callable[[str], pd.DataFrame]) -> ValueIndex:
    """The index of a handle: few queries a table."""
    hits: list[ValueHit] = []
    large: list[LargeColumn] = []
    for table in handle.tables:
        columns = [c for c in model.of_table(table.name) if _indexed(c, table.rows)]
        for column in columns:
            hits += _meant(column)
        texts = {c.name: c for c in _affordable([c for c in columns if c.role in ("category", "text")])}
        for name, values in distinct_values(table.name, list(texts), read).items():
            for value in values:
                hits += _spelled(texts[name], value)
        stored_texts = {c.name for c in table.columns if c.family == "text" and table.live is None}
        searched = [c for c in model.of_table(table.name) if c.name in stored_texts - texts.keys() and _searched(c)]
        large += [_large(table.name, c, read) for c in searched]
    return ValueIndex(hits, large)


def _searched(column: ColumnModel) -> bool:
    """Whether a column's texts are only looked up by spelling: too many for the words, and not more than can be held."""
    open_text = column.role in ("text", "category", "key") and column.stored == "native" and not column.masked
    return open_text and _FEW < column.distinct <= MOST_TEXTS


def _large(table: str, column: ColumnModel, read: Callable[[str], pd.DataFrame]) -> LargeColumn:
    name = column.name
    return LargeColumn(table, name, lambda: distinct_values(table, [name], read)[name])


def _indexed(column: ColumnModel, rows: int) -> bool:
    if column.masked or column.stored != "native":
        return False
    if column.role in ("flag", "category"):
        return True
    return (
        column.role == "text"
        and column.distinct <= _MOST_DISTINCT
        and not (column.identifier and rows > _MOST_DISTINCT)
    )


def _affordable(columns: list[ColumnModel]) -> list[ColumnModel]:
    """As many columns as a table may index, those with the fewest values first; what is left out is simply not understood."""
    kept, total = [], 0
    for column in sorted(columns, key=lambda c: c.distinct):
        total += column.distinct
        if total <= _MOST_VALUES:
            kept.append(column)
    return kept


def _spelled(column: ColumnModel, value: str) -> list[ValueHit]:
    meaning = next((m.label for m in column.values if m.value == value), value)
    words = phrase(value)
    sex = _SEX.get("".join(words), ()) if {"gender", "sex"} & set(split_name(column.name)) else ()
    said = phrase(value.replace("&", " and "))
    forms = {words, said, tuple(w for w in words if w not in _FILLER)}
    hits = [
        ValueHit(column.table, column.name, value, meaning, form, exact=True)
        for form in sorted(forms)
        if form and len(form) <= _LONGEST
    ]
    hits += [ValueHit(column.table, column.name, value, meaning, (word,), exact=False) for word in sex]
    if set(split_name(column.name)) & NAMED:
        hits += [ValueHit(column.table, column.name, value, meaning, phrase(w), exact=False) for w in said_for(value)]
    return hits


def _meant(column: ColumnModel) -> list[ValueHit]:
    hits = []
    for meaning in column.values:
        plain = ("yes", "true") if meaning is column.values[0] else ("no", "false")
        said = (meaning.label, *meaning.words) if column.role != "flag" else (*meaning.words, *plain)
        for text in said:
            words = phrase(text)
            if words and len(words) <= _LONGEST:
                hits.append(ValueHit(column.table, column.name, meaning.value, meaning.label, words, exact=False))
    return hits
