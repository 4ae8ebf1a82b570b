"""What a conversation keeps at hand between turns: by name, apart from other conversations, within a size, across processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.agent.chat_run import memory, remembered
from lexsi_ds.agent.context import SessionContext
from lexsi_ds.agent.session import Remembered, fitting
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from lexsi_ds.store.conversations import Conversations
from tests.app.conftest import open_page, settled, words  # noqa: F401

from .conftest import asked

pytestmark = pytest.mark.xdist_group("demo")
COUNTED, AMOUNTS = "How many loans by status?", "What is the average loan amount by status?"


def session_of(app: Application, conversation_id: str) -> SessionContext:
    """What another process would take up."""
    record = Conversations(app.store).get(conversation_id, app.person().id)
    return remembered(conversation_id, record.memory if record else None)


def test_rows_of_earlier_turns_are_found_by_name_on_their_data_version_alone(application: Application, demo_handle) -> None:
    me, source = application.person(), demo_handle.source_id
    conv, other = application.chats.new(me, source), application.chats.new(me, source)
    asked(application, source, COUNTED, conv)
    asked(application, source, "How many accounts?", other)
    last = asked(application, source, AMOUNTS, conv)
    session = session_of(application, conv)
    assert [v.name for v in session.values] == ["turn1.result", "turn2.result"] and session.turn == 3
    assert [v.rows for v in session_of(application, other).values] == [1], "two conversations at once keep apart"
    ctx = application.answering.context(demo_handle, last, Path("/nonexistent"), session=session, offline=True)
    first = ctx.rows("turn1.result")
    assert first is not None and len(first) == 4 and ctx.rows("result") is None and not ctx.cache
    assert ctx.frame("turn1.result") is None, "what words are made of comes from this run alone"
    later = demo_handle.model_copy(update={"snapshot_id": "snap_other"})
    ctx = application.answering.context(demo_handle, last, Path("/nonexistent"), session=session, offline=True)
    ctx.dataset = later
    assert ctx.rows("turn1.result") is None, "rows of another version are not taken for this one's"


def test_the_oldest_rows_go_first_and_what_goes_is_told(application: Application, demo_handle, monkeypatch) -> None:
    me, source = application.person(), demo_handle.source_id
    conv = application.chats.new(me, source)
    first = asked(application, source, COUNTED, conv)
    size = session_of(application, conv).values[0].bytes
    limited: Settings = application.settings.model_copy(update={"session_mb": 1.5 * size / 2**20})
    monkeypatch.setattr(application.answering, "settings", limited)
    second = asked(application, source, AMOUNTS, conv)
    done = application.chats.events(me, second)[-1]
    assert any("turn1.result (4 rows) went" in c for c in done["caveats"]), done["caveats"]
    assert "turn1.result" not in [v.name for v in session_of(application, conv).values]
    artifact = next(i for e in application.chats.events(me, first) for i in e.get("artifact_ids", ()) if e.get("name") == "run_sql")
    assert len(application.chats.artifact(me, artifact).frame()) == 4, "it still stands in its turn"


def test_two_tabs_show_one_conversation_and_the_notice(application: Application, demo_handle, monkeypatch, open_page) -> None:  # noqa: F811
    me, source = application.person(), demo_handle.source_id
    conv = application.chats.new(me, source)
    asked(application, source, COUNTED, conv)
    one, two = (open_page(application, "chat", conversation=conv) for _ in range(2))
    monkeypatch.setattr(application.answering, "settings", application.settings.model_copy(update={"session_mb": 1e-6}))
    asked(application, source, AMOUNTS, conv)
    for tab in (settled(one.run()), settled(two.run())):
        assert COUNTED in words(tab) and AMOUNTS in words(tab) and "at hand" in words(tab)


def test_values_that_fit_are_the_newest(tmp_path: Path) -> None:
    values = tuple(
        Remembered(name=f"turn{i}.result", path=tmp_path / "x", rows=1, bytes=b, snapshot_id="s", question="q")
        for i, b in enumerate((5, 3, 2), 1)
    )
    assert [[v.name for v in part] for part in fitting(values, 5)] == [["turn2.result", "turn3.result"], ["turn1.result"]]
    assert fitting(values, 1) == ((), values) and fitting((), 1) == ((), ())
    session = SessionContext("conv", values=values, turn=4)
    again = remembered("conv", memory(session))
    assert (again.values, again.turn) == (values, 4) and values[0].frame() is None
    assert remembered("conv", {"values": [{"odd": 1}], "turn": "x"}).values == ()
