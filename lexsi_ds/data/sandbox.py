"""Runs one query inside a worker process, on a DuckDB that can reach nothing but the attached tables.

The engine's own locks are the second wall behind the guard: it holds with the guard off. An instance is kept warm for
one snapshot and thrown away after any error. Must never be imported to run queries in the server's process.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lexsi_ds.data.sql_errors import INTERNAL_PREFIX, readable
from lexsi_ds.data.warm import Lent, WarmInstance
from lexsi_ds.errors import BadInput, NotFound, SqlFailed, SqlRefused

Say = Callable[[dict[str, Any]], None]
BATCH_ROWS = 65_536
_SELECT, _CREATE = duckdb.StatementType.SELECT, duckdb.StatementType.CREATE


_WARM = WarmInstance()


def run_query(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Run ``args["sql"]`` on ``args["tables"]`` ([{name, path}]) and write the rows to the Arrow file ``args["out"]``.

    Other arguments: ``threads``, ``memory_mb``, ``spill_mb``, ``result_mb``, ``fresh`` (no instance is reused). Returns
    ``columns`` ([{name, type}]), ``row_count`` and ``seconds``. Raises SqlRefused, SqlFailed, WorkerFailed, NotFound.
    """
    started = time.perf_counter()
    sizes = {name: args[name] for name in ("threads", "memory_mb", "spill_mb")}
    with _WARM.lent(_key(args), lambda: open_instance(args["tables"], **sizes), fresh=args["fresh"]) as lent:
        try:
            answer = run_select(lent, args["sql"], args, say)
        except duckdb.Error as error:
            raise readable(error, _known_names(lent.instance)) from None
    return {**answer, "seconds": time.perf_counter() - started}


def run_select(lent: Lent, sql: str, args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Run one SELECT in a lent instance: ``columns`` and ``row_count``; the rows go to ``args["out"]``."""
    cursor = lent.instance.cursor()
    lent.spent |= start_select(cursor, sql)
    columns = [{"name": name, "type": str(kind)} for name, kind, *_ in cursor.description or ()]
    rows = write_arrow(cursor, Path(args["out"]), args["result_mb"] * 2**20, say)
    cursor.close()
    return {"columns": columns, "row_count": rows}


def after_task() -> None:
    """Close what the last task retired."""
    _WARM.close_retired()


def release() -> None:
    """Close the warm instance too, to give its memory back."""
    _WARM.release()


def open_instance(
    tables: list[dict[str, Any]], *, threads: int, memory_mb: int, spill_mb: int,
) -> duckdb.DuckDBPyConnection:
    """A locked in-memory DuckDB with each table's file attached READ_ONLY and a view of its name.

    A table may say ``without``: columns that its view does not have.
    """
    spill = Path(tempfile.gettempdir()) / f"spill-{os.getpid()}"
    instance = duckdb.connect(":memory:", config={
        "threads": threads,
        "memory_limit": f"{memory_mb}MB",
        "temp_directory": str(spill),
        "max_temp_directory_size": f"{spill_mb}MB",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "python_scan_all_frames": "false",
    })
    try:
        aliases: dict[str, str] = {}
        for table in tables:
            if table["path"] not in aliases:
                aliases[table["path"]] = f"{INTERNAL_PREFIX}{len(aliases)}"
                _attach(instance, aliases[table["path"]], table)
            view, source = _identifier(table["name"]), aliases[table["path"]]
            instance.execute(f"CREATE VIEW {view} AS SELECT {_all_but(table.get('without', ()))} FROM {source}.main.data")
        for setting in ("TimeZone = 'UTC'", "enable_external_access = false", "lock_configuration = true"):
            instance.execute(f"SET {setting}")
    except BaseException:
        instance.close()
        raise
    return instance


def write_arrow(
    cursor: duckdb.DuckDBPyConnection, out: Path, most_bytes: int, say: Say,
) -> int:
    """Stream the pending result into ``out`` (under a temporary name until it is whole); returns the row count."""
    partial = out.with_name(out.name + ".tmp")
    reader = cursor.to_arrow_reader(BATCH_ROWS)
    rows = 0
    with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            rows += batch.num_rows
            say({"text": f"{rows:,} rows"})
            if file.tell() > most_bytes:
                raise SqlFailed(f"The result is larger than {most_bytes // 2**20:,} MB.",
                                to_do="Filter or aggregate it, or raise LEXSI_DS_SQL_RESULT_MB.")
    partial.replace(out)
    return rows


def _key(args: dict[str, Any]) -> str:
    return json.dumps([args[name] for name in ("tables", "threads", "memory_mb", "spill_mb")])


def _attach(instance: duckdb.DuckDBPyConnection, alias: str, table: dict[str, Any]) -> None:
    if not Path(table["path"]).is_file():
        raise NotFound(f"The data file of table {table['name']} is gone.", to_do="Import its source again.")
    try:
        instance.execute(f"ATTACH {_literal(table['path'])} AS {alias} (READ_ONLY)")
        instance.execute(f"SELECT 1 FROM {alias}.main.data LIMIT 0")
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise readable(error, ()) from None
        raise BadInput(f"The data file of table {table['name']} cannot be opened.",
                       to_do="Import its source again.") from error


def start_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Start the one SELECT in ``sql``; True when it is a PIVOT that made a type of its own on the way."""
    statements = cursor.extract_statements(sql)
    if not _is_one_select(statements):
        raise SqlRefused("Only one SELECT statement can be run.", to_do="Write a single SELECT.")
    for statement in statements:
        cursor.execute(statement)
    return len(statements) > 1


def _is_one_select(statements: list[Any]) -> bool:
    """One SELECT; or what DuckDB makes of one PIVOT: enum types and a SELECT, none of which has a text of its own."""
    if not statements or statements[-1].type != _SELECT:
        return False
    return len(statements) == 1 or (
        all(not each.query for each in statements) and all(each.type == _CREATE for each in statements[:-1])
    )


def _known_names(instance: duckdb.DuckDBPyConnection) -> list[str]:
    """Names of the tables and of their columns, for suggestions."""
    with contextlib.suppress(duckdb.Error):
        rows = instance.cursor().execute(
            "SELECT DISTINCT table_name, column_name FROM duckdb_columns() WHERE database_name = 'memory'"
            " AND NOT internal",
        ).fetchall()
        return sorted({name for row in rows for name in row})
    return []


def _all_but(columns: Sequence[str]) -> str:
    return f"* EXCLUDE ({', '.join(map(_identifier, columns))})" if columns else "*"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
