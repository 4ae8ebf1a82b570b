from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.jobs.limits import lane_limits
from lexsi_ds.jobs.pool import Pool
from tests.jobs.making import bank, settings

MakePool = Callable[..., tuple[Pool, SqlRunner]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> DatasetHandle:
    return bank(tmp_path_factory.mktemp("data"))


@pytest.fixture
def make_pool(tmp_path: Path) -> Iterator[MakePool]:
    """Builds pools with their own home; ``limits`` changes those of the sql lane."""
    pools: list[Pool] = []

    def make(limits: dict[str, Any] | None = None, **values: Any) -> tuple[Pool, SqlRunner]:
        its = settings(tmp_path, **{"sql_workers": 1, "sql_timeout_s": 20} | values)
        lanes = lane_limits(its)
        lanes["sql"] = replace(lanes["sql"], **limits or {})
        pools.append(Pool(its, lanes))
        return pools[-1], SqlRunner(pools[-1], its)

    yield make
    for pool in pools:
        pool.close()
