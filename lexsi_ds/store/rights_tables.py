"""Tables of people, what they may do, and what they did: grants, workspaces, API keys, confirmed calls, the audit trail.

Must never: hold a key or a password as it is; only a digest is kept.
"""

from __future__ import annotations

import sqlalchemy as sa

from lexsi_ds.store.columns import Utc, json_column, metadata

people = sa.Table(
    "people", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("added_by", sa.String, nullable=False),
    sa.Column("added_at", Utc, nullable=False),
    sa.Column("removed_at", Utc),
)

grants = sa.Table(
    "grants", metadata,
    sa.Column("subject", sa.String, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("level", sa.String, nullable=False),
    sa.Column("granted_by", sa.String, nullable=False),
    sa.Column("granted_at", Utc, nullable=False),
    sa.Index("ix_grants_person", "person"),
)

workspaces = sa.Table(
    "workspaces", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("content_by", sa.String),
    sa.Column("content_by_name", sa.String),
    sa.Column("content_at", Utc),
    sa.Column("row_version", sa.Integer, nullable=False),
    sa.Column("created_by", sa.String, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("deleted_at", Utc),
)

workspace_members = sa.Table(
    "workspace_members", metadata,
    sa.Column("workspace_id", sa.ForeignKey("workspaces.id"), primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("added_by", sa.String, nullable=False),
    sa.Column("added_at", Utc, nullable=False),
    sa.Index("ix_workspace_members_person", "person"),
)

api_keys = sa.Table(
    "api_keys", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("digest", sa.String, nullable=False),
    sa.Column("tail", sa.String, nullable=False),
    json_column("scopes"),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("expires_at", Utc),
    sa.Column("revoked_at", Utc),
    sa.Column("last_used_at", Utc),
    sa.Index("ix_api_keys_person", "person"),
)

confirmed_calls = sa.Table(
    "confirmed_calls", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("tool", sa.String, nullable=False),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("claim", sa.String, nullable=False),
    sa.Column("result", sa.JSON(none_as_null=True)),
    sa.Column("at", Utc, nullable=False),
)

audit = sa.Table(
    "audit", metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("at", Utc, nullable=False),
    sa.Column("person", sa.String, nullable=False),
    sa.Column("person_name", sa.String, nullable=False),
    sa.Column("via", sa.String, nullable=False),
    sa.Column("action", sa.String, nullable=False),
    sa.Column("target", sa.String, nullable=False),
    sa.Column("outcome", sa.String, nullable=False),
    json_column("detail"),
    sa.Index("ix_audit_at", "at"),
)
