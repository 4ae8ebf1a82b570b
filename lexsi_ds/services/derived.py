"""Results that were kept as datasets of a source: saved, listed, and computed anew when the source is refreshed.

They stand outside of its snapshots. Must never: overwrite a version, or lose the marks that its columns have in the source.
"""

from __future__ import annotations

import logging
from pathlib import Path

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import Actor
from lexsi_ds.services.handles import table_of
from lexsi_ds.services.importer import Importer
from lexsi_ds.services.library import Library
from lexsi_ds.store.sources import Sources, VersionRecord

log = logging.getLogger(__name__)
_LONGEST_NAME = 120


class Derived:
    """Derived datasets of one home."""

    def __init__(self, home: Path, rows: Sources, importer: Importer, sql: SqlRunner, library: Library) -> None:
        self._home, self._rows, self._importer, self._sql, self._library = home, rows, importer, sql, library

    def save(
        self, actor: Actor, source_id: str, name: str, arrow_path: Path, run_id: str | None = None, sql: str | None = None
    ) -> Table:
        """Keep a result (an Arrow stream file of the home) as a dataset of its own, outside of the snapshots.

        Its columns keep the marks of the source's columns of the same name. With the ``sql`` that gave its rows, a refresh
        of the source computes it anew. Raises Conflict when the source has a dataset of that name.
        """
        actor.need("datasets:write")
        marks = self._marks(actor, source_id)
        record = self._importer.add_derived(
            source_id, new_id("ds"), checked_name(name, "data set"), arrow_path, marks, run_id, sql
        )
        return table_of(record, self._home)

    def compute_anew(self, actor: Actor, source_id: str) -> list[Table]:
        """Compute the derived datasets of a source anew on its newest snapshot; one whose query does not run any more stays
        as it is. Returns the newest version of each that was computed."""
        actor.need("datasets:write")
        handle, marks, made = self._library.handle(actor, source_id), self._marks(actor, source_id), []
        for record in self._newest(source_id):
            sql = record.read_options.get("sql")
            if not sql:
                continue
            try:
                result = self._sql.run(handle, sql)
            except LexsiError as error:
                log.warning("derived dataset %s was not computed anew: %s", record.dataset_id, error.what)
                continue
            try:
                newer = self._importer.add_derived(
                    source_id, record.dataset_id, record.name, result.path, marks, None, sql, record.version + 1
                )
            finally:
                result.path.unlink(missing_ok=True)
            made.append(table_of(newer, self._home))
        return made

    def of_source(self, actor: Actor, source_id: str) -> list[Table]:
        """Results that were kept as datasets of a source, newest first."""
        actor.need("datasets:read")
        self._library.parts(actor, source_id)
        return [table_of(record, self._home) for record in self._newest(source_id)]

    def _newest(self, source_id: str) -> list[VersionRecord]:
        """The newest version of each derived dataset."""
        newest: dict[str, VersionRecord] = {}
        for record in self._rows.derived(source_id):
            held = newest.get(record.dataset_id)
            if held is None or record.version > held.version:
                newest[record.dataset_id] = record
        return list(newest.values())

    def _marks(self, actor: Actor, source_id: str) -> dict[str, dict[str, bool]]:
        return {
            column.name: {"protected": column.protected, "identifier": column.identifier, "masked": column.masked}
            for record in self._library.parts(actor, source_id).tables
            for column in table_of(record, self._home).columns
            if column.protected or column.identifier or column.masked
        }


def checked_name(name: str, what: str) -> str:
    """``name`` on one line and not too long. Raises BadInput when nothing is left."""
    clean = " ".join(name.split())[:_LONGEST_NAME]
    if not clean:
        raise BadInput(f"The {what} needs a name.", to_do="Give it a short name.")
    return clean
