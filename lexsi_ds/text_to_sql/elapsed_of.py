"""Time between two dates of a row, as a figure of that row: which two dates are meant, by which joins, in which unit.

Two dates are taken only where one pair fits. An age is taken on the latest day in the data, and the reading says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.text_to_sql.doubt import NotUnderstood
from lexsi_ds.text_to_sql.draft import Draft, FilterAsk, MeasureAsk
from lexsi_ds.text_to_sql.joins import routes
from lexsi_ds.text_to_sql.logical import Measure, Predicate, Ref
from lexsi_ds.text_to_sql.sqltext import Names, number_text
from lexsi_ds.text_to_sql.tagger import Item
from lexsi_ds.text_to_sql.wording import SAID, slug

if TYPE_CHECKING:
    from lexsi_ds.text_to_sql.resolver import Resolver

_IRREGULAR = {"held": "hold", "left": "leave", "sold": "sell", "paid": "pay", "sent": "send", "built": "build", "bought": "buy",
              "sale": "sell", "began": "begin", "ended": "end", "leaving": "leave"}  # fmt: skip
_PLAIN = frozenset({"date", "day", "time", "on", "at", "the"})
_FN_WORDS = {"average": "average", "median": "median", "maximum": "highest", "minimum": "lowest"}
Column = tuple[str, str]


def base_of(draft: Draft, names: Names) -> str | None:
    """The table whose rows have both dates, or the person's whose age is asked for; None where no time between dates is asked."""
    for ask in draft.measures:
        if ask.since is not None and ask.target is not None:
            return _pair(draft, names, ask.since, ask.target)[1][0]
        if ask.unit == "year" and ask.target is not None and ask.target.kind == "age":
            return _births(draft, names, ask.target)[0]
    return None


def measure(r: Resolver, ask: MeasureAsk) -> Measure:
    """ "average days between A and B", "average age"."""
    if ask.target is None:
        raise NotUnderstood((ask.cue,), "it names no date")
    if ask.since is None:
        column, ref = age(r, ask.target)
        label = f"{_FN_WORDS[ask.fn]} age"
        r.note(ask.cue, f"years since {column.table}.{column.name}")
        return Measure(fn=ask.fn, name=slug(label), label=label, ref=ref, unit="years")
    earlier, later, ref = between(r, ask.since, ask.target, ask.unit)
    label = f"{_FN_WORDS[ask.fn]} {ask.unit}s from {earlier.label} to {later.label}"
    r.note(ask.cue, f"{ask.unit}s from {earlier.table}.{earlier.name} to {later.table}.{later.name}")
    return Measure(fn=ask.fn, name=slug(f"{_FN_WORDS[ask.fn]} {ask.unit}s"), label=label, ref=ref, unit=f"{ask.unit}s")


def test(r: Resolver, ask: FilterAsk) -> Predicate:
    """ "more than 30 days between A and B", "A after B"."""
    if ask.target is None:
        raise NotUnderstood((ask.text,), "it names one date only")
    earlier, later, ref = between(r, ask.target, ask.items[0], ask.unit_name or "day")
    if not ask.numbers:
        r.note(ask.text, f"{later.table}.{later.name} {ask.test} {earlier.table}.{earlier.name}")
        word = "after" if ask.test == ">" else "before"
        plain = ref.model_copy(update={"since": None, "unit": ""})
        return Predicate(ref=plain, test=ask.test, other=ref.since, text=f"{later.label} {word} {earlier.label}")  # type: ignore[arg-type]
    number = number_text(ask.numbers[0])
    text = f"{SAID[ask.test]} {number} {ask.unit_name}s from {earlier.label} to {later.label}"
    r.note(ask.text, text)
    return Predicate(ref=ref, test=ask.test, values=(number,), text=text)  # type: ignore[arg-type]


def between(r: Resolver, since: Item, until: Item, unit: str) -> tuple[ColumnModel, ColumnModel, Ref]:
    """The two dates and the time between them."""
    first, last = _pair(r.draft, r.names, since, until, base=r.base)
    earlier = r.scope.ref(*first, since)
    later = r.scope.ref(*last, until)
    return r.names.column(*first), r.names.column(*last), later.model_copy(update={"since": earlier, "unit": unit})


def age(r: Resolver, item: Item) -> tuple[ColumnModel, Ref]:
    """Full years since birth, on the latest day in the data."""
    today = r.names.handle.today
    table, name = _births(r.draft, r.names, item, base=r.base)
    if today is None:
        raise NotUnderstood((item.text,), "the data has no day on which an age could be taken")
    ref = r.scope.ref(table, name, item)
    said = f"ages on {today.isoformat()}, the latest day in the data"
    if said not in r.scope.said:
        r.scope.said.append(said)
    return r.names.column(table, name), ref.model_copy(update={"until": today.isoformat(), "unit": "year"})


def births(names: Names, table: str) -> list[Column]:
    """Dates of birth of a table's rows."""
    columns = names.model.of_table(table)
    born = {"birth", "birthday", "birthdate", "born", "dob"}
    return [(c.table, c.name) for c in columns if c.role == "time" and not c.masked and born & set(c.label.split())]


def _births(draft: Draft, names: Names, item: Item, base: str | None = None) -> Column:
    named = {s.table for e in draft.entities for s in e.of("entity")} | ({base} if base else set())
    found = [c for t in names.model.tables for c in births(names, t.name)]
    kept = [c for c in found if c[0] in named] or found
    if len(kept) != 1:
        raise NotUnderstood((item.text,), "there is no one date of birth to tell an age by")
    return kept[0]


def _pair(draft: Draft, names: Names, since: Item, until: Item, base: str | None = None) -> tuple[Column, Column]:
    """The one pair of dates that both sides can mean: of one row, else of a row and what it points to."""
    firsts, lasts = _dates(names, since), _dates(names, until)
    for side, found in ((since, firsts), (until, lasts)):
        if not found:
            raise NotUnderstood((side.text,), "no date here is called so")
    pairs = [(f, c) for f in sorted(firsts) for c in sorted(lasts) if f != c and f[0] == c[0]]
    if not pairs:
        pairs = [
            (f, c) for f in sorted(firsts) for c in sorted(lasts)
            if any(not w.back for w in routes(names.model, c[0], f[0]))
        ]  # fmt: skip
    named = {s.table for e in draft.entities for s in e.of("entity")} | ({base} if base else set())
    pairs = [p for p in pairs if p[1][0] in named] or pairs
    if len(pairs) != 1:
        what = "no row has both dates" if not pairs else "several dates can be meant"
        raise NotUnderstood((since.text, until.text), what)
    return pairs[0]


def _dates(names: Names, item: Item) -> set[Column]:
    times = {(c.table, c.name): c for c in names.model.columns if c.role == "time" and not c.masked}
    tables = {s.table for s in item.of("entity")}
    found = {(s.table, s.column) for s in item.of("column", "verb", "hint")} & set(times)
    exact = {(s.table, s.column) for s in item.of("column")} & set(times)
    roots = [w for w in item.words if w not in _PLAIN] if not exact else []
    found |= {k for k, c in times.items() if any(related(w, x) for w in roots for x in c.label.split() if x not in _PLAIN)}
    found = exact or found
    if not tables:
        return found
    own = {(t, time) for t in tables if (time := names.model.table(t).time) is not None}
    return {f for f in found if f[0] in tables} or own


def related(one: str, other: str) -> bool:
    """Whether two words are forms of one: delivery, delivered."""
    a, b = _IRREGULAR.get(one, one), _IRREGULAR.get(other, other)
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a == b or (shared >= max(4, min(len(a), len(b)) - 2) and max(len(a), len(b)) - shared <= 4) or _short(a, b, shared)


def _short(a: str, b: str, shared: int) -> bool:
    """Short verbs: hire, hired; leave, leaving."""
    return shared >= 3 and min(len(a), len(b)) <= 5 and all(w[shared:] in ("", "e", "ed", "ing", "al", "d", "s") for w in (a, b))
