"""JSON files of a bucket in place: read by the keys and types that an import finds, and only where every row comes out equal.

Must never: bind a JSON file of which a cell in place is not what a copy would hold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.connectors.bucket_bind import LOAD_IT, difference, strict
from lexsi_ds.data.connectors.bucket_names import url_list
from lexsi_ds.data.connectors.bucket_text import read_texts
from lexsi_ds.data.json_files import json_cells
from lexsi_ds.data.loaded import Limits
from lexsi_ds.data.raw_rows import literal, quoted, scratch_name
from lexsi_ds.errors import BadInput


def bind_json(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], shown: str, limits: Limits
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a query in place needs to read the files as an import does, and its notes. Raises BadInput where it cannot."""
    with tempfile.TemporaryDirectory(prefix="bind-") as folder:
        loaded = read_texts(con, files, "json", "look", Path(folder), limits, {})
        plan: dict[str, Any] = {"files": list(files)}
        if loaded.typed:
            plan["paths"] = loaded.options["paths"]
            plan["parts"] = [[t.expression, t.column.name] for t in loaded.typed]
        else:
            plan["types"] = described_json(con, files)
        differs = difference(con, loaded, json_select(plan))
        if not differs and loaded.typed:
            raw = scratch_name(con)
            con.execute(f"CREATE TEMP TABLE {raw} AS {_cells(plan)}")
            plan["parts"] = [[strict(con, raw, t), t.column.name] for t in loaded.typed]
    if differs:
        raise BadInput(f"In place this JSON would not read as an import reads it: {differs}.", where=shown[-120:], to_do=LOAD_IT)
    return plan, loaded.notes


def described_json(con: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[list[str]]:
    """Columns as DuckDB itself finds them, in their order: objects are sorted on their way."""
    rows = con.execute(f"DESCRIBE SELECT * FROM read_json({url_list(files)}, union_by_name = true)").fetchall()
    return [[row[0], row[1]] for row in rows]


def json_select(relation: Mapping[str, Any]) -> str:
    """The SELECT on JSON files that were bound."""
    if "parts" in relation:
        parts = ", ".join(f"{expression} AS {quoted(name)}" for expression, name in relation["parts"])
        return f"SELECT {parts} FROM ({_cells(relation)})"
    types = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in relation["types"])
    files = url_list([str(f) for f in relation["files"]])
    return f"SELECT * FROM read_json({files}, auto_detect = false, format = 'auto', columns = {{{types}}})"


def _cells(relation: Mapping[str, Any]) -> str:
    paths = [tuple(str(key) for key in path) for path in relation["paths"]]
    files = url_list([str(f) for f in relation["files"]])
    source = f"read_json_objects({files}, format = 'auto')"  # objects of up to 16 MB: a query's worker has little memory
    return f"SELECT {json_cells(paths)} FROM (SELECT json AS j FROM {source})"
