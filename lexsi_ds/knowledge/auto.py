"""The semantic model of any source, derived from names, types and counts: rows, keys, joins, categories, measures, dates.

It asks the data only what names and stored counts cannot tell (is this text all numbers?), through the reader it is given.
It never guesses a meaning for a code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.data.relations import Relation
from lexsi_ds.knowledge import thesaurus as th
from lexsi_ds.knowledge.auto_columns import column_of, looks_like_key
from lexsi_ds.knowledge.chosen_links import own_links, with_relations
from lexsi_ds.knowledge.column_words import without_doubles
from lexsi_ds.knowledge.comments import commented, wanted_codes
from lexsi_ds.knowledge.distinct import distinct_values, quoted
from lexsi_ds.knowledge.flags import metrics_of, outcomes_of
from lexsi_ds.knowledge.formulas import formulas_of
from lexsi_ds.knowledge.model import ColumnModel, Disambiguation, Relationship, SemanticModel, TableModel
from lexsi_ds.knowledge.roles import role_nouns, self_nouns
from lexsi_ds.knowledge.stored import stored_as
from lexsi_ds.knowledge.words import of_words, plural, singular, split_name

_OF_A_NAME = of_words("name title first last full middle display short given family sur nick common legal official")
"""Words of a column that holds what its own row is called."""
_CALLED = of_words("name title surname nickname")

ValueReader = Callable[[str], pd.DataFrame]


def automatic_model(
    handle: DatasetHandle, values: ValueReader, *, known: frozenset[tuple[str, str]] = frozenset(),
    relations: Sequence[Relation] = (),
) -> SemanticModel:
    """The model of a source. Columns in ``known`` are described elsewhere, so their texts are not read.

    ``relations`` were found in the data or chosen by a person: they add links, and take rejected ones away.
    """
    tables: list[TableModel] = []
    columns: list[ColumnModel] = []
    pointed_at = {r.parent: r.parent_column for r in relations if r.usable and r.to_key}
    for table in handle.tables:
        model, of_table = _derived(table, values, known, pointed_at.get(table.name), alone=len(handle.tables) == 1)
        tables.append(model)
        columns += of_table
    links = with_relations(_relationships(handle, tables, values), handle, tables, relations)
    links = [_with_nouns(link, tables) for link in links]
    own = own_links(handle, tables, relations)
    own = (*own, *_self_links(handle, tables, values, {(r.child, r.child_column) for r in (*own, *links)}))
    linked = {(r.child, r.child_column) for r in (*links, *own)}
    columns = [
        c.model_copy(update={"role": "link", "additive": False}) if (c.table, c.name) in linked and c.role != "key" else c
        for c in columns
    ]
    bridges = {t.name for t in tables if _only_links(t, columns)}
    tables = [t.model_copy(update={"bridge": t.name in bridges}) for t in tables]
    model = SemanticModel(tables=tuple(tables), columns=tuple(columns), relationships=tuple(links), hierarchies=own)
    model = model.model_copy(update={"metrics": metrics_of(model)})
    shared = _shared_names(model)
    return model.model_copy(
        update={
            "formulas": formulas_of(handle, tables, columns),
            "outcomes": outcomes_of(model),
            "disambiguations": shared,
            "ambiguous": tuple(d.noun for d in shared),
        }
    )


def _derived(
    table: Table, values: ValueReader, known: frozenset[tuple[str, str]], pointed_at: str | None, *, alone: bool
) -> tuple[TableModel, list[ColumnModel]]:
    open_columns = [c for c in table.columns if (table.name, c.name) not in known]
    stored = stored_as(table, [c.name for c in open_columns if c.family == "text" and c.distinct > 2], values)
    short = [c.name for c in open_columns if c.family == "text" and 1 <= c.distinct <= 2 and not c.masked]
    coded = [c.name for c in open_columns if wanted_codes(c) and c.name not in short]
    texts = distinct_values(table.name, [*short, *coded], values)
    key = _key_of(table, pointed_at)
    person = bool({w for noun in _row_nouns(table, key, alone=alone) for w in noun.split()} & th.PEOPLE)
    called = key if key and looks_like_key(key) else None  # a code that people say, such as an airport's, stays a text
    columns = [column_of(table, c, called, stored.get(c.name), texts.get(c.name, []), person=person) for c in table.columns]
    columns = [commented(c, texts.get(c.name, [])) for c in columns]
    model = _table(table, key, columns, alone=alone)
    return model, without_doubles(columns, (model.label, model.plural, *model.synonyms))


def _with_nouns(link: Relationship, tables: Sequence[TableModel]) -> Relationship:
    parent = next(t for t in tables if t.name == link.parent)
    return link.model_copy(update={"nouns": role_nouns(link.child_column, (parent.label, *parent.synonyms), link.parent_column)})


def _shared_names(model: SemanticModel) -> tuple[Disambiguation, ...]:
    """Names that several tables give to a column of their own: which one is meant must be said."""
    places: dict[str, list[str]] = {}
    for column in model.columns:
        if column.role not in ("key", "link"):
            places.setdefault(column.label, []).append(f"{column.table}.{column.name}")
    return tuple(
        Disambiguation(
            noun=label, words=(label,), triggers=(), text=f"'{label}' exists in several tables: {', '.join(where)}."
        )
        for label, where in places.items()
        if len(where) > 1
    )


def _key_of(table: Table, pointed_at: str | None) -> str | None:
    """The column that tells rows apart: one that is called so, else the one that other tables point at."""
    unique = [
        c
        for c in table.columns
        if table.rows > 1 and c.distinct == table.rows and not c.nulls and c.family in ("number", "text")
    ]
    named = [c for c in unique if looks_like_key(c.name)]
    own = [
        c
        for c in named
        if set(split_name(c.name)) & {singular(w) for w in split_name(table.name)} or c.name.casefold() == "id"
    ]
    found = own or named
    if not found:
        found = [c for c in unique if c.name == pointed_at]
    return found[0].name if found else None


def _table(table: Table, key: str | None, columns: list[ColumnModel], *, alone: bool) -> TableModel:
    nouns = _row_nouns(table, key, alone=alone)
    label = nouns[0]
    synonyms = list(nouns[1:])
    for noun in nouns:
        last = noun.split()[-1]
        if alone and last != noun and last not in {c.label for c in columns}:
            synonyms.append(last)  # the only table: "houses" can mean no other rows than those of kc_house_data
        synonyms += th.ROW_SYNONYMS.get(last, ())
        if last in th.PEOPLE and noun != "person":
            synonyms.append("person")
    if alone:
        synonyms += ["row", "record", "entry"]
    if alone and key is None and _are_sales(columns):
        synonyms += ["sale", "sales"]
    times = [c for c in columns if c.role == "time" and not c.protected]
    own = {singular(w) for noun in (*nouns, *synonyms) for w in noun.split()} | _OF_A_NAME
    labels = [
        c
        for c in columns
        if c.role in ("text", "category")
        and (said := {singular(w) for w in split_name(c.name)}) & _CALLED
        and (said <= own or c.distinct * 2 > table.rows)
    ]
    return TableModel(
        name=table.name,
        label=label,
        plural=plural(label),
        synonyms=tuple(dict.fromkeys(s for s in synonyms if s != label)),
        rows=table.rows,
        key=key,
        time=_cutoff(times),
        names=tuple(c.name for c in labels[:2]),
        comment=table.comment or "",
    )


def _are_sales(columns: list[ColumnModel]) -> bool:
    """Whether each row is something sold: it has a price and a date, and the same thing may come twice."""
    prices = [c for c in columns if c.role == "measure" and c.label in ("price", "sale price", "sales price")]
    return len(prices) == 1 and any(c.role == "time" for c in columns)


def _row_nouns(table: Table, key: str | None, *, alone: bool) -> list[str]:
    """What a row is called, the likeliest first. Of several tables each has a name that somebody chose; a lone file may not."""
    nouns = []
    words = [w for w in split_name(table.name) if w not in th.ROW_NOISE and not w.isdigit()]
    from_key = [w for w in split_name(key or "") if w not in th.KEY_ENDINGS] if key and looks_like_key(key) else []
    if from_key:
        nouns.append(" ".join([*from_key[:-1], singular(from_key[-1])]))
    if words:
        own = " ".join([*words[:-1], singular(words[-1])])
        foreign = not alone and from_key and not {singular(w) for w in from_key} & {singular(w) for w in words}
        nouns.insert(0 if foreign else len(nouns), own)
    if not from_key and any(singular(w) in th.PEOPLE for w in words):
        nouns.insert(0, next(singular(w) for w in words if singular(w) in th.PEOPLE))
    return list(dict.fromkeys(nouns)) or ["row"]


def _cutoff(times: list[ColumnModel]) -> str | None:
    def rank(column: ColumnModel) -> tuple[int, int]:
        words = split_name(column.name)
        named = next((i for i, w in enumerate(th.CUTOFF_WORDS) if w in words), len(th.CUTOFF_WORDS))
        return (column.nulls, named)

    return min(times, key=rank).name if times else None


def _only_links(table: TableModel, columns: list[ColumnModel]) -> bool:
    own = [c for c in columns if c.table == table.name]
    return len(own) > 1 and all(c.role in ("key", "link") for c in own)


def _relationships(handle: DatasetHandle, tables: list[TableModel], values: ValueReader) -> list[Relationship]:
    """Links by names and types that the data confirms: every child value is a key of the parent."""
    found = []
    keys = [(t, handle.table(t.name), t.key) for t in tables if t.key]
    for child in handle.tables:
        for column in child.columns:
            for model, parent, key in keys:
                if (
                    parent is None
                    or key is None
                    or parent.name == child.name
                    or not _names_match(column.name, key, model)
                ):
                    continue
                parent_key = parent.column(key)
                if parent_key is None or parent_key.family != column.family or _own_key(child, column, tables):
                    continue
                if _contained(child, column, parent, parent_key, values):
                    one = column.distinct == child.rows - column.nulls and child.rows > 1
                    found.append(
                        Relationship(
                            child=child.name,
                            child_column=column.name,
                            parent=parent.name,
                            parent_column=key,
                            role=f"the {next(t.label for t in tables if t.name == child.name)}'s {model.label}",
                            one_to_one=one,
                        )
                    )
    return found


def _self_links(
    handle: DatasetHandle, tables: list[TableModel], values: ValueReader, known: set[tuple[str, str]]
) -> tuple[Relationship, ...]:
    """Links of a table to itself by a name that says so and values that bear it out: ``manager_id`` in a table of employees."""
    found = []
    for model in tables:
        table = handle.table(model.name)
        if table is None or model.key is None:
            continue
        key = table.column(model.key)
        if key is None:
            continue
        for column in table.columns:
            nouns = self_nouns(column.name, model.label)
            if not nouns or (table.name, column.name) in known or column.name == model.key or column.family != key.family:
                continue
            if _contained(table, column, table, key, values):
                found.append(
                    Relationship(
                        child=table.name, child_column=column.name, parent=table.name, parent_column=key.name,
                        role=f"the {model.label}'s {nouns[0]}", nouns=nouns,
                    )
                )
    return tuple(found)


def _own_key(child: Table, column: Column, tables: list[TableModel]) -> bool:
    """Whether the column names its own table's rows: then others point to it, not the other way round."""
    own = next(t for t in tables if t.name == child.name)
    return column.name == own.key and bool(set(split_name(own.name)) & set(split_name(column.name)))


def _names_match(column: str, key: str, parent: TableModel) -> bool:
    if column.casefold() == "id":
        return False
    words = split_name(column)
    if tuple(words) == tuple(split_name(key)) and len(words) > 1:
        return True
    return looks_like_key(column) and " ".join(words[:-1]) in {
        parent.label,
        *parent.synonyms,
        singular(parent.name.casefold()),
    }


def _contained(child: Table, column: Column, parent: Table, key: Column, values: ValueReader) -> bool:
    frame = values(
        f"SELECT count(*) AS n FROM (SELECT DISTINCT {quoted(column.name)} AS v FROM {quoted(child.name)}"
        f" WHERE {quoted(column.name)} IS NOT NULL) AS c LEFT JOIN {quoted(parent.name)} AS p ON p.{quoted(key.name)} = c.v"
        f" WHERE p.{quoted(key.name)} IS NULL"
    )
    return bool(frame["n"].tolist() == [0])
