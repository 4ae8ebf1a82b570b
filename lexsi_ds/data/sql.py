"""The one way to run SQL: through the guard, in a sandboxed worker, with the rows in an Arrow file on disk.

Must never run a person's or a model's SQL in this process, and never cut a result short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from lexsi_ds.data import guard
from lexsi_ds.data.connectors.secrets import link_of
from lexsi_ds.data.frames import to_frame
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.settings import Settings

_WORKER_BASE_MB = 420
"""Address space of a worker before its first query (Python, DuckDB and Arrow; measured 340 to 390)."""


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result and DuckDB's type of it."""

    name: str
    type: str


@dataclass(frozen=True)
class SqlResult:
    """All rows of a query, in an Arrow stream file."""

    path: Path
    columns: tuple[ResultColumn, ...]
    row_count: int
    """Rows of the whole result."""
    seconds: float

    def arrow(self) -> pa.Table:
        """The rows, memory-mapped: nothing is read until it is used."""
        with pa.memory_map(str(self.path)) as source, pa.ipc.open_stream(source) as reader:
            return reader.read_all()

    def frame(self) -> pd.DataFrame:
        """All rows in pandas: decimals and huge integers as numbers, dates as ``datetime64``, duplicate names kept."""
        return to_frame(self.arrow())

    def head(self, n: int) -> pd.DataFrame:
        """The first ``n`` rows, as ``frame`` gives them."""
        return to_frame(self.arrow().slice(0, n))


class SqlRunner:
    """Runs queries on a source's snapshot."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool, self._settings = pool, settings

    def run(
        self, handle: DatasetHandle, sql: str, *, out: Path | None = None, cancel: Cancel | None = None,
        tell: Tell | None = None, guarded: bool = True, timeout_s: float | None = None,
    ) -> SqlResult:
        """Run one SELECT on the tables of the handle, each visible under its name.

        ``out`` is the Arrow file to write; by default one in this process's temporary folder. ``guarded=False`` leaves
        the guard out, for tests of the sandbox alone. Raises SqlRefused, SqlFailed, WorkerFailed, NotFound, Stopped;
        then no file is left.
        """
        tables = {table.name: table for table in handle.tables}
        return self._run(tables, handle.snapshot_id, sql, out, cancel, tell, guarded, timeout_s)

    def run_without_masked(
        self, handle: DatasetHandle, sql: str, *, cancel: Cancel | None = None, tell: Tell | None = None,
    ) -> SqlResult:
        """As ``run``, on tables that have no masked column: what a masked value went into cannot be in the rows.

        For readers beyond this machine, such as a model. BadInput for tables that are read in place and have one.
        """
        masked = {t.name: [c.name for c in t.columns if c.masked] for t in handle.tables}
        if any(t.live is not None and masked[t.name] for t in handle.tables):
            raise BadInput("Tables with masked columns cannot be queried in place from here.", to_do="Ingest them first.")
        tables = {table.name: table for table in handle.tables}
        return self._run(tables, f"{handle.snapshot_id}/unmasked", sql, None, cancel, tell, True, None, without=masked)

    def run_on_table(
        self, table: Table, sql: str, *, out: Path | None = None, cancel: Cancel | None = None,
        tell: Tell | None = None, timeout_s: float | None = None,
    ) -> SqlResult:
        """Run one SELECT on a single table, visible as ``dataset`` and under its own name: a finding's check, say."""
        tables = {table.name: table} | ({} if table.name.casefold() == "dataset" else {"dataset": table})
        return self._run(tables, f"{table.dataset_id}/{table.version}", sql, out, cancel, tell, True, timeout_s)

    def frame(self, handle: DatasetHandle, sql: str, *, cancel: Cancel | None = None) -> pd.DataFrame:
        """The rows of a small query in pandas; its file is gone afterwards."""
        result = self.run(handle, sql, cancel=cancel)
        try:
            return result.frame()
        finally:
            result.path.unlink(missing_ok=True)

    def frame_on_table(self, table: Table, sql: str, *, cancel: Cancel | None = None) -> pd.DataFrame:
        """As ``frame``, on one table as ``run_on_table`` shows it."""
        result = self.run_on_table(table, sql, cancel=cancel)
        try:
            return result.frame()
        finally:
            result.path.unlink(missing_ok=True)

    def _run(
        self, tables: dict[str, Table], affinity: str, sql: str, out: Path | None, cancel: Cancel | None,
        tell: Tell | None, guarded: bool, timeout_s: float | None, without: Mapping[str, list[str]] | None = None,
    ) -> SqlResult:
        text = guard.check(sql, tables) if guarded else sql
        where = [table.live for table in tables.values() if table.live is not None]
        path = (out or self._pool.scratch / f"{new_id('res')}.arrow").absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        if where:
            answer = self._pool.run(
                "connector", "lexsi_ds.data.connectors.worker:query", self._live_task(tables, text, path, timeout_s),
                cancel=cancel, tell=tell, timeout_s=timeout_s, cleanup=path, affinity=where[0].connector_id,
            )
        else:
            task = self._task(tables, text, path, fresh=not guarded)
            task["tables"] = [{**t, "without": hidden} if (hidden := (without or {}).get(t["name"])) else t for t in task["tables"]]
            answer = self._pool.run(
                "sql", "lexsi_ds.data.sandbox:run_query", task,
                cancel=cancel, tell=tell, timeout_s=timeout_s, cleanup=path, affinity=affinity if guarded else None,
            )
        columns = tuple(ResultColumn(each["name"], each["type"]) for each in answer["columns"])
        return SqlResult(path, columns, answer["row_count"], answer["seconds"])

    def _live_task(self, tables: dict[str, Table], sql: str, out: Path, timeout_s: float | None) -> dict[str, Any]:
        """A query on tables that stay at their source: it runs in a worker of that connector alone."""
        found = [(name, table.live) for name, table in tables.items() if table.live is not None]
        first = found[0][1]
        if len(found) < len(tables) or any(live.connector_id != first.connector_id for _, live in found):
            raise BadInput("Tables that are read in place cannot be joined with others.", to_do="Ingest them first.")
        return self._task({}, sql, out, fresh=False) | {
            "link": link_of(first.connector_id, first.kind, first.part("config"), first.part("variables")),
            "tables": [{"name": name, "relation": live.part("relation")} for name, live in found],
            "statement_s": timeout_s or self._settings.sql_timeout_s,
        }

    def _task(self, tables: dict[str, Table], sql: str, out: Path, *, fresh: bool) -> dict[str, Any]:
        room = self._settings.sql_memory_mb - _WORKER_BASE_MB
        return {
            "sql": sql,
            "out": str(out),
            "fresh": fresh,
            "tables": [{"name": name, "path": str(table.path.absolute())} for name, table in tables.items()],
            "threads": self._settings.threads,
            # Below the process limit, so that DuckDB spills or says so before the system refuses.
            "memory_mb": max(64, int(room * 0.7)),
            "spill_mb": 2 * self._settings.sql_result_mb,
            "result_mb": self._settings.sql_result_mb,
        }
