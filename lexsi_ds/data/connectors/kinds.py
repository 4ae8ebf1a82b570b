"""The registry of kinds: what can be connected, and what is planned and says so. A kind is a line here and a file.

Must never: list as available what cannot be opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexsi_ds.data.connectors.base import ConnectorConfig, Driver
from lexsi_ds.data.connectors.mysql import MysqlConfig, MysqlDriver
from lexsi_ds.data.connectors.postgres import PostgresConfig, PostgresDriver
from lexsi_ds.data.connectors.s3 import S3Config, S3Driver
from lexsi_ds.data.connectors.sqlite import SqliteConfig, SqliteDriver
from lexsi_ds.errors import BadInput


@dataclass(frozen=True)
class Kind:
    """A kind of connector."""

    name: str
    label: str
    short: str = ""
    """What a source of it is called when nobody names it; the label when left out."""
    config: type[ConnectorConfig] | None = None
    driver: type[Driver[Any]] | None = None
    lists_tables: bool = False
    """Whether it has source tables to list, by schema and name."""
    defaults: tuple[tuple[str, str], ...] = ()
    """Variables that secret fields come from when they are not given."""

    @property
    def available(self) -> bool:
        """Whether it can be opened here."""
        return self.driver is not None

    @property
    def in_place(self) -> bool:
        """Whether queries can run where the data is."""
        return self.driver is not None and self.driver.in_place


_AWS = (
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"), ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
)

REGISTRY: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("s3", "Amazon S3 and compatible stores", "Bucket", S3Config, S3Driver, defaults=_AWS),
        Kind("postgres", "PostgreSQL", config=PostgresConfig, driver=PostgresDriver, lists_tables=True),
        Kind("mysql", "MySQL and MariaDB", config=MysqlConfig, driver=MysqlDriver, lists_tables=True),
        Kind("sqlite", "SQLite file", config=SqliteConfig, driver=SqliteDriver, lists_tables=True),
        Kind("snowflake", "Snowflake", lists_tables=True),
        Kind("azure-sql", "Azure SQL", lists_tables=True),
        Kind("delta-sharing", "Delta Sharing", lists_tables=True),
        Kind("fivetran", "Fivetran", lists_tables=True),
    )
}


def kind_of(name: str) -> Kind:
    """The kind of this name, which can be opened. Raises BadInput for another."""
    kind = REGISTRY.get(name)
    there = ", ".join(k.name for k in REGISTRY.values() if k.available)
    if kind is None:
        raise BadInput("There is no connector of this kind.", where=name[:40], to_do=f"Choose one of {there}.")
    if not kind.available:
        raise BadInput(f"{kind.label} is not available yet.", where=name, to_do=f"These are: {there}.")
    return kind


def driver_of(name: str, values: dict[str, Any]) -> Driver[Any]:
    """The driver of a kind with this config, secrets included."""
    kind = kind_of(name)
    assert kind.config is not None and kind.driver is not None
    return kind.driver(kind.config.checked(values))
