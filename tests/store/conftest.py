from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.store.db import Store
from tests.stores import KINDS, Databases, sqlite_url


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each database that the store is kept in; every test of the store runs on both."""
    return request.param


@pytest.fixture
def empty_url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A database with nothing in it."""
    if kind == "sqlite":
        return sqlite_url(tmp_path, "empty")
    databases: Databases = request.getfixturevalue("databases")
    return databases.empty()


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        return sqlite_url(tmp_path)
    databases: Databases = request.getfixturevalue("databases")
    return databases.migrated()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store(url)
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def old(empty_url: str) -> Iterator[Store]:
    """A store on which nothing was migrated yet."""
    opened = Store(empty_url)
    yield opened
    opened.close()
