"""What a worker does with a connector: test it, list its tables, copy some, bind some to be read in place, query those.

Secrets come in over the worker's private pipe, as ``args["link"]``, and go into DuckDB secrets of one instance. Every
error that leaves is one of ours, scrubbed. Must never: let an exception of DuckDB out, or write an argument to the log.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb

from lexsi_ds.data.connectors import live
from lexsi_ds.data.connectors.base import Driver, SourceTable
from lexsi_ds.data.connectors.extensions import connection
from lexsi_ds.data.connectors.kinds import driver_of
from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.ingest import result_of, target_of, write_table
from lexsi_ds.data.loaded import Limits
from lexsi_ds.data.versions import open_build
from lexsi_ds.errors import LexsiError
from lexsi_ds.settings import get_settings

Say = Callable[[dict[str, Any]], None]
_INGEST_MB = 1_536
_LOOK_EVERY_S = 0.3


def test(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Open the connector and look at its rights: ``warnings``, ``superuser``. For S3 also that ``files`` are there."""
    driver = linked(args)
    with _opened(driver, args) as con:
        rights = driver.rights(con)
        if args.get("tables"):
            driver.choose(con, args["tables"])
        else:
            driver.check(con)
    return {"warnings": list(rights.warnings), "superuser": rights.superuser}


def list_tables(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """``tables``: {schema, table, comment, rows} of each that the connector may read."""
    driver = linked(args)
    with _opened(driver, args) as con:
        found = driver.tables(con)
    return {"tables": [{"schema": t.schema, "table": t.table, "comment": t.comment, "rows": t.rows} for t in found]}


def look(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """``tables``: what each of ``args["tables"]`` stands for, and how it would be read; nothing is kept."""
    driver = linked(args)
    with _opened(driver, args) as con:
        limits = Limits(get_settings().max_columns)
        return {"tables": [driver.look(con, table, limits) for table in driver.choose(con, args["tables"])]}


def ingest(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Copy ``args["tables"]`` ([{schema, table}]) into dataset versions, as `data.ingest.ingest` does with files.

    ``known`` lists datasets that are there already ({schema, table, name, dataset_id, version}): such a table keeps its
    name and gets that version. ``names`` are taken by others. Returns what `data.ingest.ingest` returns.
    """
    driver = linked(args)
    say({"done": 0, "total": 1, "text": "Connecting"})
    with open_build(Path(args["into"])) as build, _said(driver):
        con = connection(build.scratch, threads=get_settings().threads, memory_mb=_INGEST_MB)
        with con:
            driver.open(con, args["statement_s"])
            tables = driver.choose(con, args["tables"])
            names, targets = _named(driver, tables, args)
            built = []
            for number, (table, name) in enumerate(zip(tables, names, strict=True)):
                share = Share(say, number, len(tables), table)
                share.tell(0.0)
                folder = build.new_table()
                with watched(lambda: 0.0, build.scratch, share):
                    loaded = driver.loaded(con, table, name, build.scratch, Limits(get_settings().max_columns))
                with watched(con.query_progress, folder, share):
                    profiled = write_table(con, folder, loaded)
                built.append((folder, loaded, profiled))
        wanted = [target_of(targets, name) for name in names]
        places = build.publish([(folder, target) for (folder, _, _), target in zip(built, wanted, strict=True)])
    latest = max((p.latest for _, _, p in built if p.latest is not None), default=None)
    say({"done": 1, "total": 1, "text": "Done"})
    return {
        "tables": [
            result_of(loaded, profiled, target, place)
            for (_, loaded, profiled), target, place in zip(built, wanted, places, strict=True)
        ],
        "today": latest.isoformat() if latest is not None else None,
        "notes": [],
        "missing": [],
    }


def bind(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Look at ``args["tables"]`` where they are: columns, rows, and a relation each by which ``query`` finds them."""
    driver = linked(args)
    with _opened(driver, args) as con:
        tables = driver.choose(con, args["tables"])
        names, _ = _named(driver, tables, args)
        bound = []
        for number, (table, name) in enumerate(zip(tables, names, strict=True)):
            say({"done": number, "total": len(tables), "text": f"Looking at {table.label}"})
            bound.append(live.look(con, driver, table, name))
    return {"tables": bound}


def query(args: dict[str, Any], say: Say) -> dict[str, Any]:
    """Run one SELECT on tables read in place; as `data.sandbox.run_query` for those in files."""
    driver = linked(args)
    with _said(driver):
        return live.run(driver, args, say)


def after_task() -> None:
    """Close what the last task retired."""
    live.after_task()


def release() -> None:
    """Close the warm instance, to give its memory back."""
    live.release()


def linked(args: Mapping[str, Any]) -> Driver[Any]:
    """The driver of ``args["link"]`` ({kind, config, secrets})."""
    link = args["link"]
    return driver_of(link["kind"], {**link["config"], **link["secrets"]})


@contextlib.contextmanager
def _opened(driver: Driver[Any], args: Mapping[str, Any]) -> Iterator[duckdb.DuckDBPyConnection]:
    with _said(driver), connection(None, threads=get_settings().threads, memory_mb=args.get("memory_mb", 1_024)) as con:
        con.execute(f"SET temp_directory = '{Path(tempfile.gettempdir()) / f'connector-{os.getpid()}'}'")
        driver.open(con, args["statement_s"])
        yield con


@contextlib.contextmanager
def _said(driver: Driver[Any]) -> Iterator[None]:
    """Errors of the far side and of DuckDB leave as ours; what they say never goes to the log as it is."""
    secrets = driver.config.secret_values()
    try:
        yield
    except LexsiError as error:
        raise type_kept(error, secrets) from None
    except duckdb.Error as error:
        raise driver.readable(error) from None


def type_kept(error: LexsiError, secrets: list[str]) -> LexsiError:
    """The same error, scrubbed."""
    error.what, error.where, error.to_do = (scrub(text, secrets) for text in (error.what, error.where, error.to_do))
    error.args = (error.what,)
    error.__cause__ = error.__context__ = None
    return error


def _named(
    driver: Driver[Any], tables: list[SourceTable], args: Mapping[str, Any]
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """A dataset name for each table, and where those that are known go."""
    known = {(k["schema"], k["table"]): k for k in args.get("known") or ()}
    taken = {str(name).casefold() for name in args.get("names") or ()} | {str(k["name"]).casefold() for k in known.values()}
    bare = [t.table.casefold() for t in tables]
    names, targets = [], {}
    for table in tables:
        found = known.get((table.schema, table.table))
        if found is None:
            doubled = bare.count(table.table.casefold()) > 1 or table.table.casefold() in taken
            names.append(driver.table_name(table, taken, doubled=doubled))
        else:
            names.append(found["name"])
            targets[found["name"]] = {"dataset_id": found["dataset_id"], "version": found["version"]}
    return names, targets


class Share:
    """One table's part of the whole progress."""

    def __init__(self, say: Say, number: int, count: int, table: SourceTable) -> None:
        self._say, self._number, self._count, self._table = say, number, count, table
        self._most = 0.0

    def tell(self, share: float, written: int = 0) -> None:
        """Say how far this table is, as a share of 1, and how much is on disk."""
        self._most = min(max(share, self._most), 1.0)
        done = round((self._number + 0.95 * self._most) / self._count, 4)
        about = f"about {self._table.rows:,} rows" if self._table.rows else ""
        size = f"{written / 2**20:,.0f} MB written" if written >= 2**20 else ""
        detail = ", ".join(x for x in (about, size) if x)
        text = f"Copying {self._table.label}" + (f" ({detail})" if detail else "")
        self._say({"done": done, "total": 1, "text": text})


def watched(percent: Callable[[], float], folder: Path, share: Share) -> AbstractContextManager[None]:
    """While the block runs, tell how far it is by ``percent`` and how much it has written to ``folder``."""

    @contextlib.contextmanager
    def watch() -> Iterator[None]:
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK_EVERY_S):
                with contextlib.suppress(Exception):
                    share.tell(percent() / 100, _size(folder))

        thread = threading.Thread(target=look, name="ingest-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    return watch()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


