"""Types of text columns, found from all rows: a column is a number or a date only if every value is one.

A sample proposes, the whole column decides, so a late odd value costs a type, never a row. Blank cells become missing
and are counted. Must never: drop a leading zero, guess a day from a month, or turn yes and no into something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

_SAMPLE_ROWS, _LEAST_SAMPLE, _SAMPLE_CELLS = 10_000, 200, 400_000
_BATCH = 40
_TOKENS = ("NA", "N/A", "#N/A", "NULL", "NONE", "NAN", "NIL", "?", "-", "--", ".", "(NULL)", "MISSING")
"""Words for a missing value, in upper case. They count as missing only where everything else is a number or a date."""
_INTEGER = r"[+-]?\d{1,18}"
_ZERO = r"[+-]?0\d+"
_LONG = r"[+-]?\d{19,}"
_TRUTH = "(?i)true|false"
_DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"
_POINTED = r"[+-]?\d{1,3}(\.\d{3})+"
_COMMA = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+"
_COMMA_CLEAR = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?,(\d{1,2}|\d{4,})|[+-]?(0|\d{4,}|\d{1,3}(\.\d{3})+),\d{3}"
_GROUPED = r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"
_GROUPED_CLEAR = r"[+-]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})"
_CLOCK = r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?"

_FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "iso": (rf"\d{{4}}-\d{{2}}-\d{{2}}{_CLOCK}Z?", ()),
    "compact": (r"\d{8}T\d{6}Z?", ("%Y%m%dT%H%M%S", "%Y%m%dT%H%M%SZ")),
    "ymd": (rf"\d{{4}}/\d{{1,2}}/\d{{1,2}}{_CLOCK}", ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S")),
    "dotted": (rf"\d{{1,2}}\.\d{{1,2}}\.\d{{4}}{_CLOCK}", ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")),
    "dmy": (rf"\d{{1,2}}/\d{{1,2}}/\d{{4}}{_CLOCK}", ("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S")),
    "mdy": (rf"\d{{1,2}}/\d{{1,2}}/\d{{4}}{_CLOCK}", ("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S")),
}


@dataclass(frozen=True)
class TextColumn:
    """A column to be typed: its name in the scratch table, and the name it gets."""

    raw: str
    name: str


@dataclass(frozen=True)
class Typed:
    """What became of a column: DuckDB type, the expression that makes it, and what a person should know."""

    column: TextColumn
    type: str
    expression: str
    notes: tuple[str, ...] = ()
    empty: bool = False
    """No value was seen."""


@dataclass(frozen=True)
class _Counts:
    """What values of a column look like. ``words`` are the missing-value words; ``filled`` is without them and blanks."""

    blank: int = 0
    words: int = 0
    filled: int = 0
    integers: int = 0
    zeros: int = 0
    long: int = 0
    decimals: int = 0
    pointed: int = 0
    integers_or_pointed: int = 0
    commas: int = 0
    commas_clear: int = 0
    commas_or_integers: int = 0
    grouped: int = 0
    grouped_clear: int = 0
    truths: int = 0
    dates: Mapping[str, int] | None = None

    def all_dates(self, kind: str) -> bool:
        """Whether every value is a date of this format."""
        return self.filled > 0 and self.dates is not None and self.dates[kind] == self.filled


@dataclass(frozen=True)
class _Habits:
    """What the file as a whole makes clear, for columns that alone do not."""

    decimal_comma: bool = False
    decimal_point: bool = False
    date_order: str | None = None


def infer_columns(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[TextColumn], *, date_order: str | None = None
) -> list[Typed]:
    """Type every text column of ``table`` (a quoted name). ``date_order`` settles 01/02/2020: ``dmy`` or ``mdy``."""
    rows = max(_LEAST_SAMPLE, min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(columns), 1)))
    counts = _count(con, f"(SELECT * FROM {table} LIMIT {rows})", columns)
    typed = _decide_all(columns, counts, date_order)
    total = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    if total is not None and total[0] > rows:
        open_questions = {t.column.raw for t in typed.values() if t.type == "VARCHAR" and (t.notes or t.empty)}
        wrong = open_questions | _refuted(con, table, [t for t in typed.values() if t.type != "VARCHAR"])
        counts |= _count(con, table, [c for c in columns if c.raw in wrong])
        typed = _decide_all(columns, counts, date_order)
        counts |= _count_missing(con, table, [c for c in columns if c.raw not in wrong])
    midnight = _all_at_midnight(con, table, [t for t in typed.values() if t.type == "TIMESTAMP"])
    return [_finish(typed[c.raw], counts[c.raw], c.raw in midnight) for c in columns]


def _finish(t: Typed, c: _Counts, midnight: bool) -> Typed:
    """A timestamp that always falls on midnight is a date; and what became missing is said."""
    if midnight:
        t = replace(t, type="DATE", expression=f"CAST({t.expression} AS DATE)")
    said = list(t.notes)
    if c.blank:
        said.append(f"{c.blank:,} blank value{'s' * (c.blank > 1)} of {t.column.name} became missing.")
    if c.words and t.type != "VARCHAR":
        said.append(f"{c.words:,} value{'s' * (c.words > 1)} of {t.column.name} such as NA or ? became missing.")
    return replace(t, notes=tuple(said))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _trim(text: str) -> str:
    return f"trim({text}, ' \t\u00a0')"


def _trimmed(column: TextColumn) -> str:
    return _trim(_quoted(column.raw))


def _is_word(text: str) -> str:
    words = ", ".join(f"'{w}'" for w in _TOKENS)
    return f"upper({text}) IN ({words})"


def _filled(column: TextColumn) -> str:
    """Whether there is a value that is neither blank nor a word for a missing one."""
    text = _trimmed(column)
    return f"({text} <> '' AND NOT {_is_word(text)})"


def _count(con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[TextColumn]) -> dict[str, _Counts]:
    """Count the forms of values, looking at each distinct value once."""
    if not columns:
        return {}
    listed = ", ".join(_quoted(c.raw) for c in columns)
    rows = con.execute(
        f"""WITH cells AS (UNPIVOT (SELECT {listed} FROM {table}) ON COLUMNS(*) INTO NAME cell_of VALUE cell),
            counted AS (SELECT cell_of, cell, count(*) AS n FROM cells GROUP BY ALL),
            trimmed AS (SELECT cell_of, {_trim("cell")} AS t, n FROM counted),
            judged AS (SELECT *, t <> '' AND NOT {_is_word("t")} AS filled FROM trimmed)
            SELECT cell_of, {', '.join(_count_parts())} FROM judged GROUP BY cell_of"""
    ).fetchall()
    result = {c.raw: _Counts(dates=dict.fromkeys(_FORMATS, 0)) for c in columns}
    for raw, *numbers in rows:
        plain, dates = numbers[: -len(_FORMATS)], numbers[-len(_FORMATS) :]
        result[raw] = _Counts(*plain, dates=dict(zip(_FORMATS, dates, strict=True)))
    return result


def _count_parts() -> list[str]:
    """Aggregates in the order of the fields of ``_Counts``, then one a date format."""

    def count(test: str) -> str:
        return f"CAST(coalesce(sum(n) FILTER (WHERE {test}), 0) AS BIGINT)"

    def matches(*patterns: str) -> str:
        return count("filled AND (" + " OR ".join(f"regexp_full_match(t, '{p}')" for p in patterns) + ")")

    return [
        count("t = ''"), count(_is_word("t")), count("filled"),
        matches(_INTEGER), matches(_ZERO), matches(_LONG), matches(_DECIMAL), matches(_POINTED),
        matches(_INTEGER, _POINTED), matches(_COMMA), matches(_COMMA_CLEAR), matches(_COMMA, _INTEGER, _POINTED),
        matches(_GROUPED, _DECIMAL), matches(_GROUPED_CLEAR),
        matches(_TRUTH),
        *(count(f"filled AND {_moment('t', kind)} IS NOT NULL") for kind in _FORMATS),
    ]  # fmt: skip


def _count_missing(con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[TextColumn]) -> dict[str, _Counts]:
    """Only blanks and words for missing values, over all rows."""
    result: dict[str, _Counts] = {}
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        parts = [
            f"count(*) FILTER (WHERE {test})"
            for c in batch
            for test in (f"{_trimmed(c)} = ''", _is_word(_trimmed(c)))
        ]
        row = con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
        assert row is not None
        result |= {c.raw: _Counts(blank=row[2 * i], words=row[2 * i + 1]) for i, c in enumerate(batch)}
    return result


def _all_at_midnight(con: duckdb.DuckDBPyConnection, table: str, typed: Sequence[Typed]) -> set[str]:
    """Raw names of timestamps without a time of day."""
    if not typed:
        return set()
    parts = [f"bool_and(CAST({t.expression} AS TIME) = TIME '00:00:00')" for t in typed]
    row = con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
    return {t.column.raw for t, found in zip(typed, row or (), strict=True) if found}


def _moment(text: str, kind: str) -> str:
    """A timestamp when ``text`` has this format and names a real day; else null."""
    pattern, formats = _FORMATS[kind]
    listed = ", ".join(f"'{f}'" for f in formats)
    spaced = text if kind == "compact" else f"replace({text}, 'T', ' ')"
    made = f"try_strptime({spaced}, [{listed}])" if formats else f"try_cast(rtrim({text}, 'Z') AS TIMESTAMP)"
    return f"CASE WHEN regexp_full_match({text}, '{pattern}') THEN {made} END"


def _habits(counts: Iterable[_Counts], date_order: str | None) -> _Habits:
    comma = point = False
    orders = {date_order} - {None}
    for c in counts:
        comma |= c.filled > 0 and c.commas_or_integers == c.filled and c.commas_clear > 0
        point |= c.filled > 0 and c.decimals == c.filled and c.integers_or_pointed < c.filled
        if c.all_dates("dmy") != c.all_dates("mdy"):
            orders.add("dmy" if c.all_dates("dmy") else "mdy")
    return _Habits(comma, point, orders.pop() if len(orders) == 1 else None)


def _decide_all(
    columns: Sequence[TextColumn], counts: Mapping[str, _Counts], date_order: str | None
) -> dict[str, Typed]:
    habits = _habits(counts.values(), date_order)
    return {c.raw: _decide(c, counts[c.raw], habits) for c in columns}


def _decide(column: TextColumn, c: _Counts, habits: _Habits) -> Typed:
    text, name = _trimmed(column), column.name
    if c.filled == 0:
        return Typed(column, "VARCHAR", _as_text(column), empty=True)
    if c.zeros and c.integers == c.filled:
        return _kept_as_text(column, f"{name} has leading zeros and was kept as text.")
    if c.integers == c.filled:
        return Typed(column, "BIGINT", _guarded(text, f"try_cast({text} AS BIGINT)", _INTEGER))
    german = habits.decimal_comma and not habits.decimal_point
    if c.grouped == c.filled and c.grouped_clear and not c.zeros:
        expression = _guarded(text, f"try_cast(replace({text}, ',', '') AS DOUBLE)", _GROUPED, _DECIMAL)
        return Typed(column, "DOUBLE", expression, (f"{name}: the comma marks thousands.",))
    if c.commas_or_integers == c.filled and not c.zeros and c.commas:
        if not (c.commas_clear or german):
            return _kept_as_text(column, f"{name} was kept as text: 1,234 could be a thousand or a decimal.")
        made = f"try_cast(replace(replace({text}, '.', ''), ',', '.') AS DOUBLE)"
        expression = _guarded(text, made, _COMMA, _INTEGER, _POINTED)
        return Typed(column, "DOUBLE", expression, (f"{name}: the comma marks decimals.",))
    if c.integers_or_pointed == c.filled and not c.zeros and german:
        expression = _guarded(text, f"try_cast(replace({text}, '.', '') AS BIGINT)", _INTEGER, _POINTED)
        return Typed(column, "BIGINT", expression, (f"{name}: the point marks thousands, as commas mark decimals.",))
    if c.decimals == c.filled and not c.zeros and not c.long:
        return Typed(column, "DOUBLE", _guarded(text, f"try_cast({text} AS DOUBLE)", _DECIMAL))
    if c.long and c.decimals == c.filled:
        return _kept_as_text(column, f"{name} was kept as text: its numbers are too long to be held exactly.")
    if c.truths == c.filled:
        return Typed(column, "BOOLEAN", _guarded(text, f"try_cast({text} AS BOOLEAN)", _TRUTH))
    return _decide_date(column, c, habits)


def _decide_date(column: TextColumn, c: _Counts, habits: _Habits) -> Typed:
    fits = [kind for kind in _FORMATS if c.all_dates(kind)]
    if not fits:
        return Typed(column, "VARCHAR", _as_text(column))
    if set(fits) == {"dmy", "mdy"}:
        if habits.date_order is None:
            said = f"{column.name} was kept as text: day and month cannot be told apart. Say which comes first."
            return _kept_as_text(column, said)
        fits = [habits.date_order]
    return Typed(column, "TIMESTAMP", _moment(_trimmed(column), fits[0]))


def _guarded(text: str, made: str, *patterns: str) -> str:
    """``made`` where the text has one of these forms, else null: casts alone round 1.7 to 2 and read 0x1F."""
    test = " OR ".join(f"regexp_full_match({text}, '{p}')" for p in patterns)
    return f"CASE WHEN {test} THEN {made} END"


def _as_text(column: TextColumn) -> str:
    return f"CASE WHEN {_trimmed(column)} = '' THEN NULL ELSE {_quoted(column.raw)} END"


def _kept_as_text(column: TextColumn, why: str) -> Typed:
    return Typed(column, "VARCHAR", _as_text(column), (why,))


def _refuted(con: duckdb.DuckDBPyConnection, table: str, typed: Sequence[Typed]) -> set[str]:
    """Raw names of columns with a value somewhere that the proposed type does not hold."""
    refuted: set[str] = set()
    for start in range(0, len(typed), _BATCH):
        batch = typed[start : start + _BATCH]
        row = con.execute(f"SELECT {', '.join(_refutation(t) for t in batch)} FROM {table}").fetchone()
        assert row is not None
        refuted |= {t.column.raw for t, found in zip(batch, row, strict=True) if found}
    return refuted


def _refutation(t: Typed) -> str:
    zeros = f" OR regexp_full_match({_trimmed(t.column)}, '{_ZERO}')" if t.type in ("BIGINT", "DOUBLE") else ""
    return f"bool_or({_filled(t.column)} AND (({t.expression}) IS NULL{zeros}))"
