"""Words that people taught, laid over a model: each becomes a synonym of what it means, and of nothing else that was derived.

A word whose table, column or value is gone is left out here; it stays in the store and is told as stale.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.knowledge.model import ColumnModel, LearnedWord, SemanticModel, ValueMeaning
from lexsi_ds.knowledge.words import phrase


def with_learned(model: SemanticModel, words: Sequence[LearnedWord]) -> SemanticModel:
    """The model with the words that fit it."""
    for word in words:
        if fits(model, word):
            model = _with(_without(model, word.words), word)
    return model


def fits(model: SemanticModel, word: LearnedWord) -> bool:
    """Whether what a word means is there."""
    if word.metric:
        return any(m.id == word.metric for m in (*model.metrics, *model.formulas))
    if not word.column:
        return any(t.name == word.table for t in model.tables)
    column = model.column(word.table, word.column)
    return column is not None and not (word.value and column.masked)


def meaning_text(word: LearnedWord) -> str:
    """What a word means, as a person reads it: ``loan.amount``, ``client.gender = F``."""
    if word.metric:
        return f"the metric {word.metric}"
    if not word.column:
        return f"the table {word.table}"
    return f"{word.table}.{word.column}" + (f" = {word.value}" if word.value else "")


def _with(model: SemanticModel, word: LearnedWord) -> SemanticModel:
    changed: dict[str, object] = {"learned": (*model.learned, word)}
    if word.metric:
        for name in ("metrics", "formulas"):
            changed[name] = tuple(
                m.model_copy(update={"words": (*m.words, word.words)}) if m.id == word.metric else m for m in getattr(model, name)
            )
    elif not word.column:
        changed["tables"] = tuple(
            t.model_copy(update={"synonyms": (*t.synonyms, word.words)}) if t.name == word.table else t for t in model.tables
        )
    else:
        changed["columns"] = tuple(
            _taught(c, word) if (c.table, c.name) == (word.table, word.column) else c for c in model.columns
        )
    return model.model_copy(update=changed)


def _taught(column: ColumnModel, word: LearnedWord) -> ColumnModel:
    if not word.value:
        return column.model_copy(update={"synonyms": (*column.synonyms, word.words)})
    known = next((m for m in column.values if m.value == word.value), None)
    if known is None:
        meant = ValueMeaning(value=word.value, label=word.value, words=(word.words,))
        return column.model_copy(update={"values": (*column.values, meant)})
    more = known.model_copy(update={"words": (*known.words, word.words)})
    return column.model_copy(update={"values": tuple(more if m is known else m for m in column.values)})


def _without(model: SemanticModel, words: str) -> SemanticModel:
    """The model in which no column or table is called so by a mere synonym: what a person says settles it."""
    form = phrase(words)
    columns = tuple(
        c.model_copy(update={"synonyms": tuple(s for s in c.synonyms if phrase(s) != form)})
        if any(phrase(s) == form for s in c.synonyms)
        else c
        for c in model.columns
    )
    return model.model_copy(update={"columns": columns})
