"""General English for columns: what their names' words say of units, of sums, of dates, and which other words mean the same.

Data and pure functions of names. No data set's own names. A word here must never make two columns of one table the same;
``without_doubles`` sees to that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lexsi_ds.knowledge.model import ColumnModel
from lexsi_ds.knowledge.name_units import ending_of
from lexsi_ds.knowledge.words import of_words, phrase, stem

NEVER_SUMMED = of_words(
    "unit average mean median rate ratio percent percentage per balance score rating index level grade age latitude longitude year"
    " temperature humidity speed minimum maximum min max price_per rank"
)
"""A figure whose name has one of these is a level: its sum says nothing."""

UNITS = {
    "percent": "%", "percentage": "%", "milliseconds": "ms", "millis": "ms", "ms": "ms", "seconds": "s", "minutes": "min",
    "hours": "h", "days": "days", "months": "months", "years": "years", "bytes": "bytes", "kilometers": "km", "km": "km",
    "miles": "miles", "meters": "m", "kg": "kg", "kilograms": "kg", "celsius": "°C", "usd": "USD", "eur": "EUR", "gbp": "GBP",
    "czk": "CZK", "chf": "CHF",
}  # fmt: skip
"""Words of a name that are a unit, and how it is written."""
_IN_BRACKETS = re.compile(r"\s*[(\[]\s*([^()\[\]]{1,14})\s*[)\]]\s*$")
_WRITTEN = of_words(
    "% °c °f c f m km cm mm mi ft in m/s km/h mph kg g t lb l ml mm h hr min s ms usd eur gbp czk chf $ € £ kwh kw mw w mj/m2 10m"
    " mb gb kb ppm µg/m3 ug/m3 sqft sq.ft m2 m²"
)

VERBS: dict[str, tuple[str, ...]] = {
    "hire": ("hired",), "hired": ("hired",), "birth": ("born",), "order": ("ordered",), "invoice": ("invoiced",),
    "ship": ("shipped",), "shipped": ("shipped",), "shipping": ("shipped",), "shipment": ("shipped",),
    "deliver": ("delivered",), "delivery": ("delivered",), "delivered": ("delivered",), "sale": ("sold",), "sold": ("sold",),
    "purchase": ("purchased", "bought"), "create": ("created",), "created": ("created",), "creation": ("created",),
    "open": ("opened",), "opened": ("opened",), "opening": ("opened",), "close": ("closed",), "closed": ("closed",),
    "closing": ("closed",), "issue": ("issued",), "issued": ("issued",), "payment": ("paid",), "paid": ("paid",),
    "signup": ("signed up",), "register": ("registered",), "registered": ("registered",), "registration": ("registered",),
    "join": ("joined",), "joined": ("joined",), "release": ("released",), "released": ("released",), "publish": ("published",),
    "published": ("published",), "cancel": ("cancelled", "canceled"), "cancelled": ("cancelled", "canceled"),
    "cancellation": ("cancelled", "canceled"), "return": ("returned",), "returned": ("returned",), "booking": ("booked",),
    "booked": ("booked",), "admission": ("admitted",), "discharge": ("discharged",), "enrollment": ("enrolled",),
    "enrolment": ("enrolled",), "termination": ("terminated",), "departure": ("departed",), "arrival": ("arrived",),
    "model": ("built", "made"),
    "founding": ("founded",), "construction": ("built",), "build": ("built",), "publication": ("published",),
    "launch": ("launched",), "start": ("started",), "begin": ("began",), "end": ("ended",), "visit": ("visited",),
    "book": ("booked",), "checkout": ("checked out", "borrowed"), "graduation": ("graduated",), "manufacture": ("manufactured",),
    "production": ("produced",), "completion": ("completed",), "approval": ("approved",), "submission": ("submitted",),
    "login": ("logged in", "signed in"),
    "install": ("installed",), "installation": ("installed",), "loan": ("borrowed",), "rental": ("rented",), "rent": ("rented",),
}  # fmt: skip
"""Of a date's name: what is said to have happened then."""

SAME: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("unit price", ("price", "price per unit", "list price")),
    ("country", ("nation",)), ("nation", ("country",)), ("city", ("town",)), ("town", ("city",)), ("state", ("province",)),
    ("quantity", ("units", "pieces", "number of units")), ("amount", ("value", "sum")), ("cost", ("expense",)),
    ("discount", ("rebate", "price reduction")), ("email", ("e-mail", "mail address")), ("phone", ("telephone",)),
    ("telephone", ("phone",)), ("hire date", ("date of hire", "hiring date")), ("birth date", ("date of birth", "birthday")),
    ("order date", ("date of order",)), ("invoice date", ("date of invoice", "billing date")), ("category", ("kind",)),
    ("profit", ("earnings", "gain")), ("margin", ("profit margin",)), ("stock", ("inventory", "units in stock")),
    ("milliseconds", ("length", "duration", "playing time", "running time")), ("duration", ("length",)),
    ("bytes", ("file size", "size in bytes")), ("experience", ("years of experience", "work experience")),
    ("total working years", ("work experience", "working experience", "years of experience", "experience")),
    ("square feet living", ("living area", "living space", "size of the living area")),
    ("square feet lot", ("lot size", "lot area", "plot size")), ("square feet basement", ("basement area", "basement size")),
    ("square feet above", ("area above ground",)), ("square feet", ("area", "floor area")),
    ("year built", ("construction year", "building year", "year of construction")),
    ("year renovated", ("renovation year", "year of renovation")), ("latitude", ("lat",)), ("longitude", ("lng", "lon")),
    ("weight", ("mass",)), ("department", ("division",)), ("supplier", ("vendor",)), ("vendor", ("supplier",)),
    ("over time", ("overtime",)), ("marital status", ("civil status",)), ("distance from home", ("commute",)),
)  # fmt: skip
"""What a column of this very label may also be called."""

_RATED = of_words("condition grade quality satisfaction performance")


def unit_of(name: str, words: Sequence[str]) -> str | None:
    """The unit that a name states: ``Wind speed (m/s)``, ``percent_hike``, ``sqft_lot``, ``mileage_km``."""
    written = _IN_BRACKETS.search(name)
    if written and written[1].strip().casefold().replace("ï¿½", "°") in _WRITTEN:
        return written[1].strip()
    if "square" in words and "feet" in words:
        return "sq ft"
    ending = ending_of(name)[1]
    return ending or next((UNITS[w] for w in words if w in UNITS), None)


def without_unit(name: str) -> str:
    """A name less the unit at its end, in brackets or not."""
    written = _IN_BRACKETS.search(name)
    if written and written[1].strip().casefold() in _WRITTEN:
        return name[: written.start()] or name
    return ending_of(name)[0]


def same_as(label: str, words: Sequence[str], singular_label: str) -> tuple[str, ...]:
    """Other words for a column of this label."""
    found = [other for known, others in SAME if known in (label, singular_label) for other in others]
    if words and words[-1] in _RATED:
        found += [f"{label} rating", f"{label} score"]
    return tuple(dict.fromkeys(found))


_SPANS = of_words("min h s ms days weeks months")
_LASTS = of_words("time duration length age tenure minutes hours seconds days weeks months milliseconds experience")


def lasting(label: str, words: Sequence[str], unit: str | None) -> tuple[str, ...]:
    """A figure in a unit of time is also said with the word that its name leaves out: delivery time, of ``delivery_min``."""
    if unit not in _SPANS or not words or set(words) & _LASTS:
        return ()
    return (f"{label} time", f"{label} duration")


_DONE = of_words("built sold bought born made sent held lost found won left begun")


def verbs_of(words: Sequence[str], *, of_year: bool = False) -> tuple[str, ...]:
    """Verbs of a date, and of a year those that its name does not have: what a name itself says is found by its stem."""
    done = [w for w in words if w in _DONE]
    listed = [verb for w in words for verb in VERBS.get(w, ())]
    stems = {stem(w) for w in words} if of_year else set()
    return tuple(dict.fromkeys(v for v in (*done, *listed) if v in _DONE or stem(v) not in stems))


def without_doubles(columns: Sequence[ColumnModel], others: Sequence[str] = ()) -> list[ColumnModel]:
    """The columns of one table, less every general synonym that another of them is called, or that two of them would have.

    ``others`` are words for the table's rows: a column is not called like them.
    """
    names = Counter(p for c in columns for p in {phrase(c.label), phrase(c.name)})
    offered = Counter(p for c in columns for p in {phrase(s) for s in c.synonyms})
    rows = {phrase(o) for o in others}

    def kept(column: ColumnModel, synonym: str) -> bool:
        own = {phrase(column.label), phrase(column.name)}
        form = phrase(synonym)
        return form in own or (not names[form] and offered[form] == 1 and form not in rows)

    verbs = Counter(v for c in columns for v in c.verbs)
    return [
        c.model_copy(update={
            "synonyms": tuple(s for s in c.synonyms if kept(c, s)),
            "verbs": tuple(v for v in c.verbs if verbs[v] == 1),
        })
        for c in columns
    ]
