"""Findings of a store of before keep what they were, can be searched, and rest on nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from lexsi_ds.store import db as db_module
from lexsi_ds.store.db import Store
from lexsi_ds.store.findings import FindingRows, Wanted
from lexsi_ds.store.records import now


@pytest.mark.parametrize("revision", ["0001", "0003", "0005"])
def test_findings_of_a_store_of_before_are_kept_and_found(tmp_path: Path, revision: str) -> None:
    old = Store(f"sqlite:///{tmp_path / 'old.sqlite'}")
    with old.write() as db:
        db_module._upgrade(db, revision)
    with old.write() as db:
        db.execute(sa.text(
            "INSERT INTO findings (id, source_id, dataset_id, origin, title, statement, columns, check_sql, verdict, review, "
            "status, version, row_version, created_by, created_at, updated_by, updated_at, review_note) VALUES ('fnd_a', 'con_a', "
            "'ds_a', 'user', 'ŽÁDNÝ dluh', 'Nobody owes.', '[\"amount\"]', NULL, 'unchecked', 'accepted', 'active', 2, 5, 'local', "
            ":at, 'local', :at, 'Seen.')"
        ), {"at": now().replace(tzinfo=None)})
    old.migrate()
    rows = FindingRows(old)
    kept = rows.list(Wanted(words=("žádný", "owes", "amount")))
    assert [f.id for f in kept] == ["fnd_a"] and rows.list(Wanted(words=("other",))) == ()
    assert (kept[0].review, kept[0].row_version, kept[0].review_note) == ("accepted", 5, "Seen.")
    assert (kept[0].depends_on, kept[0].band, kept[0].suggested) == ((), None, None)
    with old.read() as db:
        assert db.execute(sa.text("SELECT count(*) FROM people")).scalar() == 0
    old.close()
