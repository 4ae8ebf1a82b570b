"""What every kind of connector is: a form to fill in, and a driver that opens it inside a worker.

A driver's SQL for the far side holds no text of a person: tables are chosen among those that the far side listed.
Must never: put a secret into a text that DuckDB may repeat; secrets go in as DuckDB secrets of the one instance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import duckdb
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.loaded import Limits, Loaded
from lexsi_ds.data.sniff import free_name, table_name
from lexsi_ds.errors import BadInput, LexsiError, NotFound


class ConnectorConfig(BaseModel):
    """Where a source is and who comes in. Fields of type SecretStr are secret; all others may be kept and shown."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, str_max_length=1_000)

    @classmethod
    def secret_fields(cls) -> tuple[str, ...]:
        """Names of the fields that are never kept."""
        return tuple(name for name, info in cls.model_fields.items() if "SecretStr" in str(info.annotation))

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Self:
        """The config of these values. Raises BadInput that names fields and never repeats a value."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors(include_input=False))
            secrets = [str(values[name]) for name in cls.secret_fields() if values.get(name)]
            raise BadInput(f"This connector cannot be set up: {scrub(said, secrets)}.", to_do="Correct these fields.") from None

    def public(self) -> dict[str, Any]:
        """All that is not secret, as JSON."""
        return self.model_dump(mode="json", exclude=set(self.secret_fields()))

    def secrets(self) -> dict[str, SecretStr]:
        """The secret fields that were given."""
        return {name: value for name in self.secret_fields() if (value := getattr(self, name)) is not None}

    def secret_values(self) -> list[str]:
        """Their values, to take out of texts."""
        return [secret.get_secret_value() for secret in self.secrets().values()]


@dataclass(frozen=True)
class SourceTable:
    """A table or view that the far side lets this connector read."""

    table: str
    schema: str | None = None
    comment: str | None = None
    rows: int | None = None
    """An estimate; None when there is none."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What the driver wants to remember of it."""

    @property
    def label(self) -> str:
        """As a person names it."""
        return f"{self.schema}.{self.table}" if self.schema else self.table


@dataclass(frozen=True)
class Rights:
    """What was found about the role that comes in."""

    warnings: tuple[str, ...] = ()
    superuser: bool = False
    """It may do more than read tables on the far side: too much for SQL that others write."""


@dataclass(frozen=True)
class Columns:
    """How the columns of a table come over."""

    select: str
    comments: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """A table to be read in place: how a query finds it again, as JSON, and what is known of it."""

    relation: dict[str, Any]
    comments: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Keys that the far side declares; see docs/catalog.md."""


Config = TypeVar("Config", bound=ConnectorConfig)


class Driver(ABC, Generic[Config]):
    """Opens one connector in a worker's DuckDB."""

    in_place: ClassVar[bool] = False
    """Whether queries can run where the data is."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @abstractmethod
    def open(self, con: duckdb.DuckDBPyConnection, statement_s: float) -> None:
        """Load the scanner and connect. No statement on the far side may take longer than ``statement_s`` seconds."""

    @abstractmethod
    def tables(self, con: duckdb.DuckDBPyConnection) -> list[SourceTable]:
        """What can be read."""

    @abstractmethod
    def loaded(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, name: str, scratch: Path, limits: Limits
    ) -> Loaded:
        """One table ready to be copied under ``name``."""

    @abstractmethod
    def readable(self, error: Exception) -> LexsiError:
        """The error to raise instead of DuckDB's: what is wrong and what to do, without anything secret."""

    def rights(self, con: duckdb.DuckDBPyConnection) -> Rights:
        """What the role may do beyond reading."""
        return Rights()

    def check(self, con: duckdb.DuckDBPyConnection) -> None:
        """Ask the far side something, where opening alone does not. Raises what DuckDB raises."""

    def choose(self, con: duckdb.DuckDBPyConnection, wanted: Sequence[Mapping[str, Any]]) -> list[SourceTable]:
        """The wanted tables ({schema, table}), among those there are."""
        return chosen(self.tables(con), wanted)

    def look(self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> dict[str, Any]:
        """What a chosen table stands for and how it would be read; only for kinds whose files are named, not listed."""
        raise NotImplementedError

    def relation(self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> Bound:
        """How to find the table again for a query in place."""
        raise _no_in_place()

    def live_select(self, relation: Mapping[str, Any]) -> str:
        """The SELECT behind the view of a table that is read in place."""
        raise _no_in_place()

    def confine(self, con: duckdb.DuckDBPyConnection, relations: Sequence[Mapping[str, Any]]) -> None:
        """What must be set before the lock, so that only these relations can be read."""

    def table_name(self, table: SourceTable, taken: set[str], *, doubled: bool) -> str:
        """The name of the dataset: the table's own; with its schema in front when another has the same."""
        name = f"{table.schema}_{table.table}" if doubled and table.schema else table.table
        return free_name(" ".join(name.split())[:120] or table_name("", set()), taken)


def chosen(there: Sequence[SourceTable], wanted: Sequence[Mapping[str, Any]]) -> list[SourceTable]:
    """The wanted tables in order, each once. A text may be the bare name when only one table has it."""
    if not wanted:
        raise BadInput("No table was chosen.", to_do="Choose at least one; list_connector_tables shows them.")
    found: dict[tuple[str | None, str], SourceTable] = {}
    for each in wanted:
        table = _find(there, each.get("schema"), str(each.get("table", "")))
        found[table.schema, table.table] = table
    return list(found.values())


def _find(there: Sequence[SourceTable], schema: str | None, name: str) -> SourceTable:
    if schema:
        fits = [t for t in there if t.table == name and t.schema == schema]
    else:
        fits = [t for t in there if t.table == name] or [t for t in there if t.label == name]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise BadInput(
            f"Several schemas have a table {name[:80]}.", to_do=f"Say which: {', '.join(t.label for t in fits[:6])}."
        )
    shown = ", ".join(t.label for t in there[:8]) + (", …" if len(there) > 8 else "")
    label = f"{schema}.{name}" if schema else name
    raise NotFound(
        "There is no such table, or this role may not read it.", where=label[:120],
        to_do=f"There are: {shown}." if there else "This role can read no table at all: grant it SELECT.",
    )


def _no_in_place() -> BadInput:
    return BadInput("Queries cannot run in place on this kind of source.", to_do="Ingest its tables instead.")
