"""The work of an import: an ingest worker builds the files, the store takes them, or they are removed again.

Of several processes that want the same thing, one builds and the others wait for it. Must never: check a right (the
catalog does), read a person's file in this process, or leave files that the store does not know.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, cast

from lexsi_ds.data.filelock import try_lock
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import Conflict, WorkerFailed
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.handles import handle_of
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.publishing import publishing
from lexsi_ds.store.sources import NewSource, NewVersion, Sources, VersionRecord

Tell = Callable[[dict[str, Any]], None]

_INGEST = "lexsi_ds.data.ingest:ingest"


class Importer:
    """Builds dataset versions of one home and hands them to the store."""

    def __init__(self, home: Path, rows: Sources, pool: Pool) -> None:
        self._home, self._rows, self._pool = home, rows, pool
        self._files = HomeFiles(home)

    def add(self, source: NewSource, cancel: Cancel | None, tell: Tell | None) -> DatasetHandle:
        """A new source from the paths and options that it names."""
        read = source.options.get("read", {})
        with publishing(self._home, cancel):
            made = self._ingest(source.kind, source.options.get("paths", []), read, {}, cancel, tell)
            source = source.model_copy(update={"options": source.options | {"notes": made["notes"]}})
            with _undone_on_error(made):
                self._rows.insert(source, self._versions(made), _today(made))
        parts = self._rows.parts(source.id)
        assert parts is not None, "a source that was just written is not there"
        return handle_of(parts, self._home)

    def add_once(self, source: NewSource, waiting: str, cancel: Cancel | None, tell: Tell | None) -> DatasetHandle:
        """The source with this fingerprint; added under a lock when it is not there, or its files are gone.

        ``waiting`` says what another process is at, such as "The demo bank is being built".
        """
        fingerprint = str(source.fingerprint)
        found = self._whole(fingerprint)
        if found is not None:
            return found
        lock = self._home / "locks" / f"{fingerprint.replace(':', '-')}.lock"
        with _lock(lock, waiting, cancel or Cancel(), tell):
            found = self._whole(fingerprint)
            if found is not None:
                return found
            broken = self._rows.by_fingerprint(fingerprint)
            if broken is not None:
                self._rows.delete(broken.id)
            try:
                return self.add(source, cancel, tell)
            except Conflict:
                found = self._whole(fingerprint)  # a process on another machine was first
                if found is None:
                    raise
                return found

    def add_snapshot(
        self,
        source_id: str,
        kind: str,
        paths: Sequence[str],
        read: Mapping[str, Any],
        known: Sequence[VersionRecord],
        cancel: Cancel | None,
        tell: Tell | None,
    ) -> None:
        """New versions of the ``known`` tables, and of what else the paths hold, as the source's next snapshot."""
        targets = {t.name: {"dataset_id": t.dataset_id, "version": self._next_version(t)} for t in known}
        with publishing(self._home, cancel):
            try:
                made = self._ingest(kind, paths, read, targets, cancel, tell)
            except WorkerFailed as error:
                self._still_there(source_id, error)
                raise
            with _undone_on_error(made):
                self._rows.add_snapshot(source_id, self._versions(made), _today(made))

    def _still_there(self, source_id: str, error: WorkerFailed) -> None:
        """Raise Conflict where an import broke because its source, and so its folder, was deleted under it."""
        source = self._rows.get(source_id)
        if source is None or source.delete_status:
            raise Conflict(
                "This source was deleted meanwhile.", where=source_id, to_do="Import the files as a new source."
            ) from error

    def add_tables(
        self, source_id: str, do: str, args: Mapping[str, Any], cancel: Cancel | None, tell: Tell | None
    ) -> None:
        """Tables that another task of the ingest lane copies (a connector's), beside the others of the newest snapshot."""
        with publishing(self._home, cancel):
            body = {**args, "into": str(self._files.folder("datasets"))}
            made = self._pool.run("ingest", do, body, cancel=cancel, tell=tell)
            with _undone_on_error(made):
                self._rows.add_snapshot(source_id, self._versions(made), _today(made), keep=True)

    def add_derived(
        self,
        source_id: str,
        dataset_id: str,
        name: str,
        arrow_path: Path,
        marks: Mapping[str, Mapping[str, bool]],
        run_id: str | None,
        sql: str | None = None,
        version: int = 1,
    ) -> VersionRecord:
        """A result of the home as a dataset of its own, or a further version of one. ``marks`` by column name win over guesses;
        ``sql`` is the query that gives its rows, kept so that a newer version of the source can give them anew."""
        self._files.text_of(arrow_path)
        target = {name: {"dataset_id": dataset_id, "version": version}}
        options = {"name": name, "marks": marks}
        with publishing(self._home):
            made = self._ingest("arrow", [str(arrow_path.absolute())], options, target, None, None)
            with _undone_on_error(made):
                kept = self._versions(made)[0]
                kept = kept.model_copy(update={"read_options": {**kept.read_options, "sql": sql}})
                return self._rows.add_derived(source_id, kept, run_id)

    def _whole(self, fingerprint: str) -> DatasetHandle | None:
        record = self._rows.by_fingerprint(fingerprint)
        parts = self._rows.parts(record.id) if record is not None else None
        if parts is None:
            return None
        handle = handle_of(parts, self._home)
        return handle if all(table.path.is_file() for table in handle.tables) else None

    def _ingest(
        self,
        kind: str,
        paths: Sequence[str],
        options: Mapping[str, Any],
        targets: Mapping[str, Any],
        cancel: Cancel | None,
        tell: Tell | None,
    ) -> dict[str, Any]:
        into = self._files.folder("datasets")
        args = {"kind": kind, "paths": list(paths), "into": str(into), "options": dict(options), "tables": targets}
        return self._pool.run("ingest", _INGEST, args, cancel=cancel, tell=tell)

    def _versions(self, made: Mapping[str, Any]) -> list[NewVersion]:
        return [
            NewVersion(
                dataset_id=table["dataset_id"],
                name=table["name"],
                version=table["version"],
                path=self._files.text_of(Path(table["path"])),
                rows=table["rows"],
                bytes=table["bytes"],
                columns=tuple(table["columns"]),
                comment=table["comment"],
                read_options={**table["options"], "notes": table["notes"]},
                rejected=table["rejected"],
                rejected_path=self._files.text_of(Path(table["rejected_path"])) if table["rejected_path"] else None,
            )
            for table in made["tables"]
        ]

    def _next_version(self, record: VersionRecord) -> int:
        newest = self._rows.dataset(record.dataset_id)
        return (newest or record).version + 1


@contextlib.contextmanager
def _undone_on_error(made: Mapping[str, Any]) -> Iterator[None]:
    """Remove the files of an import that the store did not take."""
    try:
        yield
    except BaseException:
        for table in made["tables"]:
            version = Path(table["path"]).parent
            shutil.rmtree(version, ignore_errors=True)
            with contextlib.suppress(OSError):
                version.parent.rmdir()  # only when it held no other version
        raise


@contextlib.contextmanager
def _lock(path: Path, waiting: str, cancel: Cancel, tell: Tell | None) -> Iterator[None]:
    """Hold a lock between processes; while another holds it, say so and listen for a stop."""
    file = try_lock(path)
    while file is None:
        cancel.check()
        if tell is not None:
            tell({"done": 0, "total": 1, "text": f"{waiting} by another process"})
        time.sleep(0.1)
        file = try_lock(path)
    try:
        yield
    finally:
        file.close()


def _today(made: Mapping[str, Any]) -> date | None:
    found = cast("str | None", made["today"])
    return date.fromisoformat(found) if found else None
