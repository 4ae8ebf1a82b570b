"""From a logical query to DuckDB SQL, through sqlglot's tree: no text is pasted, every name is quoted where it must be.

Rates come with the rows they are taken over; ordered rows break ties by the columns that tell them apart.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from lexsi_ds.text_to_sql.logical import Dimension, Having, JoinStep, Logical, Measure, Predicate, Ref, Sub
from lexsi_ds.text_to_sql.sqltext import Names, needs_quotes, number_text

_FUNCTIONS: dict[str, type[exp.AggFunc]] = {
    "sum": exp.Sum,
    "average": exp.Avg,
    "median": exp.Median,
    "minimum": exp.Min,
    "maximum": exp.Max,
    "deviation": exp.StddevSamp,
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


def _looks_inside(query: Logical) -> bool:
    """Whether any test looks at other rows, so that every column must say whose it is."""
    tests = [*query.filters, *(p for m in query.measures for p in (*m.hits, *m.known))]
    tests += [p for h in query.having for p in (*h.measure.hits, *h.measure.known)]
    return any(_has_sub(p) for p in tests) or any(m.sub is not None for m in query.measures)


def _has_sub(test: Predicate) -> bool:
    return test.sub is not None or test.than is not None or any(_has_sub(p) for p in test.any_of)


class _Writer:
    def __init__(self, query: Logical, names: Names) -> None:
        self.query, self.names = query, names
        self.qualified = bool(query.joins) or _looks_inside(query)

    def select(self) -> exp.Select:
        query = self.query
        grouped = bool(query.measures)
        shown = query.dimensions if grouped else query.columns
        chosen: list[exp.Expr] = [_named(self.dimension(d), d.name) for d in shown]
        chosen += [_named(e, n) for m in query.measures for n, e in self.outputs(m)]
        select = exp.select(*chosen).from_(_table(query.table))
        if query.distinct:
            select = select.distinct()
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
        kept = self._kept()
        if kept is not None:
            select.set("qualify", exp.Qualify(this=kept))
        inside = [_order(self._sorted(n), descending=False) for n in query.per]
        orders = [
            *inside,
            *(_order(self._sorted(o.name), o.descending) for o in query.order if o.name not in query.per),
        ]
        if orders:
            select = select.order_by(*orders)
        cut = query.limit is not None and not (query.ties or query.per or query.place)
        return select.limit(query.limit) if cut and query.limit is not None else select

    def _sorted(self, name: str) -> exp.Expr:
        """What a column of the result is sorted by: bands by their figures, not by their labels."""
        banded = next((d for d in self.query.dimensions if d.name == name and d.bands), None)
        return exp.Min(this=self.ref(banded.ref)) if banded else _column(name)

    def _kept(self) -> exp.Expr | None:
        """Which rows stay once windows are known: the first of each group, the first with its ties, later periods."""
        query = self.query
        tests = [self.period(p) for p in query.after]
        if query.order and (query.ties or query.per or query.place):
            first = query.order[0]
            exact = query.limit is not None and not query.ties and not query.place
            rank = exp.DenseRank() if query.place else exp.RowNumber() if exact else exp.Rank()
            by = query.order if exact else (first,)
            order = exp.Order(
                expressions=[_order(self._measured(o.name), o.descending) for o in by if o.name not in query.per]
            )
            over = exp.Window(this=rank, partition_by=[self._measured(n) for n in query.per], order=order)
            if query.place:
                tests.append(exp.EQ(this=over, expression=exp.Literal.number(query.place)))
            else:
                last = exp.Literal.number(query.limit if query.limit is not None and not query.ties else 1)
                tests.append((exp.LTE if last.this != "1" else exp.EQ)(this=over, expression=last))
        return exp.and_(*tests) if tests else None

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
        column = _column(ref.column, ref.alias if self.qualified else None)
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
        if dimension.bands:
            return _banded(column, dimension)
        if dimension.step is not None:
            width = exp.Literal.number(number_text(dimension.step))
            floor = exp.Floor(this=exp.Div(this=column, expression=width))
            return exp.Mul(this=floor, expression=width.copy())
        if dimension.grain is None:
            return column
        if dimension.grain == "year":
            return exp.Year(this=column)
        if dimension.grain == "decade":
            tens = exp.Literal.number(10)
            return exp.Mul(
                this=exp.Paren(this=exp.IntDiv(this=exp.Year(this=column), expression=tens)), expression=tens.copy()
            )
        if dimension.grain == "weekday":
            return exp.Anonymous(this="dayname", expressions=[column])
        cut = exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(dimension.grain), column])
        return exp.Cast(this=cut, to=exp.DataType.build("date"))

    def outputs(self, measure: Measure) -> list[tuple[str, exp.Expr]]:
        """The result columns of a measure: a rate brings its counts."""
        if measure.window is not None:
            return [(measure.name, self.window(measure))]
        if measure.fn == "rate":
            hits, rows = self._hits(measure), self._rows(measure)
            share = exp.Div(
                this=exp.Mul(this=exp.Literal.number("100.0"), expression=hits), expression=_null_if_zero(rows)
            )
            taken = {m.name for m in self.query.measures if m is not measure}
            own = [] if measure.rows_name in taken else [(measure.rows_name, rows)]
            return [*own, (measure.hits_name, hits), (measure.name, share)]
        return [(measure.name, self.aggregate(measure))]

    def window(self, measure: Measure) -> exp.Expr:
        """What is made of a figure once all groups are there."""
        figure = self.aggregate(measure)
        inside = [self.dimension(d) for n in measure.within for d in self.query.dimensions if d.name == n]
        if measure.window == "share":
            whole = exp.Window(this=exp.Sum(this=self.aggregate(measure)), partition_by=inside)
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=figure)
            return exp.Div(this=share, expression=_null_if_zero(whole))
        period = next(d for d in self.query.dimensions if d.grain)
        order = exp.Order(expressions=[_order(self.dimension(period), descending=False)])
        if measure.window == "running":
            return exp.Window(this=exp.Sum(this=figure), partition_by=inside, order=order)
        before = exp.Window(this=exp.Lag(this=self.aggregate(measure)), partition_by=inside, order=order)
        change = exp.Sub(this=figure, expression=before)
        if measure.window == "change":
            return change
        grown = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.Paren(this=change))
        return exp.Div(this=grown, expression=_null_if_zero(before.copy()))

    def period(self, predicate: Predicate) -> exp.Expr:
        """A test of days as a test of the period that the result shows."""
        shown = next(d for d in self.query.dimensions if d.grain and d.ref == predicate.ref)
        first, after = predicate.values
        start = self.dimension(shown)
        if shown.grain == "year":
            tests: list[exp.Expr] = [exp.GTE(this=start, expression=exp.Literal.number(first[:4]))] if first else []
            last = exp.Literal.number(str(int(after[:4]) - (after[5:] == "01-01"))) if after else None
            tests += [exp.LTE(this=start.copy(), expression=last)] if last is not None else []
            return exp.and_(*tests)
        return _days(start, first, after)

    def _hits(self, measure: Measure) -> exp.Expr:
        return _filtered(self._counted(measure), [self.predicate(p) for p in measure.hits])

    def _rows(self, measure: Measure) -> exp.Expr:
        return _filtered(self._counted(measure), [self.predicate(p) for p in measure.known])

    def _counted(self, measure: Measure) -> exp.Expr:
        """What a percentage is taken of: rows, or the sum of a figure."""
        if measure.fn != "rate" or measure.ref is None:
            return exp.Count(this=exp.Star())
        column = self.expression(measure.expression, measure.ref) if measure.expression else self.ref(measure.ref)
        return exp.Sum(this=column)

    def aggregate(self, measure: Measure) -> exp.Expr:
        """One aggregate."""
        if measure.fn == "rate":
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=self._hits(measure))
            return exp.Div(this=share, expression=_null_if_zero(self._rows(measure)))
        if measure.fn == "count" or measure.ref is None:
            return self._hits(measure)
        if measure.sub is not None:
            return _aggregate(measure.fn, self.figure(measure.sub))
        column = self.expression(measure.expression, measure.ref) if measure.expression else self.ref(measure.ref)
        if measure.fn == "formula":
            return _filtered_inside(column, [self.predicate(p) for p in measure.hits])
        made = _quantile(column, measure.part or 0.5) if measure.fn == "quantile" else _aggregate(measure.fn, column)
        return _filtered(made, [self.predicate(p) for p in measure.hits])

    def expression(self, text: str, ref: Ref) -> exp.Expr:
        """A declared metric's SQL over the columns of its own table."""
        tree = sqlglot.parse_one(text, read="duckdb")

        def owned(node: exp.Expr) -> exp.Expr:
            return (
                self.ref(Ref(alias=ref.alias, table=ref.table, column=node.name))
                if isinstance(node, exp.Column)
                else node
            )

        return tree.transform(owned)

    def predicate(self, predicate: Predicate) -> exp.Expr:
        """A test as a boolean expression."""
        if predicate.test == "any":
            return exp.Paren(this=exp.or_(*(self.predicate(p) for p in predicate.any_of)))
        if predicate.test in ("exists", "not exists") and predicate.sub is not None:
            there = exp.Exists(this=self.rows_of(predicate.sub).select("1"))
            return there if predicate.test == "exists" else exp.Not(this=there)
        column = self.figure(predicate.sub) if predicate.sub is not None else self.ref(predicate.ref)
        against = self._against(predicate)
        if against is not None:
            return _TESTS[predicate.test](this=column, expression=against)
        if predicate.test in ("is null", "is not null"):
            is_null = exp.Is(this=column, expression=exp.Null())
            return is_null if predicate.test == "is null" else exp.Not(this=is_null)
        if predicate.test == "contains":
            text = exp.Lower(this=exp.Cast(this=column, to=exp.DataType.build("text")))
            return exp.Anonymous(
                this="contains", expressions=[text, exp.Literal.string(predicate.values[0].casefold())]
            )
        if predicate.test in ("month", "weekday"):
            part = (
                exp.Month(this=column)
                if predicate.test == "month"
                else exp.Anonymous(this="isodow", expressions=[column])
            )
            numbers = [exp.Literal.number(v) for v in predicate.values]
            return (
                exp.EQ(this=part, expression=numbers[0])
                if len(numbers) == 1
                else exp.In(this=part, expressions=numbers)
            )
        if predicate.test == "days":
            return _days(column, *predicate.values)
        if predicate.sub is not None:
            values: list[exp.Expr] = [exp.Literal.number(v) for v in predicate.values]
        else:
            values = [self.literal(predicate.ref, v) for v in predicate.values]
        if predicate.test == "between":
            return exp.Between(this=column, low=values[0], high=values[1])
        if predicate.test in ("in", "not in"):
            if len(values) == 1:
                return _TESTS["=" if predicate.test == "in" else "<>"](this=column, expression=values[0])
            inside = exp.In(this=column, expressions=values)
            return inside if predicate.test == "in" else exp.Not(this=inside)
        return _TESTS[predicate.test](this=column, expression=values[0])

    def _against(self, predicate: Predicate) -> exp.Expr | None:
        """What a figure is compared with when it is not a plain value."""
        if predicate.than is not None:
            found: exp.Expr = self.figure(predicate.than)
        elif predicate.other is not None:
            found = self.ref(predicate.other)
        else:
            return None
        if predicate.factor == 1:
            return found
        return exp.Mul(this=exp.Literal.number(number_text(predicate.factor)), expression=found)

    def rows_of(self, sub: Sub) -> exp.Select:
        """The rows of a sub-query, before it is said what is taken of them."""
        select = exp.Select().from_(_table(sub.table, sub.alias))
        for step in sub.joins:
            select = select.join(
                _table(step.table, step.alias), on=self.on(step), join_type="inner" if step.inner else "left"
            )
        for inner, outer in sub.links:
            test = exp.EQ(this=_column(inner.column, inner.alias), expression=_column(outer.column, outer.alias))
            select = select.where(test)
        for predicate in sub.filters:
            select = select.where(self.predicate(predicate))
        return select

    def figure(self, sub: Sub) -> exp.Expr:
        """The one number of a sub-query."""
        made = exp.Count(this=exp.Star()) if sub.ref is None else _aggregate(sub.fn, self.ref(sub.ref))
        return exp.Subquery(this=self.rows_of(sub).select(made))

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


def _quantile(column: exp.Expr, part: float) -> exp.Expr:
    return exp.Anonymous(this="quantile_cont", expressions=[column, exp.Literal.number(repr(part))])


def _filtered_inside(formula: exp.Expr, tests: list[exp.Expr]) -> exp.Expr:
    """A formula whose every aggregate counts only some rows."""
    if not tests:
        return formula

    def counted(node: exp.Expr) -> exp.Expr:
        return _filtered(node, [t.copy() for t in tests]) if isinstance(node, exp.AggFunc) else node

    return formula.transform(counted)


def _aggregate(fn: str, column: exp.Expr) -> exp.Expr:
    if fn == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[column]))
    return _FUNCTIONS[fn](this=column)


def _banded(column: exp.Expr, dimension: Dimension) -> exp.Expr:
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
