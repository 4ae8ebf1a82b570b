"""SQLite files into tables, through DuckDB's scanner, which is loaded by path from its wheel.

A loaded scanner reads any SQLite file, even past a locked configuration, so it is loaded only in an ingest worker.
Must never: be imported by the shared query worker, or download the extension.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sqlite3
from pathlib import Path

import duckdb

from lexsi_ds.data.declared_keys import sqlite_keys
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.evidence import Hints
from lexsi_ds.data.infer import TextColumn, infer_columns
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import literal, quoted, scratch_name
from lexsi_ds.data.sniff import free_name
from lexsi_ds.data.sqlite_rows import copy_rows, open_sqlite
from lexsi_ds.errors import BadInput, LexsiError

_PACKAGE = "duckdb_extension_sqlite_scanner"


def extension_path() -> Path:
    """The scanner's file in its wheel. Raises LexsiError when it is not there for this DuckDB."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    for folder in folders:
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / "sqlite_scanner.duckdb_extension"
        if path.is_file():
            return path
    raise LexsiError(
        "SQLite files cannot be read here: the scanner for this DuckDB is not installed.",
        where=f"duckdb {duckdb.__version__}",
        to_do="Install duckdb-extension-sqlite-scanner of the same version.",
    )


def read_sqlite(
    con: duckdb.DuckDBPyConnection, path: Path, limits: Limits, taken: set[str], *, only: str | None = None
) -> list[Loaded]:
    """Every table and view of a SQLite file, or one. Names stay as they are; one that is ``taken`` is numbered."""
    con.execute(f"LOAD {literal(str(extension_path()))}")
    names = [name for name in _table_names(con, path) if only in (None, name)]
    if not names:
        raise BadInput("This SQLite file has no table.", where=path.name, to_do="Choose another file.")
    return [_read_table(con, path, name, free_name(name, taken), limits) for name in names]


def read_sqlite_file(
    con: duckdb.DuckDBPyConnection, path: Path, shown: str, limits: Limits, taken: set[str]
) -> tuple[list[Loaded], list[str]]:
    """Every table and view that can be read, and notes on those that cannot. Raises BadInput when none can."""
    con.execute(f"LOAD {literal(str(extension_path()))}")
    names = _table_names(con, path)
    if not names:
        raise BadInput("This SQLite file has no table.", where=path.name, to_do="Choose another file.")
    made: list[Loaded] = []
    errors: list[BadInput] = []
    for name in names:
        try:
            made.append(_read_table(con, path, name, free_name(name, taken), limits))
        except BadInput as error:
            errors.append(error)
    if not made:
        raise errors[0]
    return made, [f"Left out of {shown}, as it cannot be read: {error}" for error in errors]


def _table_names(con: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    try:
        rows = con.execute(f"SELECT type, name FROM sqlite_scan({literal(str(path))}, 'sqlite_master')").fetchall()
    except duckdb.Error as error:
        raise BadInput(
            "This SQLite file cannot be read.", where=path.name, to_do="Check that it is whole and not encrypted."
        ) from error
    return [name for kind, name in rows if kind in ("table", "view") and not name.startswith("sqlite_")]


def _read_table(
    con: duckdb.DuckDBPyConnection, path: Path, source: str, name: str, limits: Limits
) -> Loaded:
    """Copy one table into scratch; columns that SQLite holds as text are typed as those of a text file are."""
    table = scratch_name(con)
    scan = f"sqlite_scan({literal(str(path))}, {literal(source)})"
    notes: list[str] = []
    try:
        if _undeclared(path, source):
            _copy_as_text(con, scan, table)
        else:
            con.execute(f"CREATE TABLE {table} AS SELECT * FROM {scan}")
    except duckdb.Error:
        notes += _copied_otherwise(con, path, scan, table, source)
    except sqlite3.Error as error:
        raise _unreadable(path, source) from error
    described = con.execute(f"DESCRIBE {table}").fetchall()
    check_width(path, len(described), limits)
    names, said = unique_names([row[0] for row in described])
    columns = [TextColumn(row[0], new) for row, new in zip(described, names, strict=True)]
    texts = [c for c, row in zip(columns, described, strict=True) if row[1] == "VARCHAR"]
    hints = Hints(texts=_declared_texts(path, source))
    typed = {t.column.raw: t for t in infer_columns(con, table, texts, hints)} if texts else {}
    parts = [
        f"{typed[c.raw].expression if c.raw in typed else quoted(c.raw)} AS {quoted(c.name)}" for c in columns
    ]
    notes += [*said, *(note for t in typed.values() for note in t.notes)]
    select = f"SELECT {', '.join(parts)} FROM {table}"
    options = {"format": "sqlite", "table": source, "keys": sqlite_keys(path, source)}
    suggestions = tuple(s for t in typed.values() for s in t.suggestions)
    return Loaded(name, select, options, tuple(notes), suggestions=suggestions)


def _declared_texts(path: Path, source: str) -> frozenset[str]:
    """Columns declared as text: SQLite itself goes by these parts of a type's name."""
    with contextlib.closing(open_sqlite(path)) as db:
        rows = db.execute("SELECT name, upper(type) FROM pragma_table_info(?)", [source]).fetchall()
    return frozenset(name for name, kind in rows if any(part in kind for part in ("CHAR", "CLOB", "TEXT")) and "INT" not in kind)


def _undeclared(path: Path, source: str) -> bool:
    """Whether a column has no declared type, as those that a view computes: the scanner takes them for bytes."""
    with contextlib.closing(open_sqlite(path)) as db:
        return any(not row[0] for row in db.execute("SELECT type FROM pragma_table_info(?)", [source]))


def _copy_as_text(con: duckdb.DuckDBPyConnection, scan: str, table: str) -> None:
    con.execute("SET sqlite_all_varchar = true")
    try:
        con.execute(f"CREATE TABLE {table} AS SELECT * FROM {scan}")
    finally:
        con.execute("SET sqlite_all_varchar = false")


def _copied_otherwise(con: duckdb.DuckDBPyConnection, path: Path, scan: str, table: str, source: str) -> list[str]:
    """A table of which the scanner refuses a value: as text, else row by row; returns what is to be said."""
    with contextlib.suppress(duckdb.Error):
        _copy_as_text(con, scan, table)
        return ["Some values are not of their column's declared type; all types were found from the values."]
    try:
        return copy_rows(con, path, source, table)
    except (sqlite3.Error, duckdb.Error, UnicodeDecodeError) as error:
        raise _unreadable(path, source) from error


def _unreadable(path: Path, source: str) -> BadInput:
    what = "A table of this SQLite file cannot be read."
    return BadInput(what, where=f"{path.name}: {source}", to_do="Export it as CSV, or repair what it refers to.")
