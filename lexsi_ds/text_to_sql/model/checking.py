"""Checks on SQL that a model wrote, before it runs: the guard, names that exist, text values that are stored, and the binder.

Every refusal says what is wrong and what is near, since it goes back to the model. It holds no value of a masked column.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.data import guard
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import SqlRefused
from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql.model.slice import Known

_MOST_SHOWN = 12


def known_values(values: ValueIndex, model: SemanticModel) -> Known:
    """The columns all of whose values the index holds. Masked ones never."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for _, hits in values.entries():
        for hit in hits:
            if hit.exact:
                found.setdefault((hit.table, hit.column), {})[hit.value] = None
    whole = {}
    for (table, column), texts in found.items():
        about = model.column(table, column)
        if about is not None and not about.masked and about.distinct == len(texts):
            whole[table, column] = tuple(sorted(texts))
    return whole


def checked(sql: str, handle: DatasetHandle) -> str:
    """The text to bind and run. Raises SqlRefused for what the guard refuses and for columns that are nowhere."""
    text = guard.check(sql, [t.name for t in handle.tables])
    tree = sqlglot.parse_one(text, read="duckdb")
    if unknown := _unknown_columns(tree, handle):
        raise SqlRefused(f"There is no column named {', '.join(unknown)}.", to_do=" ".join(_near(n, handle) for n in unknown))
    return text


def _unknown_columns(tree: exp.Expr, handle: DatasetHandle) -> list[str]:
    """Names of columns that no table has and nothing in the query defines."""
    columns = {c.name.casefold() for t in handle.tables for c in t.columns}
    aliases = {a.alias.casefold() for a in tree.find_all(exp.Alias)}
    aliases |= {a.name.casefold() for a in tree.find_all(exp.TableAlias)}
    aliases |= {c.name.casefold() for a in tree.find_all(exp.TableAlias) for c in a.columns}
    aliases |= {t.name.casefold() for t in tree.find_all(exp.Table)}
    aliases |= {i.name.casefold() for lam in tree.find_all(exp.Lambda) for i in lam.expressions}
    if any(tree.find_all(exp.Pivot, exp.Unnest)):
        return []  # their columns come from the data: the binder decides
    named = [c.name for c in tree.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]
    return list(dict.fromkeys(n for n in named if n.casefold() not in columns | aliases))[:5]


def _near(name: str, handle: DatasetHandle) -> str:
    places: dict[str, list[str]] = {}
    for table in handle.tables:
        for column in table.columns:
            places.setdefault(column.name.casefold(), []).append(f"{table.name}.{column.name}")
    near = difflib.get_close_matches(name.casefold(), places, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(p for n in near for p in places[n][:3])}?" if near else ""


def where_columns_are(sql: str, handle: DatasetHandle) -> str:
    """Which table each column of the query is in: what a model that took one from the wrong table needs to see."""
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError:
        return ""
    used = {t.name.casefold() for t in tree.find_all(exp.Table)}
    lines = []
    for name in list(dict.fromkeys(c.name for c in tree.find_all(exp.Column)))[:20]:
        homes = [t.name for t in handle.tables if t.column(name) is not None]
        if homes and not any(h.casefold() in used for h in homes):
            lines.append(f"{name} is in {', '.join(homes[:4])}, which the query does not read.")
    return " ".join(lines)


def unknown_value(sql: str, handle: DatasetHandle, known: Known) -> str:
    """What to say of a text that is compared with a column that has no such value; empty when all is well."""
    for table, column, value in text_tests(sql, handle):
        stored = known.get((table, column))
        if stored is None or value in stored:
            continue
        near = [v for v in stored if v.casefold() == value.casefold()] or difflib.get_close_matches(value, stored, n=2)
        shown = ", ".join(repr(v[:40]) for v in stored[:_MOST_SHOWN]) + (", …" if len(stored) > _MOST_SHOWN else "")
        advice = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Its values are: {shown}."
        return f"{table}.{column} has no value {value[:60]!r}. {advice}"
    return ""


def text_tests(sql: str, handle: DatasetHandle) -> list[tuple[str, str, str]]:
    """(table, column, value) of each text that the query compares a column of a table with, by ``=``, ``<>`` or ``IN``."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    found = []
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        for column, literal in _pairs(node):
            home = _home(column, handle)
            if home is not None:
                found.append((*home, literal.name))
    return list(dict.fromkeys(found))


def _pairs(node: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    if isinstance(node, exp.In):
        sides = [(node.this, each) for each in node.expressions]
    else:
        sides = [(node.args["this"], node.args["expression"]), (node.args["expression"], node.args["this"])]
    for left, right in sides:
        if isinstance(left, exp.Column) and isinstance(right, exp.Literal) and right.is_string:
            yield left, right


def _home(column: exp.Column, handle: DatasetHandle) -> tuple[str, str] | None:
    """The stored table and column that a name stands for; None when the query itself makes it or it is not certain."""
    scope = column.find_ancestor(exp.Select)
    if scope is None:
        return None
    made = {cte.alias.casefold() for cte in scope.root().find_all(exp.CTE)}
    tables = [t for t in scope.find_all(exp.Table) if t.find_ancestor(exp.Select) is scope and t.name.casefold() not in made]
    wanted = column.table.casefold()
    among = [t for t in tables if wanted in ("", t.alias_or_name.casefold())]
    homes = [(table, found) for t in among if (table := handle.table(t.name)) and (found := table.column(column.name))]
    return (homes[0][0].name, homes[0][1].name) if len(homes) == 1 and homes[0][1].family == "text" else None
