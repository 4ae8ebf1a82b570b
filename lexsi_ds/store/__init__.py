"""The store: SQLAlchemy tables, repositories, migrations."""
