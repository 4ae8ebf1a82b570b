"""Connectors and their tables as a person sees them. Must never: hold what is secret."""

from __future__ import annotations

from typing import Any

from lexsi_ds.data.connectors.secrets import VAULT
from lexsi_ds.data.handle import Value
from lexsi_ds.errors import BadInput
from lexsi_ds.store.connectors import ConnectorRecord, Mode


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


def info_of(record: ConnectorRecord) -> ConnectorInfo:
    """A stored connector, and whether this process can open it."""
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
