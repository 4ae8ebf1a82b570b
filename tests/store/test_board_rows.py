"""A store of before the library and the board takes both, with what it held; pins keep their order, a stale change is refused."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from lexsi_ds.errors import Conflict
from lexsi_ds.store import db as db_module
from lexsi_ds.store.board import Feedback, Pins
from lexsi_ds.store.conversations import Conversations
from lexsi_ds.store.db import Store
from lexsi_ds.store.documents import DocumentRows
from lexsi_ds.store.tables import HEAD


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004", "0005", "0006"])
def test_conversations_of_an_older_store_stay_and_documents_pins_and_thumbs_can_be_kept(old: Store, revision: str) -> None:
    with old.write() as db:
        db_module._upgrade(db, revision)
    with old.write() as db:
        db.execute(sa.text(
            "INSERT INTO conversations (id, owner, source_id, title, created_at, updated_at) "
            "VALUES ('conv_a', 'local', 'con_a', 'Old', '2026-01-01', '2026-01-01')"
        ))
    old.migrate()
    assert old.revision() == HEAD
    kept = Conversations(old).get("conv_a", "local")
    assert kept is not None and kept.title == "Old"
    documents = DocumentRows(old)
    values = {
        "shelf": "library", "path": "a.md", "kind": "markdown", "title": "", "text": "žluť", "chars": 4, "bytes": 6, "sha256": "x",
        "notes": ["n"], "added_by": "local", "added_by_name": "You",
    }  # fmt: skip
    for document_id in ("doc_a", "doc_b"):
        documents.put("local", values | {"id": document_id})
    assert [(d.id, d.notes) for d in documents.list("local")] == [("doc_b", ("n",))], "one name, one document"
    assert documents.text("local", "doc_b") == "žluť" and documents.text("ada", "doc_b") is None
    documents.decide("local", "con_a", "s", "accepted", "local")
    documents.decide("local", "con_a", "s", "set_aside", "local")
    assert documents.decisions("local", "con_a") == {"s": "set_aside"}
    pins, thumbs = Pins(old), Feedback(old)
    for pin_id in ("pin_a", "pin_b"):
        pins.insert("local", {"id": pin_id, "kind": "question", "source_id": "con_a", "title": pin_id, "question": "q"})
    pins.swap("local", "pin_a", "pin_b")
    assert [p.id for p in pins.list("local")] == ["pin_b", "pin_a"]
    pins.change("local", "pin_a", 1, title="new")
    with pytest.raises(Conflict):
        pins.change("local", "pin_a", 1, title="stale")
    thumbs.put("local", "run_a", "down", "wrong")
    thumbs.put("local", "run_a", "up", "")
    assert thumbs.of_runs("local", ("run_a", "run_b"))["run_a"].thumb == "up" and thumbs.of_runs("local", ()) == {}
