"""The computed components of a dataset's semantic layer: started, kept with their version, and known to be stale.

``feature_metadata`` and ``semantic_metadata`` are required: without them a run fails and leaves nothing. The others may be
missing, with the reason. Must never: change a manifest once it is written.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.data.handle import Table
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.background import Background, Task
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool, Tell
from lexsi_ds.services import dataset_json as shape
from lexsi_ds.services.access import Actor
from lexsi_ds.services.component_files import ComponentEntry, ComponentFiles, Manifest
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.sharing import checked
from lexsi_ds.settings import Settings
from lexsi_ds.store.records import now

Json = dict[str, Any]
_BUILD = "lexsi_ds.insights.layer_worker:build"
REQUIRED = ("feature_metadata", "semantic_metadata")
OPTIONAL = ("ebm_model", "ebm_graphs", "umap_embedding")


class Components:
    """Every method raises Denied without the right, NotFound for a dataset that is not there."""

    def __init__(self, settings: Settings, pool: Pool, datasets: Datasets, background: Background) -> None:
        self._settings, self._pool, self._datasets, self._background = settings, pool, datasets, background
        self.files: ComponentFiles = datasets.components

    def start(self, actor: Actor, dataset: str) -> Task:
        """Compute them in the background; the task's result is what ``manifest`` returns."""
        row, _ = self._datasets.resolve(actor, dataset)
        return self._background.start(
            "components", f"Computing the semantic components of {row.name}",
            lambda cancel, tell: self.compute(actor, row.id, cancel=cancel, tell=tell), owner=actor.id,
            key=f"components-{row.id}",
        )

    def compute(self, actor: Actor, dataset: str, *, cancel: Cancel | None = None, tell: Tell | None = None) -> Json:
        """Compute every component of the newest version, beside what earlier runs made. Needs edit access."""
        actor.need("datasets:write")
        row, _ = self._datasets.resolve(actor, dataset)
        checked(self._datasets.level(actor, row.id), "edit", row.name)
        table = self._datasets.table(row)
        if table.live is not None:
            raise BadInput("Components are computed for imported data.", where=row.name, to_do="Import this table first.")
        run_id = new_id("lyr")
        draft = self.files.draft(row.id, run_id)
        try:
            answer = self._pool.run("ml", _BUILD, {
                "path": str(table.path), "columns": [c.model_dump() for c in table.columns if not c.masked], "rows": table.rows,
                "version": row.version, "target": row.target_column, "threads": self._settings.threads, "into": str(draft),
                "components": [{"name": n, "required": n in REQUIRED} for n in (*REQUIRED, *OPTIONAL)],
            }, cancel=cancel, tell=tell)
            entries = [_entry(body) for body in answer["components"]]
            self.files.keep(draft, Manifest(
                run_id=run_id, dataset_id=row.id, version=row.version, target=row.target_column, person=actor.id, at=now(),
                columns=tuple(c.name for c in table.columns if not c.masked), components=tuple(entries),
            ))
        except BaseException:
            self.files.drop(draft)
            raise
        return self.manifest(actor, row.id)

    def manifest(self, actor: Actor, dataset: str) -> Json:
        """The latest run on the newest version, each component with its status, size, type and parameters."""
        row, _ = self._datasets.resolve(actor, dataset)
        return self._datasets.layer(row)


def _entry(body: Json) -> ComponentEntry:
    names = {"contentType": "content_type"}
    return ComponentEntry.model_validate({names.get(name, name): value for name, value in body.items()})


def feature_texts(table: Table, generated: Json | None, target: str | None) -> list[Json]:
    """The component ``feature_metadata``: a person's text of a column before the generated one, and its odd values."""
    made = {c["name"]: c for c in (generated or {}).get("columns", ())}
    found: list[Json] = []
    for column in table.columns:
        its = made.get(column.name, {}) if not column.masked else {}
        text = column.comment or its.get("generatedDescription", "")
        origin = "user" if column.comment else "generated" if text else None
        found.append(
            shape.feature_json(table, column.name, target)
            | {"description": text, "descriptionSource": origin, "artifacts": its.get("artifacts", [])}
        )
    return found
