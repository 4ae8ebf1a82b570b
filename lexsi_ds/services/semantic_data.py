"""Components of a dataset's semantic layer, as programs read them: one component, sliced by parameters, never more than fits.

Must never: show a masked column's values, or cut an answer without saying so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lexsi_ds.errors import BadInput, NotFound
from lexsi_ds.services.access import Actor
from lexsi_ds.services.components import feature_texts
from lexsi_ds.services.datasets import Datasets
from lexsi_ds.services.sharing import checked
from lexsi_ds.services.surprises import Surprises
from lexsi_ds.store.datasets import DatasetRow

Json = dict[str, Any]
MOST_BYTES = 256 * 1024
_LISTS = {
    "column_stats": "columns", "feature_metadata": "columns", "surprises": "surprises", "ebm_model": "features",
    "ebm_graphs": "graphs", "umap_embedding": "points", "semantic_metadata": "columns",
}
_OF_RUNS = ("ebm_model", "ebm_graphs", "umap_embedding", "semantic_metadata")


class SemanticData:
    """Reads components. Raises NotFound for a dataset or component that is not there, BadInput for parameters that do not fit."""

    def __init__(self, datasets: Datasets, surprises: Surprises) -> None:
        self._datasets, self._surprises = datasets, surprises

    def get(
        self, actor: Actor, dataset: str, component: str, *, columns: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None, offset: int = 0, limit: int | None = None, version: int | None = None,
    ) -> Json:
        """One component. ``columns`` keeps what is about these columns, ``kinds`` these kinds of surprises; ``offset`` and
        ``limit`` take a stretch of what is left; ``version`` is a recent dataset version. At most 256 KiB: ``truncated`` and
        ``hint`` say when there is more."""
        row, _ = self._datasets.resolve(actor, dataset)
        available = self._datasets.layer(row)["availableComponents"]
        if component not in available:
            raise NotFound("This data set has no such component.", where=component[:80],
                           to_do=f"Choose one of {', '.join(available)}.")
        _checked(component, columns, kinds, version)
        body = self._body(actor, row, component, version)
        name = _LISTS[component]
        items = body.pop(name)
        if columns is not None:
            items = self._about(actor, row.id, component, items, columns)
        if kinds is not None:
            items = [i for i in items if i["kind"] in kinds]
        chosen = items[offset : None if limit is None else offset + limit]
        head = {"datasetId": row.id, "component": component, "total": len(items), "offset": offset} | body
        fitting = _fitting(chosen, MOST_BYTES - len(json.dumps(head)) - 1024)
        left = len(items) - offset - len(fitting)
        answer = head | {name: fitting, "count": len(fitting), "truncated": left > 0}
        if left > 0:
            answer["hint"] = f"{left} more: ask with offset {offset + len(fitting)}, or name columns."
        return answer

    def _body(self, actor: Actor, row: DatasetRow, component: str, version: int | None) -> Json:
        if component == "surprises":
            return {k: v for k, v in self._surprises.get(actor, row.id).items() if k not in ("datasetId", "count")}
        if component in _OF_RUNS:
            if component == "umap_embedding":  # its points are rows
                checked(self._datasets.level(actor, row.id), "read", row.name)
            return self._of_run(row, component, version)
        if component == "feature_metadata":
            table = self._datasets.table(row)
            manifest = self._datasets.components.of(table, component)
            made = self._datasets.components.read(manifest, component) if manifest is not None else None
            return {"version": row.version, "columns": feature_texts(table, made, row.target_column)}
        found = self._datasets.get_columns(actor, row.id)
        if found["component"] != "column_stats":
            raise BadInput("The column statistics cannot be computed now.", where=str(found.get("columnStatsError", ""))[:200],
                           to_do="Ask for feature_metadata.")
        return {"version": found["version"], "totalRows": found["totalRows"], "columns": found["columns"]}

    def _of_run(self, row: DatasetRow, component: str, version: int | None) -> Json:
        manifest = self._datasets.components.of(self._datasets.table(row), component, version)
        if manifest is None:
            raise NotFound("There is no such component of this version.", where=f"version {version}",
                           to_do="Leave the version out for the newest one.")
        stale = manifest.version != row.version or (component != "semantic_metadata" and manifest.target != row.target_column)
        return {"version": manifest.version, "runId": manifest.run_id, "stale": stale} | self._datasets.components.read(
            manifest, component)

    def _about(self, actor: Actor, dataset_id: str, component: str, items: list[Json], columns: Sequence[str]) -> list[Json]:
        known = {c["name"].casefold(): c["name"] for c in self._datasets.features(actor, dataset_id)}
        unknown = [c for c in columns if c.casefold() not in known]
        if unknown:
            raise NotFound("There is no such column.", where=unknown[0][:80], to_do="Look at get_columns.")
        wanted = {known[c.casefold()] for c in columns}
        if component in ("ebm_model", "ebm_graphs"):
            return [i for i in items if wanted & set(i["columns"])]
        if component != "surprises":
            return [i for i in items if i["name"] in wanted]
        return [i for i in items if wanted & {i["measureColumn"], *(g["column"] for g in i["groups"])}]


def _checked(component: str, columns: Sequence[str] | None, kinds: Sequence[str] | None, version: int | None) -> None:
    """Refuse parameters that say nothing of this component."""
    if kinds is not None and component != "surprises":
        raise BadInput("kinds goes with the component surprises.", where="kinds", to_do="Leave it out.")
    if columns is not None and component == "umap_embedding":
        raise BadInput("The points of umap_embedding are of no column.", where="columns", to_do="Use offset and limit.")
    if version is not None and component not in _OF_RUNS:
        raise BadInput(f"{component} is of the newest version.", where="version", to_do="Leave it out.")


def _fitting(items: list[Json], most: int) -> list[Json]:
    """As many of the first items as fit into so many bytes."""
    size, out = 0, []
    for item in items:
        size += len(json.dumps(item, ensure_ascii=False).encode()) + 2
        if size > most:
            break
        out.append(item)
    return out
