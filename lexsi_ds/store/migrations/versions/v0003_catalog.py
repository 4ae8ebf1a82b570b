"""What people say of datasets and columns, found relationships and choices about them, deletions, signing keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.add_column("sources", sa.Column("delete_status", sa.String()))
    op.add_column("sources", sa.Column("delete_error", sa.String()))
    op.add_column("datasets", sa.Column("description", sa.String()))
    op.add_column("datasets", sa.Column("target_column", sa.String()))
    op.add_column("datasets", sa.Column("edited_at", MOMENT))
    op.add_column("column_marks", sa.Column("description", sa.String()))
    op.create_table(
        "found_relations",
        sa.Column("snapshot_id", sa.String(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("snapshot_id", name=op.f("pk_found_relations")),
    )
    op.create_table(
        "relation_choices",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("child", sa.String(), nullable=False),
        sa.Column("child_column", sa.String(), nullable=False),
        sa.Column("parent", sa.String(), nullable=False),
        sa.Column("parent_column", sa.String(), nullable=False),
        sa.Column("choice", sa.String(), nullable=False),
        sa.Column("chosen_by", sa.String(), nullable=False),
        sa.Column("chosen_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_relation_choices_source_id")),
        sa.PrimaryKeyConstraint(
            "source_id", "child", "child_column", "parent", "parent_column", name=op.f("pk_relation_choices")
        ),
    )
    op.create_table(
        "signing_keys",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_signing_keys")),
    )
