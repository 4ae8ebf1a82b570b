"""Queries that eat memory, disk or time end with their kind, and the next query works at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import SqlFailed, SqlRefused, WorkerFailed
from lexsi_ds.jobs.limits import can_limit_memory
from lexsi_ds.jobs.pool import Pool
from tests.jobs.making import settings
from tests.jobs.test_pool import COUNT, SPIN

pytestmark = pytest.mark.skipif(not can_limit_memory(), reason="this system does not enforce an address-space limit")

BOMBS = {
    "join": (SPIN, {"timeout"}),
    "repeat": ("SELECT length(repeat('a', 4000000000))", {"memory"}),
    "repeat over rows": ("SELECT max(length(repeat('a', 400000000 + i::INT))) FROM range(20) t(i)", {"memory", "timeout"}),
    "list": ("SELECT len(list(i)) FROM range(1000000000) t(i)", {"memory", "timeout"}),
    "text": ("SELECT length(string_agg(i::VARCHAR || 'aaaaaaaaaaaa', ',')) FROM range(1000000000) t(i)",
             {"memory", "timeout"}),
    "doubling recursion": ("WITH RECURSIVE t(x) AS (SELECT 'aaaaaaaaaa' UNION ALL SELECT x || x FROM t)"
                           " SELECT max(length(x)) FROM t", {"memory", "timeout"}),
    "endless recursion": ("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
                          {"timeout"}),
    "unnest": ("SELECT count(*) FROM (SELECT unnest(range(100000000)) FROM range(100))", {"memory", "timeout"}),
    "wide rows": ("SELECT repeat('a', 100000000) FROM range(100)", {"memory", "timeout"}),
    "groups": ("SELECT count(*) FROM (SELECT i::VARCHAR || 'xxxxxxxxxxxxxxxx' k FROM range(1000000000) t(i) GROUP BY 1)",
               {"memory", "disk", "timeout"}),
}


@pytest.fixture(scope="module")
def runner(home: Path) -> Iterator[SqlRunner]:
    its = settings(home, sql_workers=1, sql_memory_mb=1024, sql_result_mb=50, sql_timeout_s=2.5)
    pool = Pool(its)
    yield SqlRunner(pool, its)
    pool.close()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_with_its_kind_and_the_next_query_works(name: str, runner: SqlRunner, source: DatasetHandle) -> None:
    sql, kinds = BOMBS[name]
    with pytest.raises(WorkerFailed) as failed:
        runner.run(source, sql)
    assert failed.value.kind in kinds
    assert runner.frame(source, COUNT).iloc[0, 0] == 12


def test_too_many_rows_are_an_error_and_leave_no_file(runner: SqlRunner, source: DatasetHandle, tmp_path: Path) -> None:
    with pytest.raises(SqlFailed, match="larger than 50 MB"):
        runner.run(source, "SELECT i, i, i FROM range(1000000000) t(i)", out=tmp_path / "rows.arrow")
    assert list(tmp_path.iterdir()) == []
    assert runner.frame(source, COUNT).iloc[0, 0] == 12


def test_nesting_without_end_is_refused_before_any_worker(runner: SqlRunner, source: DatasetHandle) -> None:
    with pytest.raises(SqlRefused):
        runner.run(source, "SELECT " + " + ".join(["1"] * 5_000))


@pytest.mark.slow
def test_sixty_alternations_of_bomb_and_innocent(runner: SqlRunner, source: DatasetHandle) -> None:
    for _ in range(60):
        with pytest.raises(WorkerFailed):
            runner.run(source, BOMBS["repeat"][0])
        assert runner.frame(source, COUNT).iloc[0, 0] == 12
