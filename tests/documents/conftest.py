"""A library of its own for each test: a fresh store, one worker for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.documents import Added, Documents
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)
Put = Callable[..., Added]


@pytest.fixture(scope="session")
def document_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    pool = Pool(Settings(home=tmp_path_factory.mktemp("documents")))
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """An application on a home of its own: a document in a library is seen by every question asked there meanwhile."""
    app = Application(Settings(home=tmp_path_factory.mktemp("library-home")))
    yield app
    app.close()


@pytest.fixture(scope="session")
def demo_handle(application: Application) -> DatasetHandle:
    return application.catalog.ensure_demo(application.person())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def library(store: Store, document_pool: Pool, tmp_path: Path) -> Documents:
    return Documents(store, document_pool, Settings(home=tmp_path, document_mb=2, document_chars=50_000))


@pytest.fixture
def put(library: Documents, tmp_path: Path) -> Put:
    """``put("a.md", "text or bytes")``: written to disk and added to Ada's library."""

    def added(name: str, content: str | bytes, *, shelf: str = "library", actor: Actor = ADA) -> Added:
        path = tmp_path / "upload"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return library.add(actor, path, name, shelf=shelf)

    return added
