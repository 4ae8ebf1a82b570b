"""What a run made, kept on disk: frames as Arrow streams, the rest as JSON. A saved turn is drawn from these again.

An artifact's file is complete before its row exists, and never changes after: ``meta["sha256"]`` is the hash of its bytes.
Must never: open a path that a caller named; ids are checked for form and owner first, paths for lying in the home.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from lexsi_ds.data.frames import to_frame
from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.services.access import Actor
from lexsi_ds.services.csv_text import csv_bytes
from lexsi_ds.services.home_files import HomeFiles
from lexsi_ds.services.result_graph import file_hash
from lexsi_ds.store import artifacts as rows
from lexsi_ds.store.artifacts import ArtifactKind, ArtifactRecord
from lexsi_ds.store.db import Store


@dataclass(frozen=True)
class Artifact:
    """An artifact: ``meta`` says what it is (always with ``tool``), ``frame()`` or ``json()`` give its content."""

    id: str
    run_id: str
    kind: ArtifactKind
    path: Path
    meta: dict[str, Any]

    def arrow(self) -> pa.Table:
        """All rows, memory-mapped. Raises BadInput when it is no frame."""
        self._need("frame")
        with pa.memory_map(str(self.path)) as mapped, pa.ipc.open_stream(mapped) as reader:
            return reader.read_all()

    def frame(self) -> pd.DataFrame:
        """All rows in pandas. Raises BadInput when it is no frame."""
        return to_frame(self.arrow())

    def json(self) -> Any:
        """The value. Raises BadInput when it is a frame."""
        self._need("json")
        return json.loads(self.path.read_text(encoding="utf-8"))

    def _need(self, kind: ArtifactKind) -> None:
        if self.kind != kind:
            raise BadInput(f"This artifact is no {kind}, but a {self.kind}.", where=self.id)


class Sink:
    """Where one person's runs put what they make."""

    def __init__(self, save: Callable[..., str], actor: Actor) -> None:
        self._save, self._actor = save, actor

    def save_frame(self, run_id: str, data: pd.DataFrame | Path, meta: dict[str, Any]) -> str:
        """Keep a frame, or an Arrow stream file of the home that holds one; returns its id."""
        return self._save(self._actor, run_id, "frame", data, meta)

    def save_json(self, run_id: str, body: Any, meta: dict[str, Any]) -> str:
        """Keep a JSON value; returns its id."""
        return self._save(self._actor, run_id, "json", body, meta)


class Artifacts:
    """Every read and write of artifacts."""

    def __init__(self, store: Store, home: Path) -> None:
        self._rows, self._files = rows.Artifacts(store), HomeFiles(home)

    def folder(self, run_id: str) -> Path:
        """The folder for a run's own files. Raises NotFound for what is no run id."""
        if not is_id(run_id, "run"):
            raise NotFound("There is no such run.")
        return self._files.folder("runs", run_id)

    def sink(self, actor: Actor) -> Sink:
        """Where this person's runs put what they make."""
        actor.need("chats:write")
        return Sink(self._save, actor)

    def get(self, actor: Actor, artifact_id: str) -> Artifact:
        """One artifact. Raises NotFound for an unknown id, somebody else's, or a file that is gone."""
        actor.need("chats:read")
        record = self._rows.get(artifact_id, actor.id) if is_id(artifact_id, "art") else None
        if record is None:
            raise NotFound("There is no such result.", to_do="Ask the question again.")
        return self._opened(record)

    def of_run(self, actor: Actor, run_id: str) -> tuple[Artifact, ...]:
        """What a run made, in order; artifacts whose file is gone are left out."""
        actor.need("chats:read")
        found = []
        for record in self._rows.of_run(run_id, actor.id):
            try:
                found.append(self._opened(record))
            except NotFound:
                continue
        return tuple(found)

    def csv(self, actor: Actor, artifact_id: str, *, leave_out: Collection[str] = ()) -> bytes:
        """All rows of a frame as CSV, safe for a spreadsheet, but for the columns named in ``leave_out``, their case folded."""
        table = self.get(actor, artifact_id).arrow()
        table = table.select([name for name in table.column_names if name.casefold() not in leave_out])
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as db:
            db.register("rows", table)
            columns = [(name, kind) for name, kind, *_ in db.execute("DESCRIBE rows").fetchall()]
            return csv_bytes(db, columns, "FROM rows", [], self._files.folder("tmp"))

    def _opened(self, record: ArtifactRecord) -> Artifact:
        path = self._files.path_of(record.path, "result")
        return Artifact(record.id, record.run_id, record.kind, path, record.meta)

    def _save(self, actor: Actor, run_id: str, kind: ArtifactKind, content: Any, meta: dict[str, Any]) -> str:
        artifact_id = new_id("art")
        path = self.folder(run_id) / f"{artifact_id}.{'arrow' if kind == 'frame' else 'json'}"
        temporary = path.with_suffix(".tmp")
        try:
            if kind == "json":
                temporary.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
            elif isinstance(content, Path):
                self._files.text_of(content)
                _link_or_copy(content, temporary)
            else:
                _write_stream(content, temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        kept = json.loads(json.dumps(meta, allow_nan=False)) | {"sha256": file_hash(path)}
        self._rows.insert(artifact_id, actor.id, run_id, kind, self._files.text_of(path), path.stat().st_size, kept)
        return artifact_id


def _link_or_copy(source: Path, target: Path) -> None:
    """A second name for the same bytes: later writes go to new files, so they cannot change."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _write_stream(frame: pd.DataFrame, path: Path) -> None:
    named = frame.rename(columns=str)
    try:
        table = pa.Table.from_pandas(named, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = named.select_dtypes("object").columns
        text = {name: named[name].astype("string") for name in mixed}
        table = pa.Table.from_pandas(named.assign(**text), preserve_index=False)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
