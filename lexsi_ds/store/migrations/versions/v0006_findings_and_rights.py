"""What findings depend on, bands, suggested decisions; people, grants, visibility, workspaces, API keys, confirmed calls, audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    for name in ("depends_on", "band", "suggested"):
        op.add_column("findings", sa.Column(name, JSON))
    op.add_column("findings", sa.Column("proposal_key", sa.String()))
    op.add_column("findings", sa.Column("searched", sa.Text()))
    _make_searchable()
    op.create_index(op.f("ix_findings_dataset_id_created_at"), "findings", ["dataset_id", "created_at"])
    op.add_column("sources", sa.Column("visibility", sa.String()))
    _people()
    _workspaces()
    _calls()


def _make_searchable() -> None:
    """The words of each finding, case folded as no database does it alike."""
    rows = sa.table("findings", *(sa.column(n) for n in ("id", "title", "statement", "searched")), sa.column("columns", JSON))
    db = op.get_bind()
    for row in db.execute(sa.select(rows)).all():
        said = " ".join((row.title, row.statement, *row.columns)).casefold()
        db.execute(sa.update(rows).where(rows.c.id == row.id).values(searched=said))


def _people() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("added_by", sa.String(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("removed_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "grants",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("granted_by", sa.String(), nullable=False),
        sa.Column("granted_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("subject", "person", name=op.f("pk_grants")),
    )
    op.create_index(op.f("ix_grants_person"), "grants", ["person"])


def _workspaces() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_by", sa.String()),
        sa.Column("content_by_name", sa.String()),
        sa.Column("content_at", MOMENT),
        sa.Column("row_version", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
    )
    op.create_table(
        "workspace_members",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("added_by", sa.String(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_workspace_members_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "person", name=op.f("pk_workspace_members")),
    )
    op.create_index(op.f("ix_workspace_members_person"), "workspace_members", ["person"])


def _calls() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("tail", sa.String(), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT),
        sa.Column("revoked_at", MOMENT),
        sa.Column("last_used_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    op.create_index(op.f("ix_api_keys_person"), "api_keys", ["person"])
    op.create_table(
        "confirmed_calls",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("claim", sa.String(), nullable=False),
        sa.Column("result", JSON),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_confirmed_calls")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("via", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("detail", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])
