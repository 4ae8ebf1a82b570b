"""The first tables: sources, conversations, runs, models, findings, preferences."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def _one(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=True, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("meta", JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    op.create_index("ix_artifacts_run_id", "artifacts", ["run_id"])
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("memory", JSON, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_owner_updated_at", "conversations", ["owner", "updated_at"])
    op.create_table(
        "findings",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=True),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("statement", sa.String(), nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("check_sql", sa.String(), nullable=True),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("last_check", JSON, nullable=True),
        sa.Column("review", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("flag", JSON, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("row_version", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_by", sa.String(), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("reviewed_by", sa.String(), nullable=True),
        sa.Column("reviewed_by_name", sa.String(), nullable=True),
        sa.Column("reviewed_at", MOMENT, nullable=True),
        sa.Column("review_note", sa.String(), nullable=False),
        sa.Column("reviewed_version", sa.Integer(), nullable=True),
        sa.Column("reviewed_via", sa.String(), nullable=True),
        sa.Column("reviewed_check", JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
    )
    op.create_index("ix_findings_source_id_created_at", "findings", ["source_id", "created_at"])
    op.create_table(
        "models",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("snapshot_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("card", JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("source_id", "name", name="uq_models_source_id_name"),
    )
    op.create_table(
        "preferences",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", JSON, nullable=True),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("person", "key", name="pk_preferences"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("boot", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("cancel", sa.Boolean(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("beat", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("meta", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_conversation_id_started", "runs", ["conversation_id", "started"])
    _one("uq_runs_live", "runs", ["conversation_id"], "state IN ('queued', 'running')")
    op.create_table(
        "sources",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("synthetic", sa.Boolean(), nullable=False),
        sa.Column("throwaway", sa.Boolean(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("options", JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
    )
    _one("uq_sources_fingerprint", "sources", ["fingerprint"], "fingerprint IS NOT NULL AND deleted_at IS NULL")
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("derived", sa.Boolean(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_datasets_source_id"),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
    )
    _one("uq_datasets_source_id_name_key", "datasets", ["source_id", "name_key"], "deleted_at IS NULL")
    op.create_table(
        "events",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ts", sa.Double(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_events_run_id"),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_events"),
    )
    op.create_table(
        "finding_history",
        sa.Column("finding_id", sa.String(), nullable=False),
        sa.Column("row_version", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("via", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("before", JSON, nullable=False),
        sa.Column("after", JSON, nullable=False),
        sa.ForeignKeyConstraint(["finding_id"], ["findings.id"], name="fk_finding_history_finding_id"),
        sa.PrimaryKeyConstraint("finding_id", "row_version", name="pk_finding_history"),
    )
    op.create_table(
        "predictions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("snapshot_id", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("ranked", sa.BigInteger(), nullable=False),
        sa.Column("top_overlap", sa.Double(), nullable=False),
        sa.Column("entity_column", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_predictions_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_predictions"),
    )
    op.create_index("ix_predictions_model_id_created_at", "predictions", ["model_id", "created_at"])
    op.create_table(
        "snapshots",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("members", JSON, nullable=False),
        sa.Column("today", sa.Date(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_snapshots_source_id"),
        sa.PrimaryKeyConstraint("id", name="pk_snapshots"),
        sa.UniqueConstraint("source_id", "number", name="uq_snapshots_source_id_number"),
    )
    op.create_table(
        "column_marks",
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("column_key", sa.String(), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=True),
        sa.Column("masked", sa.Boolean(), nullable=True),
        sa.Column("identifier", sa.Boolean(), nullable=True),
        sa.Column("marked_by", sa.String(), nullable=False),
        sa.Column("marked_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_column_marks_dataset_id"),
        sa.PrimaryKeyConstraint("dataset_id", "column_key", name="pk_column_marks"),
    )
    op.create_table(
        "dataset_versions",
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("comment", sa.String(), nullable=True),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("read_options", JSON, nullable=False),
        sa.Column("rejected", sa.BigInteger(), nullable=False),
        sa.Column("rejected_path", sa.String(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_dataset_versions_dataset_id"),
        sa.PrimaryKeyConstraint("dataset_id", "version", name="pk_dataset_versions"),
    )
