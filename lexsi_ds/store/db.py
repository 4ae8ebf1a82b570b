"""The store's one way in: connections that read, and transactions that write without losing an update.

SQLite in WAL mode by default, PostgreSQL by URL. SQLite's own default begins a transaction as a reader and turns it
into a writer later, which loses updates or fails under load; here every writer begins IMMEDIATE and waits its turn. On
PostgreSQL writers take turns by an advisory lock, and readers see one moment, so that both behave alike.
Must never: hold a transaction open while other work (a query, a training) runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import tenacity
from sqlalchemy import event, exc

from lexsi_ds.errors import BadInput, StoreFailed
from lexsi_ds.store.failures import FAILURES, OF_A_STATEMENT, engine_of, failed
from lexsi_ds.store.tables import HEAD

log = logging.getLogger(__name__)
BUSY_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_S = 10
_ADVISORY_LOCK = 0x1E851D5
_WRITERS_TURN = sa.text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
_MIGRATIONS = Path(__file__).parent / "migrations"


class Store:
    """A database of SQLAlchemy URL ``url``; safe to share between threads, and between processes by the same URL."""

    def __init__(self, url: str) -> None:
        try:
            self.url = sa.make_url(url)
        except exc.ArgumentError:  # its text repeats the address, password and all
            raise BadInput("This is no address of a database.", where="LEXSI_DS_STORE_URL",
                           to_do="Give postgresql://user:password@host/database, or leave it unset.") from None
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite and not self.url.database:
            raise BadInput("An in-memory store would be lost.", where="LEXSI_DS_STORE_URL", to_do="Name a file.")
        self._engine = _sqlite_engine(self.url) if self.sqlite else _server_engine(self.url)
        # set once: an option of a connection that differs from the engine's would cost a round trip each time
        self._reader = self._engine if self.sqlite else self._engine.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection on one consistent view of the data; whatever it writes is rolled back. StoreFailed says why it cannot."""
        with self._told(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that is the only writer from its start; rolled back when it raises. StoreFailed says why it cannot."""
        with self._told(), self._engine.connect() as connection:
            connection.execution_options(lexsi_write=True)
            with connection.begin():
                if not self.sqlite:
                    connection.execute(_WRITERS_TURN)
                yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the store itself become StoreFailed; those of a statement stay what they are."""
        try:
            yield
        except OF_A_STATEMENT:
            raise
        except FAILURES as error:
            log.warning("the store failed: %s", type(error.__cause__ or error).__name__)
            raise failed(error, self.url) from error

    def migrate(self) -> None:
        """Bring the tables to this version's. Two processes may call it at once: one works, the other finds it done."""
        if self.revision() == HEAD:
            return
        if self.sqlite:
            with self._told():
                _use_wal(self._engine)
        with self.write() as connection:
            _upgrade(connection, HEAD)

    def revision(self) -> str | None:
        """The migration this database stands at; None when it has no tables yet."""
        with self.read() as connection:
            if not sa.inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()

    def close(self) -> None:
        """Close every pooled connection."""
        self._engine.dispose()


def _upgrade(connection: sa.Connection, revision: str) -> None:
    from alembic import command  # slow to import, and only needed when there is something to migrate
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        raise BadInput(
            "The store was made by a newer version of Lexsi DS.", where="store", to_do="Update, or use another home."
        ) from error


def _server_engine(url: sa.URL) -> sa.Engine:
    """For PostgreSQL: a connection that died is replaced before it is used, and nobody waits for a lock without end."""
    if url.get_backend_name() != "postgresql":
        raise BadInput("The store is kept in SQLite or PostgreSQL.", where="LEXSI_DS_STORE_URL",
                       to_do="Give postgresql://user:password@host/database, or leave it unset.")
    options = f"-c lock_timeout={BUSY_TIMEOUT_MS} -c idle_in_transaction_session_timeout=120000"
    connect = {"connect_timeout": CONNECT_TIMEOUT_S, "options": options, "application_name": "lexsi-ds"}
    return engine_of(url, pool_pre_ping=True, pool_size=8, max_overflow=8, connect_args=connect)


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    folder = Path(url.database or "").parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFailed(f"The folder of the store cannot be made ({error.strerror}).", where=str(folder),
                          to_do="Choose a folder that you may write to, or free space.") from error
    engine = engine_of(url, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}, pool_size=8, max_overflow=-1)

    @event.listens_for(engine, "connect")
    def prepare(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.isolation_level = None  # the driver must not begin transactions of its own
        dbapi_connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        dbapi_connection.execute("PRAGMA foreign_keys=ON")
        dbapi_connection.execute("PRAGMA synchronous=FULL")  # a decision that was shown as taken outlives a power cut

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("lexsi_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(exc.OperationalError),
    wait=tenacity.wait_random(0.02, 0.2),
    stop=tenacity.stop_after_delay(30),
    reraise=True,
)
def _use_wal(engine: sa.Engine) -> None:
    """WAL is kept in the file. Switching to it does not wait for a lock by itself, so it is tried again."""
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA journal_mode=WAL")
    except Exception as error:
        raise exc.OperationalError("PRAGMA journal_mode=WAL", None, error) from error
    finally:
        raw.close()
