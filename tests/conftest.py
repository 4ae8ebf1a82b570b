"""One application with the demo bank for the whole test run, shared by all test processes; real files where they are."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
REPO = Path(__file__).resolve().parent.parent
SHARED_DATA = REPO.parent / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--store postgresql` keeps every store that a test names by a file in a database of a real PostgreSQL instead."""
    parser.addoption("--store", choices=("sqlite", "postgresql"), default="sqlite", help="where tests keep their stores")


@pytest.fixture(scope="session", autouse=True)
def stores_elsewhere(request: pytest.FixtureRequest) -> Iterator[None]:
    """What `--store` asks for."""
    if request.config.getoption("--store") == "sqlite":
        yield
        return
    from lexsi_ds.store.db import Store

    databases, real = request.getfixturevalue("databases"), Store.__init__
    made: dict[str, str] = {}

    def opened(self: Store, url: str) -> None:
        if url.startswith("sqlite") and url not in made:
            made[url] = databases.migrated()
        real(self, made.get(url, url))

    Store.__init__ = opened
    yield
    Store.__init__ = real


def pytest_configure(config: pytest.Config) -> None:
    """Keep every test away from the person's own home folder, also before a fixture runs."""
    os.environ["PYTHONPATH"] = str(REPO)  # processes that tests start in other folders find the code as this one does
    os.environ.setdefault("LEXSI_DS_HOME", "/nonexistent/tests-must-name-a-home")
    for name in ("LEXSI_DS_LLM_BASE_URL", "LEXSI_DS_LLM_MODEL", "LEXSI_DS_LLM_API_KEY", "LEXSI_DS_STORE_URL"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Nothing in the tests may reach beyond this machine: a connection to any other address fails the test that makes it."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
            host = str(address[0])
            assert host.startswith("127.") or host in ("localhost", "::1"), f"a request left loopback: {address}"
        real(self, address)  # pyright: ignore[reportArgumentType]

    socket.socket.connect = connect  # pyright: ignore[reportAttributeAccessIssue]
    yield
    socket.socket.connect = real


@pytest.fixture(scope="session", autouse=True)
def measured_workers() -> None:
    """Worker processes get a short environment; where coverage is measured, let them be measured too."""
    from lexsi_ds.jobs import limits

    limits._INHERITED = (*limits._INHERITED, "COVERAGE_PROCESS_CONFIG")


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that all test processes of this run share: the demo bank is built in it once."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    home = root / "shared-home"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture(scope="session")
def application(shared_home: Path) -> Iterator[object]:
    """A real application on the shared home."""
    from lexsi_ds.application import Application
    from lexsi_ds.settings import Settings

    app = Application(Settings(home=shared_home))
    yield app
    app.close()


@pytest.fixture(scope="session")
def demo_handle(application):
    """The demo bank's snapshot."""
    return application.catalog.ensure_demo(application.person())


@pytest.fixture(scope="session")
def databases() -> Iterator[object]:
    """A PostgreSQL server for stores; started by the first test that asks."""
    from tests.connectors import servers
    from tests.stores import Databases

    server = servers.start_postgres()
    yield Databases(server)
    server.close()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real files; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data files are not beside this checkout")
    return SHARED_DATA
