"""The parts of a built query, one line each: from a line to a measure, a group or a test, and back.

A part that would not come back the same is kept whole. Texts are worded as the parser words them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from lexsi_ds.errors import BadInput
from lexsi_ds.knowledge.model import ColumnModel, Metric
from lexsi_ds.text_to_sql.amounts import main_measure
from lexsi_ds.text_to_sql.builder_columns import Joining, buildable, kind_of
from lexsi_ds.text_to_sql.logical import Dimension, JoinStep, Logical, Measure, Order, Predicate, Ref
from lexsi_ds.text_to_sql.reading import Evidence
from lexsi_ds.text_to_sql.sqltext import Names
from lexsi_ds.text_to_sql.wording import measure_label, slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.builder import Form, GroupLine, MeasureLine

_SHOWN = frozenset({"table", "joins", "measures", "dimensions", "columns", "filters", "order", "limit", "ties"})
"""Fields of a logical query that the form has lines for."""
_SAID_FIELD = {"per": "best of each", "place": "only this place of the order", "after": "only these periods"}
Named = TypeVar("Named", Measure, Dimension)


# -- figures --------------------------------------------------------------------------------------------------------------
def count_rows(table: str, names: Names) -> Measure:
    """The count of a table's rows."""
    plural = names.model.table(table).plural
    return Measure(fn="count", name=slug(plural), label=f"number of {plural}")


def measure(line: MeasureLine, table: str, names: Names, joining: Joining) -> Measure:
    """The figure of a line."""
    if line.metric:
        metric = next((m for m in names.model.metrics if m.id == line.metric), None)
        if metric is None:
            raise BadInput(f"There is no figure {line.metric}.", where="query builder", to_do="Choose another.")
        return _of_metric(metric, names, joining)
    if line.fn == "count":
        return count_rows(table, names)
    if not line.column:
        raise BadInput(f"It does not say of what to take the {line.fn.replace('_', ' ')}.", where="query builder",
                       to_do="Choose a column.")  # fmt: skip
    ref = joining.ref(line.column)
    column = names.column(ref.table, ref.column)
    if line.fn == "count_distinct":
        name, label = _distinct(column, names)
        return Measure(fn="count_distinct", name=name, label=label, ref=ref)
    _must_fit(line, column, names)
    label = measure_label(line.fn, column.label)
    return Measure(fn=line.fn, name=slug(label), label=label, ref=ref, unit=column.unit)


def _must_fit(line: MeasureLine, column: ColumnModel, names: Names) -> None:
    kind = kind_of(names, column)
    if kind != "number" and not (kind == "date" and line.fn in ("minimum", "maximum")):
        raise BadInput(f"{column.label} is not a figure to take the {line.fn} of.", where="query builder",
                       to_do="Choose another column.")  # fmt: skip
    if line.fn == "sum" and column.described and not column.additive:
        raise BadInput(f"A sum of {column.label} means nothing.", where="query builder", to_do="Take the average.")


def _distinct(column: ColumnModel, names: Names) -> tuple[str, str]:
    table = names.model.table(column.table)
    if column.name == table.key:
        return slug(f"different {table.plural}"), f"number of different {table.plural}"
    return slug(f"different {column.label}"), f"number of different values of {column.label}"


def _of_metric(metric: Metric, names: Names, joining: Joining) -> Measure:
    if metric.kind != "rate" and metric.column:
        ref = joining.ref(f"{metric.table}.{metric.column}")
        fn = "sum" if metric.kind == "sum" else "average"
        return Measure(fn=fn, name=slug(metric.label), label=metric.label, ref=ref, unit=metric.unit)
    hits = tuple(
        Predicate(ref=joining.ref(f"{c.table}.{c.column}"), test="is not null" if c.op == "is not null" else "in", values=c.values)
        for c in metric.conditions
    )
    known = tuple(
        Predicate(ref=h.ref, test="is not null") for h in hits if names.column(h.ref.table, h.ref.column).nulls
    )
    return Measure(
        fn="rate", name=slug(metric.label), label=metric.label, hits=hits, known=known, unit=metric.unit,
        hits_name=slug(metric.hits), rows_name=slug(names.model.table(metric.table).plural),
    )  # fmt: skip


def metric_of(made: Measure, names: Names) -> str:
    """The named figure that a measure is; empty when it is none."""
    found = [m for m in names.model.metrics if m.label == made.label and buildable(m)]
    return found[0].id if found else ""


def measure_line(made: Measure, names: Names, joining: Joining) -> dict[str, Any]:
    """The line of a measure: editable where editing gives the same again, else kept."""
    metric = metric_of(made, names)
    if metric:
        again = _of_metric(next(m for m in names.model.metrics if m.id == metric), names, joining)
        return {"fn": made.fn, "metric": metric, "kept": None if again == made else made}
    if made.fn == "count" and made == Measure(fn="count", name=made.name, label=made.label):
        return {"fn": "count"}
    place = joining.id_of(made.ref) if made.ref else None
    plain = made == Measure(fn=made.fn, name=made.name, label=made.label, ref=made.ref, unit=made.unit)
    if place is None or not plain or made.fn == "rate":
        return {"fn": made.fn, "kept": made}
    return {"fn": made.fn, "column": place}


# -- groups ---------------------------------------------------------------------------------------------------------------
def dimension(line: GroupLine, names: Names, joining: Joining) -> Dimension:
    """The column of the result that a line asks for."""
    if not line.column:
        raise BadInput("A column is missing.", where="query builder", to_do="Choose one, or take the line out.")
    ref = joining.ref(line.column)
    column = names.column(ref.table, ref.column)
    if line.grain is not None:
        return Dimension(ref=ref, name=slug(line.grain), label=f"{line.grain} of {column.label}", grain=line.grain)
    name = column.name if len(column.name) > 3 else slug(column.label)
    return Dimension(ref=ref, name=name, label=column.label)


def group_line(made: Dimension, joining: Joining) -> dict[str, Any]:
    """The line of a group."""
    place = joining.id_of(made.ref)
    plain = made == Dimension(ref=made.ref, name=made.name, label=made.label, grain=made.grain)
    return {"column": place, "grain": made.grain} if place and plain else {"kept": made}


def apart(made: list[Named]) -> list[Named]:
    """Every part once, and no two of one name."""
    seen: dict[str, Named] = {}
    for part in made:
        if part in seen.values():
            continue
        name, n = part.name, 2
        while name in seen:
            name, n = f"{part.name}_{n}", n + 1
        seen[name] = part if name == part.name else part.model_copy(update={"name": name})
    return list(seen.values())


# -- tests ----------------------------------------------------------------------------------------------------------------












# -- the whole ------------------------------------------------------------------------------------------------------------
def order(asked: tuple[Order, ...], query: Logical, names: Names) -> tuple[Order, ...]:
    """What was asked for and is still among the columns, then the columns that tell rows apart."""
    if not query.measures:
        shown = [c.name for c in query.columns]
        key = next((c.name for c in query.columns if c.ref.column == names.model.table(query.table).key), None)
        return _then(tuple(o for o in asked if o.name in shown), [key] if key else shown)
    outputs = {n for m in query.measures for n in (m.name, m.hits_name, m.rows_name) if n}
    groups = [d.name for d in query.dimensions]
    kept = tuple(o for o in asked if o.name in outputs or o.name in groups)
    if not groups:
        return ()
    if not kept and not any(d.grain or _sorts_itself(d, names) for d in query.dimensions):
        kept = (Order(name=main_measure(list(query.measures)).name, descending=True),)
    return _then(kept, groups)


def _then(first: tuple[Order, ...], rest: list[str]) -> tuple[Order, ...]:
    named = {o.name for o in first}
    return (*first, *(Order(name=n, descending=False) for n in rest if n not in named))


def _sorts_itself(made: Dimension, names: Names) -> bool:
    return names.family(made.ref.table, made.ref.column) in ("number", "date")


def used_joins(query: Logical) -> tuple[JoinStep, ...]:
    """The joins that something refers to, and those that lead to them."""
    bare = query.model_copy(update={"joins": ()})
    wanted = {ref.alias for ref in refs_of(bare)}
    for step in reversed(query.joins):
        if step.alias in wanted:
            wanted.add(step.left.alias)
    return tuple(j for j in query.joins if j.alias in wanted)


def refs_of(part: Any) -> Iterator[Ref]:
    """Every column that a part of a query names, however deep."""
    if isinstance(part, Ref):
        yield part
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from refs_of(getattr(part, name))
    elif isinstance(part, (tuple, list)):
        for each in part:
            yield from refs_of(each)


def kept_of(query: Logical) -> Iterator[tuple[str, Any, str]]:
    """Fields that hold something and have no line in the form, with how they read."""
    for name, field in type(query).model_fields.items():
        value = getattr(query, name)
        if name in _SHOWN or value == field.default:
            continue
        yield name, query.model_dump(mode="json")[name], _field_text(name, value)


def _field_text(name: str, value: Any) -> str:
    if name == "having":
        return "only groups with " + " and ".join(f"{h.measure.label} {h.test} {h.value}" for h in value)
    said = _SAID_FIELD.get(name, name.replace("_", " "))
    each = value if isinstance(value, tuple) else (value,)
    told = [str(getattr(v, "text", "") or getattr(v, "label", "") or (v if isinstance(v, str | int | float) else "")) for v in each]
    return f"{said}: {', '.join(t for t in told if t)}".removesuffix(": ")


def evidence(form: Form, names: Names) -> list[Evidence]:
    """What was chosen, as the words of a question would be told."""
    joining = Joining(names, form.table, form.base.joins if form.base else ())
    told = []
    for line in form.measures:
        if line.kept is None and line.column:
            ref = joining.ref(line.column)
            told.append(Evidence(words=line.fn.replace("_", " "), became=f"{line.fn} of {ref.table}.{ref.column}"))
    for words, lines in (("by", form.groups), ("show", form.columns), ("only", form.filters)):
        for line in lines:
            if line.kept is None and line.column:
                ref = joining.ref(line.column)
                told.append(Evidence(words=words, became=f"{ref.table}.{ref.column}"))
    return told
