"""Units that stand at the end of a column's name: ``mileage_km``, ``duration_min``, ``market_value_m``, ``temp_c``, ``Disc %``.

Pure functions of names. A letter is a unit only behind a word that it can measure; a unit never becomes another by guessing.
"""

from __future__ import annotations

import re

from lexsi_ds.knowledge.words import of_words, split_name

_SHORT = {
    "km": "km", "cm": "cm", "mm": "mm", "mtr": "m", "kms": "km", "mi": "miles", "kg": "kg", "kgs": "kg", "lb": "lb", "lbs": "lb",
    "oz": "oz", "ms": "ms", "kmh": "km/h", "kph": "km/h", "mph": "mph", "kw": "kW", "kwh": "kWh", "mwh": "MWh", "mw": "MW",
    "ppm": "ppm", "ml": "ml", "sqm": "m²", "m2": "m²", "m3": "m³", "eur": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF",
    "czk": "CZK", "inr": "INR", "jpy": "JPY", "cny": "CNY", "cad": "CAD", "aud": "AUD", "pln": "PLN", "sek": "SEK", "nok": "NOK",
    "dkk": "DKK", "mb": "MB", "gb": "GB", "kb": "KB", "tb": "TB", "celsius": "°C", "fahrenheit": "°F", "degc": "°C",
    "mbps": "Mbit/s", "hp": "hp", "bhp": "hp", "musd": "million USD", "meur": "million EUR", "mio": "million", "mln": "million",
    "mn": "million", "bn": "billion", "hpa": "hPa", "db": "dB", "rpm": "rpm", "kcal": "kcal", "lux": "lx",
    "mg": "mg", "mcg": "µg", "ug": "µg", "gwh": "GWh", "twh": "TWh", "gw": "GW", "kt": "kt", "mgdl": "mg/dl",
    "mmhg": "mmHg", "kva": "kVA", "teu": "TEU",
}  # fmt: skip
"""Short words that are a unit wherever they end a name."""
_FULL = {
    "percent": "%", "minutes": "min", "seconds": "s", "hours": "h", "days": "days", "months": "months", "years": "years",
    "weeks": "weeks", "meters": "m", "metres": "m", "miles": "miles", "kilometers": "km", "kilometres": "km",
    "kilograms": "kg", "grams": "g", "dollars": "USD", "euros": "EUR", "milliseconds": "ms", "millions": "million",
    "thousands": "thousand", "bytes": "bytes", "tons": "t", "tonnes": "t", "litres": "l", "liters": "l",
}  # fmt: skip
"""Words that are a unit and also what the column may be called by itself."""
_MONEY = of_words(
    "value price cost revenue sales budget office turnover profit income salary fee amount spend spending capital assets gross net"
    " earnings valuation worth funding gdp loan debt"
)
_TIMES = of_words(
    "duration runtime time length delay wait waiting played flight travel response age tenure run session watch call trip ride cook"
    " cooking prep preparation work idle uptime downtime stay overtime delivery processing handling service turnaround commute"
    " transit setup loading unloading repair training shift queue"
)
_LONG = of_words("height length width depth distance altitude elevation size diameter thickness radius perimeter span")
_HEAVY = of_words("weight payload load mass tonnage cargo capacity")
_MANY = of_words("votes population followers views users subscribers downloads visitors salary income")
_LETTERS: dict[str, tuple[tuple[frozenset[str], str], ...]] = {
    "m": ((_MONEY | _MANY, "million"), (_LONG, "m")),
    "k": ((_MONEY | _MANY, "thousand"),),
    "b": ((_MONEY, "billion"),),
    "c": ((of_words("temperature"), "°C"),),
    "f": ((of_words("temperature"), "°F"),),
    "t": ((_HEAVY, "t"),),
    "g": ((_HEAVY, "g"),),
    "l": ((of_words("volume tank capacity displacement"), "l"),),
    "h": ((_TIMES, "h"),),
    "s": ((_TIMES, "s"),),
    "min": ((_TIMES, "min"),),
    "mins": ((_TIMES, "min"),),
    "sec": ((_TIMES, "s"),),
    "hr": ((_TIMES, "h"),),
    "hrs": ((_TIMES, "h"),),
    "in": ((_LONG, "in"),),
    "ft": ((_LONG, "ft"),),
    "pct": ((frozenset(), "%"),),
}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


def ending_of(name: str) -> tuple[str, str | None]:
    """A name without the unit at its end, and that unit as it is written; the name itself and None where there is none."""
    percent = re.sub(r"\s*%\s*$", "", name)
    if percent and percent != name:
        return percent, "%"
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    parts = [p for p in re.split(r"[\s_.\-]+", spaced) if p]
    if len(parts) < 2:
        return name, None
    last, rest = parts[-1].casefold(), "_".join(parts[:-1])
    if last in _SHORT:
        return rest, _SHORT[last]
    before = split_name(rest)[-1:]
    for measured, unit in _LETTERS.get(last, ()):
        if not measured or (before and before[0] in measured):
            return rest, unit
    return name, None


def full_word_ending(words: tuple[str, ...]) -> str | None:
    """The unit of a name that ends with a unit's full word, as in delay minutes: the name may be said without it."""
    return _FULL.get(words[-1]) if len(words) > 1 else None


def scale_of(unit: str | None) -> float:
    """How much one stands for in a column that is kept in thousands or millions; 1 for any other."""
    return _SCALES.get((unit or "").split(" ")[0], 1.0)
