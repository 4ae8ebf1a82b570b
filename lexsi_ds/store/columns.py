"""What every table of the store is made of: one metadata, moments with their zone, JSON, partial indexes.

Must never: name a table; those stand in `store.tables` and `store.model_tables`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa


class Utc(sa.types.TypeDecorator[datetime]):
    """A moment, always with its zone: SQLite would give it back naive."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def partial_unique(name: str, *columns: str, where: str) -> sa.Index:
    condition = sa.text(where)
    return sa.Index(name, *columns, unique=True, sqlite_where=condition, postgresql_where=condition)


def json_column(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=nullable)


def history_columns() -> tuple[sa.Column[Any], ...]:
    """What each line of a history holds beside whose it is: one line a row version, who, what, by which door, before and after."""
    return (
        sa.Column("row_version", sa.Integer, primary_key=True),
        sa.Column("at", Utc, nullable=False),
        sa.Column("person", sa.String, nullable=False),
        sa.Column("person_name", sa.String, nullable=False),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("via", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        json_column("before"),
        json_column("after"),
    )
