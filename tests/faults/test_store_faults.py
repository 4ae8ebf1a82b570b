"""A store that cannot work says what, where and what to do, without a secret, and goes on when it is mended."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.errors import BadInput, LexsiError, StoreFailed
from lexsi_ds.store import db as db_module
from lexsi_ds.store.db import Store
from lexsi_ds.store.preferences import Preferences
from tests.conftest import REPO
from tests.connectors import servers
from tests.connectors.servers import OWNER_PASSWORD, Server, postgres_owner
from tests.stores import Databases, sqlite_url

pytestmark = pytest.mark.xdist_group("faults")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(sqlite_url(tmp_path))
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def alone() -> Iterator[Server]:
    """A PostgreSQL that this module may restart."""
    server = servers.start_postgres()
    yield server
    server.close()


def test_a_store_held_by_another_program_says_so_and_goes_on(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_module, "BUSY_TIMEOUT_MS", 100)
    quick = Store(sqlite_url(tmp_path))
    other = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailed, match="Another process holds the store") as told:
        Preferences(quick).set("ada", "k", 1)
    assert told.value.where.endswith("store.sqlite") and told.value.to_do
    assert Preferences(quick).get("ada", "k") is None, "readers do not wait"
    other.execute("ROLLBACK")
    Preferences(quick).set("ada", "k", 2)
    assert Preferences(quick).get("ada", "k") == 2
    quick.close()


def test_a_full_disk_says_so_loses_nothing_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The largest file that the process may write stands for the disk: the write past it fails as on a full one."""
    script = textwrap.dedent(
        """
        import resource, signal, sys
        from lexsi_ds.errors import StoreFailed
        from lexsi_ds.store.db import Store
        from lexsi_ds.store.preferences import Preferences
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = Store(sys.argv[1])
        store.migrate()
        kept = Preferences(store)
        kept.set("ada", "before", 1)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
        try:
            kept.set("ada", "large", "x" * 3_000_000)
            print("written")
        except StoreFailed as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        kept.set("ada", "after", 2)
        print(kept.get("ada", "before"), kept.get("ada", "large"), kept.get("ada", "after"))
        """
    )
    command = [sys.executable, "-c", script, sqlite_url(tmp_path)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=60)
    said, state = done.stdout.splitlines() if done.returncode == 0 else pytest.fail(done.stderr)
    assert "full" in said and "store.sqlite" in said and "xxx" not in said + done.stderr
    assert state == "1 None 2"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_read_only_home_says_so(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    store.migrate()
    store.close()
    closed = Store(f"sqlite:///file:{tmp_path / 'store.sqlite'}?mode=ro&uri=true")  # what a read-only mount gives, also for root
    with pytest.raises(StoreFailed, match="read-only") as told:
        Preferences(closed).set("ada", "k", 1)
    assert "write the folder" in told.value.to_do
    closed.close()


def test_a_folder_that_cannot_be_made_and_a_damaged_file_say_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LexsiError, match="folder"):
        Store(sqlite_url(tmp_path / "file" / "below"))
    (tmp_path / "store.sqlite").write_bytes(os.urandom(8192))
    with pytest.raises(LexsiError, match="damaged"):
        Store(sqlite_url(tmp_path)).migrate()


def test_a_database_that_restarts_is_told_of_and_work_goes_on(alone: Server) -> None:
    store = Store(Databases(alone).empty())
    store.migrate()
    kept = Preferences(store)
    kept.set("ada", "k", 1)
    alone.kill()
    with pytest.raises(StoreFailed, match="does not answer") as told:
        kept.set("ada", "k", 2)
    assert OWNER_PASSWORD not in str(told.value) and f"127.0.0.1:{alone.port}" in told.value.where
    alone.start(lambda: postgres_owner(alone).close())
    assert kept.get("ada", "k") == 1
    kept.set("ada", "k", 3)
    assert kept.get("ada", "k") == 3
    store.close()


def test_a_wrong_password_or_address_is_told_without_the_password(alone: Server) -> None:
    for password in ("wr0ng-marker", "p%40ss-marker"):
        store = Store(f"postgresql://owner:{password}@127.0.0.1:{alone.port}/postgres")
        with pytest.raises(StoreFailed, match="lets nobody in") as told:
            store.migrate()
        assert "marker" not in str(told.value)
        store.close()
    for address in ("mysql://u:s3cret-marker@h/d", "no address s3cret-marker", "postgresql+asdf://u:s3cret-marker@h/d"):
        with pytest.raises(BadInput, match=r"SQLite or PostgreSQL|no address|package") as refused:
            Store(address)
        assert "marker" not in str(refused.value)
