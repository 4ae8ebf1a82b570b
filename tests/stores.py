"""Stores for tests, on SQLite and on a real PostgreSQL: each test gets a database of its own, made from a migrated one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from lexsi_ds.store.db import Store
from tests.connectors.servers import OWNER_PASSWORD, Server, postgres_owner

KINDS = ("sqlite", "postgresql")


@dataclass
class Databases:
    """A PostgreSQL server whose databases are made for one test each."""

    server: Server
    _names: itertools.count[int] = field(default_factory=itertools.count)
    _ready: bool = False

    def empty(self) -> str:
        """The address of a database with nothing in it."""
        return self._make(f"empty_{next(self._names)}")

    def migrated(self) -> str:
        """The address of a database that stands at the newest migration."""
        if not self._ready:
            self._ready = True
            store = Store(self._make("ready"))
            store.migrate()
            store.close()
        return self._make(f"store_{next(self._names)}", "ready")

    def _make(self, name: str, template: str = "template1") -> str:
        with postgres_owner(self.server) as owner:
            owner.execute(f"CREATE DATABASE {name} TEMPLATE {template}")  # type: ignore[arg-type]
        return f"postgresql://owner:{OWNER_PASSWORD}@127.0.0.1:{self.server.port}/{name}"


def sqlite_url(folder: Path, name: str = "store") -> str:
    """The address of a file in this folder."""
    return f"sqlite:///{folder / f'{name}.sqlite'}"
