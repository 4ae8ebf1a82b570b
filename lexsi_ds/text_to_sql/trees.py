"""Pieces of SQL trees: names, literals of days, aggregates, bands. Every piece is a node of sqlglot, no text is pasted."""

from __future__ import annotations

from sqlglot import exp

from lexsi_ds.text_to_sql.logical import Dimension
from lexsi_ds.text_to_sql.sqltext import needs_quotes, number_text

_FUNCTIONS: dict[str, type[exp.AggFunc]] = {
    "sum": exp.Sum,
    "average": exp.Avg,
    "median": exp.Median,
    "minimum": exp.Min,
    "maximum": exp.Max,
    "deviation": exp.StddevSamp,
}


def column_at(name: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def table_as(name: str, alias: str | None = None) -> exp.Table:
    table = exp.Table(this=identifier(name))
    if alias and alias != name:
        table.set("alias", exp.TableAlias(this=identifier(alias)))
    return table


def quantile(column: exp.Expr, part: float) -> exp.Expr:
    return exp.Anonymous(this="quantile_cont", expressions=[column, exp.Literal.number(repr(part))])


def filtered_inside(formula: exp.Expr, tests: list[exp.Expr]) -> exp.Expr:
    """A formula whose every aggregate counts only some rows."""
    if not tests:
        return formula

    def counted(node: exp.Expr) -> exp.Expr:
        return filtered(node, [t.copy() for t in tests]) if isinstance(node, exp.AggFunc) else node

    return formula.transform(counted)


def aggregate(fn: str, column: exp.Expr) -> exp.Expr:
    if fn == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[column]))
    return _FUNCTIONS[fn](this=column)


def banded(column: exp.Expr, dimension: Dimension) -> exp.Expr:
    """The band that a figure falls in, by the lower ends; empty below the first and above the last."""
    cases = []
    for band, following in zip(dimension.bands, (*dimension.bands[1:], None), strict=True):
        tests: list[exp.Expr] = []
        if band.low is not None:
            tests.append(exp.GTE(this=column.copy(), expression=exp.Literal.number(number_text(band.low))))
        if following is not None and following.low is not None:
            tests.append(exp.LT(this=column.copy(), expression=exp.Literal.number(number_text(following.low))))
        elif band.high is not None:
            tests.append(exp.LTE(this=column.copy(), expression=exp.Literal.number(number_text(band.high))))
        cases.append(exp.If(this=exp.and_(*tests), true=exp.Literal.string(band.label)))
    return exp.Case(ifs=cases)


def named(expression: exp.Expr, name: str) -> exp.Expr:
    if isinstance(expression, exp.Column) and expression.name == name:
        return expression
    return exp.Alias(this=expression, alias=identifier(name))


def ordered(expression: exp.Expr, descending: bool) -> exp.Ordered:
    return exp.Ordered(this=expression, desc=descending, nulls_first=False)


def filtered(aggregate: exp.Expr, tests: list[exp.Expr]) -> exp.Expr:
    if not tests:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=exp.and_(*tests)))


def null_if_zero(expression: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=expression, expression=exp.Literal.number(0))


def blank_to_null(column: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=exp.Trim(this=column), expression=exp.Literal.string(""))


def within_days(column: exp.Expr, first: str, after: str) -> exp.Expr:
    tests: list[exp.Expr] = []
    if first:
        tests.append(exp.GTE(this=column, expression=day_of(first)))
    if after:
        tests.append(exp.LT(this=column.copy(), expression=day_of(after)))
    return exp.and_(*tests)


def day_of(day: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(day), to=exp.DataType.build("date"))
