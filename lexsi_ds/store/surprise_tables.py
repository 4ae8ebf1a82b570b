"""Tables of searches for surprises, and of what people did with what was found."""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.columns import Utc, json_column, metadata

surprise_searches = sa.Table(
    "surprise_searches", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("target", sa.String),
    json_column("about"),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("at", Utc, nullable=False),
    sa.Index("ix_surprise_searches_dataset_id_at", "dataset_id", "at"),
)

surprises = sa.Table(
    "surprises", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("search_id", sa.ForeignKey("surprise_searches.id"), nullable=False),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("same_as", sa.String, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("pinned", sa.Boolean, nullable=False),
    sa.Column("sentence", sa.String),
    sa.Column("finding_id", sa.String),
    json_column("body"),
    sa.Column("row_version", sa.Integer, nullable=False),
    sa.Index("ix_surprises_search_id_place", "search_id", "place"),
)

surprises_dismissed = sa.Table(
    "surprises_dismissed", metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("same_as", sa.String, primary_key=True),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("at", Utc, nullable=False),
)
