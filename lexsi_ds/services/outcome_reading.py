"""Reads what became of rows that were predicted: from a newer snapshot of the source, or from a file of outcomes.

What counts as the outcome, and which rows have a known one, is the task's to say: its own SQL is asked. Must never: take a
row whose outcome is open for one without the outcome.
"""

from __future__ import annotations

import pandas as pd
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.models.card import ModelCard
from lexsi_ds.models.task import TaskSpec
from lexsi_ds.services.csv_text import quoted

KEY, OUTCOME, MOMENT = "key", "outcome", "moment"
"""Columns of what is read; ``outcome`` as the training frame holds it, ``moment`` only where the data dates a row."""


def of_source(
    sql: SqlRunner, handle: DatasetHandle, card: ModelCard, time: str | None = None, cancel: Cancel | None = None
) -> pd.DataFrame:
    """Known outcomes in a snapshot with the tables of the training source, by the task's own query."""
    task = card.task
    if not task.context_sql:
        raise BadInput("The task has no query, so outcomes cannot be read from the source.", where=card.name,
                       to_do="Give a file of outcomes.")
    moment = time or task.moment_column
    plain = f"SELECT {quoted(task.entity_column)} AS key, {quoted(task.target_column)} AS outcome"
    tail = f"FROM ({task.context_sql.rstrip().rstrip(';')}) AS known"
    try:
        if moment is not None:
            try:
                return sql.frame(handle, f"{plain}, {quoted(moment)} AS moment {tail}", cancel=cancel)
            except LexsiError:
                if time is not None:
                    raise
        return sql.frame(handle, f"{plain} {tail}", cancel=cancel)
    except LexsiError as error:
        raise BadInput(
            f"The task's query does not run on this data: {error.what}", where=handle.name, to_do="Give a file of outcomes."
        ) from error


def of_table(
    sql: SqlRunner, handle: DatasetHandle, table: Table, card: ModelCard, *, outcome: str | None = None,
    positive: str | None = None, time: str | None = None, cancel: Cancel | None = None,
) -> pd.DataFrame:
    """Known outcomes of a file: ``outcome`` names the column, ``positive`` its value that counts; both are found where the
    file spells them as the training data did."""
    task = card.task
    key = _column(table, task.entity_column, "the id of a row")
    value, known = _value(table, card, outcome, positive)
    moment = time if time is not None else task.moment_column if task.moment_column and table.column(task.moment_column) else None
    more = f", {quoted(_column(table, moment, 'the date'))} AS moment" if moment else ""
    query = f"SELECT {quoted(key)} AS key, {value} AS outcome{more} FROM {quoted(table.name)}"
    return sql.frame(handle, query + (f" WHERE {known}" if known else ""), cancel=cancel)


def _value(table: Table, card: ModelCard, outcome: str | None, positive: str | None) -> tuple[str, str]:
    """SQL of the outcome, and of which rows have a known one."""
    task = card.task
    if outcome is None and table.column(task.target_column) is not None:
        return quoted(task.target_column), f"{quoted(task.target_column)} IS NOT NULL"
    if outcome is not None:
        name = _column(table, outcome, "the outcome")
        known = f"{quoted(name)} IS NOT NULL"
        if positive is None:
            return quoted(name), known
        literal = "'" + positive.replace("'", "''") + "'"
        return f"CASE WHEN CAST({quoted(name)} AS VARCHAR) = {literal} THEN 1 ELSE 0 END", known
    parts = task_outcome(task)
    if parts is None or not all(table.column(name) for name in parts[2]):
        need = ", ".join(parts[2]) if parts else task.target_column
        raise BadInput(f"The file does not say the outcome: it lacks {need}.", where=table.name, to_do="Name the column that does.")
    value, known, names = parts
    present = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in names)
    return value, " AND ".join(filter(None, (present, known)))


def task_outcome(task: TaskSpec) -> tuple[str, str, tuple[str, ...]] | None:
    """The outcome's SQL on a row of the entity's table, the condition of a known one, and the columns they read; None when
    the task's query does not say it so plainly."""
    try:
        tree = sqlglot.parse_one(task.context_sql, dialect="duckdb")
    except ParseError:
        return None
    chosen = tree.expressions if isinstance(tree, exp.Select) else ()
    found = next((e for e in chosen if e.alias_or_name.casefold() == task.target_column.casefold()), None)
    if found is None or found.find(exp.Query, exp.Window, exp.AggFunc):
        return None
    value = _bare(found.this if isinstance(found, exp.Alias) else found)
    conditions = [
        _bare(select.args["where"].this) for select in tree.find_all(exp.Select)
        if select.args.get("where") is not None and _reads(select, task.entity_table)
    ]
    if any(c.find(exp.Query) for c in conditions):
        return None
    known = " AND ".join(f"({c.sql(dialect='duckdb')})" for c in conditions)
    names = dict.fromkeys(c.name for part in (value, *conditions) for c in part.find_all(exp.Column))
    return value.sql(dialect="duckdb"), known, tuple(names)


def _reads(select: exp.Select, table: str) -> bool:
    start = select.args.get("from_") or select.args.get("from")
    origin = start.this if start is not None else None
    return isinstance(origin, exp.Table) and origin.name.casefold() == table.casefold() and not select.args.get("joins")


def _bare(part: exp.Expr) -> exp.Expr:
    """Without the names of tables in front of columns."""
    bare = part.copy()
    for column in [*bare.find_all(exp.Column)]:
        column.set("table", None)
    return bare


def _column(table: Table, name: str, what: str) -> str:
    found = table.column(name)
    if found is None:
        raise BadInput(f"There is no column {name[:60]} for {what}.", where=table.name,
                       to_do=f"It has {', '.join(c.name for c in table.columns[:20])}.")
    return found.name
