from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from lexsi_ds.data.handle import Column, Table
from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import NotFound
from lexsi_ds.ids import new_id
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import ALL_RIGHTS, Actor, Level
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)


@pytest.fixture(scope="session")
def shared_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    pool = Pool(Settings(home=tmp_path_factory.mktemp("pool"), sql_workers=1))
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def sql(shared_pool: Pool) -> SqlRunner:
    return SqlRunner(shared_pool, Settings())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXSI_DS_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{home / 'store.sqlite'}")
    opened.migrate()
    yield opened
    opened.close()


class Shelf:
    """Datasets that a test can replace by a newer version."""

    def __init__(self, home: Path) -> None:
        self._home, self._tables = home, {}

    def put(self, select: str, *, dataset_id: str | None = None, name: str = "loan", masked: tuple[str, ...] = ()) -> Table:
        dataset_id = dataset_id or new_id("ds")
        version = self._tables[dataset_id].version + 1 if dataset_id in self._tables else 1
        path = self._home / f"{dataset_id}-{version}.duckdb"
        with duckdb.connect(str(path)) as db:
            db.execute(f"CREATE TABLE data AS {select}")
            columns = tuple(
                Column(
                    name=column, type=kind, masked=column in masked,
                    nulls=db.execute(f'SELECT count(*) FROM data WHERE "{column}" IS NULL').fetchall()[0][0],
                )
                for column, kind, *_ in db.execute("DESCRIBE data").fetchall()
            )
            rows = db.execute("SELECT count(*) FROM data").fetchall()[0][0]
        table = Table(name=name, dataset_id=dataset_id, version=version, path=path, rows=rows, columns=columns)
        self._tables[dataset_id] = table
        return table

    def drop(self, dataset_id: str) -> None:
        del self._tables[dataset_id]

    def __call__(self, dataset_id: str) -> Table:
        if dataset_id not in self._tables:
            raise NotFound("There is no such data set.")
        return self._tables[dataset_id]


@pytest.fixture
def shelf(home: Path) -> Shelf:
    return Shelf(home)


class OwnsAll:
    """Everybody owns every dataset."""

    def of_dataset(self, actor: Actor, dataset_id: str) -> Level:
        return "owner"

    def visible(self, actor: Actor) -> None:
        return None


Lookup = Callable[[str], Table]
