from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.jobs.pool import Pool
from tests.jobs.making import settings
from tests.security.places import Places, prepare


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    prepared = prepare(tmp_path_factory.mktemp("places"))
    yield prepared
    prepared.listener.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def runner(home: Path) -> Iterator[SqlRunner]:
    its = settings(home, sql_workers=1, sql_timeout_s=20)
    pool = Pool(its)
    yield SqlRunner(pool, its)
    pool.close()
