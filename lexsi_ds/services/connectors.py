"""Connectors: sources that are a database or a bucket. Set up, tested, listed, copied from, read in place, refreshed.

The store keeps where a connector is and the names of the variables that hold its keys. What was typed stays in this
process's memory and goes to the connector's worker over its private pipe. Must never: put a secret anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import SecretStr

from lexsi_ds.data.connectors.base import ConnectorConfig
from lexsi_ds.data.connectors.kinds import REGISTRY, Kind, kind_of
from lexsi_ds.data.connectors.secrets import VAULT, check_name, is_set, link_of, variable
from lexsi_ds.data.handle import DatasetHandle, Live, Value
from lexsi_ds.errors import BadInput, Conflict, LexsiError, NotFound
from lexsi_ds.ids import is_id, new_id
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import Actor
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.services.importer import Importer, Tell
from lexsi_ds.settings import Settings
from lexsi_ds.store.connectors import ConnectorRecord, ConnectorRows, Mode
from lexsi_ds.store.db import Store
from lexsi_ds.store.sources import NewVersion, Sources, VersionRecord

_WORKER = "lexsi_ds.data.connectors.worker"
_OF_VARIABLE = "_env"
_SETTING_UP = "setting up"
TableName = str | Mapping[str, Any]
"""``"schema.table"``, a bare name, a file of a bucket, or {schemaName, tableName}."""


class ConnectorInfo(Value):
    """A connector as a person sees it: nothing in it is secret."""

    id: str
    name: str
    kind: str
    mode: Mode
    config: dict[str, Any]
    variables: dict[str, str | None]
    warnings: tuple[str, ...]
    """What to know about the rights of its role; show them."""
    ready: bool
    """Whether this process knows what is secret about it; when not, ``unlock`` it."""
    delete_status: str | None
    delete_error: str | None


class SourceTableInfo(Value):
    """A table on the far side. ``schema_name`` is None where there are no schemas."""

    table_name: str
    schema_name: str | None = None
    comment: str | None = None
    rows: int | None = None
    """The far side's estimate."""


class Connectors:
    """The connectors of one home. Every method raises Denied without the right, and NotFound for what is not there."""

    def __init__(self, settings: Settings, store: Store, pool: Pool, catalog: Catalog) -> None:
        self._settings, self._pool, self._catalog = settings, pool, catalog
        self._rows, self._sources = ConnectorRows(store), Sources(store)
        self._importer = Importer(settings.home.resolve(), self._sources, pool)

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
        actor.need("datasets:write")
        chosen = kind_of(kind)
        if in_place and not chosen.in_place:
            raise BadInput(f"Queries cannot run in place on {chosen.label}.", to_do="Ingest its tables instead.")
        checked, typed, variables = _form(chosen, config)
        connector_id = new_id("con")
        VAULT.remember(connector_id, typed)
        try:
            said = self._ask(
                "test", connector_id, chosen.name, checked.public(), variables, cancel,
                tables=[_wanted(file, is_file=True) for file in files],
            )
            if in_place and said["superuser"]:
                raise BadInput(
                    "Queries in place need a role that may only read: this one could do more on the far side.",
                    where=said["warnings"][0], to_do="Make such a role (docs/connectors.md has the SQL), or ingest instead.",
                )
            record = self._rows.insert(
                connector_id, actor.id, _name(name, chosen, checked), chosen.name, mode="in_place" if in_place else "ingest",
                config=checked.public(), variables=variables, warnings=said["warnings"],
            )
        except BaseException:
            VAULT.forget(connector_id)
            raise
        return _info(record)

    def unlock(
        self, actor: Actor, connector_id: str, secrets: Mapping[str, str], *, cancel: Cancel | None = None
    ) -> ConnectorInfo:
        """Give again what is kept in memory only, after a restart; tested before it is believed."""
        actor.need("datasets:write")
        record = self._record(actor, connector_id)
        kind = kind_of(record.kind)
        fields = set(kind.config.secret_fields()) if kind.config else set()
        if not secrets or not set(secrets) <= fields:
            raise BadInput("These are not the secret fields of this connector.", to_do=f"Give {', '.join(sorted(fields))}.")
        VAULT.forget(connector_id)
        VAULT.remember(connector_id, {field: SecretStr(value) for field, value in secrets.items()})
        try:
            self._ask("test", record.id, record.kind, record.config, record.variables, cancel)
        except BaseException:
            VAULT.forget(connector_id)
            raise
        return _info(record)

    def test_connection(self, actor: Actor, connector_id: str, *, cancel: Cancel | None = None) -> ConnectorInfo:
        """Open the connector now and look at its rights again. Raises BadInput with what is wrong."""
        actor.need("datasets:read")
        record = self._record(actor, connector_id)
        said = self._ask("test", record.id, record.kind, record.config, record.variables, cancel)
        self._rows.warn(record.id, said["warnings"])
        return _info(self._record(actor, connector_id))

    # -- reading -----------------------------------------------------------------------------------------------

    def list(self, actor: Actor) -> list[ConnectorInfo]:
        """The person's connectors, newest first, also those on their way out."""
        actor.need("datasets:read")
        return [_info(record) for record in self._rows.list() if record.owner == actor.id]

    def get(self, actor: Actor, connector_id: str) -> ConnectorInfo:
        """One connector."""
        actor.need("datasets:read")
        return _info(self._record(actor, connector_id))

    def list_connector_tables(
        self, actor: Actor, connector_id: str, *, cancel: Cancel | None = None
    ) -> list[SourceTableInfo]:
        """The tables on the far side, by schema and name; it opens a connection. BadInput for kinds that have none."""
        actor.need("datasets:read")
        record = self._record(actor, connector_id, listing=True)
        if not kind_of(record.kind).lists_tables:
            raise _no_tables(record.kind)
        found = self._ask("list_tables", record.id, record.kind, record.config, record.variables, cancel)["tables"]
        return [
            SourceTableInfo(table_name=t["table"], schema_name=t["schema"], comment=t["comment"], rows=t["rows"])
            for t in found
        ]

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
        actor.need("datasets:write")
        record = self._record(actor, connector_id)
        wanted = [_wanted(table, is_file=record.kind == "s3") for table in tables]
        if record.mode == "in_place":
            self._bind(record, wanted, cancel, tell)
        else:
            args = {"tables": wanted, **self._known(record), **self._link(record)}
            args["statement_s"] = self._settings.ingest_timeout_s
            self._importer.add_tables(record.id, f"{_WORKER}:ingest", args, cancel, tell)
        return self._catalog.handle(actor, record.id)

    def refresh(
        self, actor: Actor, source_id: str, *, cancel: Cancel | None = None, tell: Tell | None = None
    ) -> DatasetHandle:
        """Copy (or bind) every table of the source again, as it is now on the far side."""
        actor.need("datasets:write")
        record = self._record(actor, source_id)
        parts = self._sources.parts(record.id)
        if parts is None or not parts.tables:
            raise BadInput("Nothing of this connector was brought over yet.", to_do="Choose tables first.")
        known = [_origin(version) for version in parts.tables]
        tables = [{"schemaName": schema, "tableName": table} for schema, table in known]
        return self.ingest_tables(actor, source_id, tables, cancel=cancel, tell=tell)

    def delete(self, actor: Actor, connector_id: str) -> None:
        """Delete the connector and its datasets, and forget what is secret about it. Conflict when something relies on it."""
        actor.need("datasets:write")
        record = self._record(actor, connector_id)
        self._catalog.delete(actor, record.id)
        VAULT.forget(record.id)

    # -- inside ------------------------------------------------------------------------------------------------

    def _bind(
        self, record: ConnectorRecord, wanted: Sequence[Mapping[str, Any]], cancel: Cancel | None, tell: Tell | None
    ) -> None:
        known = self._known(record)
        bound = self._ask(
            "bind", record.id, record.kind, record.config, record.variables, cancel, tell=tell, tables=list(wanted), **known,
        )["tables"]
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

    def _link(self, record: ConnectorRecord) -> dict[str, Any]:
        return {"link": link_of(record.id, record.kind, record.config, record.variables)}

    def _ask(
        self, task: str, connector_id: str, kind: str, config: Mapping[str, Any], variables: Mapping[str, str | None],
        cancel: Cancel | None, tell: Tell | None = None, **more: Any,
    ) -> dict[str, Any]:
        """A short task of our own, in the worker kept for setting up: no SQL of a person ever runs in that one."""
        args = {"link": link_of(connector_id, kind, config, variables), "statement_s": self._settings.sql_timeout_s, **more}
        return self._pool.run("connector", f"{_WORKER}:{task}", args, cancel=cancel, tell=tell, affinity=_SETTING_UP)

    def _record(self, actor: Actor, connector_id: str, *, listing: bool = False) -> ConnectorRecord:
        record = self._rows.get(connector_id) if is_id(connector_id, "con") else None
        if record is not None and record.owner == actor.id:
            if record.delete_status == "deleting":
                raise Conflict("This connector is being deleted.", where=record.name, to_do="Choose another.")
            return record
        source = self._sources.get(connector_id) if is_id(connector_id, "con") else None
        if source is not None and (source.owner == actor.id or source.kind == "demo"):
            kind = "csv" if source.kind == "files" else source.kind
            if listing:
                raise _no_tables(kind)
            raise BadInput(f"A source of kind {kind} is not a connector.", where=source.name, to_do="Import its files again.")
        raise NotFound("There is no such connector.", where=connector_id[:60], to_do="Look at the list of connectors.")


def _form(kind: Kind, config: Mapping[str, Any]) -> tuple[ConnectorConfig, dict[str, SecretStr], dict[str, str | None]]:
    """The checked config, the secrets that were typed, and for each secret the variable that holds it (None: typed)."""
    assert kind.config is not None
    fields = kind.config.secret_fields()
    values = {k: v for k, v in config.items() if not (k.endswith(_OF_VARIABLE) and k.removesuffix(_OF_VARIABLE) in fields)}
    typed: dict[str, SecretStr] = {}
    variables: dict[str, str | None] = {}
    for field in fields:
        given, named = values.get(field), config.get(f"{field}{_OF_VARIABLE}")
        if given:
            typed[field] = given if isinstance(given, SecretStr) else SecretStr(str(given))
            variables[field] = None
        elif named:
            variables[field] = check_name(str(named))
            values[field] = variable(str(named))
        else:
            values.pop(field, None)
    if not variables:  # keys of the installation go together, or not at all
        for field, name in kind.defaults:
            if is_set(name):
                variables[field] = name
                values[field] = variable(name)
    return kind.config.checked(values), typed, variables


def _wanted(table: TableName, *, is_file: bool) -> dict[str, Any]:
    if isinstance(table, Mapping):
        name = table.get("tableName") or table.get("table") or ""
        return {"schema": table.get("schemaName") or table.get("schema"), "table": str(name)}
    return {"schema": None, "table": str(table)}


def _origin(version: VersionRecord) -> tuple[str | None, str]:
    return version.read_options.get("schema"), str(version.read_options.get("table", version.name))


def _name(name: str | None, kind: Kind, config: ConnectorConfig) -> str:
    public = config.public()
    own = public.get("bucket") or public.get("database") or public.get("path") or public.get("host")
    return " ".join((name or f"{kind.label}: {own}").split())[:120]


def _info(record: ConnectorRecord) -> ConnectorInfo:
    try:
        VAULT.secrets(record.id, record.variables)
        ready = True
    except BadInput:
        ready = False
    return ConnectorInfo(
        id=record.id, name=record.name, kind=record.kind, mode=record.mode, config=record.config,
        variables=record.variables, warnings=record.warnings, ready=ready, delete_status=record.delete_status,
        delete_error=record.delete_error,
    )


def _no_tables(kind: str) -> BadInput:
    return BadInput(
        f"A connector of kind {kind} has no source tables to list.",
        to_do=f"This works for {', '.join(k.name for k in REGISTRY.values() if k.lists_tables)}.",
    )
