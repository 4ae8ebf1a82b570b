"""Where each model stands and what became of it, decisions of people about cases, backtests; where predictions come from.

A model of before is a draft of whoever trained it, with that as the first step of its history.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.add_column("predictions", sa.Column("about", JSON))
    op.create_table(
        "model_registry",
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("row_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("author_name", sa.String(), nullable=False),
        sa.Column("reviewer", sa.String()),
        sa.Column("responsible", sa.String(), nullable=False),
        sa.Column("intended_use", sa.String(), nullable=False),
        sa.Column("limits", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("threshold", JSON),
        sa.Column("updated_by", sa.String(), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_registry_model_id")),
        sa.PrimaryKeyConstraint("model_id", name=op.f("pk_model_registry")),
    )
    op.create_table(
        "model_history",
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("row_version", sa.Integer(), nullable=False),
        *_who(),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("before", JSON, nullable=False),
        sa.Column("after", JSON, nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_history_model_id")),
        sa.PrimaryKeyConstraint("model_id", "row_version", name=op.f("pk_model_history")),
    )
    op.create_table(
        "case_overrides",
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("case_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String()),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("model_said", JSON),
        *_who(),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_case_overrides_model_id")),
        sa.PrimaryKeyConstraint("model_id", "case_id", "number", name=op.f("pk_case_overrides")),
    )
    op.create_table(
        "backtests",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("predictions_id", sa.String(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_backtests_model_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backtests")),
    )
    op.create_index(op.f("ix_backtests_model_id_at"), "backtests", ["model_id", "at"])
    _register_models()


def _who() -> tuple[sa.Column, ...]:
    return (
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("via", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )


def _register_models() -> None:
    """Plain SQL, so that this migration stays what it is when the code moves on."""
    shown = "CASE WHEN owner = 'local' THEN 'You' ELSE owner END"
    op.execute(
        "INSERT INTO model_registry (model_id, row_version, state, author, author_name, responsible, intended_use, limits, "
        "note, updated_by, updated_at) SELECT id, 1, 'draft', owner, " + shown + ", " + shown + ", "
        "'', '', '', owner, created_at FROM models"
    )
    op.execute(
        "INSERT INTO model_history (model_id, row_version, person, person_name, via, at, action, note, before, after) "
        "SELECT model_id, 1, author, author_name, 'training', updated_at, 'trained', '', '{}', '{}' FROM model_registry"
    )
