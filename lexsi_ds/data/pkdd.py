"""The real PKDD'99 bank from a folder of its text files, in the same shape as the demo bank.

Two-digit years are 19xx; a month above 50 is a woman's; ``?`` and blanks are missing. What is there is imported, and
what is missing is said. Must never: turn 1911 into 2011, or lose a row that a date would not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.bank_schema import TABLES, BankColumn, BankTable
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.marks import Marks
from lexsi_ds.data.raw_rows import Raw, quoted, rejected_note
from lexsi_ds.data.readers import load_raw
from lexsi_ds.data.sniff import bank_files
from lexsi_ds.errors import BadInput

_OTHER_NAMES = {("district", "district_id"): "a1"}
_FROM_BIRTH_NUMBER = ("gender", "birth_date")


def read_bank(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], scratch: Path, limits: Limits
) -> tuple[list[Loaded], list[str]]:
    """The tables found in ``paths`` (a folder, or its files), and the names of those that are missing."""
    where = ", ".join(str(p) for p in paths)[:200]
    if not all(path.exists() for path in paths):
        raise BadInput("There is no such folder.", where=where, to_do="Choose the folder that holds loan.asc.")
    found = bank_files(paths)
    if not found:
        raise BadInput(
            "None of the bank's tables is in this folder.",
            where=where,
            to_do="It should hold files such as account.asc, loan.asc and trans.asc.",
        )
    tables = [_read(con, table, found[table.name], scratch, limits) for table in TABLES if table.name in found]
    return tables, [table.name for table in TABLES if table.name not in found]


def bank_marks(table: BankTable) -> dict[str, Marks]:
    """The marks of a bank table's columns; they are known, not guessed."""
    return {
        c.name: Marks(protected=c.mark == "protected", identifier=c.mark == "identifier", masked=c.mark == "masked")
        for c in table.columns
    }


def bank_comments(table: BankTable) -> dict[str, str]:
    """What each column means."""
    return {c.name: c.comment for c in table.columns}


def _read(con: duckdb.DuckDBPyConnection, table: BankTable, path: Path, scratch: Path, limits: Limits) -> Loaded:
    raw = load_raw(con, path, scratch, limits, {"header": True})
    cells = {name.strip().casefold(): f"c{i}" for i, name in enumerate(raw.dialect.columns)}
    expressions = {column.name: _expression(table, column, cells) for column in table.columns}
    absent = [name for name, made in expressions.items() if made is None]
    if len(absent) > len(table.columns) // 2:
        raise BadInput(
            f"This file does not have the columns of the bank's table {table.name}.",
            where=path.name,
            to_do=f"Its first line should name {', '.join(table.names[:4])} and so on.",
        )
    notes = [*raw.file.notes, *raw.dialect.notes, *_lost(con, raw, table, cells, expressions)]
    if absent:
        notes.append(f"Not in the file, so missing in every row: {', '.join(absent)}.")
    if path.stem.casefold() != table.name:
        notes.append(f"{path.name} was taken for the table {table.name}; it may be a part of it.")
    if raw.rejected:
        notes.append(rejected_note(raw.rejected))
    parts = [f"CAST({expressions[c.name] or 'NULL'} AS {c.type}) AS {quoted(c.name)}" for c in table.columns]
    said: dict[str, Any] = {"delimiter": raw.dialect.delimiter, "encoding": raw.file.encoding, "file": path.name}
    return Loaded(
        table.name,
        f"SELECT {', '.join(parts)} FROM {raw.table}",
        said,
        tuple(notes),
        comment=table.comment,
        comments=bank_comments(table),
        marks=bank_marks(table),
        rejected=raw.rejected,
        rejects=raw.rejects,
    )


def _expression(table: BankTable, column: BankColumn, cells: dict[str, str]) -> str | None:
    """SQL that makes a column from the raw cells; None when the file does not have it."""
    cell = cells.get(column.name.casefold()) or cells.get(_OTHER_NAMES.get((table.name, column.name), ""))
    if cell is None and table.name == "client" and column.name in _FROM_BIRTH_NUMBER and "birth_number" in cells:
        return _from_birth_number(column.name, _text(cells["birth_number"]))
    if cell is None:
        return None
    value = _text(cell)
    if column.type == "DATE":
        return _date(value)
    if column.type == "VARCHAR":
        return value
    return f"try_cast({value} AS {column.type})"


def _text(cell: str) -> str:
    """The cell without blanks around it; blank and ``?`` are missing."""
    return f"nullif(nullif(trim({cell}), ''), '?')"


def _date(value: str) -> str:
    """YYMMDD with or without a time, always 19xx; ISO dates as they are."""
    return (
        f"CASE WHEN regexp_matches({value}, '^\\d{{6}}( |$)') "
        f"THEN CAST(try_strptime('19' || left({value}, 6), '%Y%m%d') AS DATE) "
        f"ELSE CAST(try_cast({value} AS TIMESTAMP) AS DATE) END"
    )


def _from_birth_number(name: str, value: str) -> str:
    month = f"CAST(substr({value}, 3, 2) AS INTEGER)"
    six = f"regexp_matches({value}, '^\\d{{6}}')"
    if name == "gender":
        return f"CASE WHEN {six} THEN CASE WHEN {month} > 50 THEN 'F' ELSE 'M' END END"
    man = f"lpad(CAST({month} % 50 AS VARCHAR), 2, '0')"
    made = f"'19' || left({value}, 2) || {man} || substr({value}, 5, 2)"
    return f"CASE WHEN {six} THEN CAST(try_strptime({made}, '%Y%m%d') AS DATE) END"


def _lost(
    con: duckdb.DuckDBPyConnection, raw: Raw, table: BankTable, cells: dict[str, str], made: dict[str, str | None]
) -> list[str]:
    """Sentences about values that are there but do not fit their column."""
    checks = []
    for column in table.columns:
        cell = cells.get(column.name.casefold()) or cells.get(_OTHER_NAMES.get((table.name, column.name), ""))
        cell = cell or (cells.get("birth_number") if column.name in _FROM_BIRTH_NUMBER else None)
        expression = made[column.name]
        if cell is not None and expression is not None and (column.type != "VARCHAR" or column.name == "gender"):
            checks.append((column.name, f"count(*) FILTER (WHERE {_text(cell)} IS NOT NULL AND ({expression}) IS NULL)"))
    row = con.execute(f"SELECT {', '.join(check for _, check in checks)} FROM {raw.table}").fetchone() if checks else ()
    return [
        f"{count:,} value{'s' * (count > 1)} of {name} did not fit its type and became missing."
        for (name, _), count in zip(checks, row or (), strict=True)
        if count
    ]
