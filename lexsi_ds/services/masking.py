"""Hides the values of masked columns in the rows of a person's own SELECT on one table.

A value can leave a column under another name, inside an expression or through a subquery. So a column of the result is
shown only if it is proved to be made of unmasked columns alone; everything that is not understood is masked.
Must never: be the reason that a row is dropped or counted differently.
"""

from __future__ import annotations

import pandas as pd
import sqlglot
from sqlglot import exp

from lexsi_ds.data.handle import DatasetHandle, Table

MASK = "•••"
_PLAIN_PARTS = {
    "kind", "expressions", "from_", "where", "group", "having", "qualify", "order", "distinct", "windows", "hint",
}
_OPAQUE = (exp.Star, exp.Columns, exp.PositionalColumn, exp.Query, exp.Lambda)


def mask(frame: pd.DataFrame, sql: str, table: Table) -> pd.DataFrame:
    """The result ``frame`` of ``sql`` (one SELECT on ``table`` alone), with every value that may be masked replaced."""
    if not any(column.masked for column in table.columns):
        return frame
    shown = _shown(sql, table)
    if shown is None or len(shown) != frame.shape[1]:
        shown = [False] * frame.shape[1]
    columns = [
        frame.iloc[:, i] if show else frame.iloc[:, i].astype(object).where(frame.iloc[:, i].isna(), MASK)
        for i, show in enumerate(shown)
    ]
    masked = pd.concat(columns, axis=1) if columns else frame
    masked.columns = frame.columns
    return masked


def masked_columns(sql: str, dataset: DatasetHandle) -> list[str]:
    """Masked columns that the query mentions by name or takes along with a star; their values never reach a planner."""
    masked = {c.name.casefold(): c.name for t in dataset.tables for c in t.columns if c.masked}
    tree = sqlglot.parse_one(sql, read="duckdb")
    named = {node.name.casefold() for node in tree.find_all(exp.Identifier)}
    starred = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    used = {t.name.casefold() for t in tree.find_all(exp.Table)}
    taken = (
        {c.name.casefold() for t in dataset.tables if t.name.casefold() in used for c in t.columns}
        if starred
        else set()
    )
    return sorted(masked[name] for name in masked if name in named | taken)


def _shown(sql: str, table: Table) -> list[bool] | None:
    """For each column of the result whether it may be shown; None when the SELECT is not a plain one."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if not isinstance(tree, exp.Select) or not _is_plain(tree, table):
        return None
    safe = {column.name.casefold() for column in table.columns if not column.masked}
    shown: list[bool] = []
    for part in tree.expressions:
        star = part.this if isinstance(part, exp.Column) and isinstance(part.this, exp.Star) else part
        if isinstance(star, exp.Star):
            if any(star.args.values()):
                return None
            shown += [not column.masked for column in table.columns]
        else:
            shown.append(_made_of(part, safe))
    return shown


def _is_plain(tree: exp.Select, table: Table) -> bool:
    """One SELECT straight from the table: no join, subquery, CTE, set operation or column aliases."""
    if any(value for part, value in tree.args.items() if part not in _PLAIN_PARTS):
        return False
    start = tree.args.get("from_")
    origin = start.this if start is not None else None
    if not isinstance(origin, exp.Table) or origin.name.casefold() not in {"dataset", table.name.casefold()}:
        return False
    alias = origin.args.get("alias")
    others = any(value for part, value in origin.args.items() if part not in {"this", "alias"})
    return not others and not (alias is not None and alias.args.get("columns"))


def _made_of(part: exp.Expr, safe: set[str]) -> bool:
    """Whether it reads unmasked columns alone. A name that is a column and an alias is the column: so DuckDB reads it."""
    for node in part.walk():
        if isinstance(node, exp.Star) and isinstance(node.parent, exp.Count):
            continue
        if isinstance(node, _OPAQUE) or (isinstance(node, exp.Column) and node.name.casefold() not in safe):
            return False
    return True
