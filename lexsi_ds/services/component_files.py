"""Computed components of dataset versions as files of the home: a folder a run, with a manifest that never changes.

A run's folder appears whole or not at all. Must never: give a component that was made with a column that is masked now.
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from lexsi_ds.data.handle import Table, Value

Json = dict[str, Any]
RECENT = 5
"""Manifests that count as recent: their components are available."""
Status = Literal["ready", "not_available", "failed"]


class ComponentEntry(Value):
    """One component of a run."""

    name: str
    required: bool
    content_type: str
    status: Status
    bytes: int | None = None
    seconds: float | None = None
    reason: str | None = None
    """Why it is not ready."""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Manifest(Value):
    """One run on one dataset version."""

    run_id: str
    dataset_id: str
    version: int
    target: str | None
    columns: tuple[str, ...]
    """Columns that could be looked at: those that were not masked."""
    person: str
    at: datetime
    components: tuple[ComponentEntry, ...]

    def entry(self, name: str) -> ComponentEntry | None:
        """The component of this name."""
        return next((c for c in self.components if c.name == name), None)

    def may_be_shown(self, table: Table) -> bool:
        """Whether no column it may rest on is masked by now."""
        return not {c.name for c in table.columns if c.masked} & set(self.columns)


class ComponentFiles:
    """Reads and writes the folders."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "components"

    def draft(self, dataset_id: str, run_id: str) -> Path:
        """A fresh folder for a run to write into."""
        folder = self._folder / dataset_id / f".{run_id}.{os.getpid()}.tmp"
        folder.mkdir(parents=True)
        return folder

    def keep(self, draft: Path, manifest: Manifest) -> None:
        """Make a run's folder appear, with its manifest."""
        (draft / "manifest.json").write_text(manifest.model_dump_json(), encoding="utf-8")
        draft.rename(draft.parent / f"v{manifest.version}-{manifest.run_id}")

    def drop(self, draft: Path) -> None:
        """Remove what a run that did not end well has written."""
        shutil.rmtree(draft, ignore_errors=True)

    def manifests(self, dataset_id: str) -> tuple[Manifest, ...]:
        """The recent ones that can be read, of the newest version and the latest run first."""
        found: list[Manifest] = []
        for path in (self._folder / dataset_id).glob("v*/manifest.json"):
            try:
                found.append(Manifest.model_validate_json(path.read_bytes()))
            except (OSError, ValidationError):
                continue
        return tuple(sorted(found, key=lambda m: (m.version, m.at), reverse=True)[:RECENT])

    def of(self, table: Table, name: str, version: int | None = None) -> Manifest | None:
        """The newest recent run, of a given version if there is one, that has this component ready to be shown."""
        for manifest in self.manifests(table.dataset_id):
            entry = manifest.entry(name)
            wanted = version in (None, manifest.version) and manifest.may_be_shown(table)
            if wanted and entry is not None and entry.status == "ready":
                return manifest
        return None

    def read(self, manifest: Manifest, name: str) -> Json:
        """A component that is ready. Raises OSError when its file is gone."""
        folder = self._folder / manifest.dataset_id / f"v{manifest.version}-{manifest.run_id}"
        return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))

    def forget(self, dataset_id: str, version: int | None = None) -> None:
        """Remove what is kept of a dataset, or of one of its versions."""
        folder = self._folder / dataset_id
        for path in [folder] if version is None else folder.glob(f"v{version}-*"):
            shutil.rmtree(path, ignore_errors=True)
