"""Files, databases and a listener that an attack would have to touch, and the look at whether one did."""

from __future__ import annotations

import hashlib
import socket
import sqlite3
import threading
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from lexsi_ds.data.handle import DatasetHandle
from tests.jobs.making import bank, table

MARKER = "CANARY-7c1f"


class Listener:
    """A port of this machine that counts who knocks."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.knocks = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.knocks += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@dataclass
class Places:
    """The prepared folder. ``handle`` is the source that may be read; all else may not."""

    folder: Path
    handle: DatasetHandle
    listener: Listener
    before: dict[str, str] = field(default_factory=dict)

    def fill(self, attack: str) -> str:
        names = {
            "secret": "secret.txt", "csv": "canary.csv", "parquet": "canary.parquet", "json": "canary.json",
            "other": "ds_other.duckdb", "sqlite": "canary.sqlite", "out": "out",
        }
        for name, file in names.items():
            attack = attack.replace("{" + name + "}", str(self.folder / file))
        attack = attack.replace("{folder}", str(self.folder)).replace("{port}", str(self.listener.port))
        attack = attack.replace("{loan}", str(self.handle.tables[0].path))
        return attack.replace("{url}", f"http://127.0.0.1:{self.listener.port}")

    def state(self) -> dict[str, str]:
        """Every file here and a hash of what it holds."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.folder.rglob("*") if path.is_file()
        }


def prepare(folder: Path) -> Places:
    handle = bank(folder / "data")
    (folder / "secret.txt").write_text(MARKER)
    (folder / "canary.csv").write_text(f"a,b\n{MARKER},1\n")
    (folder / "canary.json").write_text(f'{{"a": "{MARKER}"}}\n')
    table(folder, "other", f"SELECT '{MARKER}' AS a", "ds_other")
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT '{MARKER}' AS a) TO '{folder / 'canary.parquet'}'")
    with sqlite3.connect(folder / "canary.sqlite") as db:
        db.execute(f"CREATE TABLE data AS SELECT '{MARKER}' AS a")
    db.close()
    places = Places(folder, handle, Listener())
    places.before = places.state()
    return places
