"""The keys that a SQLite file declares, as they are kept with a table: ``{"primary": [..], "foreign": [{"columns", "table",
"to"}]}`` in the file's own names. Read in an ingest worker, beside the data.

Must never: keep a table from being read; a file whose declarations cannot be read simply has none.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any


def sqlite_keys(path: Path, table: str) -> dict[str, Any]:
    """What is declared of a table or view."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return {"primary": _primary(db, table), "foreign": _foreign(db, table)}
    except sqlite3.Error:
        return {}


def _primary(db: sqlite3.Connection, table: str) -> list[str]:
    rows = db.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [table]).fetchall()
    return [str(name) for (name,) in rows]


def _foreign(db: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    rows = db.execute('SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', [table])
    for number, parent, column, to in rows.fetchall():
        one = found.setdefault(number, {"columns": [], "table": str(parent), "to": []})
        one["columns"].append(str(column))
        if to is not None:
            one["to"].append(str(to))
    for one in found.values():  # without columns it means the parent's primary key
        one["to"] = one["to"] or _primary(db, one["table"])
    return list(found.values())
