"""Imports done in this process, by the same function that the ingest worker runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lexsi_ds.data.ingest import ingest


@dataclass(frozen=True)
class Imported:
    """What an import gave back, and a look into the files it made."""

    result: dict[str, Any]

    def table(self, name: str | None = None) -> dict[str, Any]:
        """One table's object; the only one by default."""
        found = [t for t in self.result["tables"] if name in (None, t["name"])]
        assert len(found) == 1, [t["name"] for t in self.result["tables"]]
        return found[0]

    def rows(self, name: str | None = None, sql: str = "SELECT * FROM data") -> list[tuple[Any, ...]]:
        """Rows of a query on one table's file, opened as readers do."""
        with duckdb.connect(self.table(name)["path"], read_only=True) as con:
            return con.execute(sql).fetchall()

    def types(self, name: str | None = None) -> dict[str, str]:
        return {c["name"]: c["type"] for c in self.table(name)["columns"]}

    def column(self, column: str, name: str | None = None) -> dict[str, Any]:
        return next(c for c in self.table(name)["columns"] if c["name"] == column)

    def notes(self, name: str | None = None) -> str:
        return " ".join(self.table(name)["notes"])


Importing = Callable[..., Imported]


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """The folder of all versions."""
    return tmp_path / "datasets"


@pytest.fixture
def importing(into: Path) -> Importing:
    """``importing(kind, *paths, **options)``."""

    def run(kind: str, *paths: Path, **options: Any) -> Imported:
        args = {"kind": kind, "paths": [str(p) for p in paths], "into": str(into), "options": options}
        return Imported(ingest(args, lambda _: None))

    return run


@pytest.fixture
def csv(tmp_path: Path, importing: Importing) -> Importing:
    """``csv(content, name="t.csv", **options)``: write a file and import it."""

    def run(content: str | bytes, name: str = "t.csv", **options: Any) -> Imported:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return importing("files", path, **options)

    return run
