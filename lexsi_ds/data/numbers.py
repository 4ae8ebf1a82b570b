"""SQL that turns the text of a number into the number, in a given style; and the number without its sign of currency.

Must never: round, make a number infinite, or read a text that is not wholly a number in that style.
"""

from __future__ import annotations

from lexsi_ds.data.forms import MINUS, Style

_UNITS = "USD|EUR|GBP|CHF|CZK|JPY|Kč|zł|kr"
_SIGNS = "[$€£¥₹]"


def bare(text: str) -> str:
    """SQL: a number without currency, percent sign or brackets; ``(5)`` and ``5-`` as ``-5``, ``$-`` as 0."""
    blank = r"[\s\x{00a0}\x{202f}]*"
    text = f"translate({text}, '{MINUS}', '{'-' * len(MINUS)}')"
    made = f"regexp_replace({text}, '^([+-]?){blank}(?:{_SIGNS}|{_UNITS}){blank}', '\\1')"
    made = f"regexp_replace({made}, '{blank}(?:{_SIGNS}|%|{_UNITS})(\\)?)$', '\\1')"
    made = f"regexp_replace({made}, '^{_SIGNS}?\\({blank}(?:{_SIGNS})?{blank}([\\d.,].*)\\)$', '-\\1')"
    made = f"regexp_replace({made}, '^([\\d.,].*)-$', '-\\1')"
    return f"CASE WHEN regexp_full_match({text}, '{_SIGNS}{blank}-{blank}') THEN '0' ELSE trim({made}, ' \u00a0') END"


def number_sql(text: str, style: Style, *, whole: bool) -> str:
    """SQL: the number, or null where the text is none: casts alone round 1.7 to 2 and read 0x1F."""
    made = text
    if style.thousands:
        marks = style.marks.replace("'", "''")
        made = f"translate({made}, '{marks}', '')"
    if style.decimal == ",":
        made = f"replace({made}, ',', '.')"
    pattern = (style.whole if whole else style.pattern).replace("'", "''")
    value = f"try_cast({made} AS BIGINT)" if whole else _finite(f"try_cast({made} AS DOUBLE)")
    return f"CASE WHEN regexp_full_match({text}, '{pattern}') THEN {value} END"


def overflows(text: str) -> str:
    """SQL: whether a text is a number that is larger than any that can be held, such as 1e309."""
    value = f"try_cast(replace({text}, ',', '.') AS DOUBLE)"
    return f"(CASE WHEN regexp_matches({text}, '\\d[eE]\\+?\\d{{3}}$') THEN coalesce(isinf({value}), false) ELSE false END)"


def loses_digits(text: str) -> str:
    """SQL: whether a text is a decimal number that floating point does not write back digit by digit."""
    made = f"replace({text}, ',', '.')"
    value = f"try_cast({made} AS DOUBLE)"
    ways = ", ".join(_digits(way) for way in (f"CAST({value} AS VARCHAR)", f"format('{{:.17g}}', {value})"))
    return (
        f"(CASE WHEN strlen({text}) > 16 AND regexp_full_match({made}, '[+-]?[0-9]*[.][0-9]+') "
        f"THEN strlen({_digits(made)}) > 15 AND {_digits(made)} NOT IN ({ways}) ELSE false END)"
    )


def _digits(text: str) -> str:
    """SQL: the digits of a number, without its sign, its exponent, and zeros around them."""
    return f"trim(regexp_replace({text}, '[eE].*$|[^0-9]', '', 'g'), '0')"


def _finite(value: str) -> str:
    return f"nullif(nullif({value}, 'inf'::DOUBLE), '-inf'::DOUBLE)"
