"""What numbers, dates and words for a missing value look like: the patterns that all readers share.

Patterns are written so that Python and DuckDB (RE2) read them alike. Must never: hold a rule about one file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SPACES = " \u00a0\u202f\u2009"
APOSTROPHES = "'’"
MISSING_CODES = (
    "NA", "N/A", "n/a", "N.A.", "n.a.", "#N/A", "NULL", "Null", "null", "(null)", "NaN", "nan", "NAN", "<NA>", "?", "-",
    "--", ".", "\\N", "#NV", "k.A.",
)  # fmt: skip
"""Codes that stand for a missing value in any column of a text file."""
MISSING_WORDS = frozenset(
    {code.upper() for code in MISSING_CODES}
    | {"NONE", "NIL", "MISSING", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", ":", "..", "…"}
)
"""In upper case; those that are no code count only where everything else is a number or a date."""
INTEGER = r"[+-]?\d{1,18}"
LEADING_ZERO = r"[+-]?0\d+([.,]\d*)?([eE][+-]?\d+)?"
POWER = r"\d+[eE]\d{1,3}"
"""Digits, an E and digits: a number only beside numbers with a decimal mark, else a code such as 1E5."""
TAILED = r"[+-]?\d+[.,]\d*0"
"""Decimals that end in a zero, which a number does not keep."""
LONG = r"[+-]?\d{19,}"
BIG = r"[+-]?\d{4,18}"
PHONE = r"\+\d{7,15}"
TRUTH = "(?i)true|false"
TRUE_WORDS = ("true", "t", "yes", "y", "1", "on", "ja", "j", "ano", "oui", "si", "sí", "tak")
FALSE_WORDS = ("false", "f", "no", "n", "0", "off", "nein", "ne", "non", "nie")
"""What a column that a person calls a boolean may hold; by itself only true and false are taken for it."""
TIME_OF_DAY = r"\d{1,2}:[0-5]\d(:[0-5]\d(\.\d{1,6})?)?( ?[AaPp]\.?[Mm]\.?)?"
MINUS = "−–"
"""Signs that stand for a minus before a number."""
_EXPONENT = r"([eE][+-]?\d{1,3})?"
_CLOCK = r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?[AaPp]\.?[Mm]\.?)?)?"
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[A-Za-z]{0,6}\.?"
ADORNED = r"[$€£¥₹%()+\-−–\s\d.,'’A-Zčłzkrč\x{00a0}\x{202f}\x{2009}]+"
"""May be a number with a currency, a percent sign or brackets around it: a cheap first look."""


@dataclass(frozen=True)
class Style:
    """A way to write numbers: its decimal mark, and its thousands mark (``""`` for none)."""

    decimal: str
    thousands: str

    @property
    def marks(self) -> str:
        """All characters that may be the thousands mark."""
        return {" ": SPACES, "'": APOSTROPHES}.get(self.thousands, self.thousands)

    @property
    def pattern(self) -> str:
        """Numbers in this style, whole or decimal; without marks they are in every style."""
        point = re.escape(self.decimal)
        plain = rf"[+-]?(\d+({point}\d*)?|{point}\d+){_EXPONENT}"
        return plain if not self.thousands else f"{plain}|{self.grouped}"

    @property
    def grouped(self) -> str:
        """Numbers that show the thousands mark."""
        return rf"({self._groups})({re.escape(self.decimal)}\d*)?"

    @property
    def _groups(self) -> str:
        """Digits in groups of three; with commas also as in India, 12,34,567."""
        groups = rf"[+-]?[1-9]\d{{0,2}}([{re.escape(self.marks)}]\d{{3}})+"
        return rf"{groups}|[+-]?[1-9]\d?(,\d{{2}})+,\d{{3}}" if self.thousands == "," else groups

    @property
    def whole(self) -> str:
        """Those without a decimal part."""
        if not self.thousands:
            return INTEGER
        return rf"{INTEGER}|{self._groups}"


STYLES = (
    Style(".", ""), Style(",", ""), Style(".", ","), Style(",", "."), Style(".", " "), Style(",", " "),
    Style(".", "'"), Style(",", "'"),
)  # fmt: skip


@dataclass(frozen=True)
class DateForm:
    """A way to write dates: a pattern, and strptime formats of the day part (none: DuckDB's own ISO reading)."""

    name: str
    pattern: str
    formats: tuple[str, ...]
    order: str | None = None
    """``dmy`` or ``mdy`` where only the order tells day from month."""


_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
_GAP = "[ \u00a0]?"
"""Between the parts of ``3. 4. 2021``."""
_ISO = r"\d{4}-\d{1,2}-\d{1,2}"
_ISO_CLOCK = r"[ T]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?"


def _parts(separator: str, order: str) -> tuple[DateForm, DateForm]:
    """Four-digit and two-digit years."""
    mark, sep = re.escape(separator) + (_GAP if separator == "." else ""), separator
    marks = {"dmy": f"%d{sep}%m{sep}", "mdy": f"%m{sep}%d{sep}"}[order]
    name = f"{order}{sep}"
    return (
        DateForm(name, rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{4}}{_CLOCK}", (f"{marks}%Y",), order),
        DateForm(f"{name}y", rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{2}}{_CLOCK}", (f"{marks}%y",), order),
    )


DATE_FORMS: dict[str, DateForm] = {
    form.name: form
    for form in (
        DateForm("iso", rf"{_ISO}({_ISO_CLOCK})?Z?", ()),
        DateForm("ymd-", rf"{_ISO}{_CLOCK}", ("%Y-%m-%d",)),
        DateForm("zone", rf"{_ISO}{_ISO_CLOCK}(Z|[+-]\d{{2}}(:?\d{{2}})?)", ()),
        DateForm("compact", r"\d{8}T\d{6}Z?", ()),
        DateForm("ymd/", rf"\d{{4}}/\d{{1,2}}/\d{{1,2}}{_CLOCK}", ("%Y/%m/%d",)),
        DateForm("ymd.", rf"\d{{4}}\.\d{{1,2}}\.\d{{1,2}}{_CLOCK}", ("%Y.%m.%d",)),
        *_parts("/", "dmy"), *_parts("/", "mdy"), *_parts("-", "dmy"), *_parts("-", "mdy"),
        *_parts(".", "dmy"), *_parts(".", "mdy"),
        DateForm("d mon y", rf"\d{{1,2}}[- ./]{_MONTH}[- ./,]\s?\d{{4}}{_CLOCK}", ("%d %b %Y", "%d %B %Y")),
        DateForm("d mon yy", rf"\d{{1,2}}[- ./]{_MONTH}[- ./]\d{{2}}{_CLOCK}", ("%d %b %y", "%d %B %y")),
        DateForm("mon d y", rf"{_MONTH}[- ]\d{{1,2}},? \d{{4}}{_CLOCK}", ("%b %d %Y", "%B %d %Y")),
    )
}  # fmt: skip
DATED = r"\d{1,4}[-/. ]\s?[0-9A-Za-z].*|[A-Za-z]{3,9}[-. ]+\d.*|\d{8}T.*"
"""What any of the forms begins like: a cheap first look."""


def moment(text: str, name: str) -> str:
    """SQL: a timestamp when ``text`` has this form and names a real day; else null."""
    form = DATE_FORMS[name]
    test = f"regexp_full_match({text}, '{form.pattern}')"
    if name == "compact":
        made = f"try_strptime(rtrim({text}, 'Z'), ['%Y%m%dT%H%M%S'])"
    elif name == "iso":
        made = f"try_cast(replace(rtrim({text}, 'Z'), 'T', ' ') AS TIMESTAMP)"
    elif name == "zone":
        made = _to_utc(text)
    else:
        spaced = _spaced(text) if "mon" in name else f"replace({text}, 'T', ' ')"
        spaced = f"regexp_replace({spaced}, '[.][ \u00a0]', '.', 'g')" if "." in name else spaced
        spaced = f"regexp_replace({spaced}, ' ?([AaPp])\\.?[Mm]\\.?$', ' \\1M')"
        listed = ", ".join(f"'{f}{clock}'" for f in form.formats for clock in _CLOCKS)
        made = f"try_strptime({spaced}, [{listed}])"
    return f"CASE WHEN {test} THEN {made} END"


def time_of_day(text: str) -> str:
    """SQL: a time when ``text`` is one of the 24 hours of a day, AM and PM allowed; else null."""
    spaced = f"regexp_replace({text}, ' ?([AaPp])\\.?[Mm]\\.?$', ' \\1M')"
    listed = ", ".join(f"'{clock.strip()}'" for clock in _CLOCKS if clock)
    return f"CASE WHEN regexp_full_match({text}, '{TIME_OF_DAY}') THEN CAST(try_strptime({spaced}, [{listed}]) AS TIME) END"


def from_number(text: str) -> str:
    """SQL: a timestamp from a spreadsheet's number of days, or from seconds or milliseconds since 1970; null otherwise."""
    number = f"try_cast(replace({text}, ',', '.') AS DOUBLE)"
    return (
        f"CASE WHEN {number} >= 1 AND {number} < 2958466 THEN TIMESTAMP '1899-12-30' + to_seconds(round({number} * 86400))"
        f" WHEN {number} >= 1e8 AND {number} < 1e11 THEN make_timestamp(CAST({number} * 1e6 AS BIGINT))"
        f" WHEN {number} >= 1e11 AND {number} < 1e14 THEN make_timestamp(CAST({number} * 1e3 AS BIGINT)) END"
    )


def truth(text: str) -> str:
    """SQL: a boolean from the words for yes and no; null otherwise."""
    yes, no = (", ".join(f"'{word}'" for word in words) for words in (TRUE_WORDS, FALSE_WORDS))
    return f"CASE WHEN lower({text}) IN ({yes}) THEN true WHEN lower({text}) IN ({no}) THEN false END"


def _spaced(text: str) -> str:
    """``5-Jan-2020`` and ``Jan 5, 2020`` with single blanks between their parts; Sept as Sep."""
    day = f"regexp_replace({text}, '[-./, ]+', ' ', 'g')"
    return f"regexp_replace({day}, '(?i)\\bsept\\b', 'Sep')"


def _to_utc(text: str) -> str:
    offset = f"regexp_extract({text}, '(Z|[+-]\\d{{2}}(:?\\d{{2}})?)$', 1)"
    local = f"try_cast(replace(regexp_replace({text}, '(Z|[+-]\\d{{2}}(:?\\d{{2}})?)$', ''), 'T', ' ') AS TIMESTAMP)"
    digits = f"replace({offset}, ':', '')"
    minutes = (
        f"(try_cast(substr({digits}, 2, 2) AS INTEGER) * 60 + coalesce(try_cast(substr({digits}, 4, 2) AS INTEGER), 0))"
        f" * CASE WHEN {digits} LIKE '-%' THEN -1 ELSE 1 END"
    )
    return f"{local} - to_minutes(CASE WHEN {offset} = 'Z' THEN 0 ELSE {minutes} END)"


_UNIT = "[$€£¥₹]|USD|EUR|GBP|CHF|CZK|JPY"
_NUMBER = re.compile(
    rf"^\s*[(]?[+−–-]?\s*(?:{_UNIT})?\s*[+−–-]?(\d+([.,'’ \u00a0\u202f]\d+)*[.,]?|[.,]\d+)([eE][+-]?\d+)?"
    rf"\s*(?:%|{_UNIT}|Kč|zł|kr)?\s*[)]?\s*-?\s*$"
)
_DATE = re.compile(
    r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?|\d{1,2}\.\s\d{1,2}\.\s?\d{4}([ T].*)?"
    r"|\d{1,2}[:.]\d{2}([:.]\d{2}(\.\d+)?)?|\d{8}T\d{6}Z?"
    r"|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Z][a-z]{2,8} \d{1,2}, \d{4})\s*$"
)


def is_value(cell: str) -> bool:
    """Whether a cell is a number, a date or a time of day."""
    return bool(_NUMBER.match(cell) or _DATE.match(cell))


def is_date(cell: str) -> bool:
    """Whether a cell is a day of a calendar."""
    return bool(_DATE.match(cell)) and any(mark in cell for mark in "-/.") and ":" not in cell.split(" ")[0]
