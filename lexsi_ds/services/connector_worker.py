"""Short tasks of our own on a connector, in the worker kept for setting up: no SQL of a person ever runs in that one.

Must never: let a link, which holds what is secret, go anywhere but into a worker's private pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexsi_ds.data.connectors.secrets import link_of
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.importer import Tell
from lexsi_ds.settings import Settings
from lexsi_ds.store.connectors import ConnectorRecord

WORKER = "lexsi_ds.data.connectors.worker"
_SETTING_UP = "setting up"


@dataclass(frozen=True)
class Connection:
    """How a connector is opened, stored or not yet; without what is secret."""

    id: str
    kind: str
    config: dict[str, Any]
    variables: dict[str, str | None]

    @classmethod
    def of(cls, record: ConnectorRecord) -> Connection:
        """A stored one."""
        return cls(record.id, record.kind, record.config, record.variables)


class ConnectorWorker:
    """Asks the worker."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings, self._pool = settings, pool

    def ask(
        self, task: str, connection: Connection, cancel: Cancel | None, *, tell: Tell | None = None, **more: Any
    ) -> dict[str, Any]:
        """Run one task: test, list_tables or bind, with ``more`` arguments of its own."""
        args = {"link": self.link(connection), "statement_s": self._settings.sql_timeout_s, **more}
        return self._pool.run("connector", f"{WORKER}:{task}", args, cancel=cancel, tell=tell, affinity=_SETTING_UP)

    def link(self, connection: Connection) -> dict[str, Any]:
        """All that opens it; for a worker's pipe only."""
        return link_of(connection.id, connection.kind, connection.config, connection.variables)
