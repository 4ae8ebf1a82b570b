"""Connectors: sources that are a database or a bucket. Set up, tested, listed, copied from, read in place, refreshed.

The store keeps where a connector is and the names of the variables that hold its keys. What was typed stays in this
process's memory and goes to the connector's worker over its private pipe. Must never: put a secret anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import SecretStr

from lexsi_ds.data.connectors.kinds import REGISTRY, Kind, kind_of
from lexsi_ds.data.connectors.secrets import VAULT
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import BadInput, Conflict, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.connector_form import checked_form, name_of
from lexsi_ds.services.connector_info import ConnectorInfo, SourceTableInfo, info_of
from lexsi_ds.services.connector_tables import ConnectorTables, TableName, wanted_of
from lexsi_ds.services.connector_worker import Connection, ConnectorWorker
from lexsi_ds.services.importer import Tell
from lexsi_ds.services.platform_connector import PlatformId, RegisterBucket, platform_id_of
from lexsi_ds.settings import Settings
from lexsi_ds.store.connectors import ConnectorRecord, ConnectorRows
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import Sources


class Connectors:
    """The connectors of one home. Every method raises Denied without the right, and NotFound for what is not there."""

    def __init__(self, settings: Settings, store: Store, pool: Pool, catalog: Catalog) -> None:
        self._catalog, self._rows, self._sources = catalog, ConnectorRows(store), Sources(store)
        self._worker = ConnectorWorker(settings, pool)
        self._tables = ConnectorTables(settings, store, pool, self._worker)
        self.register_bucket: RegisterBucket | None = None
        """Set where the Lexsi platform is configured."""

    # -- setting up --------------------------------------------------------------------------------------------

    def kinds(self) -> list[Kind]:
        """Every kind, also those that are not available yet."""
        return list(REGISTRY.values())

    def connect(
        self,
        actor: Actor,
        kind: str,
        config: Mapping[str, Any],
        *,
        name: str | None = None,
        in_place: bool = False,
        files: Sequence[str] = (),
        cancel: Cancel | None = None,
    ) -> ConnectorInfo:
        """Test a connector and keep it, without a dataset yet.

        ``config`` holds the kind's fields. A secret one may be given as ``<field>_env`` instead: the name of an
        environment variable. ``files`` are looked for on the way (S3). Raises BadInput for a form that does not fit and
        for whatever the far side refuses; then nothing is kept.
        """
        _need(actor)
        chosen = kind_of(kind)
        if in_place and not chosen.in_place:
            raise BadInput(f"Queries cannot run in place on {chosen.label}.", to_do="Ingest its tables instead.")
        checked, typed, variables = checked_form(chosen, config)
        connector_id = new_id("con")
        VAULT.remember(connector_id, typed)
        try:
            connection = Connection(connector_id, chosen.name, checked.public(), variables)
            said = self._worker.ask("test", connection, cancel, tables=[wanted_of(file) for file in files])
            if in_place and said["superuser"]:
                raise BadInput(
                    "Queries in place need a role that may only read: this one could do more on the far side.",
                    where=said["warnings"][0], to_do="Make such a role (docs/connectors.md has the SQL), or ingest instead.",
                )
            record = self._rows.insert(
                connector_id, actor.id, name_of(name, chosen, checked), chosen.name, mode="in_place" if in_place else "ingest",
                config=checked.public(), variables=variables, warnings=said["warnings"],
            )
        except BaseException:
            VAULT.forget(connector_id)
            raise
        return info_of(record)

    def unlock(
        self, actor: Actor, connector_id: str, secrets: Mapping[str, str], *, cancel: Cancel | None = None
    ) -> ConnectorInfo:
        """Give again what is kept in memory only, after a restart; tested before it is believed."""
        _need(actor)
        record = self._record(actor, connector_id)
        kind = kind_of(record.kind)
        fields = set(kind.config.secret_fields()) if kind.config else set()
        if not secrets or not set(secrets) <= fields:
            raise BadInput("These are not the secret fields of this connector.", to_do=f"Give {', '.join(sorted(fields))}.")
        VAULT.forget(connector_id)
        VAULT.remember(connector_id, {field: SecretStr(value) for field, value in secrets.items()})
        try:
            self._worker.ask("test", Connection.of(record), cancel)
        except BaseException:
            VAULT.forget(connector_id)
            raise
        return info_of(record)

    def platform_id(self, actor: Actor, connector_id: str, *, cancel: Cancel | None = None) -> PlatformId:
        """The connector's id on the Lexsi platform where that is configured, and what to say of it."""
        _need(actor)
        record = self._record(actor, connector_id)
        secrets = partial(VAULT.secrets, record.id, record.variables)
        return platform_id_of(self.register_bucket, record.id, record.kind, record.config, secrets, cancel)

    def test_connection(self, actor: Actor, connector_id: str, *, cancel: Cancel | None = None) -> ConnectorInfo:
        """Open the connector now and look at its rights again. Raises BadInput with what is wrong."""
        actor.need("datasets:read")
        record = self._record(actor, connector_id)
        said = self._worker.ask("test", Connection.of(record), cancel)
        self._rows.warn(record.id, said["warnings"])
        return info_of(self._record(actor, connector_id))

    # -- reading -----------------------------------------------------------------------------------------------

    def list(self, actor: Actor) -> list[ConnectorInfo]:
        """The person's connectors, newest first, also those on their way out."""
        actor.need("datasets:read")
        return [info_of(record) for record in self._rows.list() if record.owner == actor.id]

    def get(self, actor: Actor, connector_id: str) -> ConnectorInfo:
        """One connector."""
        actor.need("datasets:read")
        return info_of(self._record(actor, connector_id))

    def list_connector_tables(
        self, actor: Actor, connector_id: str, *, cancel: Cancel | None = None
    ) -> list[SourceTableInfo]:
        """The tables on the far side, by schema and name; it opens a connection. BadInput for kinds that have none."""
        actor.need("datasets:read")
        record = self._record(actor, connector_id, listing=True)
        if not kind_of(record.kind).lists_tables:
            raise _no_tables(record.kind)
        found = self._worker.ask("list_tables", Connection.of(record), cancel)["tables"]
        return [
            SourceTableInfo(table_name=t["table"], schema_name=t["schema"], comment=t["comment"], rows=t["rows"])
            for t in found
        ]

    def look_at_files(
        self, actor: Actor, connector_id: str, files: Sequence[TableName], *, cancel: Cancel | None = None
    ) -> list[dict[str, Any]]:
        """Of files and patterns of a bucket: which ``files`` they stand for, and how the first is read (``said``, ``columns``,
        ``notes``); nothing is copied. BadInput for kinds whose tables can be listed."""
        actor.need("datasets:read")
        record = self._record(actor, connector_id, listing=True)
        if kind_of(record.kind).lists_tables:
            raise BadInput("The tables of this connector can be listed.", to_do="Use list_connector_tables.")
        wanted = [wanted_of(file) for file in files]
        return self._worker.ask("look", Connection.of(record), cancel, tables=wanted)["tables"]

    # -- bringing over -----------------------------------------------------------------------------------------

    def ingest_tables(
        self,
        actor: Actor,
        connector_id: str,
        tables: Sequence[TableName],
        *,
        cancel: Cancel | None = None,
        tell: Tell | None = None,
    ) -> DatasetHandle:
        """Copy the chosen tables into new dataset versions and a new snapshot; the source's other tables stay in it.

        Of a connector whose mode is in place the tables are bound instead, and nothing is copied. Raises NotFound for a
        table that is not there, BadInput for what the far side says, Stopped, WorkerFailed; then nothing has changed.
        """
        _need(actor)
        record = self._record(actor, connector_id)
        self._tables.bring(record, tables, cancel, tell)
        return self._catalog.handle(actor, record.id)

    def refresh(
        self, actor: Actor, source_id: str, *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> DatasetHandle:
        """Copy (or bind) every table of the source again, as it is now on the far side."""
        _need(actor)
        record = self._record(actor, source_id)
        return self.ingest_tables(actor, source_id, self._tables.all_of(record), cancel=cancel, tell=tell)

    def delete(self, actor: Actor, connector_id: str) -> None:
        """Delete the connector and its datasets, and forget what is secret about it. Conflict when something relies on it."""
        _need(actor)
        record = self._record(actor, connector_id)
        self._catalog.delete(actor, record.id)
        VAULT.forget(record.id)

    # -- inside ------------------------------------------------------------------------------------------------

    def _record(self, actor: Actor, connector_id: str, *, listing: bool = False) -> ConnectorRecord:
        record = self._rows.get(connector_id) if is_id(connector_id, "con") else None
        if record is not None and record.owner == actor.id:
            if record.delete_status == "deleting":
                raise Conflict("This connector is being deleted.", where=record.name, to_do="Choose another.")
            return record
        source = self._sources.get(connector_id) if is_id(connector_id, "con") else None
        if source is not None and self._catalog.sees(actor, source):
            kind = "csv" if source.kind == "files" else source.kind
            if listing:
                raise _no_tables(kind)
            raise BadInput(f"A source of kind {kind} is not a connector.", where=source.name, to_do="Import its files again.")
        raise NotFound("There is no such connector.", where=connector_id[:60], to_do="Look at the list of connectors.")


def _no_tables(kind: str) -> BadInput:
    return BadInput(
        f"A connector of kind {kind} has no source tables to list.",
        to_do=f"This works for {', '.join(k.name for k in REGISTRY.values() if k.lists_tables)}.",
    )


def _need(actor: Actor) -> None:
    """Making or using a connector takes the right to connect, beside the right to change data sets."""
    actor.need("connectors:write")
    actor.need("datasets:write")
