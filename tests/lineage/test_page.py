"""The chat page shows how an answer was made, part by part, and offers each part's exports."""

from __future__ import annotations

import pytest

from lexsi_ds.application import Application
from tests.app.conftest import open_page, settled, words  # noqa: F401

pytestmark = pytest.mark.xdist_group("demo")


def test_a_turn_opens_into_its_parts_with_their_exports(application: Application, counted: str, open_page) -> None:  # noqa: F811
    run = application.chats.run(application.person(), counted)
    at = open_page(application, "chat", conversation=run.conversation_id)
    assert "How this was made" in words(at) and not at.get("graphviz_chart"), "nothing is read before it is opened"
    at.session_state[f"made-{counted}"] = True
    at = settled(at.run())
    drawn = at.get("graphviz_chart")[0].proto.spec
    assert '"sql-1" -> "frame-1"' in drawn and "loans" not in drawn, "our own words alone"
    at.pills(key=f"made-{counted}-part").set_value("sql-1")
    at = settled(at.run())
    assert "Made from Question" in words(at) and "SHA" in words(at)
    labels = [e.proto.label for e in at.get("download_button")]
    assert "Export as Python script" in labels and "as HTML report" in labels
