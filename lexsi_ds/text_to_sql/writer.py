"""From a logical query to DuckDB SQL, through sqlglot's tree: no text is pasted, every name is quoted where it must be.

Rates come with the rows they are taken over; ordered rows break ties by the columns that tell them apart.
"""

from __future__ import annotations

from sqlglot import exp

from lexsi_ds.text_to_sql.logical import Dimension, Having, JoinStep, Logical, Measure, Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import Names, needs_quotes

_FUNCTIONS: dict[str, type[exp.AggFunc]] = {
    "sum": exp.Sum,
    "average": exp.Avg,
    "median": exp.Median,
    "minimum": exp.Min,
    "maximum": exp.Max,
}
_TESTS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def write(query: Logical, names: Names) -> str:
    """The SQL of a logical query."""
    return _Writer(query, names).select().sql(dialect="duckdb", pretty=True)


class _Writer:
    def __init__(self, query: Logical, names: Names) -> None:
        self.query, self.names = query, names

    def select(self) -> exp.Select:
        query = self.query
        grouped = bool(query.measures)
        shown = query.dimensions if grouped else query.columns
        chosen: list[exp.Expr] = [_named(self.dimension(d), d.name) for d in shown]
        chosen += [_named(e, n) for m in query.measures for n, e in self.outputs(m)]
        select = exp.select(*chosen).from_(_table(query.table))
        for step in query.joins:
            select = select.join(
                _table(step.table, step.alias), on=self.on(step), join_type="inner" if step.inner else "left"
            )
        for predicate in query.filters:
            select = select.where(self.predicate(predicate))
        if grouped and query.dimensions:
            select = select.group_by(*(self.dimension(d) for d in query.dimensions))
        for having in query.having:
            select = select.having(self.having(having))
        return self._ordered(select)

    def _ordered(self, select: exp.Select) -> exp.Select:
        query = self.query
        if query.ties and query.order:
            first = query.order[0]
            over = exp.Window(
                this=exp.Rank(), order=exp.Order(expressions=[_order(self._measured(first.name), first.descending)])
            )
            select.set("qualify", exp.Qualify(this=exp.EQ(this=over, expression=exp.Literal.number(1))))
        orders = [_order(_column(o.name), o.descending) for o in query.order]
        if orders:
            select = select.order_by(*orders)
        return select.limit(query.limit) if query.limit is not None and not query.ties else select

    def _measured(self, name: str) -> exp.Expr:
        """The expression behind a column of the result: a window may not see its name."""
        for measure in self.query.measures:
            for output, expression in self.outputs(measure):
                if output == name:
                    return expression
        for dimension in (*self.query.dimensions, *self.query.columns):
            if dimension.name == name:
                return self.dimension(dimension)
        return _column(name)

    def ref(self, ref: Ref) -> exp.Expr:
        """A column, qualified only where several tables are joined, in its true type."""
        column = _column(ref.column, ref.alias if self.query.joins else None)
        how = self.names.column(ref.table, ref.column)
        if how.stored == "native":
            return column
        if how.stored == "number_text":
            return exp.TryCast(this=_blank_to_null(column), to=exp.DataType.build("double"))
        if how.date_format:
            parsed = exp.Anonymous(this="try_strptime", expressions=[column, exp.Literal.string(how.date_format)])
            return exp.Cast(this=parsed, to=exp.DataType.build("date"))
        return exp.TryCast(this=column, to=exp.DataType.build("date"))

    def dimension(self, dimension: Dimension) -> exp.Expr:
        """A column of the result; a date is cut to its grain."""
        column = self.ref(dimension.ref)
        if dimension.grain is None:
            return column
        if dimension.grain == "year":
            return exp.Year(this=column)
        if dimension.grain == "weekday":
            return exp.Anonymous(this="dayname", expressions=[column])
        cut = exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(dimension.grain), column])
        return exp.Cast(this=cut, to=exp.DataType.build("date"))

    def outputs(self, measure: Measure) -> list[tuple[str, exp.Expr]]:
        """The result columns of a measure: a rate brings its counts."""
        if measure.fn == "rate":
            hits, rows = self._hits(measure), self._rows(measure)
            share = exp.Div(
                this=exp.Mul(this=exp.Literal.number("100.0"), expression=hits), expression=_null_if_zero(rows)
            )
            taken = {m.name for m in self.query.measures if m is not measure}
            own = [] if measure.rows_name in taken else [(measure.rows_name, rows)]
            return [*own, (measure.hits_name, hits), (measure.name, share)]
        return [(measure.name, self.aggregate(measure))]

    def _hits(self, measure: Measure) -> exp.Expr:
        return _filtered(exp.Count(this=exp.Star()), [self.predicate(p) for p in measure.hits])

    def _rows(self, measure: Measure) -> exp.Expr:
        return _filtered(exp.Count(this=exp.Star()), [self.predicate(p) for p in measure.known])

    def aggregate(self, measure: Measure) -> exp.Expr:
        """One aggregate."""
        if measure.fn == "rate":
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=self._hits(measure))
            return exp.Div(this=share, expression=_null_if_zero(self._rows(measure)))
        if measure.fn == "count" or measure.ref is None:
            return self._hits(measure)
        column = self.ref(measure.ref)
        if measure.fn == "count_distinct":
            return exp.Count(this=exp.Distinct(expressions=[column]))
        return _FUNCTIONS[measure.fn](this=column)

    def predicate(self, predicate: Predicate) -> exp.Expr:
        """A test as a boolean expression."""
        column = self.ref(predicate.ref)
        if predicate.test in ("is null", "is not null"):
            is_null = exp.Is(this=column, expression=exp.Null())
            return is_null if predicate.test == "is null" else exp.Not(this=is_null)
        if predicate.test == "days":
            return _days(column, *predicate.values)
        values = [self.literal(predicate.ref, v) for v in predicate.values]
        if predicate.test == "between":
            return exp.Between(this=column, low=values[0], high=values[1])
        if predicate.test in ("in", "not in"):
            if len(values) == 1:
                return _TESTS["=" if predicate.test == "in" else "<>"](this=column, expression=values[0])
            inside = exp.In(this=column, expressions=values)
            return inside if predicate.test == "in" else exp.Not(this=inside)
        return _TESTS[predicate.test](this=column, expression=values[0])

    def literal(self, ref: Ref, value: str) -> exp.Expr:
        """A value in the column's type."""
        family = self.names.family(ref.table, ref.column)
        if self.names.column(ref.table, ref.column).stored == "number_text" or family == "number":
            return exp.Literal.number(value)
        if family == "boolean":
            return exp.Boolean(this=value.casefold() in ("true", "yes", "1", "t", "y"))
        return exp.Literal.string(value)

    def on(self, step: JoinStep) -> exp.Expr:
        """The condition of a join, the role's own tests included."""
        left = _column(step.left.column, step.left.alias)
        test: exp.Expr = exp.EQ(this=_column(step.column, step.alias), expression=left)
        for c in step.conditions:
            ref = Ref(alias=step.alias, table=step.table, column=c.column)
            extra = self.predicate(Predicate(ref=ref, test="in", values=c.values))
            test = exp.And(this=test, expression=extra)
        return test

    def having(self, having: Having) -> exp.Expr:
        """A test of a group."""
        return _TESTS[having.test](this=self.aggregate(having.measure), expression=exp.Literal.number(having.value))


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=_identifier(name), table=_identifier(table) if table else None)


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def _table(name: str, alias: str | None = None) -> exp.Table:
    table = exp.Table(this=_identifier(name))
    if alias and alias != name:
        table.set("alias", exp.TableAlias(this=_identifier(alias)))
    return table


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    if isinstance(expression, exp.Column) and expression.name == name:
        return expression
    return exp.Alias(this=expression, alias=_identifier(name))


def _order(expression: exp.Expr, descending: bool) -> exp.Ordered:
    return exp.Ordered(this=expression, desc=descending, nulls_first=False)


def _filtered(aggregate: exp.Expr, tests: list[exp.Expr]) -> exp.Expr:
    if not tests:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=exp.and_(*tests)))


def _null_if_zero(expression: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=expression, expression=exp.Literal.number(0))


def _blank_to_null(column: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=exp.Trim(this=column), expression=exp.Literal.string(""))


def _days(column: exp.Expr, first: str, after: str) -> exp.Expr:
    tests: list[exp.Expr] = []
    if first:
        tests.append(exp.GTE(this=column, expression=_date(first)))
    if after:
        tests.append(exp.LT(this=column.copy(), expression=_date(after)))
    return exp.and_(*tests)


def _date(day: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(day), to=exp.DataType.build("date"))
