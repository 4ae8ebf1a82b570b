"""What a query over one table may be built from: its columns and those it reaches without multiplying rows, with the figures,
groups and tests that make sense for each, and the joins that reach them.

It offers; it decides nothing. A column that would multiply rows is not offered, and a masked one never.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from lexsi_ds.data.handle import Value
from lexsi_ds.knowledge.model import ColumnModel, Metric
from lexsi_ds.knowledge.values import ValueIndex
from lexsi_ds.text_to_sql.joins import Hop, Route, routes
from lexsi_ds.text_to_sql.logical import Fn, JoinStep, Ref, Test
from lexsi_ds.text_to_sql.sqltext import Names

Kind = Literal["number", "category", "date"]
MOST_VALUES = 2_000
"""Most values that are offered to choose from."""
_MOST_GROUPS = 60
_FARTHEST = 4
_NUMBER_TESTS: tuple[Test, ...] = (">=", "<=", ">", "<", "=", "<>", "between", "is null", "is not null")
_WORD_TESTS: tuple[Test, ...] = ("in", "not in", "is null", "is not null")
_DATE_TESTS: tuple[Test, ...] = ("days", "is null", "is not null")


class ValueChoice(Value):
    """A value of a column as it is stored, and how a person reads it."""

    value: str
    label: str


class ColumnChoice(Value):
    """A column that may be chosen."""

    id: str
    """``table.column``, with the way that leads there behind a bar where there are several."""
    table: str
    column: str
    label: str
    kind: Kind
    fns: tuple[Fn, ...] = ()
    groups: bool = False
    tests: tuple[Test, ...] = ()
    values: tuple[ValueChoice, ...] = ()
    lists: bool = True
    """Whether a list of rows may show it: a table that only some rows have can only filter."""
    unit: str | None = None
    said: str = ""
    """The role by which it is reached: "the account's district"."""


class NamedChoice(Value):
    """A table or a named figure that may be chosen."""

    id: str
    label: str


class Choices(Value):
    """All that a query over ``table`` may be built from."""

    table: str
    tables: tuple[NamedChoice, ...]
    metrics: tuple[NamedChoice, ...]
    columns: tuple[ColumnChoice, ...]

    def column(self, choice: str) -> ColumnChoice | None:
        """The column of this id."""
        return next((c for c in self.columns if c.id == choice), None)


def choices(names: Names, values: ValueIndex, table: str) -> Choices:
    """What can be built over ``table``."""
    model = names.model
    tables = tuple(NamedChoice(id=t.name, label=t.plural) for t in model.tables if not t.bridge)
    metrics = tuple(NamedChoice(id=m.id, label=m.label) for m in model.metrics if m.table == table and buildable(m))
    known, made = _known_values(values), []
    far = {t.name: min((len(r.hops) for r in _ways(names, table, t.name)), default=0) for t in model.tables}
    for target in sorted(model.tables, key=lambda t: far[t.name]):
        for route in _ways(names, table, target.name):
            for column in model.of_table(target.name):
                if not column.masked and not (target.name != table and column.role in ("key", "link")):
                    made.append(_choice(names, column, route, known.get((column.table, column.name), ())))
    return Choices(table=table, tables=tables, metrics=metrics, columns=tuple(_told_apart(names, table, made)))


def buildable(metric: Metric) -> bool:
    """Whether a named figure can be made from its parts alone."""
    return bool(metric.conditions) if metric.kind == "rate" else metric.column is not None


def _ways(names: Names, start: str, end: str) -> list[Route]:
    found = [r for r in routes(names.model, start, end) if len(r.hops) <= _FARTHEST]
    plain = [r for r in found if not r.back]
    return (plain or found)[:3]


def column_id(table: str, column: str, route: Route, *, alone: bool) -> str:
    """The id of a column that is reached by a route."""
    way = ">".join(dict.fromkeys(h.via for h in route.hops))
    return f"{table}.{column}" if alone or not way else f"{table}.{column}|{way}"


def _choice(names: Names, column: ColumnModel, route: Route, known: Iterable[ValueChoice]) -> ColumnChoice:
    alone = len(_ways(names, route.hops[0].table, column.table)) == 1 if route.hops else True
    kind = kind_of(names, column)
    back = route.back
    return ColumnChoice(
        id=column_id(column.table, column.name, route, alone=alone),
        table=column.table,
        column=column.name,
        label=column.label,
        kind=kind,
        fns=() if back else _fns(column, kind),
        groups=not back and _groups(column, kind),
        tests={"number": _NUMBER_TESTS, "category": _WORD_TESTS, "date": _DATE_TESTS}[kind],
        values=_values(column, kind, known),
        lists=not back,
        unit=column.unit,
        said=route.said[-1] if route.said else "",
    )


def kind_of(names: Names, column: ColumnModel) -> Kind:
    """How a column is tested: as a number, a date, or by its values."""
    if column.role == "time":
        return "date"
    family = names.family(column.table, column.name)
    numeric = family == "number" or column.stored == "number_text"
    return "number" if numeric and column.role not in ("category", "flag") else "category"


def _fns(column: ColumnModel, kind: Kind) -> tuple[Fn, ...]:
    if column.role in ("key", "link", "category", "text"):
        return ("count_distinct",)
    if kind == "date":
        return ("minimum", "maximum")
    if kind == "number":
        total: tuple[Fn, ...] = ("sum",) if column.additive or not column.described else ()
        return (*total, "average", "median", "minimum", "maximum")
    return ()


def _groups(column: ColumnModel, kind: Kind) -> bool:
    if column.role in ("key", "link"):
        return False
    return kind != "number" or 1 < column.distinct <= _MOST_GROUPS


def _values(column: ColumnModel, kind: Kind, known: Iterable[ValueChoice]) -> tuple[ValueChoice, ...]:
    if kind != "category":
        return ()
    if column.role == "flag" and len(column.values) == 2:
        yes, no = column.values
        return (ValueChoice(value=yes.value, label="yes"), ValueChoice(value=no.value, label="no"))
    meant = {m.value: m.label for m in column.values}
    found = {c.value: c for c in known} | {
        v: ValueChoice(value=v, label=label if label == v else f"{v} ({label})") for v, label in meant.items()
    }
    return tuple(sorted(found.values(), key=lambda c: c.value.casefold()))[:MOST_VALUES]


def _known_values(values: ValueIndex) -> dict[tuple[str, str], tuple[ValueChoice, ...]]:
    found: dict[tuple[str, str], dict[str, ValueChoice]] = {}
    for _, hits in values.entries():
        for hit in hits:
            found.setdefault((hit.table, hit.column), {})[hit.value] = ValueChoice(value=hit.value, label=hit.value)
    return {place: tuple(by.values()) for place, by in found.items()}


def _told_apart(names: Names, base: str, made: list[ColumnChoice]) -> list[ColumnChoice]:
    """Labels that name a column alone: "region (the account's district)"."""
    told = []
    for choice in made:
        label, noun = choice.label, names.model.table(choice.table).label
        if choice.table != base:
            place = choice.said or f"the {noun}"
            label = label if noun in label and not choice.said else f"{label} ({place.removeprefix('the ')})"
        told.append(choice.model_copy(update={"label": label}))
    counts: dict[str, int] = {}
    for choice in told:
        counts[choice.label] = counts.get(choice.label, 0) + 1
    return [c if counts[c.label] == 1 else c.model_copy(update={"label": f"{c.label}, {c.id}"}) for c in told]


class Joining:
    """The joins of one query, made as columns are asked for; earlier ones are taken over and used again."""

    def __init__(self, names: Names, base: str, joins: tuple[JoinStep, ...] = ()) -> None:
        self.names, self.base, self.joins = names, base, list(joins)

    def ref(self, choice: str) -> Ref:
        """The column of an id, with the joins that reach it. Raises KeyError for an id that leads nowhere."""
        place, _, way = choice.partition("|")
        table, column = self._split(place)
        if table == self.base and not way:
            return Ref(alias=self.base, table=table, column=column)
        found = _ways(self.names, self.base, table)
        route = next((r for r in found if not way or column_id(table, column, r, alone=False) == choice), None)
        if route is None:
            raise KeyError(choice)
        alias = self.base
        for hop in route.hops:
            alias = self._step(Ref(alias=alias, table=hop.table, column=hop.column), hop, inner=route.back)
        return Ref(alias=alias, table=table, column=column)

    def _split(self, place: str) -> tuple[str, str]:
        for table in self.names.model.tables:
            if place.startswith(f"{table.name}."):
                column = place[len(table.name) + 1 :]
                if self.names.model.column(table.name, column) is not None:
                    return table.name, column
        raise KeyError(place)

    def _step(self, left: Ref, hop: Hop, *, inner: bool) -> str:
        same = (left, hop.to_table, hop.to_column, hop.conditions)
        for join in self.joins:
            if (join.left, join.table, join.column, join.conditions) == same:
                return join.alias
        used = {self.base, *(j.alias for j in self.joins)}
        name, n = hop.to_table, 2
        while name in used:
            name, n = f"{hop.to_table}_{n}", n + 1
        self.joins.append(
            JoinStep(
                alias=name, table=hop.to_table, left=left, column=hop.to_column, conditions=hop.conditions, inner=inner
            )
        )
        return name

    def id_of(self, ref: Ref) -> str | None:
        """The id of a column of this query; None when it is reached in a way that is not offered."""
        if ref.alias == self.base:
            return f"{ref.table}.{ref.column}"
        found = _ways(self.names, self.base, ref.table)
        route = self._route_of(ref, found)
        return column_id(ref.table, ref.column, route, alone=len(found) == 1) if route else None

    def roles(self, refs: Iterable[Ref]) -> list[str]:
        """What a reading must state of the ways that these columns are reached by."""
        told: list[str] = []
        for ref in refs:
            found = _ways(self.names, self.base, ref.table) if ref.alias != self.base else []
            route = self._route_of(ref, found)
            doubtful = route is not None and (len(found) > 1 or any(h.conditions for h in route.hops))
            if route is not None and doubtful and route.said and route.said[-1] not in told:
                told.append(route.said[-1])
        return told

    def _route_of(self, ref: Ref, found: list[Route]) -> Route | None:
        """The offered way by which the joins lead to a column."""
        steps, alias = [], ref.alias
        while alias != self.base:
            join = next((j for j in self.joins if j.alias == alias), None)
            if join is None or len(steps) > _FARTHEST:
                return None
            steps.insert(0, (join.left.table, join.left.column, join.table, join.column, join.conditions))
            alias = join.left.alias
        same = [r for r in found if [(h.table, h.column, h.to_table, h.to_column, h.conditions) for h in r.hops] == steps]
        return same[0] if same else None
