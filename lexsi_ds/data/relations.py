"""Finds and scores the keys of tables, and which column of one points to the key of another.

A relationship is proposed by names and types, and tried on the data: which of the child's distinct values are keys of the
parent. On large tables a fixed sample of distinct values is tried, each against all of the parent. What a database declares
wins. Must never: show or keep a value; take a link for found on its values alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from lexsi_ds.data.handle import Column, Table
from lexsi_ds.data.key_names import OWN_NAME, looks_like_key, name_score, names_own_row, shared_name
from lexsi_ds.data.profile import EXACT_ROWS
from lexsi_ds.data.relation_values import Declared, Key, Relation
from lexsi_ds.data.statistics import Query

SAMPLE_VALUES = 50_000
"""Most distinct values of a child that are tried."""
LIVE_CHILD_ROWS = 20_000
"""Most rows of a table read in place from which a child's values are taken."""
LIVE_PARENT_ROWS = 1_000_000
"""Most rows of a table read in place that is tried as a parent: all its keys are fetched for it."""
_BATCH = 16
_FOUND, _SUGGESTED = 0.75, 0.5
_STRONG_NAME = 0.85
_CODES_LEAST = 20
"""Fewest distinct texts that suggest a link without a name."""
_PAIR_COLUMNS = 5
_WHOLE = ("INT", "HUGEINT", "BIGINT", "VARCHAR", "UUID", "DATE")

def find_keys(tables: Sequence[Table], declared: Mapping[str, Declared], query: Query) -> tuple[Key, ...]:
    """The key of each table that has one. ``declared`` by table name."""
    keys = []
    for table in tables:
        primary = declared.get(table.name, Declared()).primary
        if primary and all(table.column(name) for name in primary):
            keys.append(Key(table=table.name, columns=primary, origin="declared", score=1.0))
            continue
        single = _single_key(table, query)
        found = single or _pair_key(table, query)
        if found is not None:
            keys.append(found)
    return tuple(keys)


def find_relations(
    tables: Sequence[Table], keys: Sequence[Key], declared: Mapping[str, Declared], query: Query
) -> tuple[Relation, ...]:
    """Every relationship that is declared, found, or worth a suggestion; at most one of each child column."""
    named = {table.name: table for table in tables}
    said = [r for table in tables for r in _declared(table, declared.get(table.name, Declared()), named)]
    taken = {(r.child, r.child_column) for r in said}
    proposed = [r for r in _proposed(tables, keys) if (r.child, r.child_column) not in taken]
    tried = measure([*said, *proposed], named, query)
    good = [r for r in map(_judged, tried) if r is not None]
    return tuple(sorted(_one_each(_one_way(good, named)), key=lambda r: r.ends))


def untried(tables: Sequence[Table], declared: Mapping[str, Declared]) -> tuple[Relation, ...]:
    """What is declared alone, for tables that could not be asked."""
    named = {table.name: table for table in tables}
    said = [r for table in tables for r in _declared(table, declared.get(table.name, Declared()), named)]
    return tuple(sorted(_one_each(said), key=lambda r: r.ends))


def measure(relations: Sequence[Relation], tables: Mapping[str, Table], query: Query) -> list[Relation]:
    """The relations with what the data says of each; those whose parent is too large to be fetched are as they were."""
    asked = [r for r in relations if not _too_far(tables[r.parent])]
    measured = [r for r in relations if _too_far(tables[r.parent])]
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        sql = " UNION ALL ".join(_inclusion(i, r, tables) for i, r in enumerate(batch))
        found = {row["i"]: row for row in query(sql)}
        for i, relation in enumerate(batch):
            tried, missing = int(found[i]["n"]), int(found[i]["missing"])
            child, parent = tables[relation.child], tables[relation.parent]
            column, key = _column(child, relation.child_column), _column(parent, relation.parent_column)
            inclusion = 1 - missing / tried if tried else 0.0
            measured.append(relation.model_copy(update={
                "tried": tried, "missing": missing, "inclusion": inclusion, "to_key": bool(found[i]["sole"]),
                "coverage": min(1.0, column.distinct * inclusion / key.distinct) if key.distinct else 0.0,
                "one_to_one": child.rows > 1 and column.distinct == child.rows - column.nulls,
                "score": _score(relation.name_score, inclusion, column, key),
            }))
    return measured


def _too_far(table: Table) -> bool:
    """Whether it stays where it is and is too large to be tried as a parent."""
    return table.live is not None and table.rows > LIVE_PARENT_ROWS


def _single_key(table: Table, query: Query) -> Key | None:
    unique = [(place, c) for place, c in enumerate(table.columns) if _may_be_key(table, c)]
    ranked = sorted(unique, key=lambda each: (-_key_score(table, each[1], each[0]), each[0]))
    for place, column in ranked:
        score = _key_score(table, column, place)
        if score and (table.rows <= EXACT_ROWS or _all_differ(column, query, table)):
            return Key(table=table.name, columns=(column.name,), origin="found", score=score)
    return None


def _may_be_key(table: Table, column: Column) -> bool:
    if _too_far(table):  # its columns were counted over a part of the rows
        return False
    whole = any(mark in column.type.upper() for mark in _WHOLE) or column.type.upper().endswith(",0)")
    few = 0.8 * table.rows if table.rows > EXACT_ROWS else table.rows
    return table.rows > 0 and whole and not column.nulls and column.distinct >= few


def _key_score(table: Table, column: Column, place: int) -> float:
    if names_own_row(table.name, column.name):
        return 1.0
    if looks_like_key(column.name):
        return 0.8
    return 0.6 if place == 0 and column.family in ("number", "text") and not column.masked else 0.0


def _all_differ(column: Column, query: Query, table: Table) -> bool:
    """Exactly, for a large table, whose stored count is an estimate."""
    row = query(f"SELECT count(DISTINCT {_quoted(column.name)}) AS n FROM {_quoted(table.name)}")[0]
    return int(row["n"]) == table.rows


def _pair_key(table: Table, query: Query) -> Key | None:
    """Two columns called like keys that together tell all rows apart."""
    if table.rows < 2 or _too_far(table):
        return None
    like = [c for c in table.columns if looks_like_key(c.name) and not c.nulls][:_PAIR_COLUMNS]
    for a, b in combinations(like, 2):
        if a.distinct * b.distinct < table.rows:
            continue
        names = f"{_quoted(a.name)}, {_quoted(b.name)}"
        row = query(f"SELECT count(*) AS n FROM (SELECT DISTINCT {names} FROM {_quoted(table.name)}) AS d")[0]
        if int(row["n"]) == table.rows:
            return Key(table=table.name, columns=(a.name, b.name), origin="found", score=0.7)
    return None


def _declared(table: Table, said: Declared, named: Mapping[str, Table]) -> Iterable[Relation]:
    """Foreign keys of one column each; those of several are `composites`."""
    for foreign in said.foreign:
        parent = named.get(foreign.table)
        if parent is None or len(foreign.columns) != 1 or len(foreign.to) != 1:
            continue
        column, key = table.column(foreign.columns[0]), parent.column(foreign.to[0])
        if column is not None and key is not None:
            yield Relation(
                child=table.name, child_column=column.name, parent=parent.name, parent_column=key.name, origin="declared",
                name_score=name_score(table.name, column.name, parent.name, key.name), to_key=True,
            )


def _proposed(tables: Sequence[Table], keys: Sequence[Key]) -> list[Relation]:
    single = {key.table: key.columns[0] for key in keys if len(key.columns) == 1}
    near = [table for table in tables if not _too_far(table)]
    parents = [
        (p, c) for p in near for c in p.columns if c.name == single.get(p.name) or _is_code(p, c) or _is_other_key(p, c)
    ]
    found = []
    for child in tables:
        for column in child.columns:
            own_key = column.name == single.get(child.name)
            if own_key and names_own_row(child.name, column.name):
                continue
            for parent, key in parents:
                if (parent.name, key.name) == (child.name, column.name) or not _comparable(column, key):
                    continue
                if key.name == single.get(parent.name):
                    score = name_score(child.name, column.name, parent.name, key.name)
                else:
                    score = _shared(column, key) if parent.name != child.name else 0.0
                if _worth_trying(score, column, key, parent.name == child.name):
                    found.append(Relation(child=child.name, child_column=column.name, parent=parent.name,
                                          parent_column=key.name, name_score=score))
    return found


def _is_code(table: Table, column: Column) -> bool:
    """A text that tells rows apart without being the chosen key: an airport's code."""
    return (column.family == "text" and not column.masked and not column.nulls and table.rows >= _CODES_LEAST
            and column.distinct == table.rows)


def _is_other_key(table: Table, column: Column) -> bool:
    """A column called like a key that tells rows apart without being the chosen one: ``iata_code`` beside ``id``."""
    return table.rows > 1 and looks_like_key(column.name) and _may_be_key(table, column)


def _shared(column: Column, key: Column) -> float:
    """What one name in both tables says; of a name that is none of a key only where the values are many texts."""
    score = shared_name(column.name, key.name)
    if score < OWN_NAME and (column.family != "text" or column.masked or column.distinct < _CODES_LEAST):
        return 0.0
    return score


def _comparable(column: Column, key: Column) -> bool:
    return column.family == key.family and column.distinct > 0 and column.family in ("number", "text", "other", "date")


def _worth_trying(score: float, column: Column, key: Column, same_table: bool) -> bool:
    if column.distinct > 2 * key.distinct:
        return False
    if score:
        return _within(column, key) or score >= _STRONG_NAME
    codes = column.family == "text" and not same_table and column.distinct >= _CODES_LEAST
    return codes and not column.masked and column.distinct <= key.distinct


def _within(column: Column, key: Column) -> bool:
    """Whether the child's numbers lie between the parent's; unknown counts as yes."""
    if column.family != "number":
        return True
    try:
        low, high, first, last = (float(v or "") for v in (column.minimum, column.maximum, key.minimum, key.maximum))
    except ValueError:
        return True
    return first <= low and high <= last


def _inclusion(i: int, relation: Relation, tables: Mapping[str, Table]) -> str:
    child, parent = tables[relation.child], tables[relation.parent]
    name, key = _quoted(relation.child_column), _quoted(relation.parent_column)
    rows = _quoted(relation.child)
    if child.live is not None:
        rows = f"(SELECT {name} FROM {rows} LIMIT {LIVE_CHILD_ROWS}) AS r"
    values = f"SELECT DISTINCT {name} AS v FROM {rows} WHERE {name} IS NOT NULL"
    if _column(child, relation.child_column).distinct > SAMPLE_VALUES:
        values = f"SELECT v FROM ({values}) AS a ORDER BY hash(v), v LIMIT {SAMPLE_VALUES}"
    column = _column(parent, relation.parent_column)
    sole = str(column.distinct >= parent.rows - column.nulls).lower()
    if parent.rows > EXACT_ROWS:  # what is stored is an estimate
        sole = f"(SELECT count({key}) = count(DISTINCT {key}) FROM {_quoted(relation.parent)})"
    return (
        f"SELECT {i} AS i, count(*) AS n, count(*) FILTER (WHERE p.k IS NULL) AS missing, {sole} AS sole FROM ({values}) AS c"
        f" LEFT JOIN (SELECT DISTINCT {key} AS k FROM {_quoted(relation.parent)}) AS p ON p.k = c.v"
    )


def _score(name: float, inclusion: float, column: Column, key: Column) -> float:
    same_type = 1.0 if column.type == key.type else 0.7
    return round(0.5 * name + 0.4 * inclusion + 0.1 * same_type, 4)


def _judged(relation: Relation) -> Relation | None:
    if relation.origin == "declared":
        return relation
    least = 0.9 if relation.name_score >= _STRONG_NAME else 0.98
    if relation.name_score and relation.inclusion >= least and relation.score >= _FOUND:
        return relation
    by_values = not relation.name_score and relation.inclusion == 1.0
    if by_values or (relation.name_score and relation.score >= _SUGGESTED and relation.inclusion >= 0.5):
        return relation.model_copy(update={"state": "suggested"})
    return None


def _one_way(relations: Sequence[Relation], tables: Mapping[str, Table]) -> list[Relation]:
    """Of two that say the same in both directions, the one whose parent has more rows."""
    known = {r.ends: r for r in relations}

    def kept(r: Relation) -> bool:
        back = known.get((r.parent, r.parent_column, r.child, r.child_column))
        if back is None or r.origin == "declared":
            return True
        here, there = (tables[name].rows for name in (r.parent, back.parent))
        return back.origin != "declared" and (here, back.parent) > (there, r.parent)

    return [r for r in relations if kept(r)]


def _one_each(relations: Sequence[Relation]) -> list[Relation]:
    """The best parent of each child column."""
    best: dict[tuple[str, str], Relation] = {}

    def rank(r: Relation) -> tuple[bool, bool, float, bool, float]:
        own = r.name_score == OWN_NAME and names_own_row(r.parent, r.parent_column)
        return r.origin == "declared", r.state == "found", r.score, own, r.coverage

    for relation in relations:
        place = (relation.child, relation.child_column)
        if place not in best or rank(relation) > rank(best[place]):
            best[place] = relation
    return list(best.values())


def _column(table: Table, name: str) -> Column:
    found = table.column(name)
    assert found is not None, "a relation names a column that is not there"
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
