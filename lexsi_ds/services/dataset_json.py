"""The shapes of the catalog's answers: JSON with the field names of the tools reference.

A field without a value is left out where the reference says so, and null elsewhere. Must never: show a value of a masked
column.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lexsi_ds.data.handle import Table
from lexsi_ds.data.statistics import ColumnStatistics
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.sharing import View
from lexsi_ds.store.datasets import DatasetRow
from lexsi_ds.store.sources import SourceRecord

Json = dict[str, Any]


def page(name: str, items: list[Json], total: int, after: str | None) -> Json:
    """One page of a list."""
    page: Json = {name: items, "count": len(items), "total": total, "truncated": after is not None}
    return page | ({"nextCursor": after} if after is not None else {})


def connector_json(actor: Actor, source: SourceRecord, sample: DatasetRow | None, database: str | None) -> Json:
    """A connector; ``sample`` is one of its datasets."""
    shown: Json = {
        "id": source.id, "displayName": source.name, "kind": _kind(source, sample),
        "accessLevel": access_level(actor, source), "database": database,
        "createdAt": moment(source.created_at), "updatedAt": moment(source.updated_at),
    }
    if source.delete_status:
        shown["deleteStatus"] = source.delete_status
        if source.delete_status == "delete_failed":
            shown["deleteError"] = source.delete_error or "It is not known why."
    return shown


def _kind(source: SourceRecord, sample: DatasetRow | None) -> str:
    """The connector's kind: for a source of files the type of its files."""
    if source.kind != "files":
        return source.kind
    found = str(sample.read_options.get("format") or "text") if sample is not None else "text"
    return "csv" if found == "text" else found


def dataset_json(view: View, row: DatasetRow, source: SourceRecord) -> Json:
    """A dataset of a list; its connector is left out when the person cannot see it."""
    shown: Json = {"id": row.id, "name": row.name}
    if view.source(source) is not None:
        shown["connectorId"] = source.id
    shown |= {
        "kind": "derived" if row.derived else "table", "status": source.delete_status or "ready",
        "targetColumn": row.target_column, "latestVersion": row.version,
        "accessLevel": view.dataset(source, row.id), "updatedAt": moment(row.updated_at),
    }
    schema, table = row.read_options.get("schema"), row.read_options.get("table")
    return shown | ({"schemaName": schema, "tableName": table} if schema and table else {})


def access_level(actor: Actor, source: SourceRecord) -> str:
    """``owner`` or ``read``."""
    return "owner" if source.owner == actor.id else "read"


def finding_json(finding: Finding) -> Json:
    """An accepted finding."""
    shown: Json = {
        "findingId": finding.id, "title": finding.title, "statement": finding.statement, "verdict": finding.verdict
    }
    check = finding.last_check
    more = {
        "failureCount": None if check is None else check.failure_count,
        "columns": list(finding.columns) or None,
        "flagReason": None if finding.flag is None else finding.flag.reason,
        "reviewedBy": finding.reviewed_by_name,
        "reviewedAt": None if finding.reviewed_at is None else moment(finding.reviewed_at),
    }
    return shown | {name: value for name, value in more.items() if value is not None}


def feature_json(table: Table, name: str, target: str | None) -> Json:
    """What is known of a column without looking at the data."""
    column = table.column(name)
    assert column is not None, "a table lost a column"
    return {
        "name": column.name, "dtype": column.type, "description": column.comment or "",
        "isTarget": target is not None and column.name.casefold() == target.casefold(),
        "protected": column.protected, "masked": column.masked, "identifier": column.identifier,
    }


def figures_json(found: ColumnStatistics) -> Json:
    """The component's names; what a type does not have is left out."""
    shown: Json = {
        "count": found.count, "nullCount": found.null_count, "nullPct": _percent(found.null_share),
        "uniqueCount": found.distinct_count, "uniquePct": _percent(found.distinct_share), "min": found.minimum,
        "max": found.maximum, "mean": found.mean, "std": found.std, "q1": found.q1, "median": found.median,
        "q3": found.q3, "zeroCount": found.zero_count, "zeroPct": _percent(found.zero_share),
        "notFiniteCount": found.not_finite or None, "quantilesEstimated": found.estimated or None,
        "uniqueEstimated": found.distinct_estimated or None,
        "topValues": [top.model_dump() for top in found.top_values] or None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)


def moment(at: datetime) -> str:
    """A moment as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
