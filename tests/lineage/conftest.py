from __future__ import annotations

import pytest

from lexsi_ds.application import Application
from tests.agent.scripted import NORTH_STAR


def asked(app: Application, source_id: str, question: str, conversation_id: str | None = None) -> str:
    """Ask and wait for the end; the run's id."""
    me = app.person()
    run_id = app.chats.ask(me, conversation_id or app.chats.new(me, source_id), question, source_id)
    after, over = 0, False
    while not over:
        for event in app.chats.events(me, run_id, after, 2.0):
            after, over = event["seq"], event["type"] == "done"
    return run_id


@pytest.fixture(scope="session")
def counted(application: Application, demo_handle) -> str:
    """The run of a question that one query answers."""
    return asked(application, demo_handle.source_id, "How many loans by status?")


@pytest.fixture(scope="session")
def predicted(application: Application, demo_handle) -> str:
    """The run of the question that trains, scores and explains."""
    return asked(application, demo_handle.source_id, NORTH_STAR)
