"""Units that a person may say another way than a column is kept in: ten minutes of a column of milliseconds.

Only units of one kind, and only by fixed factors. Money is never converted.
"""

from __future__ import annotations

from dataclasses import replace

from lexsi_ds.knowledge.words import of_words, split_name
from lexsi_ds.text_to_sql.items import Item

_KINDS: tuple[dict[str, float], ...] = (
    {"ms": 1, "millisecond": 1, "s": 1e3, "sec": 1e3, "second": 1e3, "min": 6e4, "minute": 6e4, "h": 3.6e6, "hr": 3.6e6,
     "hour": 3.6e6,
     "day": 8.64e7, "week": 6.048e8},
    {"byte": 1, "b": 1, "kb": 1e3, "kilobyte": 1e3, "mb": 1e6, "megabyte": 1e6, "gb": 1e9, "gigabyte": 1e9},
    {"mm": 1, "millimeter": 1, "cm": 10, "centimeter": 10, "m": 1e3, "meter": 1e3, "metre": 1e3, "km": 1e6, "kilometer": 1e6,
     "kilometre": 1e6, "mile": 1_609_344, "mi": 1_609_344},
    {"g": 1, "gram": 1, "kg": 1e3, "kilogram": 1e3, "kilo": 1e3, "t": 1e6, "ton": 1e6, "tonne": 1e6},
    {"month": 1, "year": 12},
    {"w": 1, "watt": 1, "kw": 1e3, "kilowatt": 1e3, "mw": 1e6, "megawatt": 1e6, "gw": 1e9, "gigawatt": 1e9},
    {"wh": 1, "kwh": 1e3, "mwh": 1e6, "gwh": 1e9, "twh": 1e12},
    {"mg": 1, "milligram": 1},
    {"km/h": 1, "kmh": 1, "kph": 1, "mph": 1.609344},
)  # fmt: skip
_WORDS = of_words(
    "millisecond second minute hour sec min day week kilobyte megabyte gigabyte kb mb gb byte km kilometer kilometre"
    " meter metre mile cm kg kilogram kilo gram ton tonne kw mw gw kilowatt megawatt gigawatt kwh mwh gwh twh mg milligram"
    " kmh kph mph"
)
"""Units that are said of a number and are hardly anything else."""


def _one(word: str) -> str:
    plain = word.strip().casefold()
    return plain[:-1] if plain.endswith("s") and len(plain) > 2 else plain


def is_measured(word: str) -> bool:
    """Whether a word is a unit of time, size, length or weight."""
    return _one(word) in _WORDS


_CURRENCIES = {
    "czk": "CZK", "crown": "CZK", "kc": "CZK", "eur": "EUR", "euro": "EUR", "\u20ac": "EUR", "usd": "USD", "dollar": "USD",
    "$": "USD",    "gbp": "GBP", "chf": "CHF", "franc": "CHF",
}  # fmt: skip


def currency(said: str) -> str | None:
    """The code of a currency that a word names; None for any other word. Pounds are a weight as often."""
    return _CURRENCIES.get(said.strip().casefold()) or _CURRENCIES.get(_one(said))


def factor(said: str, kept: str) -> float | None:
    """By what a number in the unit said is multiplied to be in the column's; None when they are not of one kind."""
    one, other = _one(said), kept.casefold() if kept.casefold() in ("ms", "s") else _one(kept)
    for kind in _KINDS:
        if one in kind and other in kind:
            return kind[one] / kind[other]
    return None


_COMPARES = frozenset({"more", "less", "at_least", "at_most", "than"})
_MOMENTS = frozenset({"start", "begin", "beginning", "end", "open", "opening", "close", "closing", "arrival", "departure"})


def told_of_numbers(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """A unit right behind a number is one, and not the hour that something starts at: "longer than 2 hours"."""
    out = list(items)
    for n, item in enumerate(items):
        one = item.kind == "stop" and item.words[0] in ("a", "an") and n > 0 and items[n - 1].kind in _COMPARES
        if one and n + 1 < len(items) and is_measured(items[n + 1].text):
            out[n] = replace(item, kind="number", value=1.0)
        counted = n > 0 and out[n - 1].kind == "number" and item.kind == "sense" and len(item.words) == 1
        if counted and is_measured(item.words[0]) and all(_is_moment(s.label, s.column) for s in item.senses):
            out[n] = replace(item, kind="unknown", senses=())
    return tuple(out)


def _is_moment(label: str, column: str) -> bool:
    words = set(label.casefold().split()) | set(split_name(column))
    return bool(words & _MOMENTS)
