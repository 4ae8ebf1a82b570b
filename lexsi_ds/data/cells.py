"""What the cells of a text column look like: blank, missing, or of which form, counted over the distinct values.

Must never: decide a type, or change a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import duckdb

from lexsi_ds.data.evidence import Forms, Hints
from lexsi_ds.data.forms import (
    ADORNED,
    BIG,
    DATE_FORMS,
    DATED,
    INTEGER,
    LEADING_ZERO,
    LONG,
    MISSING_WORDS,
    PHONE,
    POWER,
    STYLES,
    TAILED,
    TRUTH,
    moment,
    time_of_day,
)
from lexsi_ds.data.numbers import bare, loses_digits, overflows
from lexsi_ds.data.raw_rows import quoted

BATCH = 40
BLANKS = " \t\u00a0\ufeff"


@dataclass(frozen=True)
class TextColumn:
    """A column to be typed: its name in the scratch table, and the name it gets."""

    raw: str
    name: str


@dataclass(frozen=True)
class Missing:
    """Blank cells and cells with a code for a missing value, of the whole column."""

    blank: int = 0
    words: int = 0


@dataclass(frozen=True)
class Padding:
    """Texts of a column with blanks around them, and how many distinct values fewer there are without."""

    cells: int
    merged: int


@dataclass(frozen=True)
class CellTable:
    """The table at work, and what is known of it beforehand."""

    con: duckdb.DuckDBPyConnection
    name: str
    hints: Hints = field(default_factory=Hints)


def _trim(text: str) -> str:
    return f"trim({text}, '{BLANKS}')"


def trimmed(column: TextColumn) -> str:
    """SQL: a cell without blanks around it."""
    return _trim(quoted(column.raw))


def literals(words: Sequence[str]) -> str:
    """SQL: words as a list of texts."""
    return ", ".join("'" + w.replace("'", "''") + "'" for w in words)


def is_chosen(at: CellTable, text: str, raw: str) -> str:
    """Whether a cell is a code that a person said is missing: the same text, or the same number."""
    codes = at.hints.missing_of(raw)
    if not codes:
        return "false"
    tests = [f"{text} IN ({literals(codes)})"]
    numbers = [code for code in codes if _as_number(code) is not None]
    if numbers:
        listed = ", ".join(str(_as_number(code)) for code in numbers)
        tests.append(f"coalesce(try_cast(replace({text}, ',', '.') AS DOUBLE) IN ({listed}), false)")  # not NULL for a word
    return "(" + " OR ".join(tests) + ")"


def _as_number(code: str) -> float | None:
    try:
        return float(code.replace(",", "."))
    except ValueError:
        return None


def is_missing(at: CellTable, text: str, raw: str) -> str:
    """Whether a cell is a word for a missing value, or a code that was chosen."""
    return f"(upper({text}) IN ({literals(sorted(MISSING_WORDS))}) OR {is_chosen(at, text, raw)})"


def is_filled(at: CellTable, column: TextColumn) -> str:
    """SQL: whether a cell is neither blank nor missing."""
    text = trimmed(column)
    return f"({text} <> '' AND NOT {is_missing(at, text, column.raw)})"


def count_forms(at: CellTable, table: str, columns: Sequence[TextColumn]) -> dict[str, Forms]:
    """Count the forms of values, looking at each distinct value once."""
    if not columns:
        return {}
    result = _count_once(at, table, columns, bared=False)
    adorned = [c for c in columns if 0 < result[c.raw].n["adorned"] == result[c.raw].n["filled"]]
    adorned = [c for c in adorned if not result[c.raw].is_number]
    if adorned:
        bared = _count_once(at, table, adorned, bared=True)
        result |= {raw: forms for raw, forms in bared.items() if forms.is_number and forms.one_sign}
        mixed = {raw: forms.signs for raw, forms in bared.items() if forms.is_number and not forms.one_sign}
        result |= {raw: replace(result[raw], mixed=signs) for raw, signs in mixed.items()}
    return result


def _count_once(at: CellTable, table: str, columns: Sequence[TextColumn], *, bared: bool) -> dict[str, Forms]:
    listed = ", ".join(quoted(c.raw) for c in columns)
    chosen = [c.raw for c in columns if at.hints.missing_of(c.raw)]
    own = " ".join(f"WHEN cell_of = '{raw}' THEN {is_chosen(at, 't', raw)}" for raw in chosen)
    missing = f"upper(t) IN ({literals(sorted(MISSING_WORDS))})" + (f" OR CASE {own} ELSE false END" if own else "")
    parts = _count_parts()
    text = bare("t0") if bared else "t0"
    signs = "list(DISTINCT regexp_extract(t0, '[$€£¥₹%]|USD|EUR|GBP|CHF|CZK|JPY|Kč|zł|kr')) FILTER (WHERE filled)"
    signs = signs if bared else "NULL"
    rows = at.con.execute(
        f"""WITH cells AS (UNPIVOT (SELECT {listed} FROM {table}) ON COLUMNS(*) INTO NAME cell_of VALUE cell),
            counted AS (SELECT cell_of, cell, count(*) AS n FROM cells GROUP BY ALL),
            trimmed AS (SELECT cell_of, {_trim("cell")} AS t0, n FROM counted),
            shown AS (SELECT cell_of, t0, {text} AS t, n FROM trimmed),
            judged AS (SELECT *, t <> '' AND NOT ({missing}) AS filled, ({missing}) AS word,
                       strlen(t) < 42 AS short, {overflows('t')} AS huge,
                       strlen(t) < 42 AND regexp_full_match(t, '{DATED}') AS dated FROM shown)
            SELECT cell_of, {', '.join(parts.values())}, {signs} FROM judged GROUP BY cell_of"""
    ).fetchall()
    result = {c.raw: Forms(dict.fromkeys(parts, 0)) for c in columns}
    for raw, *numbers, signs in rows:
        found = tuple(sorted(signs or ()))
        result[raw] = Forms(dict(zip(parts, numbers, strict=True)), bared, found)
    return result


def _count_parts() -> dict[str, str]:
    """Aggregates by name."""

    def count(test: str) -> str:
        return f"CAST(coalesce(sum(n) FILTER (WHERE {test}), 0) AS BIGINT)"

    def matches(pattern: str) -> str:
        return count(f"CASE WHEN filled AND short AND NOT huge THEN regexp_full_match(t, '{_sql(pattern)}') ELSE false END")

    parts = {
        "blank": count("t = ''"), "words": count("word"), "filled": count("filled"),
        "huge": count("filled AND huge"), "integer": matches(INTEGER),
        "zero": matches(LEADING_ZERO), "long": matches(LONG), "big": matches(BIG), "truth": matches(TRUTH), "phone": matches(PHONE),
        "adorned": matches(ADORNED), "power": matches(POWER), "tailed": matches(TAILED),
        "inexact": count(f"CASE WHEN filled AND short THEN {loses_digits('t')} ELSE false END"),
        "digits": matches(r"\d{1,18}"), "shortest": _length("min"), "longest": _length("max"),
        "decimals": count("filled AND regexp_full_match(t, '[+-]?[0-9]*[.,][0-9]+([eE][+-]?[0-9]+)?')"),
        "fewest": _decimals("min"), "most": _decimals("max"),
        "worded": matches(r"\d{1,2}\.?[ -]\p{L}{3,12}\.?,?[ -]\d{4}"),
        "eight": matches(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"),
    }  # fmt: skip
    for i, style in enumerate(STYLES):
        parts[f"style{i}"] = matches(style.pattern)
        parts[f"whole{i}"] = matches(style.whole)
        if style.thousands:
            parts[f"grouped{i}"] = matches(style.grouped)
    parts["comma3"] = matches(r"[+-]?[1-9]\d{0,2},\d{3}")
    parts["point3"] = matches(r"[+-]?[1-9]\d{0,2}\.\d{3}")
    parts["alike"] = matches(r"-?[1-9]\d{1,2}[.,]\d{3}")
    parts["ymd2"] = matches(r"\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
    parts["clock"] = count(f"CASE WHEN filled AND short THEN ({time_of_day('t')}) IS NOT NULL ELSE false END")
    for name in DATE_FORMS:
        parts[f"date:{name}"] = count(f"CASE WHEN filled AND dated THEN ({moment('t', name)}) IS NOT NULL ELSE false END")
    return parts


def _length(extreme: str) -> str:
    return f"CAST(coalesce({extreme}(strlen(t)) FILTER (WHERE filled), 0) AS BIGINT)"


def _decimals(extreme: str) -> str:
    """Digits behind the decimal mark: the fewest, or the most."""
    length = "strlen(regexp_extract(t, '[.,]([0-9]*)$', 1))"
    return f"CAST(coalesce({extreme}({length}) FILTER (WHERE filled AND short), 0) AS BIGINT)"


def _sql(pattern: str) -> str:
    return pattern.replace("'", "''")


def count_missing(at: CellTable, table: str, columns: Sequence[TextColumn]) -> dict[str, Missing]:
    """Only blanks and words for missing values, over all rows."""
    result: dict[str, Missing] = {}
    for start in range(0, len(columns), BATCH):
        batch = columns[start : start + BATCH]
        parts = [
            f"count(*) FILTER (WHERE {test})"
            for c in batch
            for test in (f"{trimmed(c)} = ''", is_missing(at, trimmed(c), c.raw))
        ]
        row = at.con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
        assert row is not None
        result |= {c.raw: Missing(row[2 * i], row[2 * i + 1]) for i, c in enumerate(batch)}
    return result


def count_padded(at: CellTable, columns: Sequence[TextColumn]) -> dict[str, Padding]:
    """Columns with texts that have blanks around them; the others are not in it."""
    result: dict[str, Padding] = {}
    for start in range(0, len(columns), BATCH):
        batch = columns[start : start + BATCH]
        tests = [f"count(*) FILTER (WHERE {trimmed(c)} NOT IN ({quoted(c.raw)}, ''))" for c in batch]
        row = at.con.execute(f"SELECT {', '.join(tests)} FROM {at.name}").fetchone() or ()
        for column, cells in zip(batch, row, strict=True):
            if cells:
                counts = f"count(DISTINCT {quoted(column.raw)}) - count(DISTINCT {trimmed(column)})"
                merged = at.con.execute(f"SELECT {counts} FROM {at.name} WHERE {is_filled(at, column)}").fetchone()
                result[column.raw] = Padding(int(cells), int(merged[0]) if merged else 0)
    return result


def has_row(at: CellTable, test: str) -> bool:
    """Whether some row passes a test."""
    return at.con.execute(f"SELECT 1 FROM {at.name} WHERE {test} LIMIT 1").fetchone() is not None
