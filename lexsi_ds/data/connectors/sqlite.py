"""A SQLite file as a connector: its tables are listed and chosen like those of any database.

The file is read as one that was uploaded is. Must never: write to it, or be loaded where strangers' SQL runs.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import duckdb
from pydantic import Field

from lexsi_ds.data.connectors.base import ConnectorConfig, Driver, SourceTable
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.sqlite_files import read_sqlite
from lexsi_ds.errors import BadInput, LexsiError


class SqliteConfig(ConnectorConfig):
    """Where the file is."""

    path: str = Field(min_length=1, description="Path of the file on the machine where this runs.")


class SqliteDriver(Driver[SqliteConfig]):
    """One SQLite file."""

    def open(self, con: duckdb.DuckDBPyConnection, statement_s: float) -> None:
        if not self._path.is_file():
            raise BadInput("There is no such file.", where=self._path.name, to_do="Check the path.")

    def tables(self, con: duckdb.DuckDBPyConnection) -> list[SourceTable]:
        with contextlib.closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 1"
            ).fetchall()
        return [SourceTable(row[0]) for row in rows]

    def loaded(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, name: str, scratch: Path, limits: Limits
    ) -> Loaded:
        found = read_sqlite(con, self._path, limits, set(), only=table.table)[0]
        options = {**found.options, "schema": None}
        return Loaded(name, found.select, options, found.notes, found.comment, found.comments, found.marks)

    def readable(self, error: Exception) -> LexsiError:
        advice = "Check that it is whole and not encrypted."
        return BadInput("This SQLite file cannot be read.", where=self._path.name, to_do=advice)

    @property
    def _path(self) -> Path:
        return Path(self.config.path).expanduser()
