"""Filters of a draft as tests of columns: values, segments, comparisons, days, roles.

A value that several columns hold is asked about, and a number whose unit is not known is not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql import (
    amounts,
    bosses,
    day_tests,
    elapsed_of,
    filled,
    rivals_of,
    subqueries,
    units,
    value_tests,
)
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.logical import Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import number_text
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import SAID

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_PER_MONTH = {"month": 1, "year": 12}


def settle(r: Resolver, asks: list[FilterAsk]) -> tuple[list[Predicate], list[Predicate]]:
    """The tests that restrict the rows, and those that a percentage counts."""
    filters: list[Predicate] = []
    hits: list[Predicate] = []
    said_after = [a for a in asks if a.late and not a.among and a.kind not in ("days", "key")]
    late = bool(said_after)
    if r.draft.share_each:
        return [p for ask in asks for p in _predicates(r, ask)], []
    if r.draft.share and len(said_after) > 1:
        raise NotUnderstood(
            tuple(a.text for a in said_after), "it is not clear which of these is the part and which the whole"
        )
    dated = [a for a in asks if a.late and a.kind == "days"]
    only_days = r.draft.share and len(asks) == len(dated) == 1 and not r.draft.groups and not r.draft.measures
    for ask in asks:
        if only_days:
            hits.extend(_predicates(r, ask))  # "percentage of loans granted in 1997"
            continue
        counted = r.draft.share and not ask.among and ask.kind not in ("days", "key") and (ask.late or not late)
        (hits if counted else filters).extend(_predicates(r, ask))
    _check_days(filters)
    if len({(h.ref.table, h.ref.column) for h in hits}) > 1:
        raise NotUnderstood(
            tuple(h.text for h in hits), "it is not clear which of these is the part and which the whole"
        )
    return filters, hits


def _check_days(tests: list[Predicate]) -> None:
    """Two spans of one date that no day is in at once were not meant so."""
    spans: dict[tuple[str, str, str], list[Predicate]] = {}
    for test in tests:
        if test.test == "days":
            spans.setdefault((test.ref.alias, test.ref.table, test.ref.column), []).append(test)
    for same in spans.values():
        first = max((t.values[0] for t in same if t.values[0]), default="")
        after = min((t.values[1] for t in same if t.values[1]), default="")
        if first and after and first >= after:
            raise NotUnderstood(tuple(t.text for t in same), "no day lies in both")


def _predicates(r: Resolver, ask: FilterAsk) -> list[Predicate]:
    if ask.kind == "segment":
        return value_tests.segment(r, ask)
    if ask.kind == "value":
        return [value_tests.value(r, ask)]
    if ask.kind == "days":
        return [day_tests.days(r, ask)]
    if ask.kind == "key":
        return [_key(r, ask)]
    if ask.kind == "boss":
        return [bosses.filled(r, ask)]
    if ask.kind == "part":
        return [day_tests.part(r, ask)]
    if ask.kind == "called":
        return [_called(r, ask)]
    if ask.kind == "exists":
        return subqueries.exists(r, ask)
    if ask.kind == "versus":
        return [subqueries.versus(r, ask)]
    if ask.kind == "rival":
        return [rivals_of.rival(r, ask)]
    if ask.kind == "apart":
        return [rivals_of.apart(r, ask)]
    if ask.kind == "elapsed":
        return [elapsed_of.test(r, ask)]
    if ask.kind in ("filled", "done"):
        return filled.filled_or_there(r, ask)
    return [_compare(r, ask)]


def _called(r: Resolver, ask: FilterAsk) -> Predicate:
    """Rows whose name holds a text."""
    table = r.model.table(r.base)
    columns = [c for c in (r.names.column(table.name, n) for n in table.names) if not c.masked]
    if not columns:
        raise NotUnderstood((ask.text,), f"{table.plural} have no names that may be looked at")
    tests = tuple(Predicate(ref=r.scope.own(c.name), test="contains", values=(ask.text,)) for c in columns)
    text = f"{' or '.join(c.label for c in columns)} contains {ask.text}"
    r.note(ask.text, text)
    return Predicate(ref=tests[0].ref, test="any", any_of=tests, text=text)


def _key(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "loan 5314": the row of that key."""
    table = r.model.table(r.entity_table(ask.items[0]))
    if table.key is None or r.names.family(table.name, table.key) != "number":
        raise NotUnderstood((ask.text,), f"{table.plural} have no numbers")
    ref = r.scope.ref(table.name, table.key, ask.items[0], filtering=True)
    value = number_text(ask.numbers[0])
    r.note(ask.text, f"{table.name}.{table.key} = {value}")
    return Predicate(ref=ref, test="=", values=(value,), text=f"{table.label} {value}")


def _compare(r: Resolver, ask: FilterAsk) -> Predicate:
    column, ref = _compared_column(r, ask)
    numeric = r.names.family(column.table, column.name) == "number" or column.stored == "number_text" or bool(ref.until)
    if not numeric or column.role in ("key", "link"):
        raise NotUnderstood((ask.text,), f"{column.label} is not a figure to compare")
    factor = 1 if ref.until else _factor(ask, column)
    values = tuple(number_text(n * factor) for n in ask.numbers)
    r.note(ask.text, f"{column.table}.{column.name} {ask.test} {' and '.join(values)}")
    said = SAID[ask.test]
    label = "age" if ref.until else column.label
    return Predicate(ref=ref, test=ask.test, values=values, text=f"{label} {said} {' and '.join(values)}")  # type: ignore[arg-type]


def _compared_column(r: Resolver, ask: FilterAsk) -> tuple[ColumnModel, Ref]:
    if ask.column is not None:
        return r.column_of(ask.column, filtering=True)
    table = r.model.table(r.base)
    if _speaks_of_age(r, ask):
        return elapsed_of.age(r, Item("age", ask.text))
    own = r.model.of_table(r.base)
    unit = ask.unit
    if unit is not None and units.is_measured(unit.text):
        fitting = [c for c in own if units.factor(unit.text, c.unit or "") is not None]
        fitting = [c for c in fitting if c.name == table.size] or fitting
    elif unit is not None and unit.kind == "grain":
        fitting = [c for c in own if c.unit in ("months",)]
    elif unit is not None and (money := units.currency(unit.text)) is not None:
        fitting = [c for c in own if c.unit == money]
        fitting = [c for c in fitting if c.name == table.size] or fitting
    elif unit is None and table.size is not None:
        fitting = [c for c in own if c.name == table.size]
    elif unit is None and amounts.is_person(table):
        fitting = [c for c in own if c.label == "age"]
    elif unit is None:
        fitting = amounts.added_up(r.model, r.base)
    else:
        fitting = []
    if len(fitting) != 1 or (unit is None and not _plausible(r, fitting[0], ask.numbers)):
        raise NotUnderstood((ask.text,), "it does not say which figure to compare")
    return fitting[0], r.scope.own(fitting[0].name)


def _speaks_of_age(r: Resolver, ask: FilterAsk) -> bool:
    """Whether a bare comparison is one of ages, of people of whom a date of birth is known and no age."""
    aged = ask.text.casefold().startswith(("older", "younger", "aged")) or (
        ask.unit is not None and ask.unit.words[:1] in (("year",), ("years",))
    )
    known = any(c.label == "age" for c in r.model.of_table(r.base))
    return aged and not known and bool(elapsed_of.births(r.names, r.base)) and amounts.is_person(r.model.table(r.base))


def _plausible(r: Resolver, column: ColumnModel, numbers: tuple[float, ...]) -> bool:
    """Whether a bare number may be meant of a column: one at least lies among its values, where those are known."""
    table = r.names.handle.table(column.table)
    kept = table.column(column.name) if table else None
    try:
        low, high = float(kept.minimum or ""), float(kept.maximum or "")  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, ValueError):
        return True
    return any(low <= number <= high for number in numbers)


def _factor(ask: FilterAsk, column: ColumnModel) -> float:
    """From the unit that was said to the column's; an unknown unit is no guess."""
    unit = ask.unit
    if unit is None:
        return 1
    said = unit.text.casefold()
    money = units.currency(said)
    if money is not None and money == column.unit:
        return 1
    if said in ("%", "percent", "pct") and column.unit == "%":
        return 1
    scale = units.factor(said, column.unit or "")
    if scale is not None:
        return scale
    grain = {"months": "month", "month": "month", "years": "year", "year": "year"}.get(said)
    if grain and column.unit == "months":
        return _PER_MONTH[grain]
    if grain and grain in {w.rstrip("s") for w in column.label.split()}:
        return 1
    raise NotUnderstood((unit.text,), f"the unit of {column.label} is not known")


def owner_role(r: Resolver, item: Item) -> None:
    """ "account owner" beside a count: a test where each row has a person of its own, else just who is meant anyway."""
    path = next((p for p in r.model.paths if any(s.value == p.name for s in item.of("role"))), None)
    if path is None:
        links = [s for s in item.of("role") if r.scope.distance(s.table) is not None]
        if links:
            return
        raise NotUnderstood((item.text,), "it names a role that has no place here")
    for test in path.conditions:
        if r.scope.distance(test.table) is not None and r.base != path.start and not _passes(r, path.start):
            ref = r.scope.ref(test.table, test.column, item, filtering=True)
            wanted = Predicate(ref=ref, test="in", values=test.values, text=item.text)
            r.role_tests.append(wanted)
            r.note(item.text, f"{test.table}.{test.column} = {' or '.join(test.values)}")
            return
    r.note(item.text, path.said)


def _passes(r: Resolver, table: str) -> bool:
    """Whether each row points straight to the start of a role path: then its one owner is meant anyway."""
    return any(len(route.hops) == 1 and not route.back for route in routes(r.model, r.base, table))
