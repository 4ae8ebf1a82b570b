"""Tests of rows as SQL: columns in their true type, literals in the column's, queries inside a test."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from lexsi_ds.text_to_sql.logical import JoinStep, Predicate, Ref, Sub
from lexsi_ds.text_to_sql.sqltext import Names, number_text
from lexsi_ds.text_to_sql.trees import aggregate, blank_to_null, column_at, day_of, table_as, within_days

TESTS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


SECONDS = {"minute": "60.0", "hour": "3600.0", "day": "86400.0", "week": "604800.0"}


class WrittenTests:
    """What a test says of a row."""

    def __init__(self, names: Names, *, qualified: bool) -> None:
        self.names, self.qualified = names, qualified

    def ref(self, ref: Ref) -> exp.Expr:
        """A column, qualified only where several tables are joined, in its true type."""
        column = column_at(ref.column, ref.alias if self.qualified else None)
        if ref.since is not None or ref.until:
            return self.elapsed(ref)
        how = self.names.column(ref.table, ref.column)
        if how.stored == "native":
            return column
        if how.stored == "number_text":
            return exp.TryCast(this=blank_to_null(column), to=exp.DataType.build("double"))
        if how.date_format:
            parsed = exp.Anonymous(this="try_strptime", expressions=[column, exp.Literal.string(how.date_format)])
            return exp.Cast(this=parsed, to=exp.DataType.build("date"))
        return exp.TryCast(this=column, to=exp.DataType.build("date"))

    def elapsed(self, ref: Ref) -> exp.Expr:
        """The time between two dates, or the full years up to a day."""
        later = self.ref(ref.model_copy(update={"since": None, "until": "", "unit": ""}))
        if ref.since is None:
            return exp.Anonymous(this="date_sub", expressions=[exp.Literal.string("year"), later, day_of(ref.until)])
        earlier = self.ref(ref.since)
        if ref.unit == "day" and not (self._timed(ref) or self._timed(ref.since)):
            return exp.Anonymous(this="date_diff", expressions=[exp.Literal.string("day"), earlier, later])
        seconds = exp.Sub(
            this=exp.Anonymous(this="epoch", expressions=[later]), expression=exp.Anonymous(this="epoch", expressions=[earlier])
        )
        return exp.Div(this=exp.Paren(this=seconds), expression=exp.Literal.number(SECONDS[ref.unit]))

    def _timed(self, ref: Ref) -> bool:
        """Whether a date has a time of day."""
        table = self.names.handle.table(ref.table)
        column = table.column(ref.column) if table else None
        return column is not None and "TIMESTAMP" in column.type.upper()

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
            return TESTS[predicate.test](this=column, expression=against)
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
            return within_days(column, *predicate.values)
        if predicate.sub is not None:
            values: list[exp.Expr] = [exp.Literal.number(v) for v in predicate.values]
        else:
            values = [self.literal(predicate.ref, v) for v in predicate.values]
        if predicate.test == "between":
            return exp.Between(this=column, low=values[0], high=values[1])
        if predicate.test in ("in", "not in"):
            if len(values) == 1:
                return TESTS["=" if predicate.test == "in" else "<>"](this=column, expression=values[0])
            inside = exp.In(this=column, expressions=values)
            return inside if predicate.test == "in" else exp.Not(this=inside)
        return TESTS[predicate.test](this=column, expression=values[0])

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
        select = exp.Select().from_(table_as(sub.table, sub.alias))
        for step in sub.joins:
            select = select.join(
                table_as(step.table, step.alias), on=self.on(step), join_type="inner" if step.inner else "left"
            )
        for inner, outer in sub.links:
            test = exp.EQ(this=column_at(inner.column, inner.alias), expression=column_at(outer.column, outer.alias))
            select = select.where(test)
        for predicate in sub.filters:
            select = select.where(self.predicate(predicate))
        return select

    def figure(self, sub: Sub) -> exp.Expr:
        """The one number of a sub-query."""
        made = exp.Count(this=exp.Star()) if sub.ref is None else aggregate(sub.fn, self.ref(sub.ref))
        return exp.Subquery(this=self.rows_of(sub).select(made))

    def literal(self, ref: Ref, value: str) -> exp.Expr:
        """A value in the column's type."""
        if ref.since is not None or ref.until:
            return exp.Literal.number(value)
        family = self.names.family(ref.table, ref.column)
        if self.names.column(ref.table, ref.column).stored == "number_text" or family == "number":
            return exp.Literal.number(value)
        if family == "boolean":
            return exp.Boolean(this=value.casefold() in ("true", "yes", "1", "t", "y"))
        return exp.Literal.string(value)

    def on(self, step: JoinStep) -> exp.Expr:
        """The condition of a join, the role's own tests included."""
        left = column_at(step.left.column, step.left.alias)
        test: exp.Expr = exp.EQ(this=column_at(step.column, step.alias), expression=left)
        for c in step.conditions:
            ref = Ref(alias=step.alias, table=step.table, column=c.column)
            extra = self.predicate(Predicate(ref=ref, test="in", values=c.values))
            test = exp.And(this=test, expression=extra)
        return test

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
