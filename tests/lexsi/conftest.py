"""A fake platform, a real pool with real workers, and the engine between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.jobs.pool import Pool
from lexsi_ds.models.lexsi.engine import LexsiEngine
from lexsi_ds.settings import Settings
from tests.lexsi.fake_platform import FakePlatform

TOKEN = "mark3r-T0ken+with/signs=and'quote"


def settings_for(home: Path, url: str, token: str = TOKEN, **more: Any) -> Settings:
    """Settings of the Lexsi engine, as the environment would give them."""
    names: dict[str, Any] = {"LEXSI_DS_LEXSI_URL": url, "LEXSI_DS_LEXSI_ACCESS_TOKEN": token}
    return Settings(home=home, engine="lexsi", **names, **more)


@pytest.fixture
def platform() -> Iterator[FakePlatform]:
    """A platform that does all well until a test says otherwise."""
    with FakePlatform(TOKEN) as fake:
        yield fake


@pytest.fixture(scope="session")
def lexsi_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lexsi-home")


@pytest.fixture(scope="session")
def pool(lexsi_home: Path) -> Iterator[Pool]:
    """One pool for all tests: starting a worker and importing the SDK takes seconds."""
    own = Pool(settings_for(lexsi_home, "http://127.0.0.1:1"))
    yield own
    own.close()


@pytest.fixture
def make_engine(pool: Pool, lexsi_home: Path, platform: FakePlatform) -> Callable[..., LexsiEngine]:
    """An engine on the fake platform, with settings of its own."""

    def make(**more: Any) -> LexsiEngine:
        return LexsiEngine(pool, settings_for(lexsi_home, more.pop("url", platform.url), **more))

    return make


@pytest.fixture
def engine(make_engine: Callable[..., LexsiEngine]) -> LexsiEngine:
    return make_engine()
