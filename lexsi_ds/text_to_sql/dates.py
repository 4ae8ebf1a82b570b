"""Dates in a question as half-open spans of days: a year, a quarter, a month, a day, relative to the data's latest date.

"Today" is never the calendar's.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

from lexsi_ds.text_to_sql.tokens import Token

_MONTHS = {name.casefold(): i for i, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.casefold(): i for i, name in enumerate(calendar.month_abbr) if name and name != "May"} | {"sept": 9}
_DECADES = {
    "twenties": 1920, "thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980,
    "nineties": 1990,
}  # fmt: skip
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}


@dataclass(frozen=True)
class Span:
    """Days from ``start`` up to, not including, ``end``."""

    start: date
    end: date
    text: str
    bare_number: float | None = None
    """Set when the same words could be a plain number: 1997."""
    relative: bool = False
    """Counted back from the latest date in the data."""


def span_at(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    """The span that starts at token ``i`` and the token after it; None when none does."""
    for read in (_iso, _half, _quarter, _month_year, _day_month_year, _relative, _decade, _year):
        found = read(tokens, i, today)
        if found is not None:
            return found
    return None


def year_span(year: int) -> Span:
    """A whole calendar year."""
    return Span(date(year, 1, 1), date(year + 1, 1, 1), str(year), bare_number=float(year))


def _word(tokens: tuple[Token, ...], i: int) -> str:
    return tokens[i].word if 0 <= i < len(tokens) else ""


def _year_of(tokens: tuple[Token, ...], i: int) -> int | None:
    value = tokens[i].value if 0 <= i < len(tokens) else None
    return (
        int(value)
        if value is not None and 1900 <= value <= 2100 and value == int(value) and "," not in tokens[i].text
        else None
    )


def _month_span(year: int, month: int) -> Span:
    end = date(year + month // 12, month % 12 + 1, 1)
    return Span(date(year, month, 1), end, f"{calendar.month_name[month]} {year}")


def _iso(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    parts = _word(tokens, i).split("-")
    if len(parts) not in (2, 3) or not all(p.isdigit() for p in parts) or len(parts[0]) != 4:
        return None
    try:
        if len(parts) == 2:
            return i + 1, _month_span(int(parts[0]), int(parts[1]))
        day = date(int(parts[0]), int(parts[1]), int(parts[2]))
    except ValueError:
        return None
    return i + 1, Span(day, day + timedelta(days=1), day.isoformat())


def _quarter(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    word, j = _word(tokens, i), i
    number = _ORDINALS.get(word) if _word(tokens, i + 1) == "quarter" else None
    if number is not None:
        j = i + 2
    elif len(word) == 2 and word[0] == "q" and word[1] in "1234":
        number, j = int(word[1]), i + 1
    if number is None:
        return None
    while _word(tokens, j) in ("of", "in", "the", "year", "/"):
        j += 1
    year = _year_of(tokens, j)
    if year is None:
        return None
    first = 3 * number - 2
    end = _month_span(year, first + 2).end
    return j + 1, Span(date(year, first, 1), end, f"Q{number} {year}")


def _half(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    """ "H1 1997", "first half of 1997"."""
    word, j = _word(tokens, i), i
    number = {"h1": 1, "h2": 2}.get(word)
    if number is not None:
        j = i + 1
    elif word in ("first", "second") and _word(tokens, i + 1) == "half":
        number, j = (1 if word == "first" else 2), i + 2
    if number is None:
        return None
    while _word(tokens, j) in ("of", "in", "the", "year", "/"):
        j += 1
    year = _year_of(tokens, j)
    if year is None:
        return None
    start = date(year, 1 if number == 1 else 7, 1)
    return j + 1, Span(start, date(year, 7, 1) if number == 1 else date(year + 1, 1, 1), f"H{number} {year}")


def _month_year(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    month = _MONTHS.get(_word(tokens, i))
    if month is None:
        return None
    j = i + 1
    day = tokens[j].value if j < len(tokens) and tokens[j].value is not None and tokens[j].value <= 31 else None  # type: ignore[operator]
    if day is not None:
        j += 1
    while _word(tokens, j) in (",", "of", "in", "th", "st", "rd", "nd", "the", "year"):
        j += 1
    year = _year_of(tokens, j)
    if year is None:
        return None
    if day is None:
        return j + 1, _month_span(year, month)
    return _one_day(year, month, int(day), j + 1)


def _day_month_year(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    day = tokens[i].value
    if day is None or not 1 <= day <= 31:
        return None
    j = i + 1
    while _word(tokens, j) in ("th", "st", "rd", "nd", "of", "."):
        j += 1
    month = _MONTHS.get(_word(tokens, j))
    year = _year_of(tokens, j + 1)
    return _one_day(year, month, int(day), j + 2) if month and year else None


def _one_day(year: int, month: int, day: int, stop: int) -> tuple[int, Span] | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return stop, Span(found, found + timedelta(days=1), found.isoformat())


def _relative(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    """ "last year", "this year", "this month", "last month", "last 6 months", counted from the latest date in the data."""
    if today is None or _word(tokens, i) not in ("last", "this", "past", "previous"):
        return None
    past, unit = _word(tokens, i) != "this", _word(tokens, i + 1)
    if unit == "year":
        year = today.year - past
        return i + 2, Span(date(year, 1, 1), date(year + 1, 1, 1), str(year), relative=True)
    if unit == "month":
        months = today.year * 12 + today.month - 1 - past
        span = _month_span(months // 12, months % 12 + 1)
        return i + 2, Span(span.start, span.end, span.text, relative=True)
    count = tokens[i + 1].value if i + 1 < len(tokens) else None
    days = {"day": 1, "days": 1, "week": 7, "weeks": 7}.get(_word(tokens, i + 2))
    end = today + timedelta(days=1)
    if not past or count is None or count < 1 or count > 1200:
        return None
    if days:
        start = end - timedelta(days=int(count) * days)
    elif _word(tokens, i + 2) in ("month", "months", "year", "years"):
        start = _months_back(end, int(count) * (12 if _word(tokens, i + 2).startswith("year") else 1))
    else:
        return None
    return i + 3, Span(start, end, f"{start.isoformat()} to {today.isoformat()}", relative=True)


def _months_back(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 - months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _decade(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    named = _DECADES.get(_word(tokens, i))
    if named is not None:
        return i + 1, Span(date(named, 1, 1), date(named + 10, 1, 1), f"{named} to {named + 9}")
    year = _year_of(tokens, i)
    if year is None or year % 10 or _word(tokens, i + 1) != "s" or tokens[i + 1].start != tokens[i].end:
        return None
    return i + 2, Span(date(year, 1, 1), date(year + 10, 1, 1), f"{year} to {year + 9}")


def _year(tokens: tuple[Token, ...], i: int, today: date | None) -> tuple[int, Span] | None:
    year = _year_of(tokens, i)
    return (i + 1, year_span(year)) if year is not None else None
