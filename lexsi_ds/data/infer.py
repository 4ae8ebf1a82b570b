"""Types of text columns, found from all rows: a column is a number or a date only if every value is one.

A sample proposes, the whole column decides, so a late odd value costs a type, never a row. Blank cells become missing
and are counted. Must never: drop a leading zero, guess a day from a month in silence, or turn yes and no into
something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from lexsi_ds.data.cells import (
    BATCH,
    BLANKS,
    CellTable,
    Missing,
    Padding,
    TextColumn,
    count_forms,
    count_missing,
    count_padded,
    has_row,
    is_chosen,
    is_filled,
    literals,
    trimmed,
)
from lexsi_ds.data.column_words import is_date
from lexsi_ds.data.decide import Decision, decide_all
from lexsi_ds.data.evidence import Forms, Hints
from lexsi_ds.data.forms import (
    DATE_FORMS,
    LEADING_ZERO,
    TRUTH,
    from_number,
    moment,
    time_of_day,
    truth,
)
from lexsi_ds.data.missing_codes import codes_seen
from lexsi_ds.data.numbers import bare, loses_digits, number_sql
from lexsi_ds.data.plan import Suggestion
from lexsi_ds.data.raw_rows import quoted

__all__ = ["TextColumn", "Typed", "infer_columns"]
_SAMPLE_ROWS, _LEAST_SAMPLE, _SAMPLE_CELLS = 10_000, 200, 400_000
_MOST_ODD = 5
_SERIAL_DAYS = (25_569, 73_051)
"""1970 to 2100 as a spreadsheet numbers its days."""


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


def infer_columns(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[TextColumn], hints: Hints | None = None
) -> list[Typed]:
    """Type every text column of ``table`` (a quoted name). ``hints`` hold what a person chose and what the file shows."""
    at = CellTable(con, table, hints or Hints())
    rows = max(_LEAST_SAMPLE, min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(columns), 1)))
    forms = count_forms(at, f"(SELECT * FROM {table} LIMIT {rows})", columns)
    typed = _type_all(at, columns, forms)
    total = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    if total is not None and total[0] > rows:
        unsure = {t.column.raw for t in typed.values() if t.type == "VARCHAR" and _may_change(t)}
        wrong = unsure | _refuted(at, [t for t in typed.values() if t.type != "VARCHAR"])
        forms |= count_forms(at, table, [c for c in columns if c.raw in wrong])
        typed = _type_all(at, columns, forms)
    for raw, t in typed.items():
        if t.type == "VARCHAR" and t.decision is not None and not t.decision.forced and not t.suggestions and not t.empty:
            typed[raw] = _with_mixed_dates(at, t, forms[raw])
    missing = count_missing(at, table, columns)
    midnight = _all_at_midnight(at, [t for t in typed.values() if t.type == "TIMESTAMP"])
    made = [_finish(at, typed[c.raw], missing[c.raw], c.raw in midnight) for c in columns]
    padded = count_padded(at, [t.column for t in made if t.type == "VARCHAR" and not t.empty])
    return [_with_padding(at, t, padded[t.column.raw]) if t.column.raw in padded else t for t in made]


def _may_change(t: Typed) -> bool:
    """Whether more rows could give text another type: it was empty, or two readings were open."""
    return t.empty or (t.decision is not None and t.decision.open)


def _type_all(at: CellTable, columns: Sequence[TextColumn], forms: Mapping[str, Forms]) -> dict[str, Typed]:
    names = {c.raw: c.name for c in columns}
    decided = decide_all(names, {c.raw: forms[c.raw] for c in columns}, at.hints)
    return {c.raw: _typed(c, decided[c.raw]) for c in columns}


def _typed(column: TextColumn, d: Decision) -> Typed:
    text = trimmed(column)
    if d.style is not None:
        shown = bare(text) if d.bared else text
        expression = number_sql(shown, d.style, whole=d.type == "BIGINT")
    elif d.type == "BOOLEAN" and d.forced:
        expression = truth(text)
    elif d.type == "BOOLEAN":
        expression = f"CASE WHEN regexp_full_match({text}, '{TRUTH}') THEN try_cast({text} AS BOOLEAN) END"
    elif d.type == "TIME":
        expression = time_of_day(text)
    elif d.dates:
        made = [_moment(text, name) for name in d.dates]
        expression = made[0] if len(made) == 1 else f"coalesce({', '.join(made)})"
    else:
        expression = f"CASE WHEN {text} = '' THEN NULL ELSE {quoted(column.raw)} END"
    return Typed(column, d.type, expression, d.notes, d.empty, d, suggestions=d.suggestions)


def _moment(text: str, name: str) -> str:
    if name == "eight":
        return f"try_strptime({text}, '%Y%m%d')"
    return from_number(text) if name == "number" else moment(text, name)


def _with_mixed_dates(at: CellTable, t: Typed, f: Forms) -> Typed:
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
        test = " AND ".join(f"({moment(trimmed(t.column), name)}) IS NULL" for name in fits)
        if fits and not has_row(at, f"{is_filled(at, t.column)} AND {test}"):
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


def _finish(at: CellTable, t: Typed, m: Missing, midnight: bool) -> Typed:
    """A timestamp that always falls on midnight is a date; and what became missing is said."""
    if midnight:
        t = replace(t, type="DATE", expression=f"CAST({t.expression} AS DATE)")
    name, said = t.column.name, list(t.notes)
    if m.blank:
        said.append(f"{m.blank:,} blank value{'s' * (m.blank > 1)} of {name} became missing.")
    codes: dict[str, int] = {}
    if m.words:
        codes = codes_seen(at, t.column, in_text=t.type == "VARCHAR" and not t.empty)
        total = sum(codes.values())
        if codes:
            shown = " or ".join(list(codes)[:3])
            said.append(f"{total:,} value{'s' * (total > 1)} of {name} such as {shown} became missing.")
    if codes and t.type == "VARCHAR":
        text = trimmed(t.column)
        expression = f"CASE WHEN {text} IN ({literals(['', *codes])}) THEN NULL ELSE {quoted(t.column.raw)} END"
        t = replace(t, expression=expression)
    elif at.hints.missing_of(t.column.raw):
        chosen = is_chosen(at, trimmed(t.column), t.column.raw)
        t = replace(t, expression=f"CASE WHEN {chosen} THEN NULL ELSE {t.expression} END")
    t = _with_serial_days(at, replace(t, notes=tuple(said), missing=tuple(codes)))
    if t.decision is not None and t.decision.forced:
        return _with_misfits(at, t)
    return _with_odd(at, t) if t.type == "VARCHAR" and t.decision is not None and t.decision.nearly else t


def _with_serial_days(at: CellTable, t: Typed) -> Typed:
    """Numbers under the name of a date that are days as a spreadsheet counts them: suggested, as they may be anything."""
    if t.type not in ("BIGINT", "DOUBLE") or not is_date(t.column.name) or (t.decision and t.decision.forced):
        return t
    row = at.con.execute(f"SELECT min(v), max(v), count(v) FROM (SELECT {t.expression} AS v FROM {at.name})").fetchone()
    if row is None or row[0] is None or row[0] < _SERIAL_DAYS[0] or row[1] > _SERIAL_DAYS[1]:
        return t
    said = f"{t.column.name} may be dates as a spreadsheet numbers them (45658 is 2025-01-01); the numbers were kept."
    suggestion = Suggestion(kind="type", column=t.column.name, values=("date",), count=int(row[2]), said=said)
    return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, suggestion))


def _with_padding(at: CellTable, t: Typed, p: Padding) -> Typed:
    """Texts with blanks around them: trimmed where that was chosen, else said and suggested."""
    name = t.column.name
    some = f"{p.cells:,} value{'s' * (p.cells > 1)} of {name}"
    if at.hints.trims(t.column.raw):
        made = f"trim({t.expression}, '{BLANKS}')"
        return replace(t, expression=made, notes=(*t.notes, f"Blanks around {some} were trimmed by choice."))
    said = f"{some} {'have' if p.cells > 1 else 'has'} blanks around {'them' if p.cells > 1 else 'it'}"
    said += f", so that {p.merged:,} more categories are told apart than there are." if p.merged > 1 else (
        ", so that one category more is told apart than there is." if p.merged else "."
    )
    suggestion = Suggestion(kind="trim", column=name, values=("trim",), count=p.cells, said=said)
    return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, suggestion))


def _with_misfits(at: CellTable, t: Typed) -> Typed:
    """For a type that a person chose: how many values do not fit it, and how they are told."""
    test = f"{is_filled(at, t.column)} AND ({t.expression}) IS NULL"
    row = at.con.execute(f"SELECT count(*) FROM {at.name} WHERE {test}").fetchone()
    if not row or not row[0]:
        return t
    said = (
        f"{row[0]:,} value{'s' * (row[0] > 1)} of {t.column.name} did not fit the chosen type: missing in the table, "
        "and kept with their rows in the file of what was rejected."
    )
    return replace(t, notes=(*t.notes, said), misfits=int(row[0]), misfit_test=test)


def _with_odd(at: CellTable, t: Typed) -> Typed:
    """Text that is nearly all numbers or dates: name the few values that are in the way."""
    assert t.decision is not None
    text, patterns = trimmed(t.column), t.decision.nearly
    test = " OR ".join(f"({p.format(t=text)})" for p in patterns)
    rows = at.con.execute(
        f"SELECT {text}, count(*) FROM {at.name} WHERE {is_filled(at, t.column)} AND NOT ({test}) GROUP BY 1 "
        f"ORDER BY 2 DESC, 1 LIMIT {_MOST_ODD + 1}"
    ).fetchall()
    if not rows or len(rows) > _MOST_ODD:
        return t
    values, count = tuple(str(r[0]) for r in rows), sum(r[1] for r in rows)
    shown = ", ".join(v[:30] for v in values)
    said = f"{t.column.name} was kept as text because of {count:,} value{'s' * (count > 1)}: {shown}."
    suggestion = Suggestion(kind="missing", column=t.column.name, values=values, count=count, said=said)
    return replace(t, notes=(*t.notes, said), suggestions=(*t.suggestions, suggestion))


def _all_at_midnight(at: CellTable, typed: Sequence[Typed]) -> set[str]:
    """Raw names of timestamps without a time of day."""
    if not typed:
        return set()
    parts = [f"bool_and(CAST({t.expression} AS TIME) = TIME '00:00:00')" for t in typed]
    row = at.con.execute(f"SELECT {', '.join(parts)} FROM {at.name}").fetchone()
    never = {t.column.raw for t in typed if t.decision is not None and t.decision.forced == "timestamp"}
    return {t.column.raw for t, found in zip(typed, row or (), strict=True) if found} - never


def _refuted(at: CellTable, typed: Sequence[Typed]) -> set[str]:
    """Raw names of columns with a value somewhere that the proposed type does not hold."""
    refuted: set[str] = set()
    for start in range(0, len(typed), BATCH):
        batch = typed[start : start + BATCH]
        row = at.con.execute(f"SELECT {', '.join(_refutation(at, t) for t in batch)} FROM {at.name}").fetchone()
        assert row is not None
        refuted |= {t.column.raw for t, found in zip(batch, row, strict=True) if found}
    return refuted


def _refutation(at: CellTable, t: Typed) -> str:
    text = trimmed(t.column)
    zeros = f" OR regexp_full_match({text}, '{LEADING_ZERO}')" if t.type in ("BIGINT", "DOUBLE") else ""
    if t.type == "DOUBLE":
        zeros += f" OR {loses_digits(text)}"
    return f"bool_or({is_filled(at, t.column)} AND (({t.expression}) IS NULL{zeros}))"
