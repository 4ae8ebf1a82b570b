"""Every table of the store, for SQLite and PostgreSQL alike. Migrations make them; a test holds the two together.

Must never: change without a migration; hold a data row of a source (those live in files), or a person's key or password.
"""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.board_tables import pins as pins
from lexsi_ds.store.board_tables import run_feedback as run_feedback
from lexsi_ds.store.columns import Utc, history_columns, json_column, metadata, partial_unique
from lexsi_ds.store.document_tables import document_decisions as document_decisions
from lexsi_ds.store.document_tables import documents as documents
from lexsi_ds.store.model_tables import backtests as backtests
from lexsi_ds.store.model_tables import case_overrides as case_overrides
from lexsi_ds.store.model_tables import model_history as model_history
from lexsi_ds.store.model_tables import model_registry as model_registry
from lexsi_ds.store.model_tables import models as models
from lexsi_ds.store.model_tables import predictions as predictions
from lexsi_ds.store.rights_tables import api_keys as api_keys
from lexsi_ds.store.rights_tables import audit as audit
from lexsi_ds.store.rights_tables import confirmed_calls as confirmed_calls
from lexsi_ds.store.rights_tables import grants as grants
from lexsi_ds.store.rights_tables import people as people
from lexsi_ds.store.rights_tables import workspace_members as workspace_members
from lexsi_ds.store.rights_tables import workspaces as workspaces
from lexsi_ds.store.surprise_tables import surprise_searches as surprise_searches
from lexsi_ds.store.surprise_tables import surprises as surprises
from lexsi_ds.store.surprise_tables import surprises_dismissed as surprises_dismissed

HEAD = "0008"
"""The newest migration."""
LIVE_STATES = ("queued", "running")
"""States in which a run holds the lease of its conversation."""


sources = sa.Table(
    "sources", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("synthetic", sa.Boolean, nullable=False),
    sa.Column("throwaway", sa.Boolean, nullable=False),
    sa.Column("fingerprint", sa.String),
    json_column("options"),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("deleted_at", Utc),
    sa.Column("delete_status", sa.String),
    sa.Column("delete_error", sa.String),
    sa.Column("visibility", sa.String),
    partial_unique("uq_sources_fingerprint", "fingerprint", where="fingerprint IS NOT NULL AND deleted_at IS NULL"),
)

datasets = sa.Table(
    "datasets", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("source_id", sa.ForeignKey("sources.id"), nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("name_key", sa.String, nullable=False),
    sa.Column("derived", sa.Boolean, nullable=False),
    sa.Column("run_id", sa.String),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("deleted_at", Utc),
    sa.Column("description", sa.String),
    sa.Column("target_column", sa.String),
    sa.Column("edited_at", Utc),
    partial_unique("uq_datasets_source_id_name_key", "source_id", "name_key", where="deleted_at IS NULL"),
)

dataset_versions = sa.Table(
    "dataset_versions", metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("comment", sa.String),
    json_column("columns"),
    json_column("read_options"),
    sa.Column("rejected", sa.BigInteger, nullable=False),
    sa.Column("rejected_path", sa.String),
    sa.Column("created_at", Utc, nullable=False),
)

column_marks = sa.Table(
    "column_marks", metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("column_key", sa.String, primary_key=True),
    sa.Column("protected", sa.Boolean),
    sa.Column("masked", sa.Boolean),
    sa.Column("identifier", sa.Boolean),
    sa.Column("marked_by", sa.String, nullable=False),
    sa.Column("marked_at", Utc, nullable=False),
    sa.Column("description", sa.String),
)

snapshots = sa.Table(
    "snapshots", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("source_id", sa.ForeignKey("sources.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    json_column("members"),
    sa.Column("today", sa.Date),
    sa.Column("created_at", Utc, nullable=False),
    sa.UniqueConstraint("source_id", "number"),
)

connectors = sa.Table(
    "connectors", metadata,
    sa.Column("source_id", sa.ForeignKey("sources.id"), primary_key=True),
    sa.Column("mode", sa.String, nullable=False),
    json_column("config"),
    json_column("variables"),
    json_column("warnings"),
)

found_relations = sa.Table(
    "found_relations", metadata,
    sa.Column("snapshot_id", sa.String, primary_key=True),
    json_column("body"),
    sa.Column("created_at", Utc, nullable=False),
)

relation_choices = sa.Table(
    "relation_choices", metadata,
    sa.Column("source_id", sa.ForeignKey("sources.id"), primary_key=True),
    sa.Column("child", sa.String, primary_key=True),
    sa.Column("child_column", sa.String, primary_key=True),
    sa.Column("parent", sa.String, primary_key=True),
    sa.Column("parent_column", sa.String, primary_key=True),
    sa.Column("choice", sa.String, nullable=False),
    sa.Column("chosen_by", sa.String, nullable=False),
    sa.Column("chosen_at", Utc, nullable=False),
)

semantic_versions = sa.Table(
    "semantic_versions", metadata,
    sa.Column("source_id", sa.ForeignKey("sources.id"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text),
    json_column("changes"),
    sa.Column("how", sa.String, nullable=False),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)

learned_words = sa.Table(
    "learned_words", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("source_id", sa.ForeignKey("sources.id"), nullable=False),
    sa.Column("words", sa.String, nullable=False),
    json_column("meaning"),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("forgotten_by", sa.String),
    sa.Column("forgotten_at", Utc),
    sa.Index("ix_learned_words_source_id", "source_id"),
)

signing_keys = sa.Table(
    "signing_keys", metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("key", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)

conversations = sa.Table(
    "conversations", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("source_id", sa.String),
    sa.Column("title", sa.String, nullable=False),
    json_column("memory", nullable=True),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("deleted_at", Utc),
    sa.Index("ix_conversations_owner_updated_at", "owner", "updated_at"),
)

runs = sa.Table(
    "runs", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("conversation_id", sa.String, nullable=False),
    sa.Column("boot", sa.String, nullable=False),
    sa.Column("question", sa.String, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("cancel", sa.Boolean, nullable=False),
    sa.Column("started", sa.Double, nullable=False),
    sa.Column("beat", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
    json_column("meta"),
    partial_unique("uq_runs_live", "conversation_id", where="state IN ('queued', 'running')"),
    sa.Index("ix_runs_conversation_id_started", "conversation_id", "started"),
)

events = sa.Table(
    "events", metadata,
    sa.Column("run_id", sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("ts", sa.Double, nullable=False),
    sa.Column("type", sa.String, nullable=False),
    json_column("body"),
)

artifacts = sa.Table(
    "artifacts", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("run_id", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    json_column("meta"),
    sa.Column("created_at", Utc, nullable=False),
    sa.Index("ix_artifacts_run_id", "run_id"),
)

findings = sa.Table(
    "findings", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("source_id", sa.String),
    sa.Column("dataset_id", sa.String, nullable=False),
    sa.Column("run_id", sa.String),
    sa.Column("origin", sa.String, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("statement", sa.String, nullable=False),
    json_column("columns"),
    sa.Column("check_sql", sa.String),
    sa.Column("verdict", sa.String, nullable=False),
    json_column("last_check", nullable=True),
    sa.Column("review", sa.String, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    json_column("flag", nullable=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("row_version", sa.Integer, nullable=False),
    sa.Column("created_by", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_by", sa.String, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("reviewed_by", sa.String),
    sa.Column("reviewed_by_name", sa.String),
    sa.Column("reviewed_at", Utc),
    sa.Column("review_note", sa.String, nullable=False),
    sa.Column("reviewed_version", sa.Integer),
    sa.Column("reviewed_via", sa.String),
    json_column("reviewed_check", nullable=True),
    json_column("depends_on", nullable=True),
    json_column("band", nullable=True),
    json_column("suggested", nullable=True),
    sa.Column("proposal_key", sa.String),
    sa.Column("searched", sa.Text),
    sa.Index("ix_findings_source_id_created_at", "source_id", "created_at"),
    sa.Index("ix_findings_dataset_id_created_at", "dataset_id", "created_at"),
)

finding_history = sa.Table(
    "finding_history", metadata,
    sa.Column("finding_id", sa.ForeignKey("findings.id"), primary_key=True),
    *history_columns(),
)

preferences = sa.Table(
    "preferences", metadata,
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("key", sa.String, primary_key=True),
    json_column("value", nullable=True),
    sa.Column("updated_at", Utc, nullable=False),
)
