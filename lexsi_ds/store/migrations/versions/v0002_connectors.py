"""How a source is reached when it is not a file: where it is and the names of the variables that hold its keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "connectors",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("variables", JSON, nullable=False),
        sa.Column("warnings", JSON, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_connectors_source_id")),
        sa.PrimaryKeyConstraint("source_id", name=op.f("pk_connectors")),
    )
