from __future__ import annotations

import contextlib
import subprocess
import sys
import threading

import pytest

from lexsi_ds.errors import Busy
from lexsi_ds.ids import new_id
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs


@pytest.fixture
def runs(store: Store) -> Runs:
    return Runs(store)


def start(runs: Runs, conversation: str) -> str:
    run_id = new_id("run")
    runs.insert_run(run_id, conversation, "boot", "How many accounts?", {"source_id": "con_1"}, 100.0)
    return run_id


def test_a_run_comes_back_as_it_was_started(runs: Runs) -> None:
    run = runs.run(start(runs, "conv"))
    assert run is not None
    assert (run.state, run.cancel, run.started, run.beat, run.ended) == ("running", False, 100.0, 100.0, None)
    assert run.meta == {"source_id": "con_1"}


def test_a_second_live_run_of_a_conversation_is_busy_until_the_first_is_over(runs: Runs) -> None:
    first = start(runs, "conv")
    with pytest.raises(Busy):
        start(runs, "conv")
    start(runs, "other")
    assert runs.finish(first, 1, 101.0, {"state": "answered"})
    start(runs, "conv")


def test_the_lease_holds_between_processes(runs: Runs, url: str) -> None:
    start(runs, "conv")
    script = (
        "import sys\nfrom lexsi_ds.errors import Busy\nfrom lexsi_ds.store.db import Store\n"
        "from lexsi_ds.store.runs import Runs\n"
        "try: Runs(Store(sys.argv[1])).insert_run('run_x', 'conv', 'other boot', 'q', {}, 1.0)\n"
        "except Busy: print('busy')"
    )
    out = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "busy"


def test_of_many_starts_at_once_exactly_one_wins(runs: Runs) -> None:
    won: list[str] = []
    gate = threading.Barrier(8)

    def try_it() -> None:
        gate.wait()
        with contextlib.suppress(Busy):
            won.append(start(runs, "conv"))

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1 and [r.id for r in runs.live_runs()] == won


def test_events_are_read_in_order_and_after_a_cursor(runs: Runs) -> None:
    run_id = start(runs, "conv")
    runs.put_event(run_id, 1, 1.5, "thinking", {"text": "a"})
    runs.put_event(run_id, 2, 1.6, "delta", {"text": "b"})
    assert runs.events(run_id)[0] == {"run_id": run_id, "seq": 1, "ts": 1.5, "type": "thinking", "text": "a"}
    assert [e["seq"] for e in runs.events(run_id, after=1)] == [2]
    assert runs.events("run_unknown") == []


def test_a_run_ends_once(runs: Runs) -> None:
    run_id = start(runs, "conv")
    assert runs.finish(run_id, 1, 2.0, {"state": "stopped"})
    assert not runs.finish(run_id, 2, 3.0, {"state": "answered"})
    assert not runs.close_interrupted(run_id, 3.0)
    runs.set_state(run_id, "running")
    runs.request_cancel(run_id)
    run = runs.run(run_id)
    assert run is not None and (run.state, run.ended, run.cancel) == ("stopped", 2.0, False)
    assert [e["type"] for e in runs.events(run_id)] == ["done"]


def test_the_run_of_a_dead_owner_ends_as_interrupted_after_its_last_event(runs: Runs) -> None:
    run_id = start(runs, "conv")
    runs.put_event(run_id, 1, 1.0, "thinking", {"text": ""})
    assert runs.close_interrupted(run_id, 9.0)
    assert runs.events(run_id)[-1] == {"run_id": run_id, "seq": 2, "ts": 9.0, "type": "done", "state": "interrupted"}
    assert runs.live_runs() == ()


def test_a_stop_asked_for_in_another_process_is_seen(runs: Runs) -> None:
    one, two = start(runs, "a"), start(runs, "b")
    runs.request_cancel(two)
    runs.beat([one, two], 200.0)
    assert runs.cancel_requested([one, two]) == {two}
    assert [r.beat for r in runs.live_runs()] == [200.0, 200.0]
