"""Whole results as CSV for a spreadsheet: UTF-8, ISO dates, floats to six digits, no cell that starts a formula.

Must never: leave a row out, or change a plain number.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

_FORMULA = r"^[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_FLOATS = ("FLOAT", "DOUBLE")
_HARMLESS = ("DECIMAL", "DATE", "TIME", "BOOLEAN", "UUID", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U")


def quoted(name: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def csv_bytes(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[tuple[str, str]], rest: str, params: Sequence[Any],
    folder: Path,
) -> bytes:
    """``SELECT columns`` plus ``rest`` (from FROM on) as CSV with a header.

    ``columns`` are (name, DuckDB type); ``folder`` holds the file while it is written.
    """
    cells = ", ".join(f"{_cell(name, kind)} AS {quoted(_safe_header(name))}" for name, kind in columns)
    handle, name = tempfile.mkstemp(suffix=".csv", dir=folder)
    os.close(handle)
    path = Path(name)
    try:
        target = "'" + str(path).replace("'", "''") + "'"
        connection.execute(f"COPY (SELECT {cells} {rest}) TO {target} (FORMAT csv, HEADER true)", list(params))
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def _cell(name: str, kind: str) -> str:
    column = quoted(name)
    if kind in _FLOATS:
        small = f"CAST(printf('%.6g', {column}) AS DOUBLE)"
        six = f"CASE WHEN abs({column}) >= 0.001 THEN round({column}, 6) ELSE {small} END"
        return f"CASE WHEN isnan({column}) THEN NULL WHEN isinf({column}) THEN {column} ELSE {six} END"
    if kind.startswith("TIMESTAMP") and "TIME ZONE" not in kind:
        moment = f"CAST({column} AS TIMESTAMP)"
        day = f"strftime({moment}, '%Y-%m-%d')"  # dates come from pandas as midnights
        return f"CASE WHEN {moment} = date_trunc('day', {moment}) THEN {day} ELSE strftime({moment}, '%Y-%m-%dT%H:%M:%S') END"
    if kind.startswith(_HARMLESS) and not kind.endswith("]"):
        return column
    text = f"CAST({column} AS VARCHAR)"
    risky = f"regexp_matches({text}, '{_FORMULA}') AND NOT regexp_matches({text}, '{_NUMBER}')"
    return f"CASE WHEN {risky} THEN '''' || {text} ELSE {text} END"


def _safe_header(name: str) -> str:
    return "'" + name if name[:1] in "=+-@\t\r\n＝＋－＠" and name else name
