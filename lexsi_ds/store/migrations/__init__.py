"""Alembic's script location, shipped inside the package; `store.db` runs it without an alembic.ini."""
