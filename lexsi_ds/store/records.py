"""What repositories give back: frozen values, one a row or a few rows that belong together.

Must never: open a file or a connection; a record is complete when it is handed out.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Self

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of the store's frozen values."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, row: sa.Row[Any]) -> Self:
        """The record of a row; columns it has no field for are left out."""
        return cls.model_validate(dict(row._mapping))


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
