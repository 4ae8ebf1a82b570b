from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.settings import Settings

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """A real application with a home of its own, for all tests of the registry."""
    made = Application(Settings(home=tmp_path_factory.mktemp("registry"), sql_workers=1))
    yield made
    made.close()


@pytest.fixture
def home(app: Application) -> Path:
    return app.settings.home
