"""The SQL of a person on a whole source: read only, through the guard, with masked columns hidden before they are read.

Each mention of a table that has masked columns becomes a subquery in which their values are hidden, so no name, expression
or join can bring one out, on screen or in an export. Must never: let a query reach a masked value.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.data import guard
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.sql import SqlResult, SqlRunner
from lexsi_ds.errors import SqlRefused
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.masking import MASK

_PLAIN = {"this", "alias", "joins"}


class SqlDesk:
    """Runs what a person wrote in the editor."""

    def __init__(self, catalog: Catalog, sql: SqlRunner) -> None:
        self._catalog, self._sql = catalog, sql

    def run(self, actor: Actor, source_id: str, sql: str, *, cancel: Cancel | None = None) -> SqlResult:
        """All rows of one SELECT on the newest version. Raises SqlRefused, SqlFailed, WorkerFailed, Stopped."""
        handle = self._catalog.handle(actor, source_id)
        return self._sql.run(handle, veiled(sql, handle), cancel=cancel)


def veiled(sql: str, handle: DatasetHandle) -> str:
    """The query with masked columns hidden at their table. Raises SqlRefused for what the guard refuses."""
    checked = guard.check(sql, [table.name for table in handle.tables])
    masked = {t.name.casefold(): t for t in handle.tables if any(c.masked for c in t.columns)}
    if not masked:
        return checked
    try:
        tree = sqlglot.parse_one(checked, dialect="duckdb")
    except SqlglotError as error:
        raise SqlRefused("This query could not be read.", to_do="Write it more simply.") from error
    made_here = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
    if taken := made_here & set(masked):
        raise SqlRefused(
            "A WITH part has the name of a table with masked columns.", where=min(taken), to_do="Give it another name."
        )
    for node in list(tree.find_all(exp.Table)):
        table = masked.get(node.name.casefold())
        if table is not None:
            node.replace(_hidden(node, table))
    return tree.sql(dialect="duckdb")


def _hidden(node: exp.Table, table: Table) -> exp.Subquery:
    if extra := [part for part, value in node.args.items() if value and part not in _PLAIN]:
        raise SqlRefused(
            f"This use of a table with masked columns is not supported: {', '.join(extra)}.", where=table.name,
            to_do="Select from the table plainly.",
        )
    columns = []
    for column in table.columns:
        name = exp.column(exp.to_identifier(column.name, quoted=True))
        if column.masked:
            hidden = exp.Case().when(exp.Not(this=exp.Is(this=name, expression=exp.Null())), exp.Literal.string(MASK))
            columns.append(exp.alias_(hidden, column.name, quoted=True))
        else:
            columns.append(name)
    inner = exp.select(*columns).from_(exp.Table(this=exp.to_identifier(table.name, quoted=True)))
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
    subquery = exp.Subquery(this=inner, alias=alias.copy())
    if joins := node.args.get("joins"):
        subquery.set("joins", [join.copy() for join in joins])
    return subquery
