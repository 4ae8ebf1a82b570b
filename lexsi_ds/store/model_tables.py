"""Tables of models: what was trained, what it predicted, where it stands, and what became of its predictions.

Must never: change without a migration; hold a data row of a source, or a model's own files.
"""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.columns import Utc, history_columns, json_column, metadata

models = sa.Table(
    "models", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("source_id", sa.String, nullable=False),
    sa.Column("snapshot_id", sa.String, nullable=False),
    sa.Column("run_id", sa.String),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("folder", sa.String, nullable=False),
    json_column("card"),
    sa.Column("created_at", Utc, nullable=False),
    sa.UniqueConstraint("source_id", "name"),
)

predictions = sa.Table(
    "predictions", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("model_id", sa.ForeignKey("models.id"), nullable=False),
    sa.Column("run_id", sa.String),
    sa.Column("snapshot_id", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("ranked", sa.BigInteger, nullable=False),
    sa.Column("top_overlap", sa.Double, nullable=False),
    sa.Column("entity_column", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    json_column("about", nullable=True),
    sa.Index("ix_predictions_model_id_created_at", "model_id", "created_at"),
)

model_registry = sa.Table(
    "model_registry", metadata,
    sa.Column("model_id", sa.ForeignKey("models.id"), primary_key=True),
    sa.Column("row_version", sa.Integer, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("author", sa.String, nullable=False),
    sa.Column("author_name", sa.String, nullable=False),
    sa.Column("reviewer", sa.String),
    sa.Column("responsible", sa.String, nullable=False),
    sa.Column("intended_use", sa.String, nullable=False),
    sa.Column("limits", sa.String, nullable=False),
    sa.Column("note", sa.String, nullable=False),
    json_column("threshold", nullable=True),
    sa.Column("updated_by", sa.String, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
)

model_history = sa.Table(
    "model_history", metadata,
    sa.Column("model_id", sa.ForeignKey("models.id"), primary_key=True),
    *history_columns(),
)

case_overrides = sa.Table(
    "case_overrides", metadata,
    sa.Column("model_id", sa.ForeignKey("models.id"), primary_key=True),
    sa.Column("case_id", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("decision", sa.String),
    sa.Column("reason", sa.String, nullable=False),
    json_column("model_said", nullable=True),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("via", sa.String, nullable=False),
    sa.Column("at", Utc, nullable=False),
)

backtests = sa.Table(
    "backtests", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("model_id", sa.ForeignKey("models.id"), nullable=False),
    sa.Column("predictions_id", sa.String, nullable=False),
    json_column("body"),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("at", Utc, nullable=False),
    sa.Index("ix_backtests_model_id_at", "model_id", "at"),
)
