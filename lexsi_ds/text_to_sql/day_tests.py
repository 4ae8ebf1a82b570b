"""Days as tests of rows: spans, months of any year, years kept as numbers. The date that is meant when none is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.logical import Predicate, Ref
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver


def part(r: Resolver, ask: FilterAsk) -> Predicate:
    """A month or a day of the week, of any year."""
    column, ref = r.column_of(ask.column, filtering=True) if ask.column is not None else time_column(r, ask.text, filtering=True)
    if column.role != "time":
        raise NotUnderstood((ask.text,), f"{column.label} is not a date")
    r.note(ask.text, f"{ask.test} of {column.table}.{column.name}")
    values = tuple(str(int(n)) for n in ask.numbers)
    return Predicate(ref=ref, test=ask.test, values=values, text=f"{column.label} {ask.text}")  # type: ignore[arg-type]


def days(r: Resolver, ask: FilterAsk) -> Predicate:
    span = ask.span
    if span is None:
        raise NotUnderstood((ask.text,), "it is no date")
    if ask.column is not None:
        column, ref = r.column_of(ask.column, filtering=True)
        if is_year_number(column):
            return _years(r, ask, column, ref)
        if column.role != "time":
            raise NotUnderstood((ask.text,), f"{column.label} is not a date")
    else:
        year = only_year(r)
        if year is not None:
            return _years(r, ask, year, r.scope.own(year.name))
        column, ref = time_column(r, ask.text, filtering=True)
        if is_year_number(column):
            return _years(r, ask, column, ref)
    r.note(ask.text, f"{column.table}.{column.name} {span.text}")
    if span.relative:
        r.scope.said.append(f"counted back from the latest date in the data: {span.text}")
    several = sum(1 for c in r.model.of_table(column.table) if c.role == "time") > 1
    text = f"{column.label} {span.text}" if ask.column or several else span.text
    if ask.negated:
        if ask.inner:
            raise NotUnderstood((ask.text,), "it denies several spans of days at once")
        around = [p for p in (_span(ref, None, span.start), _span(ref, span.end, None)) if p is not None]
        if column.nulls:  # what has no such day yet is among what was not closed in 2023
            around.append(Predicate(ref=ref, test="is null"))
            text += ", or no date at all"
        return Predicate(ref=ref, test="any", any_of=tuple(around), text=f"not {text}")
    spans = [_span(ref, s.start, s.end) for s in (span, *(o.span for o in ask.inner if o.span is not None))]
    if len(spans) > 1:
        text = " or ".join([text, *(o.span.text for o in ask.inner if o.span is not None)])
        return Predicate(ref=ref, test="any", any_of=tuple(s for s in spans if s is not None), text=text)
    return Predicate(ref=ref, test="days", values=(_day(span.start), _day(span.end)), text=text)


def is_year_number(column: ColumnModel) -> bool:
    """Whether a column holds years as plain numbers."""
    return column.role == "measure" and "year" in column.label.split()


def only_year(r: Resolver) -> ColumnModel | None:
    """The one year of the counted rows where they have no date, and no verb or group names another."""
    if r.draft.verbs or r.period is not None or r.model.table(r.base).time is not None:
        return None
    found = [c for c in r.model.of_table(r.base) if is_year_number(c) and not c.masked]
    return found[0] if len(found) == 1 else None


def _years(r: Resolver, ask: FilterAsk, column: ColumnModel, ref: Ref) -> Predicate:
    """A span of years, or several of which any will do."""
    others = [o.span for o in ask.inner if o.span is not None]
    tests = [_year_number(r, replace(ask, span=s), column, ref) for s in (ask.span, *others)]
    if len(tests) == 1:
        return _not(tests[0]) if ask.negated else tests[0]
    if ask.negated:
        raise NotUnderstood((ask.text,), "it denies several spans of years at once")
    return Predicate(ref=ref, test="any", any_of=tuple(tests), text=" or ".join(t.text for t in tests))


def _not(test: Predicate) -> Predicate:
    """The other years."""
    text = f"not {test.text}"
    if test.test == "<":
        return test.model_copy(update={"test": ">=", "text": text})
    if test.test == ">=":
        return test.model_copy(update={"test": "<", "text": text})
    low = test.model_copy(update={"test": "<", "values": test.values[:1], "text": ""})
    high = test.model_copy(update={"test": ">", "values": test.values[1:], "text": ""})
    return Predicate(ref=test.ref, test="any", any_of=(low, high), text=text)


def _day(day: date | None) -> str:
    return "" if day is None or day.year in (1, 9999) else day.isoformat()


def _span(ref: Ref, start: date | None, end: date | None) -> Predicate | None:
    values = (_day(start), _day(end))
    return Predicate(ref=ref, test="days", values=values) if any(values) else None


def _year_number(r: Resolver, ask: FilterAsk, column: ColumnModel, ref: Ref) -> Predicate:
    """A year kept as a plain number: built before 1920."""
    span = ask.span
    if span is None or (span.start.month, span.start.day, span.end.month, span.end.day) != (1, 1, 1, 1):
        raise NotUnderstood((ask.text,), f"{column.label} holds years only")
    r.note(ask.text, f"{column.table}.{column.name} {span.text}")
    if span.start.year == 1 and has_zero(r, column):
        years = ("1", str(span.end.year - 1))
        return Predicate(ref=ref, test="between", values=years, text=f"{column.label} {span.text}")
    if span.start.year == 1:
        return Predicate(ref=ref, test="<", values=(str(span.end.year),), text=f"{column.label} {span.text}")
    if span.end.year == 9999:
        return Predicate(ref=ref, test=">=", values=(str(span.start.year),), text=f"{column.label} {span.text}")
    years = (str(span.start.year), str(span.end.year - 1))
    return Predicate(ref=ref, test="between", values=years, text=f"{column.label} {span.text}")


def has_zero(r: Resolver, column: ColumnModel) -> bool:
    """Whether a year is 0 where there is none."""
    table = r.names.handle.table(column.table)
    kept = table.column(column.name) if table else None
    try:
        low, high = float(kept.minimum or "x"), float(kept.maximum or "x")  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, ValueError):
        return False
    return "year" in column.label.split() and low == 0 and high >= 1000


def time_column(r: Resolver, text: str, *, filtering: bool = False) -> tuple[ColumnModel, Ref]:
    """The date that is meant when none is named: a verb's ("opened"), else the counted table's own."""
    if r.draft.verbs:
        return r.column_of(r.draft.verbs[0], filtering=filtering)
    if filtering and r.period is not None:
        return r.names.column(r.period.table, r.period.column), r.period
    table = r.model.table(r.base)
    if table.time is not None:
        return r.names.column(table.name, table.time), r.scope.own(table.time)
    timed = [(far, t) for t in r.model.tables if t.time and (far := r.scope.distance(t.name)) == 1]
    nearest = [t for far, t in timed if far == min(f for f, _ in timed)]
    if len(nearest) != 1 or nearest[0].time is None:
        raise NotUnderstood((text,), f"{table.plural} have no date of their own")
    owner = nearest[0]
    r.scope.said.append(f"by the {owner.label}'s {r.names.column(owner.name, nearest[0].time).label}")
    item = Item("sense", text)
    return r.names.column(owner.name, nearest[0].time), r.scope.ref(owner.name, nearest[0].time, item, filtering=filtering)
