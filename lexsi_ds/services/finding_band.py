"""The template "a metric stays in a band": a share or another figure of some rows, its bounds, and the check made of both.

The metric is a SELECT that gives one row with ``value`` and ``n``; the check returns that row when the value is out of the band or
missing. Must never: put a name or a value into SQL unquoted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import sqlglot
from sqlglot import exp

from lexsi_ds.data.handle import Table, Value
from lexsi_ds.errors import BadInput
from lexsi_ds.services.finding import Band

Aggregate = Literal["share", "average", "median", "sum", "count"]
Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "is missing", "is not missing"]
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")


class Condition(Value):
    """Which rows: a column, how it is compared, and with what (as a person typed it)."""

    column: str
    comparison: Comparison = "="
    value: str = ""


class Metric(Value):
    """A figure of some rows: the share of those that meet ``share_of``, or an aggregate of a column."""

    aggregate: Aggregate
    column: str | None = None
    share_of: Condition | None = None
    where: tuple[Condition, ...] = ()


def metric_sql(table: Table, metric: Metric) -> str:
    """The SELECT of a metric on its dataset. Raises BadInput for an unknown column or a part that is missing."""
    if metric.aggregate == "share":
        if metric.share_of is None:
            raise BadInput("A share needs to say of what.", where="metric", to_do="Choose a column and a value.")
        value, counted = f"avg(CASE WHEN {_condition(table, metric.share_of)} THEN 1.0 ELSE 0.0 END)", "count(*)"
    elif metric.aggregate == "count":
        value = counted = "count(*)"
    else:
        column = _column(table, metric.column or "")
        function = {"average": "avg", "median": "median", "sum": "sum"}[metric.aggregate]
        value, counted = f"{function}({column})", f"count({column})"
    conditions = " AND ".join(_condition(table, c) for c in metric.where)
    return f"SELECT {value} AS value, {counted} AS n\nFROM dataset" + (f"\nWHERE {conditions}" if conditions else "")


def metric_of_query(sql: str, value: str, count: str | None = None, *, share: bool = False) -> str | None:
    """The metric that a query's one row holds in the column ``value``; ``n`` is its column ``count``, else the rows that its
    aggregate is taken over. With ``share`` a percentage becomes a share. None for a query of another form."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    if not isinstance(tree, exp.Select) or tree.args.get("group"):
        return None
    if count is None:
        counted = _counted(tree, value)
        if counted is None:
            return None
        count = "n_of_value"
        tree = tree.select(exp.alias_(counted, count))
    scale = " / 100.0" if share else ""
    names = ['"' + name.replace('"', '""') + '"' for name in (value, count)]
    return f"SELECT {names[0]}{scale} AS value, {names[1]} AS n\nFROM (\n{tree.sql(dialect='duckdb', pretty=True)}\n) AS figures"


def _counted(tree: exp.Select, value: str) -> exp.Expr | None:
    """How many rows the aggregate of an output column is taken over."""
    part = next((p for p in tree.expressions if p.alias_or_name.casefold() == value.casefold()), None)
    found = part.find(exp.AggFunc) if part is not None else None
    if found is None:
        return None
    argument = found.this
    plain = isinstance(argument, exp.Expr) and not isinstance(argument, exp.Star | exp.Distinct)
    return exp.Count(this=argument.copy() if plain else exp.Star())


def band_of(
    sql: str, low: float | None, high: float | None, *, strict: bool = False, percent: bool = False
) -> Band:
    """A band. Raises BadInput for bounds that are none."""
    bounds = [b for b in (low, high) if b is not None]
    if not bounds or not all(math.isfinite(b) for b in bounds) or (len(bounds) == 2 and bounds[0] > bounds[1]):
        raise BadInput("A band needs a lower or an upper bound, the lower one first.", where="band", to_do="Set a bound.")
    return Band(metric_sql=sql.strip().rstrip(";"), low=low, high=high, strict=strict, percent=percent)


def check_sql(band: Band) -> str:
    """The check: the metric's row when it is out of the band, or has no value."""
    over, under = ("<=", ">=") if band.strict else ("<", ">")
    parts = ["value IS NULL", "isnan(value::DOUBLE)"]
    parts += [f"value {over} {float(band.low)!r}"] if band.low is not None else []
    parts += [f"value {under} {float(band.high)!r}"] if band.high is not None else []
    return f"SELECT * FROM (\n{band.metric_sql}\n) AS metric\nWHERE {' OR '.join(parts)}"


def sentence(what: str, band: Band) -> str:
    """The rule in words."""
    return f"{what} is {band.bounds}."


def _condition(table: Table, condition: Condition) -> str:
    column = _column(table, condition.column)
    if condition.comparison == "is missing":
        return f"{column} IS NULL"
    if condition.comparison == "is not missing":
        return f"{column} IS NOT NULL"
    if condition.comparison not in _COMPARED:
        raise BadInput(f"{condition.comparison} is no comparison.", where="metric")
    text = condition.value.replace("'", "''")
    if condition.comparison in ("=", "!="):
        return f"CAST({column} AS VARCHAR) {condition.comparison} '{text}'"
    return f"{column} {condition.comparison} {_number(condition.value)}"


def _column(table: Table, name: str) -> str:
    found = table.column(name)
    if found is None:
        raise BadInput(f"{table.name} has no column {name!r}.", where="metric", to_do="Choose one of its columns.")
    return '"' + found.name.replace('"', '""') + '"'


def _number(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(f"{text!r} is not a number.", where="metric", to_do="Compare with a number.")
    return repr(value)


def conditions_text(conditions: Sequence[Condition]) -> str:
    """Conditions as people read them."""
    return " and ".join(f"{c.column} {c.comparison} {c.value}".strip() for c in conditions)
