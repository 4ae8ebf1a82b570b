"""MySQL and MariaDB through DuckDB's scanner, by queries of our own: quoted our way, and limited in time one by one.

The scanner's own statements quote backticks wrongly and carry no limit on MariaDB. Sessions cannot be held to reading
there, so tables are copied and never queried in place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import duckdb
from pydantic import Field, SecretStr

from lexsi_ds.data.connectors.base import ConnectorConfig, Driver, Rights, SourceTable
from lexsi_ds.data.connectors.extensions import load
from lexsi_ds.data.connectors.mysql_columns import copied, far_columns, look, mysql_keys, name_of
from lexsi_ds.data.connectors.scrub import scrub
from lexsi_ds.data.connectors.wording import Told, told
from lexsi_ds.data.loaded import Limits, Loaded, check_width
from lexsi_ds.data.raw_rows import literal
from lexsi_ds.errors import LexsiError

SOURCE = "_lexsi_src"
_OWN_SCHEMAS = "('information_schema', 'performance_schema', 'mysql', 'sys')"
_READING = {"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES", "LOCK TABLES"}
_SUPER = {"SUPER", "FILE", "CREATE USER", "SHUTDOWN", "RELOAD", "SYSTEM_USER", "SET USER", "GRANT OPTION"}
_ERRORS: tuple[Told, ...] = (
    Told("access denied for user .* to database", "This user may not use that database.", "Grant it SELECT there."),
    Told("access denied", "The database does not let this user in with this password.", "Check user and password."),
    Told("unknown database", "There is no database of this name on that server.", "Check the database's name."),
    Told("lost connection|server has gone away|connection was killed|error reading|aborted connection|server shutdown",
         "The connection to the database was lost.", "Nothing was kept. Try again when the server is back."),
    Told("can't connect|unknown (mysql )?server host|unknown host|timed out",
         "The database server cannot be reached.", "Check host and port, and that this machine may connect to it."),
    Told("ssl|tls|certificate", "A secure connection to the database could not be made.",
         "Check ssl_mode and the server's certificate."),
    Told(r"query: \s*$",  # the scanner loses the reason while rows are on their way
         "The connection to the database was lost, or it stopped a statement that took too long.",
         "Nothing was kept. Try again when the server is back, or take a view with fewer rows."),
    Told(r"execution was interrupted|maximum statement execution time",
         "The database stopped a statement that took too long.", "Take smaller tables, or a view with fewer rows."),
    Told("command denied|select denied", "This user may not read that table.", "Grant it SELECT on the table."),
    Told("too many connections", "The database has no connection to spare.", "Try again later."),
)


class MysqlConfig(ConnectorConfig):
    """How to reach a MySQL or MariaDB server."""

    host: str = Field(min_length=1, pattern=r"^[A-Za-z0-9_.:\-]+$", description="Name or address of the server.")
    port: int = Field(default=3306, ge=1, le=65535)
    database: str | None = Field(default=None, description="Which one; all that the user may read when left out.")
    user: str = Field(min_length=1, description="A user that may only read; see docs/connectors.md.")
    password: SecretStr = Field(description="Kept in memory only.")
    ssl_mode: Literal["disabled", "preferred", "required", "verify_ca", "verify_identity"] = "preferred"


class MysqlDriver(Driver[MysqlConfig]):
    """One MySQL or MariaDB server, or one database of it."""

    _limit = ""
    """What stands before each SELECT; set once the server's kind is known."""

    def open(self, con: duckdb.DuckDBPyConnection, statement_s: float) -> None:
        c = self.config
        load(con, "mysql_scanner")
        database = f"DATABASE {literal(c.database)}, " if c.database else ""
        con.execute(
            f"CREATE SECRET {SOURCE} (TYPE mysql, HOST {literal(c.host)}, PORT {c.port}, {database}"
            f"USER {literal(c.user)}, PASSWORD {literal(c.password.get_secret_value())})"
        )
        con.execute("SET mysql_tinyint1_as_boolean = false")  # it holds numbers up to 127 as well
        con.execute("SET mysql_incomplete_dates_as_nulls = true")
        con.execute("SET mysql_session_time_zone = '+00:00'")
        con.execute(f"ATTACH 'ssl_mode={c.ssl_mode}' AS {SOURCE} (TYPE mysql, SECRET {SOURCE}, READ_ONLY)")
        self._limit = "SELECT "
        version = str(self._ask(con, "SELECT version() AS v")[0][0])
        if "mariadb" in version.lower():
            self._limit = f"SET STATEMENT max_statement_time={int(statement_s)} FOR SELECT "
        else:
            self._limit = f"SELECT /*+ MAX_EXECUTION_TIME({int(statement_s * 1000)}) */ "

    def rights(self, con: duckdb.DuckDBPyConnection) -> Rights:
        privileges = {
            str(row[0]).upper()
            for view in ("user_privileges", "schema_privileges", "table_privileges")
            for row in self._ask(con, f"SELECT DISTINCT privilege_type AS p FROM information_schema.{view}")
        }
        more = sorted(privileges - _READING)
        if not more:
            return Rights()
        shown = ", ".join(p.lower() for p in more[:6]) + (", …" if len(more) > 6 else "")
        return Rights((
            f"The user {self.config.user} may do more than read: {shown}.",
            "Give this connector a user that may only read; docs/connectors.md has the SQL.",
        ), bool(privileges & _SUPER))

    def tables(self, con: duckdb.DuckDBPyConnection) -> list[SourceTable]:
        found = self._ask(
            con,
            "SELECT table_schema AS s, table_name AS t, table_comment AS d, table_rows AS n, table_type AS k "
            f"FROM information_schema.tables WHERE table_schema NOT IN {_OWN_SCHEMAS} "
            "AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') ORDER BY 1, 2",
        )
        return [
            SourceTable(table, schema, (comment or None) if kind != "VIEW" else None, None if rows is None else int(rows))
            for schema, table, comment, rows, kind in found
            if self.config.database in (None, schema)
        ]

    def loaded(
        self, con: duckdb.DuckDBPyConnection, table: SourceTable, name: str, scratch: Path, limits: Limits
    ) -> Loaded:
        schema, source = str(table.schema), f"{name_of(str(table.schema))}.{name_of(table.table)}"

        def ask(sql: str) -> list[tuple[Any, ...]]:
            return self._ask(con, sql)

        columns = far_columns(ask, schema, table.table)
        check_width(Path(table.label), len(columns), limits)
        made = copied(con, source, columns, look(ask, source, columns), self._query)
        options = {
            "format": "mysql", "schema": schema, "table": table.table, "keys": mysql_keys(ask, schema, table.table),
        }
        return Loaded(name, made.select, options, made.notes, table.comment, made.comments)

    def readable(self, error: Exception) -> LexsiError:
        c = self.config
        where = f"{c.user}@{c.host}:{c.port}" + (f"/{c.database}" if c.database else "")
        return told(scrub(str(error), c.secret_values()), _ERRORS, where=where)

    def _ask(self, con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
        return con.execute(f"SELECT * FROM {self._query(sql)}").fetchall()

    def _query(self, sql: str) -> str:
        """The table function for a SELECT on the far side, with its limit in time."""
        return f"mysql_query({literal(SOURCE)}, {literal(self._limit + sql.removeprefix('SELECT '))})"
