"""The catalog: the only way to add, read, mark and delete sources and their datasets.

Files are read and written by ingest workers; the store says what exists. A source of someone else is not there, as far
as anyone can tell; the demo bank is everyone's. Must never: read a person's file in this process, or show a masked value.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lexsi_ds.data.demo_bank import REVISION
from lexsi_ds.data.handle import DatasetHandle, SourceKind, Table
from lexsi_ds.data.plan import Preview, ReadPlan
from lexsi_ds.data.sniff import path_kind, paths_kind
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, LexsiError, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.fingerprint import path_fingerprint
from lexsi_ds.services.handles import SourceInfo, handle_of, source_info, table_of
from lexsi_ds.services.importer import Importer, Tell
from lexsi_ds.services.masking import MASK
from lexsi_ds.services.planner import Planner
from lexsi_ds.services.removal import Removal
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewSource, Parts, SourceRecord, Sources, VersionRecord

log = logging.getLogger(__name__)
_DEMO = f"demo:{REVISION}"
_LONGEST_NAME = 120
_KINDS = ("demo", "pkdd", "files", "sqlite")


class Catalog:
    """Sources of one home. Every method raises Denied without the right, and NotFound for what is not there."""

    def __init__(self, settings: Settings, store: Store, pool: Pool) -> None:
        self._home = settings.home.resolve()
        self._rows = Sources(store)
        self._importer = Importer(self._home, self._rows, pool)
        self._sql = SqlRunner(pool, settings)
        self._planner = Planner(pool)
        self._removal = Removal(self._home, store)

    # -- adding ------------------------------------------------------------------------------------------------

    def plan_files(
        self, actor: Actor, paths: Sequence[Path | str], *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> list[ReadPlan]:
        """How files would be read, a plan a table; nothing is imported. A file that cannot be read has its ``error``.

        Change plans with ``ReadPlan.change`` and pass ``plan_options(plans)`` as ``options`` of ``import_source``.
        """
        actor.need("datasets:write")
        return self._planner.plan(paths, cancel, tell)

    def preview_file(
        self, actor: Actor, path: Path | str, plan: ReadPlan, n: int = 100, *, cancel: Cancel | None = None
    ) -> Preview:
        """The first ``n`` rows of a file as a plan reads them, and the plan with what was found under it."""
        actor.need("datasets:write")
        return self._planner.preview(path, plan, n, cancel)

    def import_source(
        self,
        actor: Actor,
        kind: SourceKind,
        name: str,
        paths: Sequence[Path | str] = (),
        *,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> DatasetHandle:
        """Read files (or make the demo bank) into a new source with snapshot 1.

        ``options`` for text files: ``encoding``, ``delimiter``, ``quote``, ``header``, ``date_order``. Raises BadInput
        for what cannot be read, Stopped and WorkerFailed; then there is no source. The bank's ``.asc`` files, uploaded one
        by one as ``files``, become a source of kind ``pkdd``.
        """
        actor.need("datasets:write")
        if kind == "files" and len(paths) > 1 and paths_kind([Path(p) for p in paths]) == "pkdd":
            kind = "pkdd"
        source = self._new_source(actor, kind, name, paths, options, throwaway=False, fingerprint=None)
        return self._importer.add(source, cancel, tell)

    def reimport(
        self,
        actor: Actor,
        source_id: str,
        paths: Sequence[Path | str] = (),
        *,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> DatasetHandle:
        """Read the source's files again, or others: new versions of its tables and a new snapshot.

        Raises Conflict when somebody else imported it at the same time.
        """
        actor.need("datasets:write")
        parts = self._parts(actor, source_id)
        if parts.source.kind == "demo":
            raise BadInput("The demo bank is made, not read.", to_do="Import files as a source of their own.")
        used = _absolute(paths) or parts.source.options.get("paths", [])
        read = options if options is not None else parts.source.options.get("read", {})
        self._importer.add_snapshot(source_id, parts.source.kind, used, read, parts.tables, cancel, tell)
        return self.handle(actor, source_id)

    def ensure_demo(self, actor: Actor, tell: Tell | None = None, *, cancel: Cancel | None = None) -> DatasetHandle:
        """The demo bank, built if it is not there. Of several processes that ask at once, one builds."""
        actor.need("datasets:read")
        source = NewSource(
            id=new_id("con"), owner=actor.id, name="Demo bank", kind="demo", synthetic=True, fingerprint=_DEMO
        )
        return self._importer.add_once(source, "The demo bank is being built", cancel, tell)

    def throwaway(
        self,
        path: Path | str,
        *,
        actor: Actor = LOCAL,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> DatasetHandle:
        """An unlisted source of a file or folder, for one question; kept, so that the same content is read once."""
        actor.need("datasets:read")
        where = Path(path).expanduser().absolute()
        kind = path_kind(where)
        fingerprint = path_fingerprint(where, f"{actor.id}:{kind}", options or {})
        name = where.stem or where.name
        source = self._new_source(actor, kind, name, [where], options, throwaway=True, fingerprint=fingerprint)
        return self._importer.add_once(source, "The same files are being read", cancel, tell)

    def save_derived(
        self, actor: Actor, source_id: str, name: str, arrow_path: Path, run_id: str | None = None, sql: str | None = None
    ) -> Table:
        """Keep a result (an Arrow stream file of the home) as a dataset of its own, outside of the snapshots.

        Its columns keep the marks of the source's columns of the same name. With the ``sql`` that gave its rows, a refresh
        of the source computes it anew. Raises Conflict when the source has a dataset of that name.
        """
        actor.need("datasets:write")
        marks = self._marks(actor, source_id)
        record = self._importer.add_derived(
            source_id, new_id("ds"), _checked_name(name, "data set"), arrow_path, marks, run_id, sql
        )
        return table_of(record, self._home)

    def rederive(self, actor: Actor, source_id: str) -> list[Table]:
        """Compute the derived datasets of a source anew on its newest snapshot; one whose query does not run any more stays
        as it is. Returns the newest version of each that was computed."""
        actor.need("datasets:write")
        handle, marks, made = self.handle(actor, source_id), self._marks(actor, source_id), []
        for record in self._derived(source_id):
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

    def _derived(self, source_id: str) -> list[VersionRecord]:
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
            for record in self._parts(actor, source_id).tables
            for column in table_of(record, self._home).columns
            if column.protected or column.identifier or column.masked
        }

    # -- reading -----------------------------------------------------------------------------------------------

    def sources(self, actor: Actor) -> list[SourceInfo]:
        """The person's sources and the demo bank, newest first; throwaway ones are not among them."""
        actor.need("datasets:read")
        usable = [record for record in self._rows.list() if _sees(actor, record) and not record.delete_status]
        found = [self._rows.parts(record.id) for record in usable]
        return [source_info(parts) for parts in found if parts is not None]

    def handle(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> DatasetHandle:
        """A snapshot of a source; the newest one by default."""
        actor.need("datasets:read")
        return handle_of(self._parts(actor, source_id, snapshot_id), self._home)

    def notes(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> list[str]:
        """What was noticed while the files were read: values that became missing, rejected lines, guesses."""
        actor.need("datasets:read")
        parts = self._parts(actor, source_id, snapshot_id)
        of_source = [str(note) for note in parts.source.options.get("notes", [])]
        return of_source + [f"{t.name}: {note}" for t in parts.tables for note in t.read_options.get("notes", [])]

    def rejected(self, actor: Actor, source_id: str, table: str) -> tuple[int, Path | None]:
        """How many lines and cells of a table's file could not be read as they stood, and the file that holds them."""
        actor.need("datasets:read")
        record = self._record(self._parts(actor, source_id), table)
        path = self._home / record.rejected_path if record.rejected_path else None
        return record.rejected + int(record.read_options.get("flagged", 0)), path

    def table(self, dataset_id: str, version: int | None = None) -> Table:
        """A dataset at a version, the newest by default: for services that have checked the person already."""
        record = self._rows.dataset(dataset_id, version) if is_id(dataset_id, "ds") else None
        if record is None:
            raise _not_found("data set", dataset_id)
        return table_of(record, self._home)

    def derived(self, actor: Actor, source_id: str) -> list[Table]:
        """Results that were kept as datasets of a source, newest first."""
        actor.need("datasets:read")
        self._parts(actor, source_id)
        return [table_of(record, self._home) for record in self._derived(source_id)]

    def tables_of(self, actor: Actor, source_id: str, sql: str) -> list[Table]:
        """The source's tables that a query reads, in order of their first mention; [] when it cannot be parsed."""
        handle = self.handle(actor, source_id)
        try:
            tree = sqlglot.parse_one(sql, dialect="duckdb")
        except SqlglotError:
            return []
        made_here = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
        named = dict.fromkeys(t.name.casefold() for t in tree.find_all(exp.Table, bfs=False))
        found = [handle.table(name) for name in named if name not in made_here]
        return [table for table in found if table is not None]

    def preview(self, actor: Actor, source_id: str, table: str, n: int = 50) -> pd.DataFrame:
        """The first ``n`` rows of a table, with the values of masked columns hidden."""
        handle = self.handle(actor, source_id)
        found = handle.table(table)
        if found is None:
            raise _not_found("table", table)
        shown = ", ".join(_shown(column.name, masked=column.masked) for column in found.columns)
        return self._sql.frame(handle, f"SELECT {shown} FROM {_quoted(found.name)} LIMIT {max(0, int(n))}")

    # -- changing ----------------------------------------------------------------------------------------------

    def mark_column(
        self,
        actor: Actor,
        dataset_id: str,
        column: str,
        *,
        protected: bool | None = None,
        masked: bool | None = None,
        identifier: bool | None = None,
    ) -> None:
        """Set the marks that are given; they hold for every version of the dataset."""
        actor.need("datasets:write")
        record = self._rows.dataset(dataset_id) if is_id(dataset_id, "ds") else None
        source = self._rows.get(record.source_id) if record is not None else None
        if record is None or source is None or not _sees(actor, source):
            raise _not_found("data set", dataset_id)
        if table_of(record, self._home).column(column) is None:
            raise _not_found("column", column)
        self._rows.mark(
            dataset_id, column, actor.id, protected=protected, masked=masked, identifier=identifier
        )

    def delete(self, actor: Actor, source_id: str) -> None:
        """Delete a source with its files; queries that read them finish. Also again, when it failed before.

        Raises Conflict that names what relies on it (models, predictions, answers, findings); then nothing has changed.
        """
        actor.need("datasets:write")
        source = self._rows.get(source_id) if is_id(source_id, "con") else None
        if source is None or source.owner != actor.id:
            raise _not_found("source", source_id)
        self._removal.delete_source(source_id)

    def sweep(self) -> int:
        """Remove what killed processes left behind, and finish their deletions; returns how many folders went."""
        return self._removal.sweep()

    # -- inside ------------------------------------------------------------------------------------------------

    def _new_source(
        self,
        actor: Actor,
        kind: str,
        name: str,
        paths: Sequence[Path | str],
        options: Mapping[str, Any] | None,
        *,
        throwaway: bool,
        fingerprint: str | None,
    ) -> NewSource:
        if kind not in _KINDS:
            raise BadInput(f"Sources of kind {kind} cannot be imported.", to_do=f"Choose {', '.join(_KINDS)}.")
        if kind != "demo" and not paths:
            raise BadInput("No file was given.", to_do="Choose at least one file or folder.")
        return NewSource(
            id=new_id("con"),
            owner=actor.id,
            name=_checked_name(name, "source"),
            kind=kind,
            synthetic=kind == "demo",
            throwaway=throwaway,
            fingerprint=fingerprint,
            options={"paths": _absolute(paths), "read": dict(options or {})},
        )

    def _parts(self, actor: Actor, source_id: str, snapshot_id: str | None = None) -> Parts:
        fits = is_id(source_id, "con") and (snapshot_id is None or is_id(snapshot_id, "snap"))
        parts = self._rows.parts(source_id, snapshot_id) if fits else None
        if parts is None or not _sees(actor, parts.source) or parts.source.delete_status:
            raise _not_found("source", source_id)
        return parts

    def _record(self, parts: Parts, name: str) -> VersionRecord:
        found = next((t for t in parts.tables if t.name.casefold() == name.casefold()), None)
        if found is None:
            raise _not_found("table", name)
        return found


def _sees(actor: Actor, source: SourceRecord) -> bool:
    return source.owner == actor.id or source.kind == "demo"


def _absolute(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(p).expanduser().absolute()) for p in paths]


def _checked_name(name: str, what: str) -> str:
    clean = " ".join(name.split())[:_LONGEST_NAME]
    if not clean:
        raise BadInput(f"The {what} needs a name.", to_do="Give it a short name.")
    return clean


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shown(name: str, *, masked: bool) -> str:
    column = _quoted(name)
    return column if not masked else f"CASE WHEN {column} IS NOT NULL THEN '{MASK}' END AS {column}"


def _not_found(what: str, name: str) -> NotFound:
    return NotFound(f"There is no such {what}.", where=name[:80], to_do="Look at the page Connect data.")
