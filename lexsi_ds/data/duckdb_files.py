"""DuckDB files into tables: each table and view of every schema, through a connection that can do nothing else.

The file is opened read-only with external access off, so that a view in it that reads other files fails. Rows come over
as Arrow. Must never: attach a stranger's database to the connection that may read files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import quoted, scratch_name
from lexsi_ds.data.sniff import free_name
from lexsi_ds.errors import BadInput

_BATCH = 100_000
_CONFIG = {
    "enable_external_access": False, "autoinstall_known_extensions": False, "autoload_known_extensions": False,
    "lock_configuration": True, "memory_limit": "1024MB", "threads": 2,
}  # fmt: skip


def read_duckdb(
    con: duckdb.DuckDBPyConnection, path: Path, shown: str, limits: Limits, taken: set[str], *, most: int | None = None
) -> tuple[list[tuple[str, Loaded]], list[str]]:
    """Every table and view by its name, and notes on those that cannot be read. ``most`` limits the rows.

    One of a schema other than ``main`` has the schema in front: ``sales.orders`` becomes ``sales_orders``.
    """
    try:
        source = duckdb.connect(str(path), read_only=True, config=_CONFIG)
    except duckdb.Error as error:
        to_do = "Close it in the program that has it open, or check that it is whole and of a version that can be read."
        raise BadInput("This DuckDB file cannot be opened.", where=shown, to_do=to_do) from error
    with source:
        names = _names(source)
        if not names:
            raise BadInput("This DuckDB file has no table.", where=shown, to_do="Choose another file.")
        made, notes = [], []
        for schema, bare, is_view in names:
            name = bare if schema == "main" else f"{schema}.{bare}"
            try:
                new = free_name(bare if schema == "main" else f"{schema}_{bare}", taken)
                made.append((name, _read(con, source, (schema, bare), new, limits, most)))
            except (duckdb.Error, BadInput) as error:
                why = f": {error}" if isinstance(error, BadInput) else ""
                notes.append(f"The {'view' if is_view else 'table'} {name} of {shown} cannot be read here and was left out{why}.")
    if not made:
        raise BadInput("No table of this DuckDB file can be read.", where=shown, to_do="Export them as Parquet.")
    return made, notes


def _names(source: duckdb.DuckDBPyConnection) -> list[tuple[str, str, bool]]:
    """Schema, name, and whether it is a view; those of ``main`` first, so that they keep their names."""
    rows = source.execute(
        """SELECT table_schema, table_name, table_type = 'VIEW' FROM information_schema.tables
           WHERE table_catalog = current_database() ORDER BY table_schema <> 'main', 1, 2"""
    ).fetchall()
    return [(row[0], row[1], bool(row[2])) for row in rows]


def _read(
    con: duckdb.DuckDBPyConnection, source: duckdb.DuckDBPyConnection, name: tuple[str, str], new: str, limits: Limits,
    most: int | None,
) -> Loaded:
    table_of, shown = f"{quoted(name[0])}.{quoted(name[1])}", name[1] if name[0] == "main" else ".".join(name)
    limit = f" LIMIT {most}" if most is not None else ""
    described = source.execute(f"DESCRIBE SELECT * FROM {table_of}").fetchall()
    check_width(Path(shown), len(described), limits)
    table = scratch_name(con)
    names, notes = unique_names([row[0] for row in described])
    try:
        _copy(con, source, f"SELECT {_columns(described)} FROM {table_of}{limit}", table)
    except duckdb.Error:
        huge = [row[0] for row in described if "HUGEINT" in row[1]]
        if not huge:
            raise
        _copy(con, source, f"SELECT {_columns(described, huge_as='VARCHAR')} FROM {table_of}{limit}", table)
        notes.append(f"{', '.join(huge)} came over as text: its numbers are too long to be held exactly.")
    arrived = [row[0] for row in con.execute(f"DESCRIBE {table}").fetchall()]
    selected = ", ".join(f"{quoted(a)} AS {quoted(n)}" for a, n in zip(arrived, names, strict=True))
    return Loaded(new, f"SELECT {selected} FROM {table}", {"format": "duckdb", "table": shown}, tuple(notes))


def _copy(con: duckdb.DuckDBPyConnection, source: duckdb.DuckDBPyConnection, select: str, table: str) -> None:
    reader = source.execute(select).to_arrow_reader(_BATCH)
    con.register("_duckdb_rows", reader)
    try:
        con.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM _duckdb_rows")
    finally:
        con.unregister("_duckdb_rows")


def _columns(described: Sequence[tuple[Any, ...]], huge_as: str = "DECIMAL(38, 0)") -> str:
    return ", ".join(_plain(row[0], row[1], huge_as) for row in described)


def _plain(name: str, kind: str, huge_as: str) -> str:
    """Types that Arrow does not carry, or that nothing above knows, as the nearest that are."""
    column = quoted(name)
    if kind == "HUGEINT" or kind == "UHUGEINT":
        return f"CAST({column} AS {huge_as}) AS {column}"
    if kind.startswith(("ENUM", "BIT", "UUID", "UNION", "INTERVAL", "VARINT", "BIGNUM", "JSON", "TIME WITH")):
        return f"CAST({column} AS VARCHAR) AS {column}"
    return column


