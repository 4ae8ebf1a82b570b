"""Files into tables: CSV and its kin, Parquet. Every line is read or counted as rejected, and kept in a file.

A reader gives back SQL that selects the typed rows in file order, from a connection that may read files. It runs only
in an ingest worker. Must never: drop a line, a column or a leading zero without a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lexsi_ds.data.dialect import Dialect, likely_width, sniff_dialect, unique_names
from lexsi_ds.data.infer import TextColumn, Typed, infer_columns
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.text_file import TextFile, prepare
from lexsi_ds.errors import BadInput


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
    """Query that gives them: line, reason, text."""


@dataclass(frozen=True)
class Raw:
    """A text file as it stands: all its cells as text in a scratch table, columns ``c0``, ``c1``, …"""

    table: str
    dialect: Dialect
    file: TextFile
    rejected: int
    rejects: str


def quoted(name: str) -> str:
    """``name`` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def read_text(
    con: duckdb.DuckDBPyConnection, path: Path, name: str, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Loaded:
    """Read a delimited text file and find its types."""
    raw = load_raw(con, path, scratch, limits, options)
    dialect = raw.dialect
    columns = [TextColumn(f"c{i}", column) for i, column in enumerate(dialect.columns)]
    typed = infer_columns(con, raw.table, columns, date_order=options.get("date_order"))
    kept, dropped = _without_blank_unnamed(con, raw.table, typed, dialect)
    notes = [*raw.file.notes, *dialect.notes, *(note for t in kept for note in t.notes)]
    if dropped:
        notes.append(f"{dropped} column{'s' * (dropped > 1)} with neither a name nor a value left out.")
    blank = _blank_rows(con, raw.table, len(columns))
    if blank:
        notes.append(f"{blank:,} row{'s have' if blank > 1 else ' has'} no value in any column.")
    if raw.rejected:
        notes.append(f"{raw.rejected:,} line{'s' * (raw.rejected > 1)} could not be read and stand in a file.")
    selected = ", ".join(f"{t.expression} AS {quoted(t.column.name)}" for t in kept)
    said = {"delimiter": dialect.delimiter, "quote": dialect.quote, "header": dialect.header}
    said |= {"encoding": raw.file.encoding, "skipped_lines": dialect.skip, "lines": raw.file.lines}
    return Loaded(
        name, f"SELECT {selected} FROM {raw.table}", said, tuple(notes), rejected=raw.rejected, rejects=raw.rejects
    )


def load_raw(
    con: duckdb.DuckDBPyConnection, path: Path, scratch: Path, limits: Limits, options: Mapping[str, Any]
) -> Raw:
    """Read every cell of a delimited text file as text. Raises BadInput when no line fits the header."""
    file = prepare(path, scratch, options.get("encoding"))
    check_width(path, likely_width(file), limits)
    dialect = sniff_dialect(con, file, path.suffix.lower(), options)
    check_width(path, len(dialect.columns), limits)
    table = scratch_name(con)
    rejected, swallowed = _load(con, file, dialect, dialect.quote, table)
    if swallowed and dialect.quote:
        again = scratch_name(con)
        fewer, _ = _load(con, file, dialect, "", again)
        if fewer < rejected:
            table, rejected = again, fewer
    rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    if rejected and rows is not None and rows[0] == 0:
        raise BadInput(
            f"No line could be read as {len(dialect.columns)} columns.",
            where=path.name,
            to_do="Check the delimiter and the quotes, or export the file again.",
        )
    return Raw(table, dialect, file, rejected, f"SELECT * FROM {table}_rejects ORDER BY line")


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


def scratch_name(con: duckdb.DuckDBPyConnection) -> str:
    """A name that no scratch table has."""
    row = con.execute("SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database()").fetchone()
    return f"raw_{row[0] if row is not None else 0}"


def _load(
    con: duckdb.DuckDBPyConnection, file: TextFile, dialect: Dialect, quote: str, table: str
) -> tuple[int, bool]:
    """Fill ``table`` and its ``_rejects``; returns rejected lines, and whether an open quote swallowed lines."""
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.columns)))
    escape = dialect.escape if quote else ""
    rejects = f"{table}_rejects"
    con.execute(
        f"""CREATE TABLE {table} AS SELECT * FROM read_csv({literal(str(file.path))}, auto_detect = false, header = false,
            columns = {{{columns}}}, delim = {literal(dialect.delimiter)}, quote = {literal(quote)},
            escape = {literal(escape)}, skip = {dialect.skip}, nullstr = '', null_padding = {dialect.padded},
            ignore_errors = true, store_rejects = true, rejects_table = '{rejects}_all',
            rejects_scan = '{rejects}_scan', rejects_limit = 0, parallel = {not dialect.padded})"""
    )
    con.execute(
        f"""CREATE TABLE {rejects} AS SELECT line, any_value(CAST(error_type AS VARCHAR)) AS reason,
            any_value(csv_line) AS text FROM {rejects}_all GROUP BY line, byte_position"""
    )
    row = con.execute(
        f"""SELECT coalesce(sum(1 + length(text) - length(replace(text, chr(10), ''))), 0),
            coalesce(bool_or(reason = 'UNQUOTED VALUE' AND contains(rtrim(text, chr(10)), chr(10))), false)
            FROM {rejects}"""
    ).fetchone()
    assert row is not None
    return int(row[0]), bool(row[1])


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


def _blank_rows(con: duckdb.DuckDBPyConnection, table: str, width: int) -> int:
    cells = ", ".join(f"c{i}" for i in range(width))
    row = con.execute(f"SELECT count(*) FROM {table} WHERE trim(concat({cells})) = ''").fetchone()
    return int(row[0]) if row is not None else 0
