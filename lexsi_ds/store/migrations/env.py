"""Alembic's entry: runs the migrations inside the transaction that `Store.migrate` holds open."""

from __future__ import annotations

from alembic import context

from lexsi_ds.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
