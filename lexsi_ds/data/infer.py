"""Types of text columns, found from all rows: a column is a number or a date only if every value is one.

A sample proposes, the whole column decides, so a late odd value costs a type, never a row. Blank cells become missing
and are counted. Must never: drop a leading zero, guess a day from a month in silence, or turn yes and no into
something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb

from lexsi_ds.data.decide import Decision, Forms, Hints, decide_all, is_date_name
from lexsi_ds.data.forms import (
    ADORNED,
    BIG,
    DATE_FORMS,
    DATED,
    INTEGER,
    LEADING_ZERO,
    LONG,
    MISSING_CODES,
    MISSING_WORDS,
    PHONE,
    STYLES,
    TRUTH,
    from_number,
    moment,
    truth,
)
from lexsi_ds.data.numbers import bare, number_sql
from lexsi_ds.data.plan import Suggestion

_SAMPLE_ROWS, _LEAST_SAMPLE, _SAMPLE_CELLS = 10_000, 200, 400_000
_BATCH = 40
_CODE_LIKE = r"[A-Z]{2,3}"
_MOST_ODD = 5
_SERIAL_DAYS = (25_569, 73_051)
"""1970 to 2100 as a spreadsheet numbers its days."""


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
    decision: Decision | None = None
    missing: tuple[str, ...] = ()
    """Codes that became missing."""
    suggestions: tuple[Suggestion, ...] = ()
    misfits: int = 0
    """Values that do not fit the type that was chosen."""
    misfit_test: str = "false"
    """Whether a row has one."""


@dataclass(frozen=True)
class _Missing:
    """Blank cells and cells with a code for a missing value, of the whole column."""

    blank: int = 0
    words: int = 0


@dataclass(frozen=True)
class _Table:
    """The table at work, and what is known of it beforehand."""

    con: duckdb.DuckDBPyConnection
    name: str
    hints: Hints = field(default_factory=Hints)


def infer_columns(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[TextColumn], hints: Hints | None = None
) -> list[Typed]:
    """Type every text column of ``table`` (a quoted name). ``hints`` hold what a person chose and what the file shows."""
    at = _Table(con, table, hints or Hints())
    rows = max(_LEAST_SAMPLE, min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(columns), 1)))
    forms = _count(at, f"(SELECT * FROM {table} LIMIT {rows})", columns)
    typed = _type_all(at, columns, forms)
    total = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    if total is not None and total[0] > rows:
        unsure = {t.column.raw for t in typed.values() if t.type == "VARCHAR" and _may_change(t)}
        wrong = unsure | _refuted(at, [t for t in typed.values() if t.type != "VARCHAR"])
        forms |= _count(at, table, [c for c in columns if c.raw in wrong])
        typed = _type_all(at, columns, forms)
    for raw, t in typed.items():
        if t.type == "VARCHAR" and t.decision is not None and not t.decision.forced and not t.suggestions and not t.empty:
            typed[raw] = _with_mixed_dates(at, t, forms[raw])
    missing = _count_missing(at, table, columns)
    midnight = _all_at_midnight(at, [t for t in typed.values() if t.type == "TIMESTAMP"])
    return [_finish(at, typed[c.raw], missing[c.raw], c.raw in midnight) for c in columns]


def _may_change(t: Typed) -> bool:
    """Whether more rows could give text another type: it was empty, or two readings were open."""
    return t.empty or (t.decision is not None and t.decision.open)


# -- what cells look like -------------------------------------------------------------------------------------------


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _trim(text: str) -> str:
    return f"trim({text}, ' \t\u00a0\ufeff')"


def _trimmed(column: TextColumn) -> str:
    return _trim(_quoted(column.raw))


def _literals(words: Sequence[str]) -> str:
    return ", ".join("'" + w.replace("'", "''") + "'" for w in words)


def _is_chosen(at: _Table, text: str, raw: str) -> str:
    """Whether a cell is a code that a person said is missing: the same text, or the same number."""
    codes = at.hints.missing_of(raw)
    if not codes:
        return "false"
    tests = [f"{text} IN ({_literals(codes)})"]
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


def _is_missing(at: _Table, text: str, raw: str) -> str:
    """Whether a cell is a word for a missing value, or a code that was chosen."""
    return f"(upper({text}) IN ({_literals(sorted(MISSING_WORDS))}) OR {_is_chosen(at, text, raw)})"


def _filled(at: _Table, column: TextColumn) -> str:
    text = _trimmed(column)
    return f"({text} <> '' AND NOT {_is_missing(at, text, column.raw)})"


def _count(at: _Table, table: str, columns: Sequence[TextColumn]) -> dict[str, Forms]:
    """Count the forms of values, looking at each distinct value once."""
    if not columns:
        return {}
    result = _count_forms(at, table, columns, bared=False)
    adorned = [c for c in columns if 0 < result[c.raw].n["adorned"] == result[c.raw].n["filled"]]
    adorned = [c for c in adorned if not result[c.raw].is_number]
    if adorned:
        bared = _count_forms(at, table, adorned, bared=True)
        result |= {raw: forms for raw, forms in bared.items() if forms.is_number and forms.one_sign}
    return result


def _count_forms(at: _Table, table: str, columns: Sequence[TextColumn], *, bared: bool) -> dict[str, Forms]:
    listed = ", ".join(_quoted(c.raw) for c in columns)
    chosen = [c.raw for c in columns if at.hints.missing_of(c.raw)]
    own = " ".join(f"WHEN cell_of = '{raw}' THEN {_is_chosen(at, 't', raw)}" for raw in chosen)
    missing = f"upper(t) IN ({_literals(sorted(MISSING_WORDS))})" + (f" OR CASE {own} ELSE false END" if own else "")
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
                       strlen(t) < 42 AS short, strlen(t) < 42 AND regexp_full_match(t, '{DATED}') AS dated FROM shown)
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
        return count(f"CASE WHEN filled AND short THEN regexp_full_match(t, '{_sql(pattern)}') ELSE false END")

    parts = {
        "blank": count("t = ''"), "words": count("word"), "filled": count("filled"), "integer": matches(INTEGER),
        "zero": matches(LEADING_ZERO), "long": matches(LONG), "big": matches(BIG), "truth": matches(TRUTH), "phone": matches(PHONE),
        "adorned": matches(ADORNED), "eight": matches(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"),
    }  # fmt: skip
    for i, style in enumerate(STYLES):
        parts[f"style{i}"] = matches(style.pattern)
        parts[f"whole{i}"] = matches(style.whole)
        if style.thousands:
            parts[f"grouped{i}"] = matches(style.grouped)
    parts["comma3"] = matches(r"[+-]?[1-9]\d{0,2},\d{3}")
    parts["point3"] = matches(r"[+-]?[1-9]\d{0,2}\.\d{3}")
    for name in DATE_FORMS:
        parts[f"date:{name}"] = count(f"CASE WHEN filled AND dated THEN ({moment('t', name)}) IS NOT NULL ELSE false END")
    return parts


def _sql(pattern: str) -> str:
    return pattern.replace("'", "''")


def _count_missing(at: _Table, table: str, columns: Sequence[TextColumn]) -> dict[str, _Missing]:
    """Only blanks and words for missing values, over all rows."""
    result: dict[str, _Missing] = {}
    for start in range(0, len(columns), _BATCH):
        batch = columns[start : start + _BATCH]
        parts = [
            f"count(*) FILTER (WHERE {test})"
            for c in batch
            for test in (f"{_trimmed(c)} = ''", _is_missing(at, _trimmed(c), c.raw))
        ]
        row = at.con.execute(f"SELECT {', '.join(parts)} FROM {table}").fetchone()
        assert row is not None
        result |= {c.raw: _Missing(row[2 * i], row[2 * i + 1]) for i, c in enumerate(batch)}
    return result


# -- from forms to types --------------------------------------------------------------------------------------------


def _type_all(at: _Table, columns: Sequence[TextColumn], forms: Mapping[str, Forms]) -> dict[str, Typed]:
    names = {c.raw: c.name for c in columns}
    decided = decide_all(names, {c.raw: forms[c.raw] for c in columns}, at.hints)
    return {c.raw: _typed(c, decided[c.raw]) for c in columns}


def _typed(column: TextColumn, d: Decision) -> Typed:
    text = _trimmed(column)
    if d.style is not None:
        shown = bare(text) if d.bared else text
        expression = number_sql(shown, d.style, whole=d.type == "BIGINT")
    elif d.type == "BOOLEAN" and d.forced:
        expression = truth(text)
    elif d.type == "BOOLEAN":
        expression = f"CASE WHEN regexp_full_match({text}, '{TRUTH}') THEN try_cast({text} AS BOOLEAN) END"
    elif d.dates:
        made = [_moment(text, name) for name in d.dates]
        expression = made[0] if len(made) == 1 else f"coalesce({', '.join(made)})"
    else:
        expression = f"CASE WHEN {text} = '' THEN NULL ELSE {_quoted(column.raw)} END"
    return Typed(column, d.type, expression, d.notes, d.empty, d, suggestions=d.suggestions)


def _moment(text: str, name: str) -> str:
    if name == "eight":
        return f"try_strptime({text}, '%Y%m%d')"
    return from_number(text) if name == "number" else moment(text, name)


def _with_mixed_dates(at: _Table, t: Typed, f: Forms) -> Typed:
    """Text of which every value is a date, but not all are written in one way: dates, where day and month are certain.

    Times with an offset beside ones without stay text: which hour the others mean is not known.
    """
    ways = [name for name in DATE_FORMS if f.n[f"date:{name}"]]
    if len(ways) < 2 or "zone" in ways or sum(f.n[f"date:{name}"] for name in ways) < f.filled:
        return t
    orders = {DATE_FORMS[name].order for name in ways} - {None}
    chosen = at.hints.order_of(t.column.raw)
    made: dict[str, list[str]] = {}
    for order in (chosen,) if chosen else ("dmy", "mdy"):
        fits = [name for name in ways if DATE_FORMS[name].order in (None, order)]
        test = " AND ".join(f"({moment(_trimmed(t.column), name)}) IS NULL" for name in fits)
        if fits and not _has(at, f"{_filled(at, t.column)} AND {test}"):
            made[order] = fits
    if not made:
        return t
    if len(made) == 2 and orders:
        if not any(name.startswith("dmy.") for name in ways):
            said = f"{t.column.name} was kept as text: day and month cannot be told apart. Say which comes first."
            choice = Suggestion(kind="date_order", column=t.column.name, values=("dmy", "mdy"), count=f.filled, said=said)
            return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, choice))
        made.pop("mdy")
    order, fits = next(iter(made.items()))
    shown = f", {'day' if order == 'dmy' else 'month'} first" if orders else ""
    said = f"{t.column.name}: dates are written in several ways; all were read{shown}."
    return _typed(t.column, Decision("TIMESTAMP", dates=tuple(fits), date_order=order if orders else None, notes=(said,)))


def _finish(at: _Table, t: Typed, m: _Missing, midnight: bool) -> Typed:
    """A timestamp that always falls on midnight is a date; and what became missing is said."""
    if midnight:
        t = replace(t, type="DATE", expression=f"CAST({t.expression} AS DATE)")
    name, said = t.column.name, list(t.notes)
    if m.blank:
        said.append(f"{m.blank:,} blank value{'s' * (m.blank > 1)} of {name} became missing.")
    codes: dict[str, int] = {}
    if m.words:
        codes = _codes_seen(at, t)
        total = sum(codes.values())
        if codes:
            shown = " or ".join(list(codes)[:3])
            said.append(f"{total:,} value{'s' * (total > 1)} of {name} such as {shown} became missing.")
    if codes and t.type == "VARCHAR":
        text = _trimmed(t.column)
        expression = f"CASE WHEN {text} IN ({_literals(['', *codes])}) THEN NULL ELSE {_quoted(t.column.raw)} END"
        t = replace(t, expression=expression)
    elif at.hints.missing_of(t.column.raw):
        chosen = _is_chosen(at, _trimmed(t.column), t.column.raw)
        t = replace(t, expression=f"CASE WHEN {chosen} THEN NULL ELSE {t.expression} END")
    t = _with_serial_days(at, replace(t, notes=tuple(said), missing=tuple(codes)))
    if t.decision is not None and t.decision.forced:
        return _with_misfits(at, t)
    return _with_odd(at, t) if t.type == "VARCHAR" and t.decision is not None and t.decision.nearly else t


def _with_serial_days(at: _Table, t: Typed) -> Typed:
    """Numbers under the name of a date that are days as a spreadsheet counts them: suggested, as they may be anything."""
    if t.type not in ("BIGINT", "DOUBLE") or not is_date_name(t.column.name) or (t.decision and t.decision.forced):
        return t
    row = at.con.execute(f"SELECT min(v), max(v), count(v) FROM (SELECT {t.expression} AS v FROM {at.name})").fetchone()
    if row is None or row[0] is None or row[0] < _SERIAL_DAYS[0] or row[1] > _SERIAL_DAYS[1]:
        return t
    said = f"{t.column.name} may be dates as a spreadsheet numbers them (45658 is 2025-01-01); the numbers were kept."
    suggestion = Suggestion(kind="type", column=t.column.name, values=("date",), count=int(row[2]), said=said)
    return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, suggestion))


def _codes_seen(at: _Table, t: Typed) -> dict[str, int]:
    """Codes that stand for a missing value in this column, and how often; in text only where nothing speaks against it."""
    text = _trimmed(t.column)
    test = _is_missing(at, text, t.column.raw)
    found = dict(
        at.con.execute(
            f"SELECT {text}, count(*) FROM {at.name} WHERE {test} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"
        ).fetchall()
    )
    if t.type != "VARCHAR" or t.empty:
        return found
    chosen = at.hints.missing_of(t.column.raw)
    if at.hints.codes_in_text:
        codes = {c: n for c, n in found.items() if c in MISSING_CODES or c in chosen}
    else:
        codes = {c: n for c, n in found.items() if c in chosen}
    if "-" in codes and "-" not in chosen and _has(at, f"{text} = '+'"):
        codes.pop("-")
    other = f"{text} NOT IN ('NA', '') AND NOT regexp_full_match({text}, '{_CODE_LIKE}')"
    if "NA" in codes and "NA" not in chosen and not _has(at, other):
        codes.pop("NA")  # among codes of two or three letters it may be Namibia
    return codes


def _has(at: _Table, test: str) -> bool:
    return at.con.execute(f"SELECT 1 FROM {at.name} WHERE {test} LIMIT 1").fetchone() is not None


def _with_misfits(at: _Table, t: Typed) -> Typed:
    """For a type that a person chose: how many values do not fit it, and how they are told."""
    test = f"{_filled(at, t.column)} AND ({t.expression}) IS NULL"
    row = at.con.execute(f"SELECT count(*) FROM {at.name} WHERE {test}").fetchone()
    if not row or not row[0]:
        return t
    said = (
        f"{row[0]:,} value{'s' * (row[0] > 1)} of {t.column.name} did not fit the chosen type: missing in the table, "
        "and kept with their rows in the file of what was rejected."
    )
    return replace(t, notes=(*t.notes, said), misfits=int(row[0]), misfit_test=test)


def _with_odd(at: _Table, t: Typed) -> Typed:
    """Text that is nearly all numbers or dates: name the few values that are in the way."""
    assert t.decision is not None
    text, patterns = _trimmed(t.column), t.decision.nearly
    test = " OR ".join(f"({p.format(t=text)})" for p in patterns)
    rows = at.con.execute(
        f"SELECT {text}, count(*) FROM {at.name} WHERE {_filled(at, t.column)} AND NOT ({test}) GROUP BY 1 "
        f"ORDER BY 2 DESC, 1 LIMIT {_MOST_ODD + 1}"
    ).fetchall()
    if not rows or len(rows) > _MOST_ODD:
        return t
    values, count = tuple(str(r[0]) for r in rows), sum(r[1] for r in rows)
    shown = ", ".join(v[:30] for v in values)
    said = f"{t.column.name} was kept as text because of {count:,} value{'s' * (count > 1)}: {shown}."
    suggestion = Suggestion(kind="missing", column=t.column.name, values=values, count=count, said=said)
    return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, suggestion))


def _all_at_midnight(at: _Table, typed: Sequence[Typed]) -> set[str]:
    """Raw names of timestamps without a time of day."""
    if not typed:
        return set()
    parts = [f"bool_and(CAST({t.expression} AS TIME) = TIME '00:00:00')" for t in typed]
    row = at.con.execute(f"SELECT {', '.join(parts)} FROM {at.name}").fetchone()
    never = {t.column.raw for t in typed if t.decision is not None and t.decision.forced == "timestamp"}
    return {t.column.raw for t, found in zip(typed, row or (), strict=True) if found} - never


def _refuted(at: _Table, typed: Sequence[Typed]) -> set[str]:
    """Raw names of columns with a value somewhere that the proposed type does not hold."""
    refuted: set[str] = set()
    for start in range(0, len(typed), _BATCH):
        batch = typed[start : start + _BATCH]
        row = at.con.execute(f"SELECT {', '.join(_refutation(at, t) for t in batch)} FROM {at.name}").fetchone()
        assert row is not None
        refuted |= {t.column.raw for t, found in zip(batch, row, strict=True) if found}
    return refuted


def _refutation(at: _Table, t: Typed) -> str:
    text = _trimmed(t.column)
    zeros = f" OR regexp_full_match({text}, '{LEADING_ZERO}')" if t.type in ("BIGINT", "DOUBLE") else ""
    return f"bool_or({_filled(at, t.column)} AND (({t.expression}) IS NULL{zeros}))"
