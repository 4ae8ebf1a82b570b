"""Column statistics of dataset versions, computed once and kept in a file of the home.

A version never changes, so neither do its statistics; marks do, so the file's name says which columns were masked.
Must never: keep or give a value of a masked column.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.data.statistics import ColumnStatistics, Rows, statistics

_FORM = TypeAdapter(tuple[ColumnStatistics, ...])


class ColumnStats:
    """The component ``column_stats``."""

    def __init__(self, home: Path, sql: SqlRunner) -> None:
        self._folder, self._sql = home / "column_stats", sql

    def of(self, table: Table) -> tuple[ColumnStatistics, ...]:
        """Statistics of every column of a version. Raises what a query raises when they cannot be computed."""
        path = self._path(table)
        try:
            return _FORM.validate_json(path.read_bytes())
        except (OSError, ValidationError):
            found = statistics(table, lambda sql: self._rows(table, sql))
            self._keep(path, found)
            return found

    def ready(self, table: Table) -> bool:
        """Whether they are computed already."""
        return self._path(table).is_file()

    def forget(self, dataset_id: str, version: int | None = None) -> None:
        """Remove what is kept of a dataset, or of one of its versions."""
        folder = self._folder / dataset_id
        if version is None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        for path in folder.glob(f"v{version}-*.json"):
            path.unlink(missing_ok=True)

    def _rows(self, table: Table, sql: str) -> Rows:
        result = self._sql.run_on_table(table, sql)
        try:
            return result.arrow().to_pylist()
        finally:
            result.path.unlink(missing_ok=True)

    def _path(self, table: Table) -> Path:
        masked = json.dumps(sorted(c.name for c in table.columns if c.masked))
        name = f"v{table.version}-{hashlib.sha256(masked.encode()).hexdigest()[:12]}.json"
        return self._folder / table.dataset_id / name

    def _keep(self, path: Path, found: tuple[ColumnStatistics, ...]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_bytes(_FORM.dump_json(found))
        temporary.replace(path)
