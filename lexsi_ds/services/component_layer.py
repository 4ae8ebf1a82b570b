"""What is said of a dataset's components without reading one: which are available, and the latest manifest with what is stale.

Must never: open a component's file to name it.
"""

from __future__ import annotations

from typing import Any

from lexsi_ds.data.handle import Table
from lexsi_ds.services import dataset_json as shape
from lexsi_ds.services.column_stats import ColumnStats
from lexsi_ds.services.component_files import ComponentEntry, ComponentFiles, Manifest
from lexsi_ds.store.surprises import SearchRecord

Json = dict[str, Any]
_ALWAYS = ("column_stats", "feature_metadata")
_OF_TARGET = ("ebm_model", "ebm_graphs", "umap_embedding")


def layer_json(
    table: Table, target: str | None, stats: ColumnStats, files: ComponentFiles, searched: SearchRecord | None
) -> Json:
    """``availableComponents`` over recent versions, and the manifest of the newest one."""
    recent = [m for m in files.manifests(table.dataset_id) if m.may_be_shown(table)]
    ready = {c.name for m in recent for c in m.components if c.status == "ready"}
    names = [*_ALWAYS, *sorted(ready - set(_ALWAYS)), *(["surprises"] if searched is not None else [])]
    latest = next((m for m in recent if m.version == table.version), None)
    manifest: Json = {"datasetVersion": table.version, "components": _components(table, target, stats, latest, searched)}
    if latest is not None:
        manifest |= {"runId": latest.run_id, "createdAt": shape.moment(latest.at), "targetColumn": latest.target}
    return {"availableComponents": names, "manifest": manifest}


def _components(
    table: Table, target: str | None, stats: ColumnStats, latest: Manifest | None, searched: SearchRecord | None
) -> list[Json]:
    stats_status = "ready" if stats.ready(table) else "on_request"
    found: list[Json] = [_plain("column_stats", stats_status, required=False)]
    if latest is None:
        found.append(_plain("feature_metadata", "ready", required=True))
    else:
        found += [_of_run(entry, latest, target) for entry in latest.components]
    if searched is not None and searched.version == table.version:
        stale = searched.target != target
        found.append(_plain("surprises", "stale" if stale else "ready", required=False))
    return found


def _of_run(entry: ComponentEntry, latest: Manifest, target: str | None) -> Json:
    stale = entry.name in _OF_TARGET and latest.target != target
    status = "stale" if stale else entry.status
    shown: Json = _plain(entry.name, status, required=entry.required)
    more: Json = {
        "sizeBytes": entry.bytes, "seconds": entry.seconds, "parameters": entry.parameters or None,
        "reason": "The target was changed since: compute the components again." if stale else entry.reason,
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def _plain(name: str, status: str, *, required: bool) -> Json:
    return {"name": name, "status": status, "required": required, "contentType": "application/json"}
