"""Workers: how they start, what they are given, how they end, and that the next task never notices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.errors import NotFound, SqlFailed, Stopped, WorkerFailed
from lexsi_ds.jobs.cancel import Cancel
from lexsi_ds.jobs.pool import Pool
from tests.jobs.conftest import MakePool
from tests.jobs.making import settings

SPIN = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range = -1"
COUNT = "SELECT count(*) FROM loan"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and Linux's process limits")


def soon(condition: object, seconds: float = 10) -> bool:
    """Whether the condition holds within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_workers_start_when_first_needed(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, sql = make_pool()
    assert pool.pids() == []
    assert sql.frame(source, COUNT).iloc[0, 0] == 12
    assert len(pool.pids()) == 1


def test_an_idle_worker_ends_by_itself_when_the_pool_closes(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, sql = make_pool()
    sql.frame(source, COUNT)
    (worker,) = pool._workers
    assert soon(lambda: worker in pool._lanes["sql"].idle)
    pool.close()
    assert worker._exit_code(5) == 0  # killed, it would be -9


def test_warm_starts_all_of_sql_ml_and_explain(make_pool: MakePool) -> None:
    pool, _ = make_pool(sql_workers=2, ml_workers=1)
    pool.warm()
    pool.warm()
    assert soon(lambda: sorted(w.lane for w in pool._workers) == ["explain", "ml", "sql", "sql"])


def test_an_error_of_the_handler_arrives_as_its_own_class(make_pool: MakePool, source: DatasetHandle) -> None:
    _, sql = make_pool()
    with pytest.raises(SqlFailed, match=r'"nam" not found.*Did you mean "name"'):
        sql.run(source, 'SELECT nam FROM "Client ""list"" é"')
    gone = source.tables[0].model_copy(update={"path": Path("/nowhere/x.duckdb")})
    with pytest.raises(NotFound, match="data file of table loan is gone") as missing:
        sql.run_on_table(gone, "SELECT 1 FROM dataset")
    assert "/nowhere" not in str(missing.value)


@pytest.mark.parametrize("do", ["os:system", "lexsi_ds.jobs.worker:main", "lexsi_ds.data.sandbox:after_task", "x", ""])
def test_a_task_that_is_not_listed_is_refused(make_pool: MakePool, do: str) -> None:
    pool, _ = make_pool()
    with pytest.raises(WorkerFailed, match="does not do that task"):
        pool.run("sql", do, {})


def test_an_unexpected_error_shows_no_detail_and_leaves_the_worker_usable(
    make_pool: MakePool, source: DatasetHandle,
) -> None:
    pool, sql = make_pool()
    with pytest.raises(WorkerFailed) as failed:
        pool.run("sql", "lexsi_ds.data.sandbox:run_query", {"secret": "hunter2"})
    assert failed.value.kind == "error"
    assert "KeyError" not in str(failed.value)
    assert sql.frame(source, COUNT).iloc[0, 0] == 12


@linux
def test_no_secret_reaches_a_worker(
    make_pool: MakePool, source: DatasetHandle, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEXSI_DS_LLM_API_KEY", "hunter2")
    monkeypatch.setenv("LEXSI_DS_STORE_URL", "postgresql://u:hunter2@h/d")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    pool, sql = make_pool()
    sql.frame(source, COUNT)
    environment = Path(f"/proc/{pool.pids()[0]}/environ").read_text()
    assert "hunter2" not in environment
    assert "ARROW_DEFAULT_MEMORY_POOL=system" in environment
    assert "OMP_WAIT_POLICY=PASSIVE" in environment
    assert "OMP_NUM_THREADS=2" in environment


@linux
def test_the_first_query_does_not_eat_the_address_space(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, sql = make_pool()

    def address_space() -> int:
        return int(Path(f"/proc/{pool.pids()[0]}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    with pytest.raises(WorkerFailed):
        pool.run("sql", "x", {})
    before = address_space()
    sql.frame(source, "SELECT 1")
    assert address_space() - before < 120 * 2**20


@linux
def test_workers_die_with_the_server_even_in_mid_query(tmp_path: Path) -> None:
    script = """
import os, sys, threading, time
from pathlib import Path
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.jobs.pool import Pool
from tests.jobs.making import bank, settings
its = settings(Path(sys.argv[1]) / "home", sql_workers=2)
pool = Pool(its)
source = bank(Path(sys.argv[1]) / "data")
for _ in range(2):
    threading.Thread(target=SqlRunner(pool, its).run, args=(source, sys.argv[2]), daemon=True).start()
while len(pool.pids()) < 2:
    time.sleep(0.01)
time.sleep(1)
print(*pool.pids(), flush=True)
time.sleep(60)
"""
    server = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path), SPIN], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert server.stdout is not None
    pids = [int(word) for word in server.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(running, pids))
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    assert soon(lambda: not any(map(running, pids)))


def test_a_worker_killed_while_idle_is_not_noticed(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, sql = make_pool()
    sql.frame(source, COUNT)
    time.sleep(0.2)
    os.kill(pool.pids()[0], signal.SIGKILL)
    time.sleep(0.1)
    assert sql.frame(source, COUNT).iloc[0, 0] == 12


@pytest.mark.parametrize(("blow", "kind"), [(signal.SIGKILL, "memory"), (signal.SIGSEGV, "crash")])
def test_a_worker_that_ends_in_mid_task_is_told_by_its_kind(
    make_pool: MakePool, source: DatasetHandle, tmp_path: Path, blow: signal.Signals, kind: str,
) -> None:
    pool, sql = make_pool()
    sql.frame(source, COUNT)
    victim = pool.pids()[0]
    threading.Timer(0.5, os.kill, (victim, blow)).start()
    out = tmp_path / "rows.arrow"
    with pytest.raises(WorkerFailed) as failed:
        sql.run(source, SPIN, out=out)
    assert failed.value.kind == kind
    assert list(tmp_path.glob("rows*")) == []
    assert sql.frame(source, COUNT).iloc[0, 0] == 12
    assert victim not in pool.pids()


def test_the_clock_ends_a_task(make_pool: MakePool, source: DatasetHandle) -> None:
    _, sql = make_pool()
    with pytest.raises(WorkerFailed) as failed:
        sql.run(source, SPIN, timeout_s=0.5)
    assert failed.value.kind == "timeout"
    assert sql.frame(source, COUNT).iloc[0, 0] == 12


@linux
def test_the_processor_limit_ends_a_task_that_no_clock_watches(make_pool: MakePool, source: DatasetHandle) -> None:
    _, sql = make_pool(limits={"cpu_s": 1, "timeout_s": 60})
    for _ in range(2):
        assert sql.frame(source, COUNT).iloc[0, 0] == 12
    with pytest.raises(WorkerFailed) as failed:
        sql.run(source, SPIN)
    assert failed.value.kind == "cpu"
    assert sql.frame(source, COUNT).iloc[0, 0] == 12


@linux
def test_a_lane_whose_workers_cannot_start_says_so(make_pool: MakePool, source: DatasetHandle) -> None:
    _, sql = make_pool(limits={"memory_mb": 50})
    with pytest.raises(WorkerFailed, match="could not be started"):
        sql.frame(source, COUNT)


def test_tasks_wait_their_turn_and_are_told_how_many_are_ahead(make_pool: MakePool, source: DatasetHandle) -> None:
    _, sql = make_pool()
    sql.frame(source, COUNT)
    order: list[int] = []
    told: list[str] = []
    first = Cancel()

    def task(number: int) -> None:
        sql.run(source, f"SELECT {number}", tell=lambda m: told.append(m["text"]))
        order.append(number)

    def block() -> None:
        with pytest.raises(Stopped):
            sql.run(source, SPIN, cancel=first)

    blocking = threading.Thread(target=block)
    blocking.start()
    time.sleep(0.3)
    waiting = [threading.Thread(target=task, args=(number,)) for number in range(3)]
    for thread in waiting:
        thread.start()
        time.sleep(0.1)
    first.set()
    for thread in [blocking, *waiting]:
        thread.join(10)
    assert order == [0, 1, 2]
    assert "waiting for a free worker, 2 ahead" in told


@linux
def test_a_snapshot_goes_back_to_the_worker_that_has_it(
    make_pool: MakePool, source: DatasetHandle,
) -> None:
    pool, sql = make_pool(sql_workers=2)
    pool.warm()
    assert soon(lambda: len(pool.pids()) >= 2)
    time.sleep(1.5)
    other = source.model_copy(update={"snapshot_id": "snap_2", "tables": source.tables[1:]})
    for _ in range(4):
        sql.frame(source, COUNT)
        sql.frame(other, 'SELECT count(*) FROM "order"')
        time.sleep(0.05)

    def has_loan_open(pid: int) -> bool:
        return any(str(fd.resolve()) == str(source.tables[0].path) for fd in Path(f"/proc/{pid}/fd").iterdir())

    assert sum(has_loan_open(pid) for pid in pool.pids() if running(pid)) == 1


def test_closing_ends_tasks_as_stopped_and_leaves_nothing(make_pool: MakePool, source: DatasetHandle) -> None:
    pool, sql = make_pool()
    sql.run(source, COUNT)
    ended: list[BaseException] = []

    def task() -> None:
        try:
            sql.run(source, SPIN)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=task)
    thread.start()
    time.sleep(0.3)
    pids = pool.pids()
    pool.close()
    thread.join(10)
    assert [type(error) for error in ended] == [Stopped]
    assert not any(map(running, pids))
    assert not pool.scratch.exists()


def test_temporary_files_of_a_dead_server_are_removed_by_the_next(tmp_path: Path) -> None:
    script = "import sys, os, pathlib; from tests.jobs.making import settings; from lexsi_ds.jobs.pool import Pool;" \
             "pool = Pool(settings(pathlib.Path(sys.argv[1]))); (pool.scratch / 'left.arrow').write_text('x');" \
             "print(pool.scratch, flush=True); os.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    left = Path(done.stdout.strip())
    assert (left / "left.arrow").exists()
    living = Pool(settings(tmp_path))
    assert not left.exists()
    second = Pool(settings(tmp_path))
    assert living.scratch.exists()
    living.close()
    second.close()


def test_every_lane_has_words_for_how_its_work_ended() -> None:
    from typing import get_args

    from lexsi_ds.jobs import endings
    from lexsi_ds.jobs.limits import Lane

    assert set(endings._WORK) == set(get_args(Lane))
