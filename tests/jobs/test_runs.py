"""Runs: numbered events in memory and store alike, one end, one owner a conversation, and what a dead owner leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.errors import BadInput, Busy
from lexsi_ds.jobs.owner import Owner, forget_dead, is_dead
from lexsi_ds.jobs.runs import RunHandle, RunRegistry
from lexsi_ds.jobs.runstore import RunStore
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs
from tests.jobs.memory_store import SqliteRuns
from tests.jobs.test_pool import soon


@pytest.fixture(params=["plain", "product"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore]:
    """The registry on a store of a few lines, and on the product's."""
    if request.param == "plain":
        yield SqliteRuns(tmp_path / "store.sqlite")
        return
    opened = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    opened.migrate()
    yield Runs(opened)
    opened.close()


@pytest.fixture
def open_registry(store: RunStore, tmp_path: Path) -> Iterator[Callable[[], RunRegistry]]:
    registries: list[RunRegistry] = []

    def make() -> RunRegistry:
        registries.append(RunRegistry(store, tmp_path))
        return registries[-1]

    yield make
    for registry in registries:
        registry.close()


@pytest.fixture
def registry(open_registry: Callable[[], RunRegistry]) -> RunRegistry:
    return open_registry()


def everything(registry: RunRegistry, run_id: str, seconds: float = 10) -> list[dict[str, Any]]:
    """Read as a page does, to the end."""
    events: list[dict[str, Any]] = []
    end = time.monotonic() + seconds
    while not (events and events[-1]["type"] == "done") and time.monotonic() < end:
        events += registry.read(run_id, len(events), wait=0.5)
    return events


def waiting(handle: RunHandle) -> dict[str, Any]:
    while True:
        handle.cancel.check()
        time.sleep(0.01)


def test_events_are_numbered_from_one_and_the_same_in_memory_and_store(
    registry: RunRegistry, store: RunStore,
) -> None:
    def work(run: RunHandle) -> dict[str, Any]:
        threads = [threading.Thread(target=run.put, args=("delta",), kwargs={"text": str(i)}) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"answer": "42"}

    run_id = registry.start("conv_1", "?", work)
    events = everything(registry, run_id)
    assert [event["seq"] for event in events] == list(range(1, 22))
    assert [event["type"] for event in events].count("done") == 1
    assert events[-1]["state"] == "answered"
    assert events[-1]["answer"] == "42"
    assert store.events(run_id) == events
    assert soon(lambda: registry.live() == [])
    assert registry.read(run_id, after=20) == events[20:]
    run = store.run(run_id)
    assert run is not None
    assert (run.state, run.ended is not None) == ("answered", True)


def test_work_may_say_done_itself_and_nothing_follows_it(registry: RunRegistry, store: RunStore) -> None:
    def work(run: RunHandle) -> None:
        run.put("done", state="cannot_answer")
        run.put("delta", text="too late")
        run.put("done", state="answered")

    events = everything(registry, run_id := registry.start("conv_1", "?", work))
    assert soon(lambda: registry.live() == [])
    assert [(event["type"], event.get("state")) for event in store.events(run_id)] == [("done", "cannot_answer")]
    assert events == store.events(run_id)


def test_a_stop_ends_the_run_as_stopped(registry: RunRegistry, store: RunStore) -> None:
    run_id = registry.start("conv_1", "?", waiting)
    registry.stop(run_id)
    assert [event["state"] for event in store.events(run_id)] == ["stopped"]
    registry.stop(run_id)
    assert len(store.events(run_id)) == 1


def test_saying_something_after_a_stop_ends_the_work(registry: RunRegistry) -> None:
    def work(run: RunHandle) -> dict[str, Any]:
        for i in range(10_000):
            run.put("delta", text=str(i))
            time.sleep(0.005)
        return {}

    run_id = registry.start("conv_1", "?", work)
    assert registry.read(run_id, wait=5)
    registry.stop(run_id)
    assert everything(registry, run_id)[-1]["state"] == "stopped"


def test_an_error_that_may_be_shown_is_shown(registry: RunRegistry) -> None:
    def work(run: RunHandle) -> dict[str, Any]:
        raise BadInput("The file is empty.", to_do="Choose another.")

    error, done = everything(registry, registry.start("conv_1", "?", work))
    assert (error["type"], error["message"]) == ("error", "The file is empty. Choose another.")
    assert done["state"] == "failed"


def test_a_bug_shows_an_id_and_no_detail(registry: RunRegistry) -> None:
    def work(run: RunHandle) -> dict[str, Any]:
        raise KeyError("hunter2")

    run_id = registry.start("conv_1", "?", work)
    error, done = everything(registry, run_id)
    assert run_id in error["message"]
    assert "hunter2" not in error["message"]
    assert done["state"] == "failed"


def test_one_run_at_a_time_a_conversation(registry: RunRegistry) -> None:
    first = registry.start("conv_1", "?", waiting)
    with pytest.raises(Busy):
        registry.start("conv_1", "?", waiting)
    other = registry.start("conv_2", "?", waiting)
    registry.stop(first)
    registry.stop(registry.start("conv_1", "?", waiting))
    registry.stop(other)


def test_of_many_that_ask_at_once_one_runs(open_registry: Callable[[], RunRegistry], store: RunStore) -> None:
    registries = [open_registry(), open_registry()]
    outcomes: list[str] = []

    def ask(registry: RunRegistry) -> None:
        try:
            registry.start("conv_1", "?", waiting)
            outcomes.append("started")
        except Busy:
            outcomes.append("busy")

    threads = [threading.Thread(target=ask, args=(registries[i % 2],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["busy"] * 7 + ["started"]
    assert len(store.live_runs()) == 1


def test_a_stop_from_another_process_is_heard(open_registry: Callable[[], RunRegistry], store: RunStore) -> None:
    owner, other = open_registry(), open_registry()
    run_id = owner.start("conv_1", "?", waiting)
    assert other.live() == []
    other.stop(run_id)
    assert everything(other, run_id)[-1]["state"] == "stopped"


def test_a_reader_elsewhere_sees_events_as_they_come(open_registry: Callable[[], RunRegistry]) -> None:
    owner, other = open_registry(), open_registry()
    go_on = threading.Event()

    def work(run: RunHandle) -> dict[str, Any]:
        run.put("delta", text="a")
        go_on.wait(10)
        run.put("delta", text="b")
        return {}

    run_id = owner.start("conv_1", "?", work)
    assert [event["text"] for event in other.read(run_id, wait=5)] == ["a"]
    assert other.read(run_id, after=1, wait=0.2) == []
    go_on.set()
    assert [event["type"] for event in everything(other, run_id)] == ["delta", "delta", "done"]


def test_closing_interrupts_what_runs(open_registry: Callable[[], RunRegistry], store: RunStore) -> None:
    registry = open_registry()
    run_id = registry.start("conv_1", "?", waiting)
    registry.close()
    registry.close()
    assert [event["state"] for event in store.events(run_id)] == ["interrupted"]


def test_work_that_does_not_listen_is_interrupted_by_closing_all_the_same(
    open_registry: Callable[[], RunRegistry], store: RunStore, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lexsi_ds.jobs.runs._CLOSE_WITHIN_S", 0.2)
    registry = open_registry()
    deaf = threading.Event()

    def work(_: RunHandle) -> dict[str, Any]:
        deaf.wait(20)
        return {}

    run_id = registry.start("conv_1", "?", work)
    registry.close()
    deaf.set()
    assert [event["state"] for event in store.events(run_id)] == ["interrupted"]


def test_an_end_that_cannot_be_stored_is_stored_later(
    registry: RunRegistry, store: RunStore, monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = threading.Event()

    def fail(*_: object) -> bool:
        tried.set()
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "finish", fail)
        run_id = registry.start("conv_1", "?", lambda _: {"answer": "42"})
        assert tried.wait(5)
        assert store.events(run_id) == []
    assert soon(lambda: [event["type"] for event in store.events(run_id)] == ["done"])
    assert soon(lambda: registry.live() == [])


def test_a_killed_owner_leaves_interrupted_and_frees_the_conversation(
    open_registry: Callable[[], RunRegistry], store: RunStore, tmp_path: Path,
) -> None:
    script = """
import sys, time
from pathlib import Path
from lexsi_ds.jobs.runs import RunRegistry
from tests.jobs.memory_store import SqliteRuns
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs
home = Path(sys.argv[1])
path = home / "store.sqlite"
store = SqliteRuns(path) if sys.argv[2] == "SqliteRuns" else Runs(Store(f"sqlite:///{path}"))
def work(run):
    run.put("thinking", text="a")
    run.put("delta", text="b")
    print(run.run_id, flush=True)
    time.sleep(60)
RunRegistry(store, home).start("conv_1", "?", work)
time.sleep(60)
"""
    server = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path), type(store).__name__], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert server.stdout is not None
    run_id = server.stdout.readline().strip()
    registry = open_registry()
    with pytest.raises(Busy):
        registry.start("conv_1", "?", waiting)
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    events = registry.read(run_id, after=2, wait=5)
    assert [(event["seq"], event["type"], event["state"]) for event in events] == [(3, "done", "interrupted")]
    registry.stop(registry.start("conv_1", "?", waiting))
    registry.sweep()
    assert len(store.events(run_id)) == 3


def test_an_owner_is_alive_until_it_closes(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    assert not is_dead(tmp_path, owner.boot)
    assert forget_dead(tmp_path) == []
    owner.close()
    assert is_dead(tmp_path, owner.boot)
    assert is_dead(tmp_path, "boot_../../x")


def test_owners_that_start_while_others_look_for_the_dead_stay_alive(tmp_path: Path) -> None:
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            forget_dead(tmp_path)

    looker = threading.Thread(target=look)
    looker.start()
    owners = [Owner(tmp_path) for _ in range(100)]
    over.set()
    looker.join()
    assert [owner.boot for owner in owners if is_dead(tmp_path, owner.boot)] == []
    for owner in owners:
        owner.close()
