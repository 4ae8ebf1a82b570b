"""One real application on a home of its own, and small files to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.settings import Settings

ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)
READER = Actor("ada", "Ada", frozenset({"datasets:read"}))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("catalog")


@pytest.fixture(scope="module")
def app(home: Path) -> Iterator[Application]:
    opened = Application(Settings(home=home, sql_workers=1))
    yield opened
    opened.close()


Importing = Callable[..., DatasetHandle]


@pytest.fixture
def importing(app: Application, tmp_path: Path) -> Importing:
    """``importing({"people": "a,b\\n1,2\\n"}, name="x", actor=ADA)``: files by table name as a new source."""

    def run(files: dict[str, str], name: str = "test", actor: Actor = ADA) -> DatasetHandle:
        folder = tmp_path / f"files-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for stem, text in files.items():
            (folder / f"{stem}.csv").write_text(text)
        return app.catalog.import_source(actor, "files", name, sorted(folder.iterdir()))

    return run
