"""What SQL does in words, from the SQL itself, for a person to check: the model's own words are no evidence of that."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.model import Relationship, SemanticModel
from lexsi_ds.text_to_sql.model.checking import text_tests
from lexsi_ds.text_to_sql.model.linking import LinkedValue
from lexsi_ds.text_to_sql.model.result import Result
from lexsi_ds.text_to_sql.reading import Evidence

_LONGEST = 300


def in_words(sql: str) -> str:
    """The outermost query in one line: what it selects, from where, for which rows, per what, in which order, how many."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    tables = ", ".join(_tables(tree))
    if not isinstance(tree, exp.Select):
        return _cut(f"a combined query over {tables}")
    parts = [", ".join(_text(e) for e in tree.expressions), f"from {tables}"]
    if where := tree.args.get("where"):
        parts.append(f"where {_text(where.this)}")
    if group := tree.args.get("group"):
        parts.append(f"per {', '.join(_text(e) for e in group.expressions) or 'group'}")
    if having := tree.args.get("having"):
        parts.append(f"having {_text(having.this)}")
    if order := tree.args.get("order"):
        parts.append(f"ordered by {', '.join(_text(e) for e in order.expressions)}")
    if limit := tree.args.get("limit"):
        parts.append(f"the first {_text(limit.expression)}")
    return _cut(", ".join(parts))


def evidence_of(sql: str, handle: DatasetHandle, model: SemanticModel, linked: Sequence[LinkedValue]) -> tuple[Evidence, ...]:
    """Which words became which stored values, the role of each join, and what the query does."""
    tests = text_tests(sql, handle)
    said = {(link.table, link.column, link.value): link.words for link in linked}
    found = [
        Evidence(words=said.get(each, f"'{each[2]}'"), became="{}.{} = {}".format(*each) + ("" if each in said else " (not said)"))
        for each in tests
    ]
    joins, _ = joins_of(sql, handle, model)
    found += [Evidence(words=f"{r.child} and {r.parent}", became=_join(r)) for r in joins]
    return (*found, Evidence(words="the query", became=in_words(sql)))


def joins_of(sql: str, handle: DatasetHandle, model: SemanticModel) -> tuple[tuple[Relationship, ...], tuple[str, ...]]:
    """The declared links that the query joins along, and its joins that are none, as text."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    names = {t.alias_or_name.casefold(): t.name for t in tree.find_all(exp.Table)}
    declared: dict[tuple[str, ...], Relationship] = {}
    for r in (*model.relationships, *model.hierarchies):
        ends = (r.child.casefold(), r.child_column.casefold(), r.parent.casefold(), r.parent_column.casefold())
        declared[ends] = declared[(*ends[2:], *ends[:2])] = r
    for p in model.paths:
        for s in p.steps:
            ends = (s.table.casefold(), s.column.casefold(), s.to_table.casefold(), s.to_column.casefold())
            link = Relationship(child=s.table, child_column=s.column, parent=s.to_table, parent_column=s.to_column)
            for way in (ends, (*ends[2:], *ends[:2])):
                declared.setdefault(way, link)
    used: dict[str, Relationship] = {}
    odd: list[str] = []
    for node in tree.find_all(exp.EQ):
        left, right = node.this, node.expression
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            continue
        a, b = names.get(left.table.casefold(), ""), names.get(right.table.casefold(), "")
        if handle.table(a) is None or handle.table(b) is None:
            continue  # a side that the query itself makes
        found = declared.get((a.casefold(), left.name.casefold(), b.casefold(), right.name.casefold()))
        if found is not None:
            used[_join(found)] = found
        elif (a.casefold(), left.name.casefold()) != (b.casefold(), right.name.casefold()) or a.casefold() != b.casefold():
            odd.append(f"{a}.{left.name} = {b}.{right.name}")
    return tuple(used.values()), tuple(dict.fromkeys(odd))


def shape_of(sql: str, result: Result) -> tuple[tuple[str, ...], str | None]:
    """The columns that a result is grouped by, and the column of its figure; nothing where the query has another form."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    if not isinstance(tree, exp.Select) or len(set(result.columns)) != len(result.columns):
        return (), None
    grouped = tree.args.get("group") is not None
    figures = [n for n, numeric in zip(result.columns, result.numeric, strict=True) if numeric]
    if not grouped:
        return (), (figures[0] if len(result.columns) == 1 and figures else None)
    groups = tuple(n for n, numeric in zip(result.columns, result.numeric, strict=True) if not numeric)
    if not groups:
        groups = result.columns[:1]
        figures = [n for n in figures if n not in groups]
    return (groups, figures[-1]) if figures else ((), None)


def _tables(tree: exp.Expr) -> list[str]:
    made = {cte.alias.casefold() for cte in tree.find_all(exp.CTE)}
    return list(dict.fromkeys(t.name for t in tree.find_all(exp.Table, bfs=False) if t.name.casefold() not in made))


def _join(link: Relationship) -> str:
    ends = f"{link.child}.{link.child_column} = {link.parent}.{link.parent_column}"
    return f"{ends} ({link.role})" if link.role else ends


def _text(node: exp.Expr) -> str:
    return node.sql(dialect="duckdb")


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
