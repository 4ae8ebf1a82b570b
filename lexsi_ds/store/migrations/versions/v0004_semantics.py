"""Saved semantic models of sources, version by version, and words that people taught."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "semantic_versions",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text()),
        sa.Column("changes", JSON, nullable=False),
        sa.Column("how", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_semantic_versions_source_id")),
        sa.PrimaryKeyConstraint("source_id", "version", name=op.f("pk_semantic_versions")),
    )
    op.create_table(
        "learned_words",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("meaning", JSON, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("forgotten_by", sa.String()),
        sa.Column("forgotten_at", MOMENT),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_learned_words_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learned_words")),
    )
    op.create_index(op.f("ix_learned_words_source_id"), "learned_words", ["source_id"])
