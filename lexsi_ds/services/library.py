"""What is in the catalog, as a person may see it: sources, tables, notes, first rows.

A source that is not shared with a person is not there, as far as they can tell; the demo bank is everyone's. Must never: change
anything, or show a masked value.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.data.mentioned import tables_of
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.services.access import Actor, at_least
from lexsi_ds.services.handles import SourceInfo, handle_of, source_info, table_of
from lexsi_ds.services.masking import MASK
from lexsi_ds.services.sharing import Sharing
from lexsi_ds.store.sources import Parts, SourceRecord, Sources, VersionRecord


class Library:
    """Reads what the store says exists. Every method raises Denied without the right, and NotFound for what is not there."""

    def __init__(self, home: Path, rows: Sources, sql: SqlRunner) -> None:
        self._home, self._rows, self._sql = home, rows, sql
        self._sharing = Sharing(rows.store)

    def sources(self, actor: Actor) -> list[SourceInfo]:
        """The person's sources and the demo bank, newest first; throwaway ones are not among them."""
        actor.need("datasets:read")
        view = self._sharing.view(actor)
        usable = [r for r in self._rows.list() if at_least(view.source(r), "read") and not r.delete_status]
        found = [self._rows.parts(record.id) for record in usable]
        return [source_info(parts) for parts in found if parts is not None]

    def handle(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> DatasetHandle:
        """A snapshot of a source; the newest one by default."""
        actor.need("datasets:read")
        return handle_of(self.parts(actor, source_id, snapshot_id), self._home)

    def notes(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> list[str]:
        """What was noticed while the files were read: values that became missing, rejected lines, guesses."""
        actor.need("datasets:read")
        parts = self.parts(actor, source_id, snapshot_id)
        of_tables = [f"{t.name}: {note}" for t in parts.tables for note in t.read_options.get("notes", [])]
        return self.source_notes(actor, source_id) + of_tables

    def source_notes(self, actor: Actor, source_id: str) -> list[str]:
        """Those of the notes that are about the source as a whole: files and sheets that were passed over."""
        actor.need("datasets:read")
        return [str(note) for note in self.parts(actor, source_id).source.options.get("notes", [])]

    def rejected(self, actor: Actor, source_id: str, table: str) -> tuple[int, Path | None]:
        """How many lines and cells of a table's file could not be read as they stood, and the file that holds them."""
        actor.need("datasets:read")
        record = _record(self.parts(actor, source_id), table)
        path = self._home / record.rejected_path if record.rejected_path else None
        return record.rejected + int(record.read_options.get("flagged", 0)), path

    def table(self, dataset_id: str, version: int | None = None) -> Table:
        """A dataset at a version, the newest by default: for services that have checked the person already."""
        record = self._rows.dataset(dataset_id, version) if is_id(dataset_id, "ds") else None
        if record is None:
            raise not_found("data set", dataset_id)
        return table_of(record, self._home)

    def tables_of(self, actor: Actor, source_id: str, sql: str) -> list[Table]:
        """The source's tables that a query reads, in order of their first mention; [] when it cannot be parsed."""
        return tables_of(self.handle(actor, source_id), sql)

    def preview(self, actor: Actor, source_id: str, table: str, n: int = 50) -> pd.DataFrame:
        """The first ``n`` rows of a table, with the values of masked columns hidden."""
        handle = self.handle(actor, source_id)
        found = handle.table(table)
        if found is None:
            raise not_found("table", table)
        shown = ", ".join(_shown(column.name, masked=column.masked) for column in found.columns)
        return self._sql.frame(handle, f"SELECT {shown} FROM {_quoted(found.name)} LIMIT {max(0, int(n))}")

    def parts(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> Parts:
        """A source at a snapshot, the newest by default, of which the person may know. Raises NotFound for any other."""
        fits = is_id(source_id, "con") and (snapshot_id is None or is_id(snapshot_id, "snap"))
        found = self._rows.parts(source_id, snapshot_id) if fits else None
        if found is None or not self.sees(actor, found.source) or found.source.delete_status:
            raise not_found("source", source_id)
        return found

    def sees(self, actor: Actor, source: SourceRecord) -> bool:
        """Whether the rows of a source are there for a person."""
        return at_least(self._sharing.view(actor).source(source), "read")


def not_found(what: str, name: str) -> NotFound:
    """The error for what is not there, or is somebody else's."""
    return NotFound(f"There is no such {what}.", where=name[:80], to_do="Look at the page Connect data.")


def _record(parts: Parts, name: str) -> VersionRecord:
    found = next((t for t in parts.tables if t.name.casefold() == name.casefold()), None)
    if found is None:
        raise not_found("table", name)
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shown(name: str, *, masked: bool) -> str:
    column = _quoted(name)
    return column if not masked else f"CASE WHEN {column} IS NOT NULL THEN '{MASK}' END AS {column}"
