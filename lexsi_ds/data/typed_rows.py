"""A raw table, all text, into one with types: empty rows and nameless columns left out, and every reason kept for a person.

Must never: drop a row, a column or a cell without a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from lexsi_ds.data.below import settle_below
from lexsi_ds.data.dialect import Dialect, unique_names
from lexsi_ds.data.evidence import Hints
from lexsi_ds.data.found_plan import chosen_marks, column_plan, column_type, file_facts
from lexsi_ds.data.infer import TextColumn, Typed, infer_columns
from lexsi_ds.data.loaded import Loaded
from lexsi_ds.data.raw_rows import Raw, keep_cells, quoted, rejected_note
from lexsi_ds.data.sentinels import missing_notes, suggest_missing


def type_raw(
    con: duckdb.DuckDBPyConnection, name: str, raw: Raw, hints: Hints, options: Mapping[str, Any]
) -> Loaded:
    """Find the types of a raw table's columns, and what a person should know about them."""
    dialect = raw.dialect
    empty = _empty_rows(con, raw, options)
    unread = raw.rejected
    raw = settle_below(con, raw, options)
    notes = [*raw.file.notes, *dialect.notes, *raw.notes, *empty]
    columns = [TextColumn(f"c{i}", column) for i, column in enumerate(_chosen_names(dialect.columns, options))]
    typed = infer_columns(con, raw.table, columns, hints)
    kept, dropped = _without_blank_unnamed(con, raw.table, typed, dialect)
    kept, left_out = _included(kept, options)
    notes += [note for t in kept for note in t.notes]
    if dropped:
        if dropped == sum(dialect.unnamed):
            notes = [note for note in notes if "without a name got one" not in note]
        notes.append(f"{dropped} column{'s' * (dropped > 1)} with neither a name nor a value left out.")
    if left_out:
        notes.append(f"Left out by choice: {', '.join(left_out)}.")
    if unread:
        notes.append(rejected_note(unread))
    flagged = raw.flagged + keep_misfits(con, raw.table, kept)
    numbers = [(t.column.name, t.expression) for t in kept if t.type in ("BIGINT", "DOUBLE")]
    decided = {t.column.name for t in kept if hints.columns.get(t.column.raw, {}).get("missing")}
    suggested = [s for t in kept for s in t.suggestions]
    codes = suggest_missing(con, raw.table, numbers, tuple(decided)) if not hints.missing else []
    notes += missing_notes(codes)
    selected = ", ".join(f"{t.expression} AS {quoted(t.column.name)}" for t in kept)
    plans = tuple(column_plan(t, hints) for t in kept)
    said = file_facts(plans) | ({"missing": list(hints.missing)} if hints.missing else {})
    return Loaded(
        name, f"SELECT {selected} FROM {raw.table}", said, tuple(notes), rejected=raw.rejected, rejects=raw.rejects,
        flagged=flagged, columns=plans, suggestions=(*suggested, *codes), marks=chosen_marks(plans, options), typed=tuple(kept),
    )  # fmt: skip


def keep_misfits(con: duckdb.DuckDBPyConnection, table: str, typed: Sequence[Typed]) -> int:
    """Keep the cells that do not fit the type that a person chose; returns how many."""
    for t in typed:
        if t.misfits:
            reason = f"NO {column_type(t.type).upper()}: THE CELL IS MISSING IN THE TABLE"
            keep_cells(con, table, t.column.raw, t.column.name, t.misfit_test, reason)
    return sum(t.misfits for t in typed)


def _chosen_names(names: Sequence[str], options: Mapping[str, Any]) -> tuple[str, ...]:
    given = options.get("columns") or {}
    return unique_names([str(given.get(str(i), {}).get("name") or name) for i, name in enumerate(names)])[0]


def _included(typed: list[Typed], options: Mapping[str, Any]) -> tuple[list[Typed], list[str]]:
    given = options.get("columns") or {}
    out = {t.column.raw for t in typed if given.get(t.column.raw[1:], {}).get("include") is False}
    if len(out) == len(typed):
        return typed, []
    return [t for t in typed if t.column.raw not in out], [t.column.name for t in typed if t.column.raw in out]


def _without_blank_unnamed(
    con: duckdb.DuckDBPyConnection, table: str, typed: Sequence[Typed], dialect: Dialect
) -> tuple[list[Typed], int]:
    """Columns with a name or a value, and how many had neither."""
    nameless = [t for t, unnamed in zip(typed, dialect.unnamed, strict=True) if unnamed and t.type == "VARCHAR"]
    if not nameless or len(nameless) == len(typed):
        return list(typed), 0
    row = con.execute(f"SELECT {', '.join(f'count({t.expression})' for t in nameless)} FROM {table}").fetchone()
    assert row is not None
    empty = {t.column.raw for t, count in zip(nameless, row, strict=True) if count == 0}
    return [t for t in typed if t.column.raw not in empty], len(empty)


def _empty_rows(con: duckdb.DuckDBPyConnection, raw: Raw, options: Mapping[str, Any]) -> list[str]:
    """Leave out rows without a value in any column (of tables with several), unless they are to be kept; and say so."""
    width = len(raw.dialect.columns)
    cells = ", ".join(f"c{i}" for i in range(width))
    test = f"trim(coalesce(c0, '')) = '' AND trim(concat({cells}), ' \t\u00a0') = ''"
    row = con.execute(f"SELECT count(*) FROM {raw.table} WHERE {test}").fetchone()
    count = int(row[0]) if row is not None else 0
    if not count:
        return []
    if width == 1 or options.get("keep_empty_rows"):
        return [f"{count:,} row{'s have' if count > 1 else ' has'} no value in any column."]
    con.execute(f"DELETE FROM {raw.table} WHERE {test}")
    return [f"{count:,} empty row{'s' * (count > 1)} (no value in any column) left out."]
