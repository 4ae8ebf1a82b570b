"""The catalog: the only way to add, read, mark and delete sources and their datasets.

Files are read and written by ingest workers; the store says what exists. What reads from the catalog is its library. Must never:
read a person's file in this process, or change what is somebody else's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexsi_ds.data.demo_bank import REVISION
from lexsi_ds.data.handle import DatasetHandle, SourceKind, Table
from lexsi_ds.data.plan import Preview, ReadPlan
from lexsi_ds.data.sniff import path_kind, paths_kind
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.derived import Derived, checked_name
from lexsi_ds.services.fingerprint import path_fingerprint
from lexsi_ds.services.handles import table_of
from lexsi_ds.services.importer import Importer, Tell
from lexsi_ds.services.library import Library, not_found
from lexsi_ds.services.planner import Planner, Plans
from lexsi_ds.services.removal import Removal
from lexsi_ds.services.sharing import checked
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewSource, Sources

_DEMO = f"demo:{REVISION}"
_KINDS = ("demo", "pkdd", "files", "sqlite")


class Catalog(Library):
    """Sources of one home, to be read and changed. Every method raises Denied without the right, NotFound for what is not there."""

    def __init__(self, settings: Settings, store: Store, pool: Pool) -> None:
        super().__init__(settings.home.resolve(), Sources(store), SqlRunner(pool, settings))
        self._importer = Importer(self._home, self._rows, pool)
        self._derived = Derived(self._home, self._rows, self._importer, self._sql, self)
        self._planner = Planner(pool)
        self._removal = Removal(self._home, store)

    # -- adding ------------------------------------------------------------------------------------------------

    def plan_files(
        self, actor: Actor, paths: Sequence[Path | str], *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> Plans:
        """How files would be read, a plan a table; nothing is imported. A file that cannot be read has its ``error``,
        and ``notes`` of the list says what was passed over.

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
        parts = self.parts(actor, source_id)
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

    # -- results kept as datasets --------------------------------------------------------------------------------

    def save_derived(
        self, actor: Actor, source_id: str, name: str, arrow_path: Path, run_id: str | None = None, sql: str | None = None
    ) -> Table:
        """As ``Derived.save``: keep a result as a dataset of its own, outside of the snapshots."""
        return self._derived.save(actor, source_id, name, arrow_path, run_id, sql)

    def rederive(self, actor: Actor, source_id: str) -> list[Table]:
        """As ``Derived.compute_anew``: what was kept with its query, on the newest snapshot."""
        return self._derived.compute_anew(actor, source_id)

    def derived(self, actor: Actor, source_id: str) -> list[Table]:
        """Results that were kept as datasets of a source, newest first."""
        return self._derived.of_source(actor, source_id)

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
        level = None if source is None else self._sharing.view(actor).dataset(source, dataset_id)
        if record is None or level is None:
            raise not_found("data set", dataset_id)
        checked(level, "edit", record.name)
        if table_of(record, self._home).column(column) is None:
            raise not_found("column", column)
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
            raise not_found("source", source_id)
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
            name=checked_name(name, "source"),
            kind=kind,
            synthetic=kind == "demo",
            throwaway=throwaway,
            fingerprint=fingerprint,
            options={"paths": _absolute(paths), "read": dict(options or {})},
        )


def _absolute(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(p).expanduser().absolute()) for p in paths]
