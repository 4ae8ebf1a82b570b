"""A SQLite table read row by row through Python's own module, for tables that DuckDB's scanner refuses.

A column of bytes alone stays bytes; all else comes over as text, to be typed from its values as text is. Must never: lose a
row for one odd value, or change a letter without saying so.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lexsi_ds.data.raw_rows import quoted

_BATCH = 20_000


@dataclass
class _Odd:
    """What could not come over as it stands."""

    texts: int = 0
    bytes: int = 0


def open_sqlite(path: Path) -> sqlite3.Connection:
    """The file, read-only."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def copy_rows(con: duckdb.DuckDBPyConnection, path: Path, source: str, table: str) -> list[str]:
    """Copy ``source`` into the scratch table ``table``; returns what is to be said of it. Raises sqlite3.Error."""
    with contextlib.closing(open_sqlite(path)) as db:
        db.text_factory = bytes
        asked = quoted(source)
        names = [row[0].decode() for row in db.execute("SELECT name FROM pragma_table_info(?)", [source])]
        kinds = ", ".join(f"total(typeof({quoted(n)}) = 'blob') > 0 AND total(typeof({quoted(n)}) NOT IN ('blob', 'null')) = 0"
                          for n in names)  # fmt: skip
        blobs = [bool(found) for found in db.execute(f"SELECT {kinds} FROM {asked}").fetchone()]
        columns = ", ".join(f"c{i} {'BLOB' if blob else 'VARCHAR'}" for i, blob in enumerate(blobs))
        con.execute(f"CREATE OR REPLACE TABLE {table} ({columns})")
        schema = pa.schema([(f"c{i}", pa.binary() if blob else pa.string()) for i, blob in enumerate(blobs)])
        kept = [_kept(db, source, name, blob) for name, blob in zip(names, blobs, strict=True)]
        odd = _Odd()
        rows = db.execute(f"SELECT {', '.join(kept)} FROM {asked}")
        while batch := rows.fetchmany(_BATCH):
            cells = zip(zip(*batch, strict=True), blobs, strict=True)
            made = [[v if blob else _text(v, odd) for v in column] for column, blob in cells]
            con.register("_sqlite_rows", pa.table(made, schema=schema))
            con.execute(f"INSERT INTO {table} SELECT * FROM _sqlite_rows")
            con.unregister("_sqlite_rows")
    for i, name in enumerate(names):
        con.execute(f"ALTER TABLE {table} RENAME COLUMN c{i} TO {quoted(name)}")
    notes = ["Some values are not of their column's declared type; all types were found from the values."]
    if odd.texts:
        notes.append(f"{odd.texts:,} text{'s are' if odd.texts > 1 else ' is'} no UTF-8; what cannot be read in it is shown as �.")
    if odd.bytes:
        notes.append(f"{odd.bytes:,} value{'s' * (odd.bytes > 1)} of bytes among other values came over as hexadecimal text.")
    return notes


def _kept(db: sqlite3.Connection, source: str, name: str, blob: bool) -> str:
    """A column; one that holds texts and bytes has its bytes marked, as both arrive as bytes."""
    column = quoted(name)
    if blob:
        return column
    mixed = db.execute(f"SELECT 1 FROM {quoted(source)} WHERE typeof({column}) = 'blob' LIMIT 1").fetchone()
    return f"CASE WHEN typeof({column}) = 'blob' THEN 'x''' || hex({column}) || '''' ELSE {column} END" if mixed else column


def _text(value: Any, odd: _Odd) -> str | None:
    if value is None:
        return None
    if not isinstance(value, bytes):
        return repr(value)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        odd.texts += 1
        return value.decode(errors="replace")
    odd.bytes += text.startswith("x'") and text.endswith("'")
    return text
