"""Tables of the document library: whole texts, and which of their suggestions a person took or set aside."""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.columns import Utc, json_column, metadata

documents = sa.Table(
    "documents", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("library", sa.String, nullable=False),
    sa.Column("shelf", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("chars", sa.BigInteger, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.String, nullable=False),
    json_column("notes"),
    sa.Column("added_by", sa.String, nullable=False),
    sa.Column("added_by_name", sa.String, nullable=False),
    sa.Column("added_at", Utc, nullable=False),
    sa.UniqueConstraint("library", "shelf", "path"),
)

document_decisions = sa.Table(
    "document_decisions", metadata,
    sa.Column("library", sa.String, primary_key=True),
    sa.Column("source_id", sa.String, primary_key=True),
    sa.Column("suggestion", sa.String, primary_key=True),
    sa.Column("decision", sa.String, nullable=False),
    sa.Column("decided_by", sa.String, nullable=False),
    sa.Column("decided_at", Utc, nullable=False),
)
