"""From a logical query to DuckDB SQL, through sqlglot's tree: no text is pasted, every name is quoted where it must be.

Rates come with the rows they are taken over; ordered rows break ties by the columns that tell them apart.
"""

from __future__ import annotations

from sqlglot import exp

from lexsi_ds.text_to_sql.logical import Logical, Outer, Predicate
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.trees import aggregate, column_at, filtered, named, null_if_zero, ordered, table_as
from lexsi_ds.text_to_sql.written_figures import WrittenFigures


def write(query: Logical, names: Names) -> str:
    """The SQL of a logical query."""
    return _whole(query, names).sql(dialect="duckdb", pretty=True)


def _whole(query: Logical, names: Names) -> exp.Select:
    """The query, or the figures taken of its rows."""
    inner = _Writer(query.model_copy(update={"outer": ()}), names).select()
    if not query.outer:
        return inner
    if any(o.first for o in query.outer):
        first = query.order[0]
        order = exp.Order(expressions=[ordered(_Writer(query, names).measured(o.name), o.descending) for o in query.order])
        inner.set("order", None)
        inner = inner.select(named(exp.Window(this=exp.RowNumber(), order=order), f"place_by_{first.name}"))
    return exp.select(*(named(_outer(o, query), o.name) for o in query.outer)).from_(inner.subquery("result"))


def _outer(outer: Outer, query: Logical) -> exp.Expr:
    if outer.fn == "count" or not outer.of:
        return exp.Count(this=exp.Star())
    if outer.fn != "share":
        return aggregate(outer.fn, column_at(outer.of))
    place = column_at(f"place_by_{query.order[0].name}")
    part = filtered(exp.Sum(this=column_at(outer.of)), [exp.LTE(this=place, expression=exp.Literal.number(str(outer.first)))])
    whole = null_if_zero(exp.Sum(this=column_at(outer.of)))
    return exp.Div(this=exp.Mul(this=exp.Literal.number("100.0"), expression=part), expression=whole)


def _looks_inside(query: Logical) -> bool:
    """Whether any test looks at other rows, so that every column must say whose it is."""
    tests = [*query.filters, *(p for m in query.measures for p in (*m.hits, *m.known))]
    tests += [p for h in query.having for p in (*h.measure.hits, *h.measure.known)]
    tests += [p for m in query.measures for part in m.parts for p in (*part.hits, *part.known)]
    measures = [*query.measures, *(part for m in query.measures for part in m.parts)]
    return any(_has_sub(p) for p in tests) or any(m.sub is not None for m in measures)


def _has_sub(test: Predicate) -> bool:
    return test.sub is not None or test.than is not None or any(_has_sub(p) for p in test.any_of)


class _Writer(WrittenFigures):
    def __init__(self, query: Logical, names: Names) -> None:
        super().__init__(query, names, qualified=bool(query.joins) or _looks_inside(query))

    def select(self) -> exp.Select:
        query = self.query
        grouped = bool(query.measures)
        shown = query.dimensions if grouped else query.columns
        chosen: list[exp.Expr] = [named(self.dimension(d), d.name) for d in shown]
        chosen += [named(e, n) for m in query.measures for n, e in self.outputs(m)]
        select = exp.select(*chosen).from_(table_as(query.table))
        if query.distinct:
            select = select.distinct()
        for step in query.joins:
            select = select.join(
                table_as(step.table, step.alias), on=self.on(step), join_type="inner" if step.inner else "left"
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
        inside = [ordered(self._sorted(n), descending=False) for n in query.per]
        orders = [
            *inside,
            *(ordered(self._sorted(o.name), o.descending) for o in query.order if o.name not in query.per),
        ]
        if orders:
            select = select.order_by(*orders)
        cut = query.limit is not None and not (query.ties or query.per or query.place)
        return select.limit(query.limit) if cut and query.limit is not None else select

    def _sorted(self, name: str) -> exp.Expr:
        """What a column of the result is sorted by: bands by their figures, not by their labels."""
        banded = next((d for d in self.query.dimensions if d.name == name and d.bands), None)
        return exp.Min(this=self.ref(banded.ref)) if banded else column_at(name)

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
                expressions=[ordered(self.measured(o.name), o.descending) for o in by if o.name not in query.per]
            )
            over = exp.Window(this=rank, partition_by=[self.measured(n) for n in query.per], order=order)
            if query.place:
                tests.append(exp.EQ(this=over, expression=exp.Literal.number(query.place)))
            else:
                last = exp.Literal.number(query.limit if query.limit is not None and not query.ties else 1)
                tests.append((exp.LTE if last.this != "1" else exp.EQ)(this=over, expression=last))
        return exp.and_(*tests) if tests else None

    def measured(self, name: str) -> exp.Expr:
        """The expression behind a column of the result: a window may not see its name."""
        for measure in self.query.measures:
            for output, expression in self.outputs(measure):
                if output == name:
                    return expression
        for dimension in (*self.query.dimensions, *self.query.columns):
            if dimension.name == name:
                return self.dimension(dimension)
        return column_at(name)
