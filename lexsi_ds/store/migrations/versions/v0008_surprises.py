"""Searches for surprises, what they found, and what was deleted for good."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "surprise_searches",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("target", sa.String()),
        sa.Column("about", JSON, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_surprise_searches_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_surprise_searches")),
    )
    op.create_index(op.f("ix_surprise_searches_dataset_id_at"), "surprise_searches", ["dataset_id", "at"])
    op.create_table(
        "surprises",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("search_id", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("same_as", sa.String(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("sentence", sa.String()),
        sa.Column("finding_id", sa.String()),
        sa.Column("body", JSON, nullable=False),
        sa.Column("row_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["search_id"], ["surprise_searches.id"], name=op.f("fk_surprises_search_id")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_surprises_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_surprises")),
    )
    op.create_index(op.f("ix_surprises_search_id_place"), "surprises", ["search_id", "place"])
    op.create_table(
        "surprises_dismissed",
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("same_as", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_surprises_dismissed_dataset_id")),
        sa.PrimaryKeyConstraint("dataset_id", "same_as", name=op.f("pk_surprises_dismissed")),
    )
