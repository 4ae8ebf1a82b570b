"""What a source is to everything above it: immutable values that name tables, columns and the files that hold them.

A handle is one snapshot of one source. It opens nothing and reads nothing; `data.sql` runs queries on it.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

SourceKind = Literal["demo", "pkdd", "files", "sqlite", "derived", "s3", "postgres", "mysql"]
TypeFamily = Literal["number", "text", "date", "boolean", "other"]

_NUMBER = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
}


class Value(BaseModel):
    """Base of frozen values that go to JSON and back unchanged."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(Value):
    """A column of a table, as it was read and as a person marked it."""

    name: str
    type: str
    """DuckDB's type, such as ``BIGINT`` or ``DATE``."""
    comment: str | None = None
    nulls: int = 0
    distinct: int = 0
    """Exact number of distinct non-null values."""
    minimum: str | None = None
    """Smallest value as text (ISO for dates); None for other types or when all values are null."""
    maximum: str | None = None
    protected: bool = False
    """Sex, age, marital status and the like: left out of models by default, kept for fairness tests."""
    identifier: bool = False
    masked: bool = False
    """Identifies a person: values are never shown to a planner and are masked on screen."""

    @property
    def family(self) -> TypeFamily:
        """Coarse type that readers of text and writers of charts go by."""
        kind = self.type.upper()
        if kind.endswith("]"):  # a list, whatever of
            return "other"
        if kind in _NUMBER or kind.startswith("DECIMAL"):
            return "number"
        if kind.startswith(("DATE", "TIMESTAMP")):
            return "date"
        if kind == "VARCHAR" or kind.startswith("ENUM"):
            return "text"
        return "boolean" if kind == "BOOLEAN" else "other"


class Live(Value):
    """A table that stays where it is: how its connector is reached, without anything secret, and what to read there."""

    connector_id: str
    kind: str
    about: str
    """JSON of ``config``, ``variables`` and ``relation``: one text, so that handles stay hashable."""

    @classmethod
    def of(
        cls, connector_id: str, kind: str, config: dict[str, Any], variables: dict[str, str | None],
        relation: dict[str, Any],
    ) -> Live:
        """From its parts; ``variables`` names environment variables by secret field, None for what was typed once."""
        about = json.dumps({"config": config, "variables": variables, "relation": relation}, sort_keys=True)
        return cls(connector_id=connector_id, kind=kind, about=about)

    def part(self, name: Literal["config", "variables", "relation"]) -> dict[str, Any]:
        """One of the three."""
        return json.loads(self.about)[name]


class Table(Value):
    """A dataset version: one table, in one immutable DuckDB file that holds it as ``main.data``; or one read in place."""

    name: str
    dataset_id: str
    version: int
    path: Path
    rows: int
    columns: tuple[Column, ...]
    comment: str | None = None
    live: Live | None = None
    """Set when queries read the table at its source: there is no file at ``path`` then, and ``rows`` may be out of date."""
    rejected: int = 0
    """Lines of its file that are not in it."""
    flagged: int = 0
    """Lines and cells that are in it, but not as they stood: with missing values."""

    def column(self, name: str) -> Column | None:
        """The column of this name, whatever the case; None when there is none."""
        return next((c for c in self.columns if c.name.casefold() == name.casefold()), None)


class DatasetHandle(Value):
    """One snapshot of one source: what a run is about."""

    source_id: str
    name: str
    kind: SourceKind
    snapshot_id: str
    snapshot_number: int
    tables: tuple[Table, ...]
    today: date | None = None
    """Latest date in the data: what "today" means for this source."""
    synthetic: bool = False

    def table(self, name: str) -> Table | None:
        """The table of this name, whatever the case; None when there is none."""
        return next((t for t in self.tables if t.name.casefold() == name.casefold()), None)

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(t.rows for t in self.tables)
