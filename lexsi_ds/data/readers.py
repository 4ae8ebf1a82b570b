"""Files into tables: CSV and its kin, Parquet, results. Every line is read or counted as rejected, and kept in a file.

A reader gives back SQL that selects the typed rows in file order, from a connection that may read files. It runs only
in an ingest worker. Must never: drop a line, a column or a leading zero without a note.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lexsi_ds.data import several
from lexsi_ds.data.dialect import likely_width, marks_of, sniff_dialect, unique_names
from lexsi_ds.data.evidence import Hints
from lexsi_ds.data.fixed_width import DELIMITER, cut_by_blanks, likely_fixed
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.raw_rows import Raw, literal, load_rows, quoted
from lexsi_ds.data.text_file import prepare
from lexsi_ds.data.typed_rows import type_raw
from lexsi_ds.data.wide_decimals import copy_exactly, wide_columns
from lexsi_ds.errors import BadInput

_FIXED_SUFFIXES = (".txt", ".dat", ".asc", ".prn", "")
_MAY_BE_FIXED = (
    "All lines are equally long: if they are columns of fixed width, say at which characters the columns begin (cuts), "
    "or export the file with a delimiter."
)


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
        "above": len(dialect.above),
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
    notes += _numbered_by_duckdb(path, [row[0] for row in described])
    if wide_columns(con, [str(path)]):
        table, values, said = copy_exactly(con, path, names)
        chosen = ", ".join(f"{value} AS {quoted(new)}" for value, new in zip(values, names, strict=True))
        return Loaded(name, f"SELECT {chosen} FROM {table}", {"format": "parquet"}, (*notes, *said))
    selected = ", ".join(f"{quoted(row[0])} AS {quoted(new)}" for row, new in zip(described, names, strict=True))
    return Loaded(name, f"SELECT {selected} FROM {source}", {"format": "parquet"}, tuple(notes))


def _numbered_by_duckdb(path: Path, names: Sequence[str]) -> list[str]:
    """A note on names that come twice in the file, which DuckDB numbers without a word."""
    with contextlib.suppress(OSError, pa.ArrowException):
        there = pq.read_schema(str(path)).names
        changed = [new for old, new in zip(there, names, strict=False) if old != new]
        if changed:
            return [f"Column names that came twice were numbered: {', '.join(changed[:5])}{', …' if len(changed) > 5 else ''}."]
    return []


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


