"""Text files of a bucket in place: read by the plan that an import finds, and only where every row then comes out equal.

At the binding the files are read once as an import reads them, and compared. What differs is refused with its reason.
Must never: bind a text file of which a cell in place is not what a copy would hold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.connectors.bucket_names import url_list
from lexsi_ds.data.connectors.bucket_text import read_texts
from lexsi_ds.data.infer import Typed
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.raw_rows import literal, quoted, scratch_name
from lexsi_ds.errors import BadInput

COMPARED_MB = 64
LOAD_IT = "Load it instead: an import reads such files, and says what it did."
CHANGED = "lexsi: this text is not written any more as it was when it was bound"
NOT_COMPARED = (
    f"Larger than {COMPARED_MB} MB: read by DuckDB's own rules for text, which were not compared with those of an import. "
    "Load it instead if names, types or missing values look odd."
)


def is_compared(con: duckdb.DuckDBPyConnection, files: Sequence[str]) -> bool:
    """Whether the files are small enough to be compared."""
    row = con.execute(f"SELECT sum(size) FROM read_blob({url_list(files)})").fetchone()
    return row is None or (row[0] or 0) <= COMPARED_MB * 2**20


def bind_text(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], shown: str, limits: Limits
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a query in place needs to read the files as an import does, and its notes. Raises BadInput where it cannot."""
    with tempfile.TemporaryDirectory(prefix="bind-") as folder:
        loaded = read_texts(con, files, "csv", "look", Path(folder), limits, {})
        plan = _plan(loaded)
        differs = difference(con, loaded, planned_select({**plan, "files": list(files)})) if plan else _reason(loaded)
        if not differs:
            raw = scratch_name(con)
            con.execute(f"CREATE TEMP TABLE {raw} AS {_cells({**plan, 'files': list(files)}, '*')}")
            plan["parts"] = [[strict(con, raw, t), t.column.name] for t in loaded.typed]
    if differs:
        raise BadInput(f"In place this text would not read as an import reads it: {differs}.", where=shown[-120:], to_do=LOAD_IT)
    return plan, loaded.notes


def planned_select(relation: Mapping[str, Any]) -> str:
    """The SELECT on files that were bound by `bind_text`."""
    return _cells(relation, ", ".join(f"{expression} AS {quoted(name)}" for expression, name in relation["parts"]))


def _cells(relation: Mapping[str, Any], parts: str) -> str:
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(int(relation["width"])))
    padded = bool(relation["padded"])
    return (
        f"SELECT {parts} FROM read_csv({url_list([str(f) for f in relation['files']])}, auto_detect = false, header = false, "
        f"columns = {{{columns}}}, delim = {literal(relation['delimiter'])}, quote = {literal(relation['quote'])}, "
        f"escape = {literal(relation['escape'])}, skip = {int(relation['skip'])}, nullstr = '', "
        f"null_padding = {str(padded).lower()}, parallel = {str(not padded).lower()})"
    )


def _plan(loaded: Loaded) -> dict[str, Any]:
    """Empty when the rows are not those of the files as they stand."""
    said = loaded.options
    if not loaded.typed or said.get("cuts") is not None or not said.get("delimiter"):
        return {}
    quote = str(said.get("quote") or "")
    return {
        "delimiter": said["delimiter"], "quote": quote, "escape": str(said.get("escape") or "") if quote else "",
        "skip": said["skipped_lines"], "padded": said["padded"], "width": said["width"],
        "parts": [[t.expression, t.column.name] for t in loaded.typed],
    }  # fmt: skip


def strict(con: duckdb.DuckDBPyConnection, raw: str, typed: Typed) -> str:
    """The expression, with an error for a cell that has a value and became none, unless it was so when the file was bound."""
    expression, cell = typed.expression, typed.column.raw
    if typed.type == "VARCHAR":
        return expression
    found = con.execute(f"SELECT DISTINCT {cell} FROM {raw} WHERE {cell} IS NOT NULL AND ({expression}) IS NULL").fetchall()
    known = ", ".join(literal(row[0]) for row in found)
    other = f"{cell} IS NOT NULL" + (f" AND {cell} NOT IN ({known})" if known else "")
    said = f"error(concat({literal(CHANGED)}, left({cell}, 0)))"
    return f"CASE WHEN ({expression}) IS NULL AND {other} THEN CAST({said} AS {typed.type}) ELSE {expression} END"


def difference(con: duckdb.DuckDBPyConnection, loaded: Loaded, select: str) -> str:
    """What is not equal, in words; empty when all is."""
    copied, there = scratch_name(con), scratch_name(con)
    con.execute(f"CREATE TEMP TABLE {copied} AS {loaded.select}")
    try:
        con.execute(f"CREATE TEMP TABLE {there} AS {select}")
    except duckdb.Error:
        return _reason(loaded)
    if con.execute(f"DESCRIBE {copied}").fetchall() != con.execute(f"DESCRIBE {there}").fetchall():
        return _reason(loaded)
    counts = [con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in (copied, there)]
    if counts[0] != counts[1]:
        return f"{counts[1]:,} rows in place, {counts[0]:,} in an import ({_reason(loaded)})"
    other = con.execute(f"SELECT count(*) FROM (SELECT * FROM {copied} EXCEPT ALL SELECT * FROM {there})").fetchall()[0][0]
    return f"{other:,} row{'s' * (other != 1)} would differ ({_reason(loaded)})" if other else ""


def _reason(loaded: Loaded) -> str:
    """Why files as they stand are not the table."""
    encoding = str(loaded.options.get("encoding") or "utf-8")
    if not encoding.lower().replace("_", "-").startswith(("utf-8", "ascii")):
        return f"its encoding is {encoding}"
    if loaded.rejected or loaded.flagged:
        n = loaded.rejected or loaded.flagged
        return f"{n:,} line{'s do' if n != 1 else ' does'} not stand in the table as written"
    if loaded.options.get("format") == "json":
        return "its shape, or values of it, are not read by DuckDB's own rules as an import reads them"
    if not loaded.typed:
        return "its files differ in their columns, or in how they are written"
    return "lines or cells of it need to be set right first"
