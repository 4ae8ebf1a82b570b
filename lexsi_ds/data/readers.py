"""Files into tables: CSV and its kin, Parquet, results. Every line is read or counted as rejected, and kept in a file.

A reader gives back SQL that selects the typed rows in file order, from a connection that may read files. It runs only
in an ingest worker. Must never: drop a line, a column or a leading zero without a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lexsi_ds.data import several
from lexsi_ds.data.below import settle_below
from lexsi_ds.data.decide import Hints
from lexsi_ds.data.dialect import Dialect, likely_width, marks_of, sniff_dialect, unique_names
from lexsi_ds.data.fixed_width import DELIMITER, cut_by_blanks, likely_fixed
from lexsi_ds.data.infer import TextColumn, Typed, infer_columns
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.plan import FILE_FIELDS, ColumnPlan, ColumnType, ReadPlan, Suggestion
from lexsi_ds.data.profile import Counts
from lexsi_ds.data.raw_rows import Raw, keep_cells, literal, load_rows, quoted, rejected_note, scratch_name
from lexsi_ds.data.sentinels import missing_notes, suggest_missing
from lexsi_ds.data.text_file import prepare
from lexsi_ds.errors import BadInput

__all__ = [
    "Limits", "Loaded", "Raw", "check_width", "chosen_marks", "column_type", "hints_of", "keep_misfits", "literal", "load_raw",
    "load_rows", "plan_of", "quoted", "read_arrow", "read_parquet", "read_text", "scratch_name", "text_parts", "type_raw",
]  # fmt: skip
_FIXED_SUFFIXES = (".txt", ".dat", ".asc", ".prn", "")
_MAY_BE_FIXED = (
    "All lines are equally long: if they are columns of fixed width, say at which characters the columns begin (cuts), "
    "or export the file with a delimiter."
)
_TYPES: dict[str, ColumnType] = {
    "VARCHAR": "text", "BIGINT": "integer", "DOUBLE": "decimal", "DATE": "date", "TIMESTAMP": "timestamp",
    "BOOLEAN": "boolean", "INTEGER": "integer", "SMALLINT": "integer", "FLOAT": "decimal", "HUGEINT": "integer",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What a reader refuses to pass."""

    max_columns: int


@dataclass(frozen=True)
class Loaded:
    """A table that is ready to be written: ``select`` gives its rows, in order."""

    name: str
    select: str
    options: dict[str, Any] = field(default_factory=dict)
    """How the file was read: delimiter, encoding, decimal mark."""
    notes: tuple[str, ...] = ()
    comment: str | None = None
    comments: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Marks] | None = None
    rejected: int = 0
    """Lines that could not be read."""
    rejects: str | None = None
    """Query that gives them: line, reason, text, row, column."""
    flagged: int = 0
    """What it gives beyond the lines: cells that are missing in the table, and lines that were filled up."""
    columns: tuple[ColumnPlan, ...] = ()
    """What was found about each column; empty when the file itself says its types."""
    suggestions: tuple[Suggestion, ...] = ()
    typed: tuple[Typed, ...] = ()
    """How each column of a text file is made."""
    check: Callable[[str, Sequence[Counts]], bool] | None = None
    """Whether the rows, once written to the table named and counted, contradict what was assumed of them."""
    instead: Callable[[], Loaded] | None = None
    """How to read them when they do, or when writing fails."""


def read_text(
    con: duckdb.DuckDBPyConnection, path: Path, name: str, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Loaded:
    """Read a delimited text file and find its types."""
    raw = load_raw(con, path, scratch, limits, options)
    hints = hints_of(options, raw.dialect.delimiter)
    made = type_raw(con, name, raw, hints, options)
    dialect = raw.dialect
    mark = dialect.delimiter if raw.cuts is None else None if raw.cuts else " "
    said = {
        "format": "text", "delimiter": mark, "quote": dialect.quote, "escape": dialect.escape, "header": dialect.header,
        "header_lines": list(dialect.header_lines), "encoding": raw.file.encoding, "width": len(dialect.columns),
        "padded": dialect.padded, "cuts": list(raw.cuts) if raw.cuts is not None else None,
        "skipped_lines": dialect.skip, "skip": dialect.first_line - 1, "lines": raw.file.lines,
    }  # fmt: skip
    return replace(made, options=said | made.options)


def text_parts(path: Path, scratch: Path, options: Mapping[str, Any]) -> list[Path]:
    """The file itself, or a file for each of the tables that stand under each other in it, in its encoding."""
    if path.stat().st_size > several.MOST_BYTES:
        return [path]
    file = prepare(path, scratch, options.get("encoding"))
    text = several.read_small(file.path, "utf-8-sig")
    if text is None or "\n" not in text.strip():
        return [path]
    delimiter, quote, escape = marks_of(file, path.suffix.lower(), options)
    texts = several.split_tables(text.replace("\r\n", "\n"), delimiter, quote, slashed=escape == "\\" and bool(quote))
    parts = [path]
    if len(texts) > 1:
        folder = scratch / f"tables_{len(list(scratch.glob('tables_*')))}"
        folder.mkdir()
        parts = [folder / f"{number}{path.suffix}" for number in range(len(texts))]
        try:
            for part, content in zip(parts, texts, strict=True):
                part.write_text(content, encoding=file.encoding, newline="\n")
        except UnicodeEncodeError:
            return [path]
    return parts


def hints_of(options: Mapping[str, Any], delimiter: str | None, *, codes_in_text: bool = True) -> Hints:
    """What a person chose, for the finding of types."""
    columns = {f"c{position}": dict(given) for position, given in (options.get("columns") or {}).items()}
    return Hints(
        delimiter, options.get("decimal"), options.get("thousands"), options.get("date_order"),
        tuple(options.get("missing") or ()), columns, codes_in_text,
    )  # fmt: skip


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
    plans = tuple(_column_plan(t, hints) for t in kept)
    said = _file_facts(plans) | ({"missing": list(hints.missing)} if hints.missing else {})
    return Loaded(
        name, f"SELECT {selected} FROM {raw.table}", said, tuple(notes), rejected=raw.rejected, rejects=raw.rejects,
        flagged=flagged, columns=plans, suggestions=(*suggested, *codes), marks=chosen_marks(plans, options), typed=tuple(kept),
    )  # fmt: skip


def load_raw(
    con: duckdb.DuckDBPyConnection, path: Path, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Raw:
    """Read every cell of a delimited text file as text. Raises BadInput when no line fits the header."""
    file = prepare(path, scratch, options.get("encoding"))
    check_width(path, likely_width(file), limits)
    dialect = sniff_dialect(file, path.suffix.lower(), options)
    blanks = len(dialect.columns) == 1 if "delimiter" not in options else options["delimiter"] in (" ", "space")
    cut = cut_by_blanks(file, scratch, options) if blanks or options.get("cuts") else None
    if cut is not None:
        dialect = sniff_dialect(cut.file, path.suffix.lower(), dict(options) | {"delimiter": DELIMITER, "quote": ""})
        file = cut.file
    elif blanks and path.suffix.lower() in _FIXED_SUFFIXES and likely_fixed(file):
        dialect = replace(dialect, notes=(*dialect.notes, _MAY_BE_FIXED))
    check_width(path, len(dialect.columns), limits)
    raw = load_rows(con, path, file, dialect, scratch)
    return replace(raw, cuts=cut.cuts) if cut is not None else raw


def check_width(path: Path, columns: int, limits: Limits) -> None:
    """Raise BadInput for a table with too many columns."""
    if columns > limits.max_columns:
        raise BadInput(
            f"This table has {columns:,} columns; at most {limits.max_columns:,} can be imported.",
            where=path.name,
            to_do="Leave out columns, or raise LEXSI_DS_MAX_COLUMNS.",
        )


def read_parquet(con: duckdb.DuckDBPyConnection, path: Path, name: str, limits: Limits) -> Loaded:
    """Read a Parquet file with its own types."""
    source = f"read_parquet({literal(str(path))})"
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    except duckdb.Error as error:
        raise BadInput(
            "This Parquet file cannot be read.", where=path.name, to_do="Check that it was written completely."
        ) from error
    check_width(path, len(described), limits)
    names, notes = unique_names([row[0] for row in described])
    selected = ", ".join(f"{quoted(row[0])} AS {quoted(new)}" for row, new in zip(described, names, strict=True))
    return Loaded(name, f"SELECT {selected} FROM {source}", {"format": "parquet"}, tuple(notes))


def read_arrow(
    con: duckdb.DuckDBPyConnection, path: Path, name: str, marks: Mapping[str, Mapping[str, bool]]
) -> Loaded:
    """A result's Arrow stream file, as our own workers write it. ``marks`` by column name, whatever the case."""
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
            table = reader.read_all()
    except (OSError, pa.ArrowException) as error:
        raise BadInput("This result is not there any more.", where=path.name, to_do="Run the question again.") from error
    names, notes = unique_names(table.column_names)
    con.register("_result", table.rename_columns(list(names)))
    known = {column.casefold(): Marks(**given) for column, given in marks.items()}
    marked = {column: known[column.casefold()] for column in names if column.casefold() in known}
    return Loaded(name, "SELECT * FROM _result", {"format": "result"}, tuple(notes), marks=marked)


def plan_of(loaded: Loaded, path: Path, member: str | None, options: Mapping[str, Any]) -> ReadPlan:
    """What was found, as a plan; ``options`` are what a person had set before."""
    known = {k: v for k, v in loaded.options.items() if (k in FILE_FIELDS or k == "format") and v is not None}
    chosen = tuple(k for k in options if k in FILE_FIELDS)
    given = {k: options[k] for k in chosen}
    if not known.get("format"):
        known["format"] = "text"
    return ReadPlan(
        **(known | given), path=path, member=member, table=loaded.name, columns=loaded.columns, notes=loaded.notes,
        suggestions=loaded.suggestions, rejected=loaded.rejected, flagged=loaded.flagged, chosen=chosen,
    )  # fmt: skip


def chosen_marks(plans: Sequence[ColumnPlan], options: Mapping[str, Any]) -> dict[str, Marks] | None:
    """Marks that a person set, by column name."""
    made: dict[str, Marks] = {}
    for plan in plans:
        given = (options.get("columns") or {}).get(str(plan.position), {})
        if {"protected", "masked", "identifier"} & set(given):
            made[plan.name] = Marks(
                bool(given.get("protected")), bool(given.get("identifier")), bool(given.get("masked"))
            )
    return made or None


def column_type(sql_type: str) -> ColumnType:
    """The plain word for a DuckDB type."""
    decimal = sql_type.startswith("DECIMAL") and not sql_type.endswith("]")
    return _TYPES.get(sql_type, "decimal" if decimal else "other")


def _column_plan(t: Typed, hints: Hints) -> ColumnPlan:
    d = t.decision
    given = hints.columns.get(t.column.raw, {})
    style = d.style if d is not None and t.type in ("DOUBLE", "BIGINT") else None
    return ColumnPlan(
        position=int(t.column.raw[1:]), name=t.column.name, type=column_type(t.type), sql_type=t.type,
        decimal=style.decimal if style is not None and t.type == "DOUBLE" else None,
        thousands=(style.thousands or None) if style is not None else None,
        date_order="mdy" if d is not None and d.date_order == "mdy" else "dmy" if d is not None and d.date_order else None,
        missing=t.missing, notes=t.notes, chosen=tuple(given),
        **{k: v for k, v in given.items() if k in ("protected", "masked", "identifier", "include")},
    )  # fmt: skip


def _file_facts(plans: Sequence[ColumnPlan]) -> dict[str, Any]:
    """Decimal mark, thousands mark and date order of the file, where its columns agree."""
    made: dict[str, Any] = {}
    for name in ("decimal", "thousands", "date_order"):
        found = {getattr(p, name) for p in plans} - {None}
        if len(found) == 1:
            made[name] = found.pop()
    return made


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
