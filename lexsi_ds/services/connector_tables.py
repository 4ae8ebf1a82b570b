"""Tables of a connector brought over: copied into new versions, or bound where they are; the source's other tables stay in it.

Must never: leave half of what was asked for; all of it appears with one snapshot, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from lexsi_ds.data.handle import Live
from lexsi_ds.errors import BadInput
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.connector_worker import WORKER, Connection, ConnectorWorker
from lexsi_ds.services.importer import Importer, Tell
from lexsi_ds.settings import Settings
from lexsi_ds.store.connectors import ConnectorRecord
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewVersion, Sources, VersionRecord

TableName = str | Mapping[str, Any]
"""``"schema.table"``, a bare name, a file of a bucket, or {schemaName, tableName}."""


class ConnectorTables:
    """What comes over from connectors. Rights were checked by whoever calls."""

    def __init__(self, settings: Settings, store: Store, pool: Pool, worker: ConnectorWorker) -> None:
        self._settings, self._worker, self._sources = settings, worker, Sources(store)
        self._importer = Importer(settings.home.resolve(), self._sources, pool)

    def bring(
        self, record: ConnectorRecord, tables: Sequence[TableName], cancel: Cancel | None, tell: Tell | None
    ) -> None:
        """Copy or bind these tables."""
        wanted = [wanted_of(table) for table in tables]
        if record.mode == "in_place":
            self._bind(record, wanted, cancel, tell)
            return
        args = {"tables": wanted, **self._known(record), "link": self._worker.link(Connection.of(record))}
        args["statement_s"] = self._settings.ingest_timeout_s
        self._importer.add_tables(record.id, f"{WORKER}:ingest", args, cancel, tell)

    def all_of(self, record: ConnectorRecord) -> list[TableName]:
        """Every table that was brought over, by its name on the far side. Raises BadInput when there is none."""
        parts = self._sources.parts(record.id)
        if parts is None or not parts.tables:
            raise BadInput("Nothing of this connector was brought over yet.", to_do="Choose tables first.")
        known = [_origin(version) for version in parts.tables]
        return [{"schemaName": schema, "tableName": table} for schema, table in known]

    def _bind(
        self, record: ConnectorRecord, wanted: Sequence[Mapping[str, Any]], cancel: Cancel | None, tell: Tell | None
    ) -> None:
        known = self._known(record)
        bound = self._worker.ask("bind", Connection.of(record), cancel, tell=tell, tables=list(wanted), **known)["tables"]
        versions = {k["name"]: (k["dataset_id"], k["version"]) for k in known["known"]}
        made = []
        for table in bound:
            dataset_id, version = versions.get(table["name"]) or (new_id("ds"), 1)
            live = Live.of(record.id, record.kind, record.config, record.variables, table["relation"])
            options = {**table["options"], "notes": table["notes"], "live": live.model_dump(mode="json")}
            made.append(NewVersion(
                dataset_id=dataset_id, name=table["name"], version=version, path=f"live/{dataset_id}/v{version}/none",
                rows=table["rows"], columns=tuple(table["columns"]), comment=table["comment"], read_options=options,
            ))
        days = [date.fromisoformat(table["today"]) for table in bound if table["today"]]
        self._sources.add_snapshot(record.id, made, max(days, default=None), keep=True)

    def _known(self, record: ConnectorRecord) -> dict[str, Any]:
        """Datasets that come from this connector already, and every name that is taken."""
        parts = self._sources.parts(record.id)
        known = []
        for version in parts.tables if parts is not None else ():
            schema, table = _origin(version)
            newest = self._sources.dataset(version.dataset_id) or version
            known.append({
                "schema": schema, "table": table, "name": version.name, "dataset_id": version.dataset_id,
                "version": newest.version + 1,
            })
        return {"known": known, "names": [d.name for d in self._sources.derived(record.id)]}


def wanted_of(table: TableName) -> dict[str, Any]:
    """A table as the worker looks for it."""
    if isinstance(table, Mapping):
        name = table.get("tableName") or table.get("table") or ""
        return {"schema": table.get("schemaName") or table.get("schema"), "table": str(name)}
    return {"schema": None, "table": str(table)}


def _origin(version: VersionRecord) -> tuple[str | None, str]:
    return version.read_options.get("schema"), str(version.read_options.get("table", version.name))
