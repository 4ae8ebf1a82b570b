"""One column of a source nobody described: its role, unit, other words and verbs, from its name, type and counts.

It never guesses a meaning for a code; that some figure can be summed is said only where its name says so.
"""

from __future__ import annotations

from lexsi_ds.data.handle import Column, Table, TypeFamily
from lexsi_ds.knowledge import column_words as cw
from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.flags import flag_meanings
from lexsi_ds.knowledge.joined import taken_apart
from lexsi_ds.knowledge.model import ColumnModel, ColumnRole
from lexsi_ds.knowledge.name_units import full_word_ending
from lexsi_ds.knowledge.stored import StoredAs
from lexsi_ds.knowledge.superlatives import ends_of
from lexsi_ds.knowledge.words import other_names, singular, split_name
from lexsi_ds.knowledge.year_numbers import is_year, label_words

_CATEGORY_MOST = 60
_CODES = frozenset({"zip", "zipcode", "postal", "code", "phone"})
_DATES = frozenset({"date", "datetime", "timestamp", "birthday"})
_OF_SPANS = frozenset({"years", "months", "hours", "days", "minutes"})
_FLAG_ENDS = frozenset({"flag", "indicator", "yn"})
_POINTERS = frozenset({"id", "key", "uuid", "guid"})


def looks_like_key(name: str) -> bool:
    """Whether a name ends as keys do."""
    words = split_name(name)
    return bool(words) and words[-1] in th.KEY_ENDINGS


def column_of(
    table: Table, column: Column, key: str | None, stored: StoredAs | None, texts: list[str], *, person: bool = False
) -> ColumnModel:
    """The model of a column. ``texts`` holds the values of a text column that has one or two; ``person`` says what a row is."""
    full = split_name(cw.without_unit(column.name) if _alone_without_unit(table, column) else column.name)
    if stored and stored.kind == "number_text" and looks_like_key(column.name):
        stored = None
    meanings = flag_meanings(column, " ".join(full) or column.name, texts)
    words = _flag_words(full) if meanings else full
    year = is_year(column, words)
    words = label_words(words) if year else words
    label = " ".join(words) or column.name
    meanings = flag_meanings(column, label, texts)
    family = _family(column, stored)
    role = _role(table, column, key, family, is_flag=bool(meanings))
    unique_text = family == "text" and table.rows > 20 and column.distinct > 0.95 * max(1, table.rows - column.nulls)
    dated = any(c.family == "date" or set(split_name(c.name)) & _DATES for c in table.columns if c.name != column.name)
    bigger, smaller = ends_of(words, role, is_year=year and role == "measure", dated=dated, person=person)
    timed = role == "time" or (year and role == "measure")
    unit = cw.unit_of(column.name, words) if role == "measure" and not year else None
    said = (*_synonyms(label, words), *cw.lasting(label, words, unit))
    return ColumnModel(
        table=table.name,
        name=column.name,
        label=label,
        role=role,
        synonyms=(*said, *_also(column.name, full, words)),
        verbs=cw.verbs_of(words, of_year=year) if timed else (),
        unit=unit,
        bigger=bigger,
        smaller=smaller,
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


def _alone_without_unit(table: Table, column: Column) -> bool:
    """Whether no other column of the table is called the same once its unit is gone: distance in km and in miles."""
    bare = split_name(cw.without_unit(column.name))
    others = [split_name(cw.without_unit(c.name)) for c in table.columns if c.name != column.name]
    return bool(bare) and bare not in others


def _flag_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a yes/no column's name, an "is" or "has" that is written with the next word taken off it."""
    first = words[0] if words else ""
    for lead in ("is", "has", "was"):
        if first.startswith(lead) and len(first) > len(lead) + 3:
            return (lead, *taken_apart(first[len(lead) :]), *words[1:])
    return words


def _also(name: str, full: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """Names that the column has beside its label: abbreviations meant otherwise, its words without "year" or with its unit."""
    found = [*other_names(cw.without_unit(name))]
    if full != words:
        found.append(" ".join(full))
    if cw.without_unit(name) != name:
        found.append(" ".join(split_name(name)))
    if full_word_ending(words) and words[:-1]:
        found.append(" ".join(words[:-1]))
    if len(words) > 1 and words[0] in _OF_SPANS:
        found += [f"{words[0]} of {' '.join(words[1:])}"]
    if words and words[-1] in _FLAG_ENDS and len(words) > 1:
        found.append(" ".join(words[:-1]))
    return tuple(dict.fromkeys(f for f in found if f and f != " ".join(words)))


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
