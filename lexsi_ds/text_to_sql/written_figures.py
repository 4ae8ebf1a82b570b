"""Figures and groups of a query as SQL: aggregates, rates with their counts, windows over the groups."""

from __future__ import annotations

from sqlglot import exp

from lexsi_ds.text_to_sql.logical import Dimension, Having, Logical, Measure, Predicate
from lexsi_ds.text_to_sql.sqltext import Names, number_text
from lexsi_ds.text_to_sql.trees import (
    aggregate,
    banded,
    filtered,
    filtered_inside,
    null_if_zero,
    ordered,
    quantile,
    within_days,
)
from lexsi_ds.text_to_sql.written_tests import TESTS, WrittenTests


class WrittenFigures(WrittenTests):
    """The columns of a result."""

    def __init__(self, query: Logical, names: Names, *, qualified: bool) -> None:
        super().__init__(names, qualified=qualified)
        self.query = query

    def dimension(self, dimension: Dimension) -> exp.Expr:
        """A column of the result; a date is cut to its grain."""
        column = self.ref(dimension.ref)
        if dimension.bands:
            return banded(column, dimension)
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
                this=exp.Mul(this=exp.Literal.number("100.0"), expression=hits), expression=null_if_zero(rows)
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
            return exp.Div(this=share, expression=null_if_zero(whole))
        period = next(d for d in self.query.dimensions if d.grain)
        if measure.window == "moving":
            return self._moving(measure, figure, inside, self.dimension(period))
        order = exp.Order(expressions=[ordered(self.dimension(period), descending=False)])
        if measure.window == "running":
            return exp.Window(this=exp.Sum(this=figure), partition_by=inside, order=order)
        before = exp.Window(this=exp.Lag(this=self.aggregate(measure)), partition_by=inside, order=order)
        change = exp.Sub(this=figure, expression=before)
        if measure.window == "change":
            return change
        grown = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.Paren(this=change))
        return exp.Div(this=grown, expression=null_if_zero(before.copy()))

    def _hits(self, measure: Measure) -> exp.Expr:
        return filtered(self._counted(measure), [self.predicate(p) for p in measure.hits])

    def _rows(self, measure: Measure) -> exp.Expr:
        return filtered(self._counted(measure), [self.predicate(p) for p in measure.known])

    def _counted(self, measure: Measure) -> exp.Expr:
        """What a percentage is taken of: rows, or the sum of a figure."""
        if measure.fn != "rate" or measure.ref is None:
            return exp.Count(this=exp.Star())
        column = self.expression(measure.expression, measure.ref) if measure.expression else self.ref(measure.ref)
        return exp.Sum(this=column)

    def aggregate(self, measure: Measure) -> exp.Expr:
        """One aggregate."""
        if measure.made is not None:
            return self._combined(measure)
        if measure.fn == "rate":
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=self._hits(measure))
            return exp.Div(this=share, expression=null_if_zero(self._rows(measure)))
        if measure.fn == "count" or measure.ref is None:
            return self._hits(measure)
        if measure.sub is not None:
            return aggregate(measure.fn, self.figure(measure.sub))
        column = self.expression(measure.expression, measure.ref) if measure.expression else self.ref(measure.ref)
        if measure.fn == "formula":
            return filtered_inside(column, [self.predicate(p) for p in measure.hits])
        made = quantile(column, measure.part or 0.5) if measure.fn == "quantile" else aggregate(measure.fn, column)
        return filtered(made, [self.predicate(p) for p in measure.hits])

    def _combined(self, measure: Measure) -> exp.Expr:
        """A difference or a ratio of two aggregates."""
        first, second = (self.aggregate(p) for p in measure.parts)
        if measure.made == "difference":
            return exp.Sub(this=exp.Paren(this=first), expression=exp.Paren(this=second))
        scaled = exp.Mul(this=exp.Literal.number(repr(float(measure.times))), expression=exp.Paren(this=first))
        return exp.Div(this=scaled, expression=null_if_zero(second))

    def _moving(self, measure: Measure, figure: exp.Expr, inside: list[exp.Expr], period: exp.Expr) -> exp.Expr:
        """The average of this period and those just before it."""
        rows = exp.WindowSpec(
            kind="ROWS", start=exp.Literal.number(str((measure.size or 1) - 1)), start_side="PRECEDING", end="CURRENT ROW"
        )
        order = exp.Order(expressions=[ordered(period, descending=False)])
        return exp.Window(this=exp.Avg(this=figure), partition_by=inside, order=order, spec=rows)

    def having(self, having: Having) -> exp.Expr:
        """A test of a group."""
        return TESTS[having.test](this=self.aggregate(having.measure), expression=exp.Literal.number(having.value))

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
        return within_days(start, first, after)
