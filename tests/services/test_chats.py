from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.errors import BadInput, Busy, Denied, NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.runs import RunHandle, RunRegistry
from lexsi_ds.services.access import Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.chats import AskContext, Chats
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs

from .conftest import ADA, BEN


class Agent:
    """Answers by what the question says: "wait" until it is stopped or let go, "fail", else at once."""

    def __init__(self) -> None:
        self.asked: list[AskContext] = []
        self.let_go = threading.Event()
        self.begun = threading.Event()

    def __call__(self, ask: AskContext, run: RunHandle) -> dict[str, Any] | None:
        self.asked.append(ask)
        run.put("thinking", text="…")
        self.begun.set()
        if ask.question.startswith("fail"):
            raise BadInput("This cannot be read.", to_do="Try another.")
        if ask.question.startswith("wait"):
            while not self.let_go.wait(0.01):
                run.cancel.check()
        run.put("delta", text="Four")
        return {"state": "answered", "answer": "Four"}


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def chats(store: Store, home: Path, agent: Agent) -> Iterator[Chats]:
    registry = RunRegistry(Runs(store), home)
    yield Chats(store, registry, agent, Artifacts(store, home))
    registry.close()


def ended(chats: Chats, actor: Actor, run_id: str) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] != "done":
        seen += chats.events(actor, run_id, after=len(seen), wait=5.0)
    return seen


def test_a_question_is_answered_and_kept_as_a_turn(chats: Chats, agent: Agent) -> None:
    conversation = chats.new(ADA, "con_a")
    run_id = chats.ask(ADA, conversation, "  How many\naccounts? ", "con_a")
    events = ended(chats, ADA, run_id)
    assert [e["type"] for e in events] == ["thinking", "delta", "done"] and [e["seq"] for e in events] == [1, 2, 3]
    assert agent.asked == [AskContext(ADA, conversation, run_id, "How many\naccounts?", "con_a")]
    (turn,) = chats.turns(ADA, conversation)
    assert (turn.run_id, turn.question, turn.state, turn.source_id, turn.live) == (
        run_id, "How many\naccounts?", "answered", "con_a", False
    )
    assert list(turn.events) == events and turn.ended is not None
    assert chats.get(ADA, conversation).title == "How many accounts?"


def test_the_first_question_names_the_conversation_shortly(chats: Chats) -> None:
    conversation = chats.new(ADA)
    ended(chats, ADA, chats.ask(ADA, conversation, "word " * 50, "con_a"))
    ended(chats, ADA, chats.ask(ADA, conversation, "Another", "con_a"))
    title = chats.get(ADA, conversation).title
    assert title.startswith("word word") and title.endswith("…") and len(title) <= 60


def test_a_saved_turn_reads_the_same_after_a_restart(chats: Chats, store: Store, home: Path, agent: Agent) -> None:
    conversation = chats.new(ADA)
    ended(chats, ADA, chats.ask(ADA, conversation, "How many?", "con_a"))
    before = chats.turns(ADA, conversation)
    registry = RunRegistry(Runs(store), home)
    again = Chats(Store(store.url.render_as_string(hide_password=False)), registry, agent, Artifacts(store, home))
    assert again.turns(ADA, conversation) == before
    registry.close()


def test_one_question_at_a_time_and_the_second_is_told(chats: Chats, agent: Agent) -> None:
    conversation = chats.new(ADA)
    first = chats.ask(ADA, conversation, "wait", "con_a")
    with pytest.raises(Busy):
        chats.ask(ADA, conversation, "How many?", "con_a")
    other = chats.ask(ADA, chats.new(ADA), "How many?", "con_a")
    ended(chats, ADA, other)
    agent.let_go.set()
    ended(chats, ADA, first)
    ended(chats, ADA, chats.ask(ADA, conversation, "How many?", "con_a"))
    assert [t.question for t in chats.turns(ADA, conversation)] == ["wait", "How many?"]


def test_stop_ends_the_run_and_says_so(chats: Chats, agent: Agent) -> None:
    conversation = chats.new(ADA)
    run_id = chats.ask(ADA, conversation, "wait", "con_a")
    assert agent.begun.wait(5)
    assert chats.turns(ADA, conversation)[0].live
    chats.stop(ADA, run_id)
    assert ended(chats, ADA, run_id)[-1]["state"] == "stopped"
    assert chats.turns(ADA, conversation)[0].state == "stopped"
    chats.stop(ADA, run_id)


def test_a_failed_run_says_why_and_frees_the_conversation(chats: Chats) -> None:
    conversation = chats.new(ADA)
    events = ended(chats, ADA, chats.ask(ADA, conversation, "fail", "con_a"))
    assert "cannot be read" in events[-2]["message"] and events[-1]["state"] == "failed"
    ended(chats, ADA, chats.ask(ADA, conversation, "How many?", "con_a"))


@pytest.mark.parametrize(("question", "says"), [("", "empty"), (" \n", "empty"), ("x" * 20_000, "20,000 characters")])
def test_a_question_that_cannot_be_asked_is_told(chats: Chats, agent: Agent, question: str, says: str) -> None:
    conversation = chats.new(ADA)
    with pytest.raises(BadInput, match=says):
        chats.ask(ADA, conversation, question, "con_a")
    assert chats.turns(ADA, conversation) == () and agent.asked == []


def test_conversations_are_renamed_and_deleted(chats: Chats, agent: Agent) -> None:
    kept, gone = chats.new(ADA), chats.new(ADA)
    chats.rename(ADA, kept, " Loans\nof 1998 ")
    run_id = chats.ask(ADA, gone, "wait", "con_a")
    chats.delete(ADA, gone)
    assert [(c.id, c.title) for c in chats.list(ADA)] == [(kept, "Loans of 1998")]
    for call in (lambda: chats.get(ADA, gone), lambda: chats.events(ADA, run_id), lambda: chats.turns(ADA, gone)):
        with pytest.raises(NotFound):
            call()
    for title in ("", "x" * 121):
        with pytest.raises(BadInput):
            chats.rename(ADA, kept, title)


def test_deleting_a_conversation_stops_its_run(chats: Chats, store: Store) -> None:
    conversation = chats.new(ADA)
    run_id = chats.ask(ADA, conversation, "wait", "con_a")
    chats.delete(ADA, conversation)
    run = Runs(store).run(run_id)
    assert run is not None and run.state == "stopped"


def test_nothing_of_a_conversation_is_somebody_elses(chats: Chats) -> None:
    conversation = chats.new(ADA)
    run_id = chats.ask(ADA, conversation, "How many?", "con_a")
    ended(chats, ADA, run_id)
    assert chats.list(BEN) == ()
    for call in (
        lambda: chats.get(BEN, conversation), lambda: chats.turns(BEN, conversation), lambda: chats.stop(BEN, run_id),
        lambda: chats.events(BEN, run_id), lambda: chats.ask(BEN, conversation, "Mine?", "con_a"),
        lambda: chats.rename(BEN, conversation, "Mine"), lambda: chats.delete(BEN, conversation),
    ):
        with pytest.raises(NotFound):
            call()
    assert len(chats.turns(ADA, conversation)) == 1


@pytest.mark.parametrize("bad", [
    "", "conv_1", "../x", "conv_01900000-0000-7000-8000-000000000000",
    "run_01900000-0000-7000-8000-000000000000", "conv_' OR 1=1",
])
def test_an_id_that_is_none_of_ours_is_not_found(chats: Chats, bad: str) -> None:
    for call in (
        lambda: chats.get(ADA, bad), lambda: chats.turns(ADA, bad), lambda: chats.ask(ADA, bad, "q", "con_a"),
        lambda: chats.events(ADA, bad), lambda: chats.stop(ADA, bad), lambda: chats.artifact(ADA, bad),
    ):
        with pytest.raises(NotFound):
            call()


def test_reading_is_no_right_to_ask(chats: Chats) -> None:
    conversation = chats.new(ADA)
    reader = Actor("ada", "Ada", frozenset({"chats:read"}))
    assert chats.get(reader, conversation).id == conversation
    for call in (
        lambda: chats.ask(reader, conversation, "q", "con_a"), lambda: chats.new(reader),
        lambda: chats.rename(reader, conversation, "x"), lambda: chats.delete(reader, conversation),
    ):
        with pytest.raises(Denied):
            call()
    with pytest.raises(Denied):
        chats.list(Actor("ada", "Ada", frozenset()))


def test_what_a_run_made_is_read_through_the_chat(chats: Chats, store: Store, home: Path) -> None:
    artifact_id = Artifacts(store, home).sink(ADA).save_json(new_id("run"), {"n": 4500}, {"tool": "run_sql"})
    assert chats.artifact(ADA, artifact_id).json() == {"n": 4500}


_OWNER = """
import sys, time, pathlib
from lexsi_ds.jobs.runs import RunRegistry
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.artifacts import Artifacts
from lexsi_ds.services.chats import Chats
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs
url, home, conversation = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
def agent(ask, run):
    run.put("thinking", text="at work")
    print(ask.run_id, flush=True)
    while True:
        run.cancel.check()
        time.sleep(0.01)
store = Store(url)
chats = Chats(store, RunRegistry(Runs(store), home), agent, Artifacts(store, home))
chats.ask(Actor("ada", "Ada", ALL_RIGHTS), conversation, "How many?", "con_a")
time.sleep(60)
"""


@pytest.fixture
def elsewhere(chats: Chats, store: Store, home: Path) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """A run at work in another process: conversation, run, process."""
    conversation = chats.new(ADA)
    process = subprocess.Popen(
        [sys.executable, "-c", _OWNER, store.url.render_as_string(hide_password=False), str(home), conversation],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield conversation, process.stdout.readline().strip(), process
    process.kill()
    process.wait()


def test_the_lease_of_a_conversation_holds_between_processes(
    chats: Chats, elsewhere: tuple[str, str, subprocess.Popen[str]]
) -> None:
    conversation, run_id, _ = elsewhere
    assert [e["type"] for e in chats.events(ADA, run_id)] == ["thinking"]
    with pytest.raises(Busy):
        chats.ask(ADA, conversation, "And now?", "con_a")
    assert chats.turns(ADA, conversation)[0].live


def test_a_run_of_another_process_is_stopped_from_here(
    chats: Chats, elsewhere: tuple[str, str, subprocess.Popen[str]]
) -> None:
    _, run_id, _ = elsewhere
    chats.stop(ADA, run_id)
    assert ended(chats, ADA, run_id)[-1]["state"] == "stopped"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills by a POSIX signal")
def test_the_run_of_a_killed_process_shows_as_interrupted_and_can_be_asked_again(
    chats: Chats, elsewhere: tuple[str, str, subprocess.Popen[str]]
) -> None:
    conversation, _, process = elsewhere
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (turn,) = chats.turns(ADA, conversation)
    assert (turn.state, turn.live, turn.events[-1]["state"]) == ("interrupted", False, "interrupted")
    ended(chats, ADA, chats.ask(ADA, conversation, "How many?", "con_a"))
    assert [t.state for t in chats.turns(ADA, conversation)] == ["interrupted", "answered"]
