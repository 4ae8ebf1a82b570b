"""Tables of the board on Home and of what people think of answers."""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.columns import Utc, json_column, metadata

pins = sa.Table(
    "pins", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("source_id", sa.String, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("sql", sa.Text),
    json_column("view", nullable=True),
    json_column("parameters", nullable=True),
    sa.Column("run_id", sa.String),
    json_column("result", nullable=True),
    sa.Column("error", sa.String),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("row_version", sa.Integer, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("refreshed_at", Utc),
    sa.Index("ix_pins_owner_place", "owner", "place"),
)

run_feedback = sa.Table(
    "run_feedback", metadata,
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("thumb", sa.String, nullable=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("at", Utc, nullable=False),
)
