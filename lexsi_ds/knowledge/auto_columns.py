"""One column of a source nobody described: its role, unit, other words and verbs, from its name, type and counts.

It never guesses a meaning for a code; that some figure can be summed is said only where its name says so.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Column, Table, TypeFamily
from lexsi_ds.knowledge import column_words as cw
from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.flags import flag_meanings
from lexsi_ds.knowledge.model import ColumnModel, ColumnRole
from lexsi_ds.knowledge.stored import StoredAs
from lexsi_ds.knowledge.words import singular, split_name

_CATEGORY_MOST = 60
_CODES = frozenset({"zip", "zipcode", "postal", "code", "phone"})
_POINTERS = frozenset({"id", "key", "uuid", "guid"})


def looks_like_key(name: str) -> bool:
    """Whether a name ends as keys do."""
    words = split_name(name)
    return bool(words) and words[-1] in th.KEY_ENDINGS


def column_of(table: Table, column: Column, key: str | None, stored: StoredAs | None, texts: list[str]) -> ColumnModel:
    """The model of a column. ``texts`` holds the values of a text column that has one or two."""
    words = split_name(cw.without_unit(column.name))
    label = " ".join(words) or column.name
    if stored and stored.kind == "number_text" and looks_like_key(column.name):
        stored = None
    family = _family(column, stored)
    meanings = flag_meanings(column, label, texts)
    role = _role(table, column, key, family, is_flag=bool(meanings))
    unique_text = family == "text" and table.rows > 20 and column.distinct > 0.95 * max(1, table.rows - column.nulls)
    last = words[-1] if words else ""
    bigger, smaller = th.EXTREMES.get(last) or cw.EXTREMES.get(last, ((), ()))
    return ColumnModel(
        table=table.name,
        name=column.name,
        label=label,
        role=role,
        synonyms=_synonyms(label, words),
        verbs=cw.verbs_of(words) if role == "time" else (),
        unit=cw.unit_of(column.name, words) if role == "measure" else None,
        bigger=bigger if role in ("measure", "time") else (),
        smaller=smaller if role in ("measure", "time") else (),
        additive=_summable(words) and family == "number" and role == "measure",
        stored=stored.kind if stored else "native",
        date_format=stored.date_format if stored else None,
        values=meanings,
        protected=column.protected,
        masked=column.masked,
        identifier=column.identifier or column.name == key or unique_text,
        distinct=column.distinct,
        nulls=column.nulls + (stored.blanks if stored else 0),
        comment=column.comment or "",
    )


def _family(column: Column, stored: StoredAs | None) -> TypeFamily:
    if stored is None:
        return column.family
    return "number" if stored.kind == "number_text" else "date"


def _synonyms(label: str, words: tuple[str, ...]) -> tuple[str, ...]:
    singular_label = " ".join([*words[:-1], singular(words[-1])]) if words else label
    joined = ("".join(words),) if len(words) > 1 else ()
    known = (*th.COLUMN_SYNONYMS.get(singular_label, ()), *cw.same_as(label, words, singular_label), *joined)
    return tuple(s for s in dict.fromkeys(known) if s != label)


def _summable(words: tuple[str, ...]) -> bool:
    return bool(set(words) & th.ADDITIVE_WORDS) and not set(words) & cw.NEVER_SUMMED


def _role(table: Table, column: Column, key: str | None, family: str, *, is_flag: bool) -> ColumnRole:
    words = split_name(column.name)
    if column.name == key:
        return "key"
    if is_flag:
        return "flag"
    if family == "date":
        return "time"
    if family == "number":
        if set(words) & _CODES:
            return "category"
        return "link" if words[-1:] and words[-1] in _POINTERS and len(words) > 1 else "measure"
    if family == "text" and column.distinct <= _CATEGORY_MOST and column.distinct < max(2, table.rows):
        return "category"
    return "text"
