"""PostgreSQL through DuckDB's scanner: attached READ_ONLY, with a time limit for every statement on the far side.

A superuser's role could read files of the database's machine even through a READ_ONLY attach, so it may be copied from,
with a warning, but never queried in place. Must never: put a person's text into SQL for the far side unquoted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import duckdb
from pydantic import Field, SecretStr

from lexsi_ds.data.connectors.base import Bound, ConnectorConfig, Driver, Rights, SourceTable
from lexsi_ds.data.connectors.extensions import load
from lexsi_ds.data.connectors.postgres_columns import (
    FarColumn,
    Oddities,
    copied,
    far_columns,
    far_query,
    in_place,
    in_place_columns,
    look,
)
from lexsi_ds.data.connectors.postgres_keys import postgres_keys
from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.connectors.wording import Told, told
from lexsi_ds.data.dialect import unique_names
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import literal, quoted
from lexsi_ds.errors import BadInput, LexsiError, NotFound

SOURCE = "_lexsi_src"
_CONNECT_S = 10

_TABLES = """
SELECT n.nspname AS s, c.relname AS t, obj_description(c.oid, 'pg_class') AS d,
  CASE WHEN c.relkind IN ('r', 'm') AND c.reltuples >= 0 THEN c.reltuples::bigint END AS n, c.oid::bigint AS o,
  EXISTS (SELECT 1 FROM pg_catalog.pg_class o JOIN pg_catalog.pg_namespace m ON m.oid = o.relnamespace
    WHERE o.oid <> c.oid AND o.relkind IN ('r', 'v', 'm', 'p', 'f') AND lower(o.relname) = lower(c.relname)
      AND lower(m.nspname) = lower(n.nspname)) AS w
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg\\_%' AND NOT c.relispartition
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2
"""
_RIGHTS = """
SELECT r.rolname AS role, r.rolsuper OR pg_has_role('pg_execute_server_program', 'MEMBER')
    OR pg_has_role('pg_read_server_files', 'MEMBER') OR pg_has_role('pg_write_server_files', 'MEMBER') AS super,
  r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls AS more,
  (SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
      AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""
_ERRORS: tuple[Told, ...] = (
    Told("password authentication failed|no password supplied|authentication failed|role .* does not exist",
         "The database does not let this user in with this password.", "Check user and password."),
    Told("no pg_hba.conf entry", "The database does not accept this user from this machine.",
         "Ask who runs it for an entry in pg_hba.conf."),
    Told("database .* does not exist", "There is no database of this name on that server.", "Check the database's name."),
    Told("connection refused|could not translate host name|timeout expired|no route to host|network is unreachable"
         "|name or service not known|temporary failure in name resolution",
         "The database server cannot be reached.", "Check host and port, and that this machine may connect to it."),
    Told("does not support ssl|ssl error|certificate", "A secure connection to the database could not be made.",
         "Check sslmode and the server's certificate."),
    Told("statement timeout", "The database stopped a statement that took too long.",
         "Ask for less at once, or ingest the table instead of querying it in place."),
    Told("server closed the connection|terminating connection|connection not open|no connection to the server|lost synchron"
         "|could not receive data|eof detected|connection reset|shutting down|starting up|recovery mode",
         "The connection to the database was lost.", "Nothing was kept. Try again when the server is back."),
    Told("permission denied", "The role may not read this.", "Grant it SELECT on the table and USAGE on its schema."),
    Told("too many (clients|connections)|remaining connection slots", "The database has no connection to spare.",
         "Try again later."),
)


class PostgresConfig(ConnectorConfig):
    """How to reach a PostgreSQL database."""

    host: str = Field(min_length=1, pattern=r"^[A-Za-z0-9_.:\-]+$", description="Name or address of the server.")
    port: int = Field(default=5432, ge=1, le=65535)
    database: str = Field(min_length=1)
    user: str = Field(min_length=1, description="A role that may only read; see docs/connectors.md.")
    password: SecretStr = Field(description="Kept in memory only.")
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] = "prefer"


class PostgresDriver(Driver[PostgresConfig]):
    """One PostgreSQL database."""

    in_place: ClassVar[bool] = True

    def open(self, con: duckdb.DuckDBPyConnection, statement_s: float) -> None:
        c = self.config
        load(con, "postgres_scanner")
        con.execute(
            f"CREATE SECRET {SOURCE} (TYPE postgres, HOST {literal(c.host)}, PORT {c.port}, DATABASE {literal(c.database)}, "
            f"USER {literal(c.user)}, PASSWORD {literal(c.password.get_secret_value())})"
        )
        options = (
            f"-c statement_timeout={int(statement_s * 1000)} -c default_transaction_read_only=on "
            "-c idle_in_transaction_session_timeout=600000 -c standard_conforming_strings=on"
        )
        extra = (
            f"options='{options}' sslmode={c.sslmode} connect_timeout={_CONNECT_S} application_name=lexsi_ds "
            "keepalives_idle=30 keepalives_interval=10 keepalives_count=3"
        )
        con.execute(f"ATTACH {literal(extra)} AS {SOURCE} (TYPE postgres, SECRET {SOURCE}, READ_ONLY)")

    def rights(self, con: duckdb.DuckDBPyConnection) -> Rights:
        found = self._ask(con, _RIGHTS)
        if not found:
            return Rights()
        role, superuser, more, writable = found[0]
        warnings = []
        if superuser:
            warnings.append(f"The role {role} is a superuser, or may read files of the database's machine.")
        elif more:
            warnings.append(f"The role {role} may do more than read tables (make roles or databases, replicate, see all rows).")
        if writable and not superuser:
            warnings.append(f"The role {role} may change {writable} table{'s' * (writable != 1)}. Reading needs no such right.")
        if warnings:
            warnings.append("Give this connector a role that may only read; docs/connectors.md has the SQL.")
        return Rights(tuple(warnings), bool(superuser))

    def tables(self, con: duckdb.DuckDBPyConnection) -> list[SourceTable]:
        return [
            SourceTable(table, schema, comment, None if rows is None else int(rows), {"oid": int(oid), "twin": bool(twin)})
            for schema, table, comment, rows, oid, twin in self._ask(con, _TABLES)
        ]

    def loaded(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, name: str, scratch: Path, limits: Limits
    ) -> Loaded:
        columns, found = self._looked(con, table, limits)
        source, attached = _far_name(table), _relation(str(table.schema), table.table)
        made = copied(con, attached, source, columns, found, lambda sql: far_query(SOURCE, sql), twin=table.extra["twin"])
        options = {"format": "postgres", "schema": table.schema, "table": table.table, "keys": self.keys(con, table)}
        return Loaded(name, made.select, options, made.notes, table.comment, made.comments)

    def keys(self, con: duckdb.DuckDBPyConnection, table: SourceTable) -> dict[str, Any]:
        return postgres_keys(lambda sql: self._ask(con, sql), table.extra["oid"])

    def relation(self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits) -> Bound:
        if table.extra["twin"]:
            raise BadInput(
                "There is another table whose name differs by case alone; in place the two cannot be told apart.",
                where=table.label, to_do="Ingest it instead: a copy is read by its exact name.",
            )
        columns, found = self._looked(con, table, limits)
        casts, left_out, notes = in_place(con, _far_name(table), columns, found, lambda sql: far_query(SOURCE, sql))
        names, said = unique_names([c.name for c in columns])
        attached = _relation(str(table.schema), table.table)
        relation = {
            "schema": table.schema, "table": table.table, "columns": in_place_columns(con, attached, columns, casts, left_out)
        }
        comments = {new: c.comment for c, new in zip(columns, names, strict=True) if c.comment}
        return Bound(relation, comments, (*said, *notes), self.keys(con, table))

    def live_select(self, relation: Mapping[str, Any]) -> str:
        source = _relation(relation["schema"], relation["table"])
        if "columns" not in relation:
            raise BadInput("The columns of this table were bound by an earlier version.", to_do="Refresh its source.")
        parts = [
            f"{f'CAST({quoted(there)} AS {kind})' if kind else quoted(there)} AS {quoted(new)}"
            for there, new, kind in relation["columns"]
        ]
        return f"SELECT {', '.join(parts)} FROM {source}"

    def readable(self, error: Exception) -> LexsiError:
        c = self.config
        where = f"{c.user}@{c.host}:{c.port}/{c.database}"
        if isinstance(error, duckdb.CatalogException):
            return NotFound("A table of this database is not there any more.", where=where, to_do="Look at the list again.")
        return told(scrub(str(error), c.secret_values()), _ERRORS, where=where)

    def _looked(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, limits: Limits
    ) -> tuple[list[FarColumn], dict[str, Oddities]]:
        """The table's columns, and what about them the scanner would not read right."""
        columns = far_columns(lambda sql: self._ask(con, sql), table.extra["oid"])
        check_width(Path(table.label), len(columns), limits)
        version = int(self._ask(con, "SELECT current_setting('server_version_num')::int AS v")[0][0])
        return columns, look(lambda sql: self._ask(con, sql), _far_name(table), columns, version)

    def _ask(self, con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
        return con.execute(f"SELECT * FROM {far_query(SOURCE, sql)}").fetchall()


def _far_name(table: SourceTable) -> str:
    return f"{quoted(str(table.schema))}.{quoted(table.table)}"


def _relation(schema: str, table: str) -> str:
    return f"{SOURCE}.{quoted(schema)}.{quoted(table)}"
