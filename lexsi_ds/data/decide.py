"""Which type a column has, from counts of what its values look like, from what the file shows elsewhere, and from choices.

A reading is taken only when it fits every value. Where two fit, evidence decides; without any the column stays text
and the question is put to the person. Must never: pick one of two readings in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lexsi_ds.data.column_words import is_date, is_place
from lexsi_ds.data.declared import why_declared_text
from lexsi_ds.data.evidence import Forms, Hints
from lexsi_ds.data.forms import DATE_FORMS, STYLES, Style, moment
from lexsi_ds.data.numbers import overflows
from lexsi_ds.data.plan import Suggestion
from lexsi_ds.data.why_text import is_uneven, why_code, why_no_date, why_phone, why_text

_NEARLY = 0.9
_FEW, _NEARLY_OF_FEW = 8, 0.6
_LEAST_EIGHT = 3
_CELL = "\x00cell"


@dataclass(frozen=True)
class Decision:
    """A type, and how to make it."""

    type: str
    style: Style | None = None
    dates: tuple[str, ...] = ()
    date_order: str | None = None
    notes: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    empty: bool = False
    open: bool = False
    """Two readings fit; more rows may settle it."""
    bared: bool = False
    forced: str | None = None
    nearly: tuple[str, ...] = ()
    """SQL tests of ``{t}`` that most but not all values pass."""


@dataclass(frozen=True)
class _Habits:
    """What the file as a whole makes clear, for columns that alone do not."""

    decimal: str | None = None
    date_order: str | None = None


def decide_all(names: Mapping[str, str], forms: Mapping[str, Forms], hints: Hints) -> dict[str, Decision]:
    """A decision a column, by raw name."""
    habits = _habits(forms, hints)
    made = {raw: _decide(raw, name, forms[raw], hints, habits) for raw, name in names.items()}
    return {raw: _with_source(names[raw], d) if raw in hints.texts else d for raw, d in made.items()}


def _with_source(name: str, d: Decision) -> Decision:
    """Numbers that their source holds as text say so."""
    if d.style is None or d.forced:
        return d
    return replace(d, notes=(*d.notes, f"{name}: its source holds it as text; all values are numbers and were read as such."))


def _habits(forms: Mapping[str, Forms], hints: Hints) -> _Habits:
    marks = {hints.decimal} - {None}
    orders = {hints.date_order} - {None}
    for f in forms.values():
        found = {STYLES[i].decimal for i in f.styles}
        if len(found) == 1 and not f.all("integer") and _shows_decimals(f):
            marks |= found
        ways = {DATE_FORMS[d].order for d in f.dates} - {None}
        if len(ways) == 1 and not any(d.startswith(("dmy.", "mdy.")) for d in f.dates):
            orders |= ways
    return _Habits(
        hints.decimal or (marks.pop() if len(marks) == 1 else None),
        hints.date_order or (orders.pop() if len(orders) == 1 else None),
    )


def _shows_decimals(f: Forms) -> bool:
    """Whether its decimal mark is seen, or told by the thousands mark."""
    return any(f.n[f"style{i}"] > f.n[f"whole{i}"] or STYLES[i].thousands in (",", ".") for i in f.styles)


def _decide(raw: str, name: str, f: Forms, hints: Hints, habits: _Habits) -> Decision:
    if (forced := hints.type_of(raw)) is not None:
        return _forced(raw, f, forced, hints, habits)
    if f.filled == 0:
        return Decision("VARCHAR", empty=True)
    if f.n["zero"] and f.is_number:
        return Decision("VARCHAR", notes=(f"{name} has leading zeros and was kept as text.",))
    if f.all("eight") and is_date(name):
        return Decision("TIMESTAMP", dates=("eight",), notes=(f"{name}: read as dates, year, month, day.",))
    if f.all("phone"):
        return Decision("VARCHAR", notes=(f"{name} was kept as text: its numbers begin with a plus, as telephone numbers do.",))
    if why := why_declared_text(raw, name, f, hints) or why_phone(name, f):
        return _kept(name, f, why, "integer")
    if f.all("integer"):
        return Decision("BIGINT", STYLES[0], bared=f.bared, notes=_sign_note(name, f), suggestions=_eight_digits(name, f))
    if f.n["long"] and f.n["long"] + f.n["style0"] >= f.filled:
        return Decision("VARCHAR", notes=(f"{name} was kept as text: its numbers are too long to be held exactly.",))
    if f.styles and (why := why_code(name, f)):
        return _kept(name, f, why, "decimal")
    if f.styles:
        return _number(name, f, hints, habits)
    if f.all("truth"):
        return Decision("BOOLEAN")
    if f.dates and hints.order_of(raw) is None and (why := why_no_date(name, f)):
        said = f"{name} was kept as text: {why}."
        choice = Suggestion(kind="date_order", column=name, values=("dmy", "mdy"), count=f.filled, said=said)
        return Decision("VARCHAR", notes=(said,), suggestions=(choice,))
    if f.dates:
        return _date(raw, name, f, hints, habits)
    if f.all("clock"):
        return _clock(name, f)
    return Decision("VARCHAR", notes=why_text(name, f), nearly=_nearly(f))


def _kept(name: str, f: Forms, why: str, kind: str) -> Decision:
    """Text with the reason, and the type that a person may choose."""
    said = f"{name} was kept as text: {why}."
    choice = Suggestion(kind="type", column=name, values=(kind,), count=f.filled, said=said)
    return Decision("VARCHAR", notes=(said,), suggestions=(choice,))


def _eight_digits(name: str, f: Forms) -> tuple[Suggestion, ...]:
    """Numbers that are all dates written as year, month and day: suggested, as their column's name does not say so."""
    if f.filled < _LEAST_EIGHT or not f.all("eight"):
        return ()
    said = f"{name} may be dates written as year, month, day (20240131); the numbers were kept."
    return (Suggestion(kind="type", column=name, values=("date",), count=f.filled, said=said),)


def _clock(name: str, f: Forms) -> Decision:
    """Texts that are all times of day: suggested, as 03:25 may as well be three minutes."""
    said = f"{name} may be times of day; the values were kept as text, as they may be durations."
    choice = Suggestion(kind="type", column=name, values=("time",), count=f.filled, said=said)
    return Decision("VARCHAR", notes=(said,), suggestions=(choice,))


def _number(name: str, f: Forms, hints: Hints, habits: _Habits) -> Decision:
    allowed = [i for i in f.styles if hints.allows(STYLES[i])]
    if not allowed:
        what = "thousands" if any(STYLES[i].decimal == hints.decimal for i in f.styles) or not hints.decimal else "decimal"
        return Decision("VARCHAR", notes=(f"{name} was kept as text: its numbers have another {what} mark.",))
    marks = {STYLES[i].decimal for i in allowed}
    clear = [i for i in allowed if STYLES[i].thousands in (" ", "'") and f.all(f"whole{i}")]
    if len(marks) > 1 and clear:  # whole numbers in groups: the decimal mark does not matter
        marks = {STYLES[clear[0]].decimal}
    elif len(marks) > 1:
        mark = hints.decimal or _settle(name, f, hints, habits)
        if mark is None:
            example = "1,234" if f.n["comma3"] else "1.234"
            said = f"{name} was kept as text: {example} could be a thousand or a decimal."
            choice = Suggestion(kind="decimal", column=name, values=(".", ","), count=f.filled, said=said)
            return Decision("VARCHAR", notes=(said,), suggestions=(choice,), open=True)
        marks = {mark}
    fits = [i for i in allowed if STYLES[i].decimal in marks]
    plain = [i for i in fits if not STYLES[i].thousands]
    best = plain[0] if plain and f.n[f"style{plain[0]}"] == f.filled else fits[0]
    style = STYLES[best]
    whole = f.n[f"whole{best}"] == f.filled
    return Decision("BIGINT" if whole else "DOUBLE", style, bared=f.bared, notes=_number_notes(name, f, style, whole))


def _number_notes(name: str, f: Forms, style: Style, whole: bool) -> tuple[str, ...]:
    words = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
    said = []
    if style.thousands:
        said.append(f"{name}: the {words[style.thousands]} marks thousands.")
    if style.decimal == "," and not whole:
        said.append(f"{name}: the comma marks decimals.")
    if is_uneven(f) and f.n["fewest"]:
        said.append(f"{name}: zeros at the ends of decimals were not kept (1.10 is read as 1.1).")
    return (*said, *_sign_note(name, f))


def _sign_note(name: str, f: Forms) -> tuple[str, ...]:
    signs = [sign for sign in f.signs if sign]
    if not f.bared or not signs:
        return ()
    what = "percent: 12% is read as 12" if signs == ["%"] else f"amounts in {signs[0]}, read without the sign"
    return (f"{name}: {what}.",)


def _settle(name: str, f: Forms, hints: Hints, habits: _Habits) -> str | None:
    """The decimal mark where 1.234 or 1,234 could be either."""
    if is_place(name) and f.all("alike"):
        return "." if f.n["point3"] else ","
    if f.n["big"]:  # 5000 beside 1,234: the comma is not for thousands
        return "," if f.n["comma3"] else "."
    if habits.decimal is not None:
        return habits.decimal
    if hints.delimiter in (",", None):
        return "."
    return None


def _date(raw: str, name: str, f: Forms, hints: Hints, habits: _Habits) -> Decision:
    fits = f.dates
    orders = {DATE_FORMS[d].order for d in fits}
    notes: list[str] = []
    order = None
    if orders == {"dmy", "mdy"}:
        order = hints.order_of(raw)
        if order is None and any(d.startswith("dmy.") for d in fits):
            order = "dmy"
        elif order is None:
            order, why = _order_by_habit(hints, habits)
            if order is None:
                said = f"{name} was kept as text: day and month cannot be told apart. Say which comes first."
                choice = Suggestion(kind="date_order", column=name, values=("dmy", "mdy"), count=f.filled, said=said)
                return Decision("VARCHAR", notes=(said,), suggestions=(choice,), open=True)
            notes.append(f"{name}: {'day' if order == 'dmy' else 'month'} first, {why}.")
        fits = [d for d in fits if DATE_FORMS[d].order == order]
    elif orders & {"dmy", "mdy"}:
        order = (orders - {None}).pop()
    if (fits[0].endswith("y") and order is not None) or "yy" in fits[0]:
        notes.append(f"{name}: years of two digits were read as 1969 to 2068.")
    if fits[0] == "zone":
        notes.append(f"{name}: times with an offset were turned to UTC.")
    return Decision("TIMESTAMP", dates=(fits[0],), date_order=order, notes=tuple(notes))


def _order_by_habit(hints: Hints, habits: _Habits) -> tuple[str | None, str]:
    if habits.date_order is not None:
        return habits.date_order, "as in the other dates of this file"
    if habits.decimal == ",":
        return "dmy", "as files with a decimal comma have it"
    return None, ""


def _nearly(f: Forms) -> tuple[str, ...]:
    """Tests for the form that most values have, when it is nearly all of them."""
    least = max(2.0, (_NEARLY if f.filled >= _FEW else _NEARLY_OF_FEW) * f.filled)
    best = max(range(len(STYLES)), key=lambda i: f.n[f"style{i}"])
    if f.n[f"style{best}"] >= least and not f.n["zero"]:
        pattern = STYLES[best].pattern.replace("'", "''").replace("{", "{{").replace("}", "}}")
        return (f"(regexp_full_match({{t}}, '{pattern}') AND NOT {overflows('{t}').replace('{3}', '{{3}}')})",)
    dates = max(DATE_FORMS, key=lambda d: f.n[f"date:{d}"])
    if f.n[f"date:{dates}"] >= least:
        made = moment(_CELL, dates).replace("{", "{{").replace("}", "}}").replace(_CELL, "{t}")
        return (f"({made}) IS NOT NULL",)  # the form alone would take the 30th of February for a date
    return ()


def _forced(raw: str, f: Forms, kind: str, hints: Hints, habits: _Habits) -> Decision:
    """The type that a person chose, in the form that fits most values."""
    if kind in ("integer", "decimal"):
        mark = hints.decimal or habits.decimal
        order = [i for i, s in enumerate(STYLES) if hints.allows(s) and mark in (None, s.decimal)]
        order = order or [i for i, s in enumerate(STYLES) if hints.allows(s)]
        best = STYLES[max(order, key=lambda i: (f.n[f"style{i}"], -i))]
        return Decision("BIGINT" if kind == "integer" else "DOUBLE", best, bared=f.bared, forced=kind)
    if kind in ("date", "timestamp"):
        order = hints.order_of(raw) or habits.date_order
        names = [d for d, form in DATE_FORMS.items() if form.order in (None, order) and f.n[f"date:{d}"]]
        names = names or [d for d in DATE_FORMS if f.n[f"date:{d}"]] or ["number" if f.is_number else "iso"]
        names = ["eight", *names] if f.n["eight"] else names
        names.sort(key=lambda d: -f.n.get(f"date:{d}", 0))
        return Decision("TIMESTAMP", dates=tuple(names), date_order=order, forced=kind)
    if kind in ("boolean", "time"):
        return Decision(kind.upper(), forced=kind)
    return Decision("VARCHAR", forced="text")
