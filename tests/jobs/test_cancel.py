"""Stop: in the queue, in the task, after the answer; and that it never hits somebody else's work."""

from __future__ import annotations

import threading
import time

import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import Stopped
from lexsi_ds.jobs.cancel import Cancel
from tests.jobs.conftest import MakePool
from tests.jobs.test_pool import COUNT, SPIN, soon


def test_a_stop_pulls_the_trigger_once_armed_and_never_after() -> None:
    pulled: list[str] = []
    cancel = Cancel()
    cancel.arm(lambda: pulled.append("a"))
    cancel.disarm()
    cancel.arm(lambda: pulled.append("b"))
    cancel.set()
    assert pulled == ["b"]
    assert cancel.is_set
    with pytest.raises(Stopped):
        cancel.check()
    with pytest.raises(Stopped):
        cancel.arm(lambda: pulled.append("c"))


@pytest.mark.parametrize("sql", [SPIN, "SELECT max(length(repeat('a', 100000000 + i::INT))) FROM range(1000) t(i)"])
def test_a_stop_in_mid_query_ends_it_and_leaves_no_file(
    make_pool: MakePool, source: DatasetHandle, sql: str,
) -> None:
    pool, runner = make_pool()
    runner.frame(source, COUNT)
    cancel = Cancel()
    threading.Timer(0.4, cancel.set).start()
    out = pool.scratch / "rows.arrow"
    with pytest.raises(Stopped):
        runner.run(source, sql, cancel=cancel, out=out)
    assert list(pool.scratch.glob("rows*")) == []
    assert runner.frame(source, COUNT).iloc[0, 0] == 12


def test_a_stop_while_rows_are_written_leaves_no_file(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, runner = make_pool(sql_result_mb=2000)
    cancel = Cancel()
    out = pool.scratch / "rows.arrow"

    def stop_when_it_grows() -> None:
        assert soon(lambda: (part := out.with_name("rows.arrow.tmp")).exists() and part.stat().st_size > 1_000_000)
        cancel.set()

    watcher = threading.Thread(target=stop_when_it_grows)
    watcher.start()
    with pytest.raises(Stopped):
        runner.run(source, "SELECT i, i + 1, i + 2 FROM range(1000000000) t(i)", cancel=cancel, out=out)
    watcher.join()
    assert list(pool.scratch.glob("rows*")) == []


def test_a_stop_before_the_start_runs_nothing(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, runner = make_pool()
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Stopped):
        runner.run(source, COUNT, cancel=cancel)
    assert pool.pids() == []


def test_a_stop_in_the_queue_ends_the_wait_and_not_the_task_ahead(make_pool: MakePool, source: DatasetHandle) -> None:
    _, runner = make_pool()
    runner.frame(source, COUNT)
    ahead, queued = Cancel(), Cancel()
    ends: dict[str, object] = {}

    def run(name: str, cancel: Cancel) -> None:
        try:
            ends[name] = runner.run(source, SPIN, cancel=cancel)
        except Stopped as stopped:
            ends[name] = stopped

    threads = [threading.Thread(target=run, args=pair) for pair in (("ahead", ahead), ("queued", queued))]
    for thread in threads:
        thread.start()
        time.sleep(0.3)
    queued.set()
    threads[1].join(5)
    assert isinstance(ends["queued"], Stopped)
    assert "ahead" not in ends
    ahead.set()
    threads[0].join(5)
    assert isinstance(ends["ahead"], Stopped)


def test_a_late_stop_never_hits_the_next_task(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, runner = make_pool()
    runner.frame(source, COUNT)
    pids = set(pool.pids())
    for _ in range(40):
        late = Cancel()
        runner.frame(source, COUNT, cancel=late)
        stopper = threading.Thread(target=late.set)
        stopper.start()
        assert runner.frame(source, COUNT).iloc[0, 0] == 12
        stopper.join()
    assert set(pool.pids()) >= pids


def test_a_stop_around_the_answer_gives_either_the_answer_or_stopped(
    make_pool: MakePool, source: DatasetHandle,
) -> None:
    _, runner = make_pool(sql_workers=2)
    runner.frame(source, COUNT)
    for turn in range(15):
        cancel = Cancel()
        threading.Timer(turn * 0.0003, cancel.set).start()
        try:
            assert runner.frame(source, COUNT, cancel=cancel).iloc[0, 0] == 12
        except Stopped:
            assert cancel.is_set
        assert runner.frame(source, COUNT).iloc[0, 0] == 12
