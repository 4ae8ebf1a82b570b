"""Tables that stay where they are: looked at once, then queried through views in the connector's own worker.

The guard is asked again here, inside the worker, since a loaded scanner reaches out past a locked configuration.
Must never: run anything but one SELECT on the bound views, or keep an instance after an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data import guard
from lexsi_ds.data.connectors.base import Driver, SourceTable
from lexsi_ds.data.connectors.extensions import connection
from lexsi_ds.data.loaded import Limits, check_width
from lexsi_ds.data.profile import profile
from lexsi_ds.data.raw_rows import quoted
from lexsi_ds.data.sandbox import Say, run_select
from lexsi_ds.data.sql_errors import readable
from lexsi_ds.data.warm import WarmInstance
from lexsi_ds.errors import SqlFailed, SqlRefused
from lexsi_ds.settings import get_settings

WHOLE_ROWS = 1_000_000
"""Up to so many rows, columns are profiled over all of them; beyond, over the first ones."""
SAMPLE_ROWS = 100_000
_VIEW = "_lexsi_looked_at"
_SAMPLE = "_lexsi_sample"
_OURS = (
    duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.ConversionException,
    duckdb.OutOfRangeException, duckdb.OutOfMemoryException, duckdb.SyntaxException, duckdb.NotImplementedException,
)
"""Errors that are about the query; all others are the far side's."""


_WARM = WarmInstance()


def look(con: duckdb.DuckDBPyConnection, driver: Driver[Any], table: SourceTable, name: str) -> dict[str, Any]:
    """What a list shows of a table, and its relation."""
    limits = Limits(get_settings().max_columns)
    bound = driver.relation(con, table, limits)
    con.execute(f"CREATE OR REPLACE VIEW {_VIEW} AS {driver.live_select(bound.relation)}")
    check_width(Path(name), len(con.execute(f"DESCRIBE {_VIEW}").fetchall()), limits)
    counted = con.execute(f"SELECT count(*) FROM {_VIEW}").fetchone()
    rows = int(counted[0]) if counted else 0
    notes = [f"Read in place at {table.label}: nothing was copied, and rows change when the source does.", *bound.notes]
    whole = rows <= WHOLE_ROWS
    most = WHOLE_ROWS if whole else SAMPLE_ROWS  # fetched once, so that the far side is not asked again for each look
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_SAMPLE} AS SELECT * FROM {_VIEW} LIMIT {most}")
    profiled = profile(con, _SAMPLE, comments=bound.comments)
    latest = profiled.latest
    if not whole:
        notes.append(f"Missing, distinct, smallest and largest values are those of the first {SAMPLE_ROWS:,} rows.")
        dates = [quoted(c.name) for c in profiled.columns if c.family == "date" and not c.protected]
        if dates:
            found = con.execute(f"SELECT {', '.join(f'max(CAST({d} AS DATE))' for d in dates)} FROM {_VIEW}").fetchone()
            latest = max((d for d in found or () if d is not None), default=None)
    con.execute(f"DROP TABLE {_SAMPLE}")
    options = {"format": "in place", "schema": table.schema, "table": table.table}
    return {
        "name": name,
        "relation": bound.relation,
        "rows": rows,
        "columns": [column.model_dump(mode="json") for column in profiled.columns],
        "comment": table.comment,
        "notes": notes,
        "options": options | ({"keys": dict(bound.keys)} if bound.keys else {}),
        "today": latest.isoformat() if latest is not None else None,
    }


def run(driver: Driver[Any], args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Run ``args["sql"]`` on ``args["tables"]`` ([{name, relation}]) and write the rows to ``args["out"]``."""
    started = time.perf_counter()
    sql = guard.check(args["sql"], [each["name"] for each in args["tables"]])
    with _WARM.lent(_key(args), lambda: open_live(driver, args)) as lent:
        try:
            answer = run_select(lent, sql, args, say)
        except duckdb.PermissionException:
            raise SqlRefused(
                "The query asked for something outside its data.", to_do="Only the tables of the active source can be read."
            ) from None
        except _OURS as error:
            raise readable(error, _known_names(lent.instance)) from None
        except duckdb.Error as error:
            told = driver.readable(error)
            raise SqlFailed(told.what, where=told.where, to_do=told.to_do) from None
    return {**answer, "seconds": time.perf_counter() - started}


def after_task() -> None:
    """Close what the last task retired."""
    _WARM.close_retired()


def release() -> None:
    """Close the warm instance too."""
    _WARM.release()


def open_live(driver: Driver[Any], args: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """An instance with the connector opened, a view a table, and everything locked that DuckDB can lock."""
    instance = connection(None, threads=args["threads"], memory_mb=args["memory_mb"])
    try:
        spill = Path(tempfile.gettempdir()) / f"spill-{os.getpid()}"
        instance.execute(f"SET temp_directory = '{spill}'")
        instance.execute(f"SET max_temp_directory_size = '{args['spill_mb']}MB'")
        driver.open(instance, args["statement_s"])
        driver.confine(instance, [each["relation"] for each in args["tables"]])
        for each in args["tables"]:
            instance.execute(f"CREATE VIEW {quoted(each['name'])} AS {driver.live_select(each['relation'])}")
        for setting in ("TimeZone = 'UTC'", "enable_external_access = false", "lock_configuration = true"):
            instance.execute(f"SET {setting}")
    except BaseException:
        instance.close()
        raise
    return instance


def _known_names(instance: duckdb.DuckDBPyConnection) -> list[str]:
    rows = instance.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION SELECT column_name FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = 'memory'"
    ).fetchall()
    return [row[0] for row in rows]


def _key(args: dict[str, Any]) -> str:
    """What the warm instance was opened for, without keeping a secret."""
    names = ("link", "tables", "threads", "memory_mb", "spill_mb", "statement_s")
    body = json.dumps([args[name] for name in names], sort_keys=True)
    return hashlib.sha256(body.encode()).hexdigest()
