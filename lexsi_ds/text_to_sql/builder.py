"""A query built by point and click: a form of lines that goes to a logical query and back, and the answer it gives.

The same writer, wording and caveats as for a typed question. A part of a query that the form cannot show stays in it as a
fixed line that can be taken out; nothing is ever dropped without being seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from pydantic import ValidationError

from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import Metric
from lexsi_ds.text_to_sql import builder_parts as parts
from lexsi_ds.text_to_sql import builder_tests
from lexsi_ds.text_to_sql.analytic import answer_of
from lexsi_ds.text_to_sql.builder_columns import ColumnChoice, Joining, choices
from lexsi_ds.text_to_sql.logical import Dimension, Fn, Grain, Logical, Measure, Order, Predicate, Test
from lexsi_ds.text_to_sql.reading import Analytic
from lexsi_ds.text_to_sql.resolver import Settled
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.wording import reading_of
from lexsi_ds.text_to_sql.writer import write

__all__ = ["Form", "build", "choices", "form_of", "logical_of", "preview", "question_of"]


class MeasureLine(Value):
    """A figure: a function of a column, a named one, or one that is kept as it was."""

    fn: Fn = "count"
    column: str = ""
    metric: str = ""
    kept: Measure | None = None


class GroupLine(Value):
    """A column that rows are grouped by, or that a list shows."""

    column: str = ""
    grain: Grain | None = None
    kept: Dimension | None = None


class FilterLine(Value):
    """A test. Days are the first and the last one that count; either may be empty."""

    column: str = ""
    test: Test = "in"
    values: tuple[str, ...] = ()
    kept: Predicate | None = None


class Kept(Value):
    """A part of a logical query that the form has no line for, and how it reads."""

    field: str
    value: Any
    text: str


class Form(Value):
    """A query as it is built. ``limit`` without ``ties`` cuts; ``ties`` keeps all that equal the first."""

    table: str
    lists: bool = False
    measures: tuple[MeasureLine, ...] = ()
    groups: tuple[GroupLine, ...] = ()
    columns: tuple[GroupLine, ...] = ()
    filters: tuple[FilterLine, ...] = ()
    order: tuple[Order, ...] = ()
    """Empty: as such a query is ordered by itself."""
    limit: int | None = None
    ties: bool = False
    kept: tuple[Kept, ...] = ()
    base: Logical | None = None
    """The query it began with: what is kept refers to its joins."""


def form_of(logical: dict[str, Any] | Logical, names: Names) -> Form:
    """The form that shows a logical query. Raises BadInput when it is none of this source."""
    query = _checked(logical, names)
    joining = Joining(names, query.table, query.joins)
    measures = [parts.measure_line(m, names, joining) for m in query.measures if not _service(m, query, names)]
    return Form(
        table=query.table,
        lists=not query.measures and bool(query.columns),
        measures=tuple(MeasureLine(**m) for m in measures),
        groups=tuple(GroupLine(**parts.group_line(d, joining)) for d in query.dimensions),
        columns=tuple(GroupLine(**parts.group_line(d, joining)) for d in query.columns),
        filters=tuple(FilterLine(**builder_tests.filter_line(p, names, joining)) for p in query.filters),
        order=query.order,
        limit=query.limit,
        ties=query.ties,
        kept=tuple(Kept(field=f, value=v, text=t) for f, v, t in parts.kept_of(query)),
        base=query,
    )


def _checked(logical: dict[str, Any] | Logical, names: Names) -> Logical:
    """The query, if every table and column that it names is one of this source."""
    try:
        query = logical if isinstance(logical, Logical) else Logical.model_validate(logical)
    except ValidationError as error:
        raise BadInput("This query cannot be read any more.", where="query builder", to_do="Build it anew.") from error
    for ref in parts.refs_of(query):
        if names.model.column(ref.table, ref.column) is None:
            raise BadInput(
                f"The query names {ref.table}.{ref.column}, which is not there.",
                where="query builder",
                to_do="Build it anew on the data as they are now.",
            )
    if all(t.name != query.table for t in names.model.tables):
        raise BadInput(f"There is no table {query.table}.", where="query builder", to_do="Choose another.")
    return query


def _service(measure: Measure, query: Logical, names: Names) -> bool:
    """A count that only stands beside other figures, and comes back by itself."""
    others = [m for m in query.measures if m.fn != "count"]
    if measure.fn != "count" or not others:
        return False
    if not measure.hits:
        return bool(query.dimensions) and all(m.fn not in ("rate", "count_distinct") for m in others)
    tests = {(h.ref.table, h.ref.column, h.values) for h in measure.hits}
    unsettled = [m for m in names.model.metrics if parts.metric_of(others[0], names) == m.id]
    return any(tests == {(c.table, c.column, c.values) for c in m.unsettled} for m in unsettled)


def logical_of(form: Form, names: Names) -> tuple[Logical, list[str], Metric | None]:
    """The query of a form, the roles its reading states, and the metric it is about. BadInput says which line is not whole."""
    if all(t.name != form.table for t in names.model.tables):
        raise BadInput(f"There is no table {form.table}.", where="query builder", to_do="Choose another.")
    joining = Joining(names, form.table, form.base.joins if form.base and form.base.table == form.table else ())
    was = _Was(form, names)
    try:
        dimensions = parts.apart([was.group(x) or parts.dimension(x, names, joining) for x in form.groups])
        measures = [] if form.lists else _measures(form, names, joining, was, grouped=bool(dimensions))
        shown = parts.apart([was.group(x) or parts.dimension(x, names, joining) for x in form.columns])
        filters = [was.filter(x) or builder_tests.predicate(x, names, joining) for x in form.filters]
    except KeyError as error:
        raise BadInput(f"There is no way to {error.args[0]}.", where="query builder", to_do="Choose another.") from error
    if form.lists and not shown:
        raise BadInput("A list shows at least one column.", where="query builder", to_do="Choose what to show.")
    if not form.lists and not measures:
        raise BadInput("It does not say what to work out.", where="query builder", to_do="Choose a figure.")
    query = Logical(
        table=form.table,
        joins=tuple(joining.joins),
        measures=tuple(measures),
        dimensions=tuple(dimensions) if measures else (),
        columns=() if measures else tuple(shown),
        filters=tuple(filters),
        limit=form.limit if form.limit and (dimensions or form.lists) else None,
        ties=form.ties and bool(dimensions or form.lists),
    )
    query = _with_kept(query, form)
    query = query.model_copy(update={"order": parts.order(form.order, query, names)})
    query = query.model_copy(update={"joins": parts.used_joins(query)})
    metric = next((m for line in form.measures for m in names.model.metrics if m.id == line.metric), None)
    return query, joining.roles(r for r in parts.refs_of(query.model_copy(update={"joins": ()}))), metric


class _Was:
    """What a line was in the query that the form began with: a line that nobody touched comes back as it was, words and all."""

    def __init__(self, form: Form, names: Names) -> None:
        base = form.base if form.base is not None and form.base.table == form.table else None
        joining = Joining(names, form.table, base.joins if base else ())
        self._measures = [(MeasureLine(**parts.measure_line(m, names, joining)), m) for m in (base.measures if base else ())]
        shown = (*base.dimensions, *base.columns) if base else ()
        self._groups = [(GroupLine(**parts.group_line(d, joining)), d) for d in shown]
        self._filters = [(FilterLine(**builder_tests.filter_line(p, names, joining)), p) for p in (base.filters if base else ())]

    def measure(self, line: MeasureLine) -> Measure | None:
        return line.kept or next((m for known, m in self._measures if known == line), None)

    def group(self, line: GroupLine) -> Dimension | None:
        return line.kept or next((d for known, d in self._groups if known == line), None)

    def filter(self, line: FilterLine) -> Predicate | None:
        return line.kept or next((p for known, p in self._filters if known == line), None)


def _measures(form: Form, names: Names, joining: Joining, was: _Was, *, grouped: bool) -> list[Measure]:
    made = [was.measure(x) or parts.measure(x, form.table, names, joining) for x in form.measures]
    if grouped and made and all(m.fn not in ("count", "rate", "count_distinct") for m in made):
        made.insert(0, parts.count_rows(form.table, names))
    return parts.apart(made)


def _with_kept(query: Logical, form: Form) -> Logical:
    body = query.model_dump(mode="json") | {k.field: k.value for k in form.kept}
    return Logical.model_validate(body)


def preview(form: Form, names: Names) -> tuple[str, str]:
    """How the form reads and its SQL, without a look at the data. BadInput says what is missing."""
    query, said, _ = logical_of(form, names)
    return reading_of(query, names.model, said), write(query, names)


def question_of(form: Form, names: Names) -> str:
    """The form as the question of a conversation."""
    query, _, _ = logical_of(form, names)
    return reading_of(query, names.model, [])


def build(logical: dict[str, Any] | Logical, names: Names, query: Callable[[str], pd.DataFrame]) -> Analytic:
    """The answer to a logical query, as if it had been asked in words: SQL, reading, caveats, chart. It is bound on the data
    before it is given out; BadInput when it is none of this source."""
    form = form_of(logical, names)
    settled_query, said, metric = logical_of(form, names)
    settled = Settled(settled_query, list(said), parts.evidence(form, names), metric, ordered=bool(form.order))
    answer = answer_of(settled, names, query)
    query(f"SELECT * FROM ({answer.sql}) AS built LIMIT 0")
    return answer


def offered(form: Form, line: MeasureLine | GroupLine | FilterLine, columns: tuple[ColumnChoice, ...]) -> bool:
    """Whether a line can be edited, or only taken out."""
    return line.kept is None and (not line.column or any(c.id == line.column for c in columns))
