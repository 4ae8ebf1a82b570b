"""Filters of a draft as tests of columns: values, segments, comparisons, days, roles.

A value that several columns hold is asked about, and a number whose unit is not known is not compared.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel, TableModel
from lexsi_ds.knowledge.thesaurus import NO, PEOPLE, YES
from lexsi_ds.knowledge.words import fold, singular
from lexsi_ds.text_to_sql import bosses, subqueries, units
from lexsi_ds.text_to_sql.doubt import Ambiguous, NotUnderstood
from lexsi_ds.text_to_sql.draft import FilterAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.lexicon import Sense
from lexsi_ds.text_to_sql.logical import Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import number_text
from lexsi_ds.text_to_sql.tagger import Item

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_MONEY = frozenset({"czk", "crowns", "crown", "kc"})
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
    for ask in asks:
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
        return _segment(r, ask)
    if ask.kind == "value":
        return [_value(r, ask)]
    if ask.kind == "days":
        return [_days(r, ask)]
    if ask.kind == "key":
        return [_key(r, ask)]
    if ask.kind == "boss":
        return [bosses.filled(r, ask)]
    if ask.kind == "part":
        return [_part(r, ask)]
    if ask.kind == "called":
        return [_called(r, ask)]
    if ask.kind == "exists":
        return subqueries.exists(r, ask)
    if ask.kind == "versus":
        return [subqueries.versus(r, ask)]
    if ask.kind == "filled":
        return [subqueries.filled(r, ask)]
    return [_compare(r, ask)]


def _segment(r: Resolver, ask: FilterAsk) -> list[Predicate]:
    made = []
    for item in ask.items[:1]:
        sense = r.scope.pick(item, item.of("segment"), r.mentioned)
        segment = next(s for s in r.model.segments if s.id == sense.value)
        if segment.table != r.base and segment.table not in r.mentioned:
            raise NotUnderstood(
                (item.text,),
                f"{item.text} is said of {r.model.table(segment.table).plural}, not of {r.model.table(r.base).plural}",
            )
        if len(ask.items) > 1 or (ask.negated and len(segment.conditions) > 1):
            raise NotUnderstood((ask.text,), "it names several groups of rows at once")
        for c in segment.conditions:
            ref = r.scope.ref(c.table, c.column, item, filtering=True)
            test = "not in" if ask.negated else "in"
            made.append(
                Predicate(ref=ref, test=test, values=c.values, text=("not " if ask.negated else "") + segment.label)
            )
        r.note(ask.text, segment.text or segment.label)
    return made


def _value(r: Resolver, ask: FilterAsk) -> Predicate:
    first = ask.items[0]
    senses = _of_column(r, first.of("value"), ask.column, ask.text)
    if ask.noun is not None:
        nouns = {s.table for s in ask.noun.of("entity")}
        senses = tuple(s for s in senses if s.table in nouns) or senses
    if ask.by:
        senses = tuple(s for s in senses if s.table != r.base)
        if not senses:
            raise NotUnderstood((ask.text,), f"it is a value of {r.model.table(r.base).plural} themselves, and nothing to group by")
    sense = r.scope.pick(first, senses, r.mentioned)
    values = [sense.value]
    for item in ask.items[1:]:
        same = [s for s in item.of("value") if (s.table, s.column) == (sense.table, sense.column)]
        if not same:
            raise NotUnderstood((item.text,), f"{item.text} is not a value of {sense.column}")
        values.append(same[0].value)
    column = r.names.column(sense.table, sense.column)
    far = r.scope.distance(sense.table)
    named = (
        sense.table in r.mentioned
        or r.model.table(sense.table).label in {singular(w) for w in first.words}
        or bool(first.of("role"))
    )
    if far is not None and far >= 10 and not named:
        raise NotUnderstood(
            (first.text,), f"it is a {column.label}, and {r.model.table(r.base).plural} have none of their own"
        )
    ref = r.scope.ref(sense.table, sense.column, first, of=ask.of, filtering=True)
    values = list(dict.fromkeys(values))
    said = " or ".join(r.model.meaning(sense.table, sense.column, v) or v for v in values)
    if ask.negated and column.role == "flag" and len(column.values) == 2:
        values = [v.value for v in column.values if v.value not in values]
        r.note(ask.text, f"{sense.table}.{sense.column} = {values[0]}")
        return Predicate(ref=ref, test="in", values=tuple(values), text=f"not {said}")
    if ask.negated and not sense.strong:
        _ask_which_no(r, ask, column)
    if column.role == "flag":
        is_yes = values[0] == column.values[0].value
        said = f"{column.label} {'yes' if is_yes else 'no'}" if len(values) == 1 else ""
    r.note(ask.text, f"{sense.table}.{sense.column} {'is not' if ask.negated else '='} {' or '.join(values)}")
    table = r.model.table(sense.table)
    label = table.label if column.name in table.names else column.label
    text = said if column.role == "flag" or said != " or ".join(values) else f"{label} {said}"
    text = f"not {text}" if ask.negated else text
    return Predicate(ref=ref, test="not in" if ask.negated else "in", values=tuple(values), text=text)


def _ask_which_no(r: Resolver, ask: FilterAsk, column: ColumnModel) -> None:
    """ "without online security": those who said no, or also those to whom it does not apply?"""
    others = [
        h.value
        for _, hits in r.values.entries()
        for h in hits
        if (h.table, h.column, h.exact) == (column.table, column.name, True)
    ]
    plain = sorted({v for v in others if fold(v) in NO})
    rest = sorted({v for v in others if fold(v) not in NO | YES})
    if len(plain) == 1 and rest and ask.whole is not None:
        first = f"with {column.label} {plain[0]}"
        raise Ambiguous(
            ask.whole,
            (first, f"{first} or {' or '.join(rest)}"),
            f"{column.label} has the values {', '.join([*plain, *rest])} beside yes",
        )


def _of_column(r: Resolver, senses: tuple[Sense, ...], column: Item | None, text: str) -> tuple[Sense, ...]:
    """Values of the column that was named beside them."""
    if column is None:
        return senses
    named = {(s.table, s.column) for s in column.of("column", "hint")}
    kept = tuple(s for s in senses if (s.table, s.column) in named)
    if not kept:
        raise NotUnderstood((text,), f"{column.text} has no such value")
    return kept


def _part(r: Resolver, ask: FilterAsk) -> Predicate:
    """A month or a day of the week, of any year."""
    column, ref = r.column_of(ask.column, filtering=True) if ask.column is not None else time_column(r, ask.text, filtering=True)
    if column.role != "time":
        raise NotUnderstood((ask.text,), f"{column.label} is not a date")
    r.note(ask.text, f"{ask.test} of {column.table}.{column.name}")
    values = tuple(str(int(n)) for n in ask.numbers)
    return Predicate(ref=ref, test=ask.test, values=values, text=f"{column.label} {ask.text}")  # type: ignore[arg-type]


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


def _days(r: Resolver, ask: FilterAsk) -> Predicate:
    span = ask.span
    if span is None:
        raise NotUnderstood((ask.text,), "it is no date")
    if ask.column is not None:
        column, ref = r.column_of(ask.column, filtering=True)
        if column.role == "measure" and "year" in column.label.split():
            return _year_number(r, ask, column, ref)
        if column.role != "time":
            raise NotUnderstood((ask.text,), f"{column.label} is not a date")
    else:
        column, ref = time_column(r, ask.text, filtering=True)
    r.note(ask.text, f"{column.table}.{column.name} {span.text}")
    if span.relative:
        r.scope.said.append(f"counted back from the latest date in the data: {span.text}")
    several = sum(1 for c in r.model.of_table(column.table) if c.role == "time") > 1
    text = f"{column.label} {span.text}" if ask.column or several else span.text
    if ask.negated:
        around = [p for p in (_span(ref, None, span.start), _span(ref, span.end, None)) if p is not None]
        return Predicate(ref=ref, test="any", any_of=tuple(around), text=f"not {text}")
    spans = [_span(ref, s.start, s.end) for s in (span, *(o.span for o in ask.inner if o.span is not None))]
    if len(spans) > 1:
        text = " or ".join([text, *(o.span.text for o in ask.inner if o.span is not None)])
        return Predicate(ref=ref, test="any", any_of=tuple(s for s in spans if s is not None), text=text)
    return Predicate(ref=ref, test="days", values=(_day(span.start), _day(span.end)), text=text)


def _day(day: date | None) -> str:
    return "" if day is None or day.year in (1, 9999) else day.isoformat()


def _span(ref: Ref, start: date | None, end: date | None) -> Predicate | None:
    values = (_day(start), _day(end))
    return Predicate(ref=ref, test="days", values=values) if any(values) else None


def _key(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "loan 5314": the row of that key."""
    table = r.model.table(r.entity_table(ask.items[0]))
    if table.key is None or r.names.family(table.name, table.key) != "number":
        raise NotUnderstood((ask.text,), f"{table.plural} have no numbers")
    ref = r.scope.ref(table.name, table.key, ask.items[0], filtering=True)
    value = number_text(ask.numbers[0])
    r.note(ask.text, f"{table.name}.{table.key} = {value}")
    return Predicate(ref=ref, test="=", values=(value,), text=f"{table.label} {value}")


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


def _compare(r: Resolver, ask: FilterAsk) -> Predicate:
    column, ref = _compared_column(r, ask)
    numeric = r.names.family(column.table, column.name) == "number" or column.stored == "number_text"
    if not numeric or column.role in ("key", "link"):
        raise NotUnderstood((ask.text,), f"{column.label} is not a figure to compare")
    factor = _factor(ask, column)
    values = tuple(number_text(n * factor) for n in ask.numbers)
    r.note(ask.text, f"{column.table}.{column.name} {ask.test} {' and '.join(values)}")
    said = {"between": "between", ">": "above", "<": "below", ">=": "at least", "<=": "at most", "=": "exactly"}[
        ask.test
    ]
    return Predicate(ref=ref, test=ask.test, values=values, text=f"{column.label} {said} {' and '.join(values)}")  # type: ignore[arg-type]


def _compared_column(r: Resolver, ask: FilterAsk) -> tuple[ColumnModel, Ref]:
    if ask.column is not None:
        return r.column_of(ask.column, filtering=True)
    table = r.model.table(r.base)
    own = r.model.of_table(r.base)
    unit = ask.unit
    if unit is not None and units.is_measured(unit.text):
        fitting = [c for c in own if units.factor(unit.text, c.unit or "") is not None]
        fitting = [c for c in fitting if c.name == table.size] or fitting
    elif unit is not None and unit.kind == "grain":
        fitting = [c for c in own if c.unit in ("months",)]
    elif unit is not None and unit.text.casefold() in _MONEY:
        fitting = [c for c in own if c.unit == "CZK"]
        fitting = [c for c in fitting if c.name == table.size] or fitting
    elif unit is None and table.size is not None:
        fitting = [c for c in own if c.name == table.size]
    elif unit is None and _is_person(table):
        fitting = [c for c in own if c.label == "age"]
    elif unit is None:
        fitting = [c for c in own if c.role == "measure" and c.additive]
    else:
        fitting = []
    if len(fitting) != 1 or (unit is None and not _plausible(r, fitting[0], ask.numbers)):
        raise NotUnderstood((ask.text,), "it does not say which figure to compare")
    return fitting[0], r.scope.own(fitting[0].name)


def _plausible(r: Resolver, column: ColumnModel, numbers: tuple[float, ...]) -> bool:
    """Whether a bare number may be meant of a column: one at least lies among its values, where those are known."""
    table = r.names.handle.table(column.table)
    kept = table.column(column.name) if table else None
    try:
        low, high = float(kept.minimum or ""), float(kept.maximum or "")  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, ValueError):
        return True
    return any(low <= number <= high for number in numbers)


def _is_person(table: TableModel) -> bool:
    """Whether a row is a person, so that "under 25" speaks of age."""
    return "person" in table.synonyms or table.label in PEOPLE


def _factor(ask: FilterAsk, column: ColumnModel) -> float:
    """From the unit that was said to the column's; an unknown unit is no guess."""
    unit = ask.unit
    if unit is None:
        return 1
    said = unit.text.casefold()
    if said in _MONEY and column.unit == "CZK":
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
