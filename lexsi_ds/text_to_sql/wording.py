"""How a logical query reads: one line that a person can check, and names for the columns of its result."""

from __future__ import annotations

import re

from lexsi_ds.knowledge.model import SemanticModel
from lexsi_ds.knowledge.words import fold
from lexsi_ds.text_to_sql.logical import Fn, Logical, Measure

_FUNCTION_WORDS: dict[str, str] = {
    "sum": "total",
    "average": "average",
    "median": "median",
    "minimum": "lowest",
    "maximum": "highest",
    "deviation": "standard deviation of",
}


SAID = {">": "above", "<": "below", ">=": "at least", "<=": "at most", "=": "exactly", "between": "between"}
"""How a comparison is said."""
_PLACES = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}


def slug(text: str) -> str:
    """A label as a plain identifier: ``total loan amount`` becomes ``total_loan_amount``."""
    made = re.sub(r"[^a-z0-9]+", "_", fold(text)).strip("_")
    return made if made and not made[0].isdigit() else f"c_{made}"


def measure_label(fn: Fn, label: str) -> str:
    """``total loan amount``; a label that already says so, such as "average salary", stays as it is."""
    word = _FUNCTION_WORDS.get(fn, fn)
    return label if fn in ("sum", "average") and (label == word or label.startswith(f"{word} ")) else f"{word} {label}"


def reading_of(query: Logical, model: SemanticModel, said: list[str]) -> str:
    """One line: what is computed, of which rows, by what, in which role."""
    table = model.table(query.table)
    if query.outer:
        return _outer_text(query, said)
    if query.measures:
        head = " and ".join(m.label for m in _told(query.measures))
        head = head if _names_rows(query, table.plural) else f"{head} of {table.plural}"
    else:
        head = f"{table.plural}: " + ", ".join(c.label for c in query.columns)
    if query.dimensions:
        shown = [d for d in query.dimensions if d.name not in query.per] or list(query.dimensions)
        head += " by " + " and ".join(dict.fromkeys(d.label for d in shown))
    if query.per:
        inside = [d.label for d in (*query.dimensions, *query.columns) if d.name in query.per]
        head += f", in each {' and '.join(dict.fromkeys(inside))}"
    tests = [p.text for p in (*query.filters, *query.after) if p.text]
    if tests:
        head += ", only " + ", ".join(tests)
    for having in query.having:
        head += f", groups with {having.measure.label} {having.test} {having.value}"
    head += _order_text(query, model)
    if said:
        head += f" ({'; '.join(dict.fromkeys(said))})"
    return head[:1].upper() + head[1:]


def _outer_text(query: Logical, said: list[str]) -> str:
    """A figure of a result: what it is, of which rows, of which groups."""
    head = " and ".join(o.label for o in query.outer)
    tests = [p.text for p in query.filters if p.text]
    head += f", only {', '.join(tests)}" if tests else ""
    for having in query.having:
        head += f", with {having.measure.label} {having.test} {having.value}"
    head += f" ({'; '.join(dict.fromkeys(said))})" if said else ""
    return head[:1].upper() + head[1:]


def _told(measures: tuple[Measure, ...]) -> list[Measure]:
    """A count beside another measure is a service, not what was asked."""
    rest = [m for m in measures if m.fn != "count"]
    return rest or list(measures)


def _names_rows(query: Logical, plural: str) -> bool:
    words = " ".join(m.label for m in _told(query.measures))
    return plural in words or plural.removesuffix("s") in words


def _order_text(query: Logical, model: SemanticModel) -> str:
    if not query.order:
        return ""
    first = query.order[0]
    shown = next((c for c in (*query.columns, *query.dimensions) if c.name == first.name), None)
    column = model.column(shown.ref.table, shown.ref.column) if shown is not None else None
    if column is not None and column.role == "time":
        high, low = "latest", "earliest"
    else:
        high, low = "highest", "lowest"
    end = high if first.descending else low
    if query.place is not None:
        return f", only the {_PLACES.get(query.place, query.place)} {end}, ties kept"
    if query.ties:
        return f", {end} only, ties kept"
    if query.limit is not None:
        dated = high == "latest"
        return f", {end if dated else 'top' if first.descending else 'bottom'} {query.limit}"
    return ""
