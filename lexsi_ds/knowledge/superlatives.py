"""Which adjective means the highest or the lowest of a column: tallest of a height, oldest of a birth date, cheapest of a price.

Data and pure functions of a column's words. A word is given only where the column alone decides it; two columns of one table that
claim it leave it to a question back.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexsi_ds.knowledge.words import of_words

Ends = tuple[tuple[str, ...], tuple[str, ...]]
"""What means the highest value, and what the lowest."""

_DEAR: Ends = (("most expensive", "dearest", "priciest", "costliest"), ("cheapest", "least expensive"))
_LENGTH: Ends = (("longest",), ("shortest",))
_PAID: Ends = (("best paid", "highest paid"), ("worst paid", "lowest paid"))
_SIZE: Ends = (("biggest", "largest"), ("smallest",))
_BY_LAST: dict[str, Ends] = {
    "age": (("oldest",), ("youngest",)), "price": _DEAR, "fare": _DEAR, "cost": _DEAR, "fee": _DEAR, "premium": _DEAR,
    "budget": _DEAR,
    "salary": _PAID, "income": _PAID, "wage": _PAID,
    "milliseconds": _LENGTH, "seconds": _LENGTH, "minutes": _LENGTH, "duration": _LENGTH, "length": _LENGTH, "runtime": _LENGTH,
    "pages": _LENGTH, "distance": (("farthest", "longest"), ("nearest", "shortest")),
    "weight": (("heaviest",), ("lightest",)), "mass": (("heaviest",), ("lightest",)), "height": (("tallest",), ("shortest",)),
    "speed": (("fastest",), ("slowest",)), "temperature": (("hottest", "warmest"), ("coldest", "coolest")),
    "depth": (("deepest",), ("shallowest",)), "width": (("widest",), ("narrowest",)), "population": (
        ("most populous", "most populated", *_SIZE[0]), ("least populous", "least populated", *_SIZE[1])),
    "rating": (("best rated", "highest rated", "top rated"), ("worst rated", "lowest rated")),
    "score": (("best rated", "highest rated", "top rated"), ("worst rated", "lowest rated")),
    "stars": (("best rated", "highest rated", "top rated"), ("worst rated", "lowest rated")),
    "capacity": _SIZE, "size": _SIZE, "area": _SIZE, "seats": _SIZE,
    "elevation": (("highest",), ("lowest",)), "altitude": (("highest",), ("lowest",)),
    "value": (("most valuable",), ("least valuable",)), "worth": (("richest", "wealthiest"), ("poorest",)),
    "wealth": (("richest", "wealthiest"), ("poorest",)), "power": (("most powerful", "strongest"), ("least powerful", "weakest")),
    "efficiency": (("most efficient",), ("least efficient",)), "productivity": (("most productive",), ("least productive",)),
    "profitability": (("most profitable",), ("least profitable",)), "experience": (("most experienced",), ("least experienced",)),
    "profit": (("most profitable",), ("least profitable",)), "density": (("densest",), ("least dense",)),
    "popularity": (("most popular",), ("least popular",)),
}  # fmt: skip
_CHARGED = of_words("hourly nightly daily weekly monthly room rental night hour day")
_AWARD = of_words("deal market transfer estimated appraised current")
_BORN = of_words("birth birthday born")
_MADE = of_words("built founded established opened opening constructed construction manufactured manufacture model made release"
                 " released published publication launched launch inception founding foundation production purchase")
_LATER = of_words("retired closed ended renovated died updated modified expired cancelled terminated dissolved discontinued joined")
"""What befalls a thing after it is there: no age."""
_JOINED = of_words("hire hired joined join employment start started")


def ends_of(words: Sequence[str], role: str, *, is_year: bool, dated: bool, person: bool) -> Ends:
    """The superlatives of a column of these words. ``dated`` says whether the table has dates beside it."""
    said = set(words)
    if role == "time" or is_year:
        return _ends_of_time(said, is_year=is_year, dated=dated, person=person)
    if role != "measure" or not words:
        return ((), ())
    if words[-1] == "rate" and said & _CHARGED:
        return _DEAR
    if words[-1] == "value" and not (said & _AWARD or len(words) == 1):
        return ((), ())
    return _BY_LAST.get(words[-1], ((), ()))


def _ends_of_time(said: set[str], *, is_year: bool, dated: bool, person: bool) -> Ends:
    if said & _BORN:
        return (("youngest",), ("oldest",))
    if person and said & _JOINED:
        return (("newest",), ("longest serving", "longest standing"))
    begun = said & _MADE or (is_year and any(w.endswith("ed") for w in said) and not said & _LATER)
    if begun and not person:
        alone = is_year and not dated
        return (("newest", "latest", "recent") if alone else (), ("oldest", "earliest") if alone else ("oldest",))
    return ((), ())
