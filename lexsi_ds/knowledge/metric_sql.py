"""Metrics as SQL and back: the expression of a rate, a sum or an average, and which of them an expression is.

Expressions are read and written with sqlglot, never by cutting text. Nothing here runs them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.knowledge.model import Condition, Metric


@dataclass(frozen=True)
class Shape:
    """What an expression is, with its columns bare and quoted."""

    fn: Literal["sum", "average", "other"]
    sql: str
    row: str = ""
    """What is summed or averaged of each row."""
    column: str = ""
    """That, when it is one bare column."""
    tables: frozenset[str] = frozenset()
    """Other tables that its columns are qualified by, folded."""
    columns: tuple[tuple[str, str], ...] = ()
    """(folded table or "", column) of every column in it."""
    aggregates: bool = False


def shape_of(expression: str, tables: Collection[str] = ()) -> Shape:
    """Read an expression; columns qualified by one of ``tables`` (names of the same table) become bare.

    Raises ValueError that says what is wrong.
    """
    try:
        found = sqlglot.parse(expression, dialect="duckdb")
    except SqlglotError as error:
        details = getattr(error, "errors", None)
        raise ValueError(f"it cannot be read as SQL ({details[0]['description'] if details else error})") from None
    tree = found[0] if len(found) == 1 else None
    if tree is None or not isinstance(tree, exp.Condition) or tree.find(exp.Query):
        raise ValueError("it must be one expression, not a statement")
    columns = tuple((c.table.casefold(), c.name) for c in tree.find_all(exp.Column))
    own = {t.casefold() for t in tables}
    bare = tree.transform(lambda node: _bare(node, own))
    sql = bare.sql(dialect="duckdb", comments=False)
    inner = bare.unnest()
    aggregates = bool(bare.find(exp.AggFunc))
    others = frozenset(t for t, _ in columns if t and t not in own)
    plain = isinstance(inner, exp.Sum | exp.Avg) and not isinstance(inner.this, exp.Distinct)
    if not plain:
        return Shape("other", sql, tables=others, columns=columns, aggregates=aggregates)
    row = inner.this
    return Shape(
        "sum" if isinstance(inner, exp.Sum) else "average", sql, row.sql(dialect="duckdb", comments=False),
        row.name if isinstance(row, exp.Column) and not row.table else "", others, columns, aggregates,
    )  # fmt: skip


def _bare(node: exp.Expr, tables: Collection[str]) -> exp.Expr:
    if isinstance(node, exp.Column):
        qualified = node.table and node.table.casefold() not in tables
        return exp.column(exp.to_identifier(node.name, quoted=True), table=node.args.get("table") if qualified else None)
    return node


def expression_of(metric: Metric) -> str:
    """The SQL of a metric, its columns qualified by its table."""
    if metric.kind == "rate":
        hits = " AND ".join(condition_sql(c) for c in metric.conditions)
        return f"100.0 * COUNT(*) FILTER (WHERE {hits}) / COUNT(*)"
    return f"{'SUM' if metric.kind == 'sum' else 'AVG'}({name_sql(metric.table)}.{name_sql(metric.column or '')})"


def condition_sql(condition: Condition) -> str:
    """A condition as SQL on its table; values as text, which DuckDB compares by the column's type."""
    place = f"{name_sql(condition.table)}.{name_sql(condition.column)}"
    if condition.op in ("is null", "is not null"):
        return f"{place} {condition.op.upper()}"
    values = ["'" + v.replace("'", "''") + "'" for v in condition.values]
    if condition.op == "in":
        return f"{place} IN ({', '.join(values)})"
    return f"{place} {condition.op} {values[0] if values else 'NULL'}"


@lru_cache(maxsize=20_000)
def name_sql(name: str) -> str:
    """A name as SQL, quoted only where it must be."""
    try:
        tree = sqlglot.parse_one(name, dialect="duckdb") if name.isascii() and name.isidentifier() else None
    except SqlglotError:
        tree = None
    plain = isinstance(tree, exp.Column) and tree.name == name
    return name if plain else '"' + name.replace('"', '""') + '"'
