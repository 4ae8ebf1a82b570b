"""The catalog as programs and agents read it: connectors, datasets, their descriptions, columns and differences.

Every answer is JSON with the field names of the tools reference. What a person may not see is not there, in lists as in
names: an invisible dataset and an unknown one raise the same NotFound.
"""

from __future__ import annotations

import logging
from datetime import UTC
from pathlib import Path
from typing import Any

from lexsi_ds.data.handle import Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import Ambiguous, BadInput, LexsiError, NotFound
from lexsi_ds.ids import is_id
from lexsi_ds.services import dataset_json as shape
from lexsi_ds.services.access import Actor, Level
from lexsi_ds.services.column_stats import ColumnStats
from lexsi_ds.services.component_files import ComponentFiles
from lexsi_ds.services.component_layer import layer_json
from lexsi_ds.services.cursors import Cursors
from lexsi_ds.services.dataset_json import Json
from lexsi_ds.services.finding_text import visible_text
from lexsi_ds.services.findings import Findings
from lexsi_ds.services.handles import table_of
from lexsi_ds.services.sharing import Sharing, View, checked
from lexsi_ds.store.datasets import UNSET, DatasetRow, DatasetRows, Unset
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import SourceRecord, Sources
from lexsi_ds.store.surprises import SurpriseRows

log = logging.getLogger(__name__)
_LONGEST_DESCRIPTION, _LONGEST_COLUMN_TEXT = 4_000, 500


class Datasets:
    """Reads (and the texts) of datasets. Every method raises Denied without the right, NotFound for what is not there."""

    def __init__(self, store: Store, home: Path, sql: SqlRunner, findings: Findings) -> None:
        self._home, self._findings = home.resolve(), findings
        self._rows, self._versions, self._cursors = DatasetRows(store), Sources(store), Cursors(store)
        self._sharing, self._surprises = Sharing(store), SurpriseRows(store)
        self.stats, self.components = ColumnStats(self._home, sql), ComponentFiles(self._home)

    # -- lists ---------------------------------------------------------------------------------------------------

    def list_data_connectors(self, actor: Actor, *, limit: int | None = None, cursor: str | None = None) -> Json:
        """The sources this person can see, also those whose deletion runs or failed; the last changed first."""
        actor.need("datasets:read")
        view = self._sharing.view(actor)
        seen = sorted((s for s in self._rows.sources() if view.source(s) is not None), key=_source_key, reverse=True)
        page, after = self._cursors.page(actor, "list_data_connectors", {}, seen, _source_key, limit, cursor)
        kept = {row.source_id: row for row in self._rows.of_sources([s.id for s in page])}
        databases = self._rows.databases([s.id for s in page])
        shown = [shape.connector_json(actor, s, kept.get(s.id), databases.get(s.id)) for s in page]
        return shape.page("connectors", shown, len(seen), after)

    def list_datasets(
        self, actor: Actor, *, connector_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Json:
        """The datasets this person can see, of one connector if given; the last changed first."""
        actor.need("datasets:read")
        view = self._sharing.view(actor)
        sources = {s.id: s for s in self._rows.sources()}
        if connector_id is not None:
            if connector_id not in sources or view.source(sources[connector_id]) is None:
                raise NotFound("There is no such data connector.", where=connector_id[:80],
                               to_do="Look at list_data_connectors.")
            sources = {connector_id: sources[connector_id]}
        found = sorted(self._seen(view, sources), key=_dataset_key, reverse=True)
        filters = {"connector_id": connector_id}
        page, after = self._cursors.page(actor, "list_datasets", filters, found, _dataset_key, limit, cursor)
        shown = [shape.dataset_json(view, d, sources[d.source_id]) for d in page]
        return shape.page("datasets", shown, len(found), after)

    # -- one dataset -----------------------------------------------------------------------------------------------

    def resolve(self, actor: Actor, dataset: str, *, within: str | None = None) -> tuple[DatasetRow, SourceRecord]:
        """The dataset of an id, else of ``schema.table``, else of exactly this name.

        ``within`` is a source whose datasets are looked at before all others, such as the active one. Raises NotFound,
        and Ambiguous (with ``candidates``) when several fit: none is picked.
        """
        actor.need("datasets:read")
        sources = {s.id: s for s in self._rows.sources(throwaway=True) if s.delete_status is None}
        rows = self._seen(self._sharing.view(actor), sources)
        if is_id(dataset, "ds"):
            return self._only([r for r in rows if r.id == dataset], dataset, sources)
        listed = [r for r in rows if r.source_id == within or not sources[r.source_id].throwaway]
        for group in ([r for r in listed if r.source_id == within], listed):
            for found in ([r for r in group if _table_name(r) == dataset], [r for r in group if r.name == dataset]):
                if found:
                    return self._only(found, dataset, sources)
        return self._only([], dataset, sources)

    def describe_dataset(self, actor: Actor, dataset: str, *, within: str | None = None) -> Json:
        """Everything known of a dataset, with its components and accepted findings."""
        row, source = self.resolve(actor, dataset, within=within)
        table = self._table(row)
        described = {c.name: c.comment for c in table.columns if c.comment}
        answer = shape.dataset_json(self._sharing.view(actor), row, source) | {
            "createdAt": shape.moment(row.created_at),
            "rowCount": row.rows,
            "columnCount": len(table.columns),
            "bytes": row.bytes,
            "datasetContext": table.comment or "",
            "featureContexts": described,
            "semanticLayer": self.layer(row),
        }
        try:
            accepted = self._findings.of_dataset(actor, row.id, review="accepted", status="active")
            answer["findings"] = [shape.finding_json(f) for f in accepted]
        except LexsiError as error:
            answer["findingsError"] = str(error)
        except Exception:
            log.exception("the findings of %s could not be loaded", row.id)
            answer["findingsError"] = "The findings could not be loaded; the log says why."
        return answer

    def get_columns(self, actor: Actor, dataset: str, *, within: str | None = None) -> Json:
        """Every column with its statistics; where they cannot be computed, its name, type and description."""
        row, _ = self.resolve(actor, dataset, within=within)
        table = self._table(row)
        head = {"datasetId": row.id, "name": row.name, "version": row.version, "totalRows": table.rows,
                "totalColumns": len(table.columns)}
        try:
            found = {s.name: s for s in self.stats.of(table)}
        except LexsiError as error:
            plain = [shape.feature_json(table, name, row.target_column) for name in (c.name for c in table.columns)]
            return head | {"component": "feature_metadata", "columnStatsError": str(error), "columns": plain}
        columns = [
            shape.feature_json(table, c.name, row.target_column) | shape.figures_json(found[c.name]) for c in table.columns
        ]
        return head | {"component": "column_stats", "columns": columns}

    def features(self, actor: Actor, dataset: str, *, within: str | None = None) -> list[Json]:
        """Every column's name, type, description and marks, without figures."""
        row, _ = self.resolve(actor, dataset, within=within)
        table = self._table(row)
        return [shape.feature_json(table, c.name, row.target_column) for c in table.columns]

    def compare_schemas(self, actor: Actor, a: str, b: str, *, within: str | None = None) -> Json:
        """Columns in both datasets (by name, whatever the case), only in A, and only in B."""
        (row_a, _), (row_b, _) = (self.resolve(actor, name, within=within) for name in (a, b))
        table_a, table_b = self._table(row_a), self._table(row_b)
        both, only_a = [], []
        for column in table_a.columns:
            other = table_b.column(column.name)
            if other is None:
                only_a.append({"name": column.name, "type": column.type})
            else:
                both.append({"name": column.name, "typeA": column.type, "typeB": other.type,
                             "sameType": column.type == other.type}
                            | ({} if other.name == column.name else {"nameB": other.name}))
        only_b = [{"name": c.name, "type": c.type} for c in table_b.columns if table_a.column(c.name) is None]
        return {
            "a": {"id": row_a.id, "name": row_a.name}, "b": {"id": row_b.id, "name": row_b.name},
            "inBoth": both, "onlyInA": only_a, "onlyInB": only_b,
        }

    def table(self, row: DatasetRow) -> Table:
        """The newest version of a resolved dataset."""
        return self._table(row)

    def layer(self, row: DatasetRow) -> Json:
        """The components of a resolved dataset: which are available, and the manifest of the latest run."""
        searched = self._surprises.newest(row.id)
        return layer_json(self._table(row), row.target_column, self.stats, self.components, searched)

    def level(self, actor: Actor, dataset_id: str) -> Level | None:
        """What the person may do to it; None for a dataset they cannot see."""
        return self._sharing.of_dataset(actor, dataset_id)

    # -- texts -----------------------------------------------------------------------------------------------------

    def set_target(self, actor: Actor, dataset_id: str, column: str | None) -> None:
        """Say which column is to be predicted; None takes it away. Raises BadInput for one that is masked."""
        row = self._editable(actor, dataset_id)
        if column is None:
            self._rows.edit(row.id, target_column=None)
            return
        found = self._column(row, column)
        if found.masked:
            raise BadInput("A masked column cannot be a target.", where=found.name, to_do="Choose another column.")
        self._rows.edit(row.id, target_column=found.name)

    def describe(
        self, actor: Actor, dataset_id: str, *, text: str | Unset | None = UNSET,
        columns: dict[str, str | None] | None = None,
    ) -> Json:
        """Write what a dataset and its columns mean; "" or None takes a text away and brings back what was read.

        Returns what update_dataset_context returns: datasetContext, and featureContexts with every column text.
        """
        row = self._editable(actor, dataset_id)
        said = {self._column(row, name).name: _text(body, _LONGEST_COLUMN_TEXT) for name, body in (columns or {}).items()}
        if not isinstance(text, Unset):
            self._rows.edit(row.id, description=_text(text, _LONGEST_DESCRIPTION))
        for name, body in said.items():
            self._rows.describe_column(row.id, name, actor.id, body)
        table = self._table(row)
        return {"datasetId": row.id, "datasetContext": table.comment or "",
                "featureContexts": {c.name: c.comment for c in table.columns if c.comment}}

    def planned_texts(
        self, actor: Actor, dataset_id: str, *, text: str | Unset | None = UNSET,
        columns: dict[str, str | None] | None = None,
    ) -> Json:
        """What ``describe`` would change: current and proposed text of the description and of each named column.

        Raises what ``describe`` raises; nothing is written.
        """
        row = self._editable(actor, dataset_id)
        table = self._table(row)
        planned: Json = {}
        if not isinstance(text, Unset):
            planned["datasetContext"] = {"current": table.comment or "", "proposed": _text(text, _LONGEST_DESCRIPTION) or ""}
        said: Json = {}
        for name, body in (columns or {}).items():
            column = self._column(row, name)
            said[column.name] = {"current": column.comment or "", "proposed": _text(body, _LONGEST_COLUMN_TEXT) or ""}
        return planned | ({"columnDescriptions": said} if said else {})

    # -- inside ----------------------------------------------------------------------------------------------------

    def _seen(self, view: View, sources: dict[str, SourceRecord]) -> list[DatasetRow]:
        """The datasets of these sources that a person can see."""
        return [r for r in self._rows.of_sources(sources) if view.dataset(sources[r.source_id], r.id) is not None]

    def _only(
        self, found: list[DatasetRow], asked: str, sources: dict[str, SourceRecord]
    ) -> tuple[DatasetRow, SourceRecord]:
        if not found:
            raise NotFound("There is no such data set.", where=asked[:80], to_do="Look at list_datasets.")
        if len(found) > 1:
            ids = tuple(sorted(r.id for r in found))
            raise Ambiguous(
                f"{len(found)} data sets fit this name: {', '.join(ids)}.", where=asked[:80],
                to_do="Name one of them by its id.", candidates=ids,
            )
        return found[0], sources[found[0].source_id]

    def _editable(self, actor: Actor, dataset_id: str) -> DatasetRow:
        actor.need("datasets:write")
        row, source = self.resolve(actor, dataset_id)
        checked(self._sharing.view(actor).dataset(source, row.id), "edit", row.name)
        return row

    def _table(self, row: DatasetRow) -> Table:
        record = self._versions.dataset(row.id, row.version)
        if record is None:
            raise NotFound("There is no such data set.", where=row.name, to_do="Look at list_datasets.")
        return table_of(record, self._home)

    def _column(self, row: DatasetRow, name: str) -> Any:
        column = self._table(row).column(name)
        if column is None:
            raise NotFound("There is no such column.", where=name[:80], to_do="Look at get_columns.")
        return column


def _table_name(row: DatasetRow) -> str | None:
    schema, table = row.read_options.get("schema"), row.read_options.get("table")
    return f"{schema}.{table}" if schema and table else None


def _text(text: str | None, most: int) -> str | None:
    clean = visible_text(text or "").strip()
    if len(clean) > most:
        raise BadInput(f"A description has at most {most:,} characters.", where=clean[:40], to_do="Shorten it.")
    return clean or None


def _source_key(source: SourceRecord) -> tuple[str, str]:
    return f"{source.updated_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}", source.id


def _dataset_key(row: DatasetRow) -> tuple[str, str]:
    return f"{row.updated_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}", row.id
