"""The reference's tools that read the catalog, and ``ingest_tables``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from lexsi_ds.server.tool import Answer, Arguments, Call, Json, Page, Paged, ServerTool
from lexsi_ds.services.dataset_json import page

_DATASET = "The dataset: its id (ds_…), its source table as schema.table, or its name."


class OfDataset(Arguments):
    """Arguments that name a dataset."""

    dataset: str = Field(min_length=1, max_length=400, description=_DATASET)


class OfConnector(Page):
    """Arguments that name a connector."""

    connector_id: str = Field(min_length=1, max_length=100, description="The connector's id (con_…) from list_data_connectors.")


class ListDatasets(Page):
    """Arguments of list_datasets."""

    connector_id: str | None = Field(default=None, max_length=100, description="Only datasets of this connector (con_…).")


class TwoDatasets(Arguments):
    """Arguments of compare_schemas."""

    dataset_a: str = Field(min_length=1, max_length=400, description=_DATASET)
    dataset_b: str = Field(min_length=1, max_length=400, description=_DATASET)


class OfComponent(OfDataset):
    """Arguments of get_semantic_data."""

    component: str = Field(min_length=1, max_length=80, description="One of semanticLayer.availableComponents of describe_dataset.")
    columns: list[str] | None = Field(default=None, max_length=500, description="Only what is about these columns.")
    kinds: list[str] | None = Field(default=None, max_length=10, description="Of surprises: only these kinds.")
    version: int | None = Field(default=None, ge=1, description="Of ebm_*, umap_embedding, semantic_metadata: a recent version.")
    offset: int = Field(default=0, ge=0, description="How many items to pass over.")
    limit: int | None = Field(default=None, ge=1, le=1_000, description="Most items.")


class SourceTable(Arguments):
    """A table of a connector."""

    table_name: str = Field(min_length=1, max_length=400)
    schema_name: str | None = Field(default=None, max_length=400)


class IngestTables(Arguments):
    """Arguments of ingest_tables."""

    connector_id: str = Field(min_length=1, max_length=100, description="The connector's id (con_…).")
    tables: list[SourceTable] = Field(
        min_length=1, max_length=500, description="Tables as list_connector_tables gives them; for a bucket, files or patterns."
    )


class Connector(Answer):
    """A connector of the list."""

    id: str
    display_name: str
    kind: str
    access_level: str
    database: str | None
    created_at: str
    updated_at: str
    delete_status: str | None = None
    delete_error: str | None = None


class Connectors(Paged):
    """Answer of list_data_connectors."""

    connectors: list[Connector]


class Tables(Paged):
    """Answer of list_connector_tables."""

    tables: list[SourceTable]


class Dataset(Answer):
    """A dataset of the list."""

    id: str
    name: str
    kind: str
    status: str
    target_column: str | None
    latest_version: int
    access_level: str
    updated_at: str
    connector_id: str | None = None
    schema_name: str | None = None
    table_name: str | None = None


class Datasets(Paged):
    """Answer of list_datasets."""

    datasets: list[Dataset]


class SemanticLayer(Answer):
    """Which components there are."""

    available_components: list[str]
    manifest: dict[str, Any]


class Described(Dataset):
    """Answer of describe_dataset; ``findingsError`` stands in place of ``findings`` when they could not be loaded."""

    row_count: int | None = None
    dataset_context: str = ""
    feature_contexts: dict[str, str] = Field(default_factory=dict)
    semantic_layer: SemanticLayer
    findings: list[dict[str, Any]] | None = None
    findings_error: str | None = None


class Columns(Answer):
    """Answer of get_columns."""

    dataset_id: str
    name: str
    version: int
    component: str = Field(description="column_stats, or feature_metadata where the statistics cannot be computed.")
    columns: list[dict[str, Any]]


class Compared(Answer):
    """Answer of compare_schemas."""

    a: dict[str, str]
    b: dict[str, str]
    in_both: list[dict[str, Any]]
    only_in_a: list[dict[str, Any]]
    only_in_b: list[dict[str, Any]]


class ComponentData(Answer):
    """Answer of get_semantic_data; the component's own fields stand beside these."""

    dataset_id: str
    component: str
    total: int = Field(description="Items of the component after columns and kinds.")
    count: int = Field(description="Items of this answer.")
    truncated: bool = Field(description="Whether items after these were left out.")
    hint: str | None = Field(default=None, description="How to get the rest.")


class SurprisesFound(Answer):
    """Answer of get_surprises; ``status`` is none where nobody has searched this dataset."""

    dataset_id: str
    status: str
    dataset_version: int | None = None
    stale: bool | None = None
    target_column: str | None = None
    computed_at: str | None = None
    tests_run: int | None = None
    rows: int | None = None
    dimensions: list[str] = Field(default_factory=list)
    measures: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    surprises: list[dict[str, Any]]
    count: int


class Ingested(Answer):
    """Answer of ingest_tables."""

    connector_id: str
    snapshot: int
    datasets: list[dict[str, Any]]


def _connectors(call: Call) -> Json:
    return call.app.datasets.list_data_connectors(call.actor, limit=call.arguments.limit, cursor=call.arguments.cursor)


def _datasets(call: Call) -> Json:
    asked: ListDatasets = call.arguments
    return call.app.datasets.list_datasets(
        call.actor, connector_id=asked.connector_id, limit=asked.limit, cursor=asked.cursor
    )


def _tables(call: Call) -> Json:
    asked: OfConnector = call.arguments
    found = call.app.connectors.list_connector_tables(call.actor, asked.connector_id, cancel=call.cancel)
    found = sorted(found, key=lambda t: (t.schema_name or "", t.table_name))
    kept, after = call.app.cursors.page(
        call.actor, "list_connector_tables", {"connector_id": asked.connector_id}, found,
        lambda t: (t.schema_name or "", t.table_name), asked.limit, asked.cursor, ascending=True,
    )
    shown = [{"tableName": t.table_name} | ({"schemaName": t.schema_name} if t.schema_name else {}) for t in kept]
    return page("tables", shown, len(found), after)


def _describe(call: Call) -> Json:
    return call.app.datasets.describe_dataset(call.actor, call.arguments.dataset)


def _columns(call: Call) -> Json:
    return call.app.datasets.get_columns(call.actor, call.arguments.dataset)


def _compare(call: Call) -> Json:
    return call.app.datasets.compare_schemas(call.actor, call.arguments.dataset_a, call.arguments.dataset_b)


def _component(call: Call) -> Json:
    asked: OfComponent = call.arguments
    return call.app.semantic_data.get(
        call.actor, asked.dataset, asked.component, columns=asked.columns, kinds=asked.kinds, offset=asked.offset,
        limit=asked.limit, version=asked.version,
    )


def _surprises(call: Call) -> Json:
    return call.app.surprises.get(call.actor, call.arguments.dataset)


def _ingest(call: Call) -> Json:
    asked: IngestTables = call.arguments
    wanted: list[Any] = [(t.schema_name, t.table_name) if t.schema_name else t.table_name for t in asked.tables]
    handle = call.app.connectors.ingest_tables(
        call.actor, asked.connector_id, wanted, cancel=call.cancel, tell=call.tell
    )
    return {
        "connectorId": handle.source_id, "snapshot": handle.snapshot_number,
        "datasets": [{"id": t.dataset_id, "name": t.name, "version": t.version, "rowCount": t.rows} for t in handle.tables],
    }


TOOLS = (
    ServerTool(
        "list_data_connectors", "List data connectors",
        "List the data connectors that the caller can see: their own and what is shared with them. A connector is a database, a "
        "file upload or a bucket that holds one or more datasets. kind is one of postgres, mysql, s3, csv, sqlite, demo and so on.",
        Page, Connectors, ("datasets:read",), _connectors,
    ),
    ServerTool(
        "list_connector_tables", "List a connector's tables",
        "List the source tables in a data connector. The call opens a connection to the source, so it can take some seconds. Kinds "
        "such as csv have no source tables to list and return an error. schemaName is left out where the source has no schema.",
        OfConnector, Tables, ("datasets:read",), _tables, open_world=True,
    ),
    ServerTool(
        "list_datasets", "List datasets",
        "List the datasets that the caller can see: their own and what is shared with them. Two datasets with the same name are "
        "different tables when their connectorId or schemaName differs.",
        ListDatasets, Datasets, ("datasets:read",), _datasets,
    ),
    ServerTool(
        "describe_dataset", "Describe a dataset",
        "Everything known of a dataset: texts, size, semanticLayer.availableComponents, and its accepted, active findings (title, "
        "statement, verdict; flagReason means that one needs another review).",
        OfDataset, Described, ("datasets:read",), _describe,
    ),
    ServerTool(
        "get_columns", "Get columns",
        "Column information of a dataset: statistics (type, mean, min, max, null count, distinct count) where they can be "
        "computed, else names and descriptions. Values of masked columns are not shown.",
        OfDataset, Columns, ("datasets:read",), _columns,
    ),
    ServerTool(
        "compare_schemas", "Compare schemas",
        "Side-by-side comparison of the columns of two datasets: in both, only in A, only in B.",
        TwoDatasets, Compared, ("datasets:read",), _compare,
    ),
    ServerTool(
        "get_semantic_data", "Get semantic data",
        "One computed component of a dataset: column_stats, feature_metadata, surprises, ebm_model, ebm_graphs (a feature's curve: "
        "name it in columns), umap_embedding or semantic_metadata, sliced by columns and kinds. "
        "Call describe_dataset first to see what is available. At most 256 KiB: truncated and hint say when there is more.",
        OfComponent, ComponentData, ("datasets:read",), _component,
    ),
    ServerTool(
        "get_surprises", "Get surprises",
        "Surprise findings of a dataset: unexpected statistical patterns, each with a sentence, its effect and "
        "interval, a q-value and a confidence, in display order, without deleted ones. "
        "A person starts the search on the page Connect data.",
        OfDataset, SurprisesFound, ("datasets:read",), _surprises,
    ),
    ServerTool(
        "ingest_tables", "Ingest tables",
        "Copy the chosen tables of a connector into new dataset versions. Earlier versions stay. It can take minutes and sends "
        "progress.",
        IngestTables, Ingested, ("datasets:write", "connectors:write"), _ingest, reads_only=False, idempotent=False,
        open_world=True,
    ),
)
