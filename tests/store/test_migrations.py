from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from lexsi_ds.errors import BadInput
from lexsi_ds.store import db as db_module
from lexsi_ds.store.db import Store
from lexsi_ds.store.model_registry import RegistryRows, Step
from lexsi_ds.store.models import ModelRows
from lexsi_ds.store.records import now
from lexsi_ds.store.tables import HEAD, metadata
from tests.store import filled


def _revisions() -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(Path(db_module.__file__).parent / "migrations"))
    return [r.revision for r in reversed(list(ScriptDirectory.from_config(config).walk_revisions()))]


def _schema(store: Store) -> dict[str, object]:
    """What the database says of each table and index, in its own words."""
    with store.read() as db:
        looked = sa.inspect(db)
        found: dict[str, object] = {
            name: (
                [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in looked.get_columns(name)],
                looked.get_pk_constraint(name), sorted(map(str, looked.get_foreign_keys(name))),
                sorted(map(str, looked.get_unique_constraints(name))),
            )
            for name in looked.get_table_names()
        }
    return found | _indexes(store)


def _indexes(store: Store) -> dict[str, object]:
    query = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL" if store.sqlite
        else "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    )
    with store.read() as db:
        return {name: " ".join(sql.split()) for name, sql in db.exec_driver_sql(query)}


def test_tables_and_migrations_agree(store: Store) -> None:
    with store.read() as db:
        context = MigrationContext.configure(db, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_partial_indexes_made_by_migrations_are_those_of_the_tables(store: Store, old: Store) -> None:
    with old.write() as db:
        metadata.create_all(db)
    direct, made = _indexes(old), _indexes(store)
    assert direct and {name: made[name] for name in direct} == direct


def test_head_constant_is_the_newest_migration() -> None:
    assert _revisions()[-1] == HEAD


def test_a_store_upgraded_step_by_step_equals_a_fresh_one(store: Store, old: Store) -> None:
    for revision in _revisions():
        with old.write() as db:
            db_module._upgrade(db, revision)
    assert _schema(old) == _schema(store)
    assert old.revision() == store.revision() == HEAD


@pytest.mark.parametrize("revision", _revisions())
def test_every_row_of_every_earlier_revision_comes_through(old: Store, revision: str) -> None:
    with old.write() as db:
        db_module._upgrade(db, revision)
    tables, before = filled.reflected(old), filled.fill(old)
    assert all(len(rows) == filled.ROWS for rows in before.values())
    old.migrate()
    assert old.revision() == HEAD
    after = filled.content(old, tables)
    assert {name: after[name] for name in before} == before


def test_the_schema_also_compiles_for_postgresql() -> None:
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateIndex, CreateTable

    dialect = postgresql.dialect()
    script = [str(CreateTable(t).compile(dialect=dialect)) for t in metadata.sorted_tables]
    live = next(i for i in metadata.tables["runs"].indexes if i.name == "uq_runs_live")
    assert "WHERE state IN ('queued', 'running')" in str(CreateIndex(live).compile(dialect=dialect))
    assert len(script) == len(metadata.tables)


def test_migrating_twice_changes_nothing(store: Store) -> None:
    before = _schema(store)
    store.migrate()
    assert _schema(store) == before


def test_processes_that_start_at_once_make_one_store(empty_url: str) -> None:
    script = "import sys; from lexsi_ds.store.db import Store; s = Store(sys.argv[1]); s.migrate(); print(s.revision())"
    started = [
        subprocess.Popen([sys.executable, "-c", script, empty_url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in started:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.strip()) == (0, HEAD), err


def test_a_store_of_a_newer_version_is_refused_in_words(store: Store) -> None:
    with store.write() as db:
        db.execute(sa.text("UPDATE alembic_version SET version_num = 'from_the_future'"))
    with pytest.raises(BadInput, match="newer version"):
        store.migrate()


def test_a_write_that_raises_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(RuntimeError), store.write() as db:
        db.execute(sa.insert(metadata.tables["preferences"]).values(person="p", key="k", value=1, updated_at=now()))
        raise RuntimeError
    with store.read() as db:
        assert db.execute(sa.select(sa.func.count()).select_from(metadata.tables["preferences"])).scalar() == 0


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_sqlite_is_in_wal_mode_with_foreign_keys(store: Store) -> None:
    with store.read() as db:
        assert db.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert db.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_store_in_memory_is_refused() -> None:
    with pytest.raises(BadInput, match="in-memory"):
        Store("sqlite://")


def test_models_of_a_store_of_0004_become_drafts_of_whoever_trained_them(old: Store) -> None:
    with old.write() as db:
        db_module._upgrade(db, "0004")
    at = now()
    with old.write() as db:
        for name, owner in (("mdl_a", "local"), ("mdl_b", "ada")):
            db.execute(sa.text(
                "INSERT INTO models (id, owner, source_id, snapshot_id, name, folder, card, created_at) "
                "VALUES (:id, :owner, 'con_a', 'snap_a', :id, :folder, '{\"name\": \"x\"}', :at)"
            ), {"id": name, "owner": owner, "folder": f"models/{name}", "at": at.replace(tzinfo=None) if old.sqlite else at})
        db.execute(sa.text(
            "INSERT INTO predictions (id, model_id, snapshot_id, path, rows, ranked, top_overlap, entity_column, created_at) "
            "VALUES ('pred_a', 'mdl_a', 'snap_a', 'predictions/pred_a.duckdb', 3, 2, 0.5, 'loan_id', :at)"
        ), {"at": at.replace(tzinfo=None) if old.sqlite else at})
    old.migrate()
    assert old.revision() == HEAD
    registry = RegistryRows(old)
    first, second = registry.get("mdl_a"), registry.get("mdl_b")
    assert first is not None and second is not None
    assert (first.state, first.row_version, first.author, first.author_name, first.threshold) == ("draft", 1, "local", "You", None)
    assert second.author == second.author_name == "ada" and first.updated_at == at
    steps = registry.history("mdl_b")
    assert [(s.row_version, s.action, s.person, s.via, s.before) for s in steps] == [(1, "trained", "ada", "training", {})]
    rows = ModelRows(old)
    kept, scored = rows.get("mdl_a", "local"), rows.latest_predictions("mdl_a", "local")
    assert kept is not None and kept.card == {"name": "x"} and rows.get("mdl_a", "ada") is None
    assert scored is not None and (scored.rows, scored.about) == (3, None)
    step = Step(person="local", person_name="You", action="described", via="ui")
    changed = registry.change("mdl_a", 1, {"intended_use": "collections"}, step)
    assert changed is not None and (changed.row_version, changed.responsible) == (2, "You")
    assert rows.delete("mdl_a", "local") == ["models/mdl_a", "predictions/pred_a.duckdb"] and registry.get("mdl_a") is None
