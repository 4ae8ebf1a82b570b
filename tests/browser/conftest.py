"""A real server on a free port and a real Chromium; every request is watched, every page error fails the test."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

REPO = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("LEXSI_TEST_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
IDLE = """() => { const a = document.querySelector('[data-testid="stApp"]');
  return a && a.dataset.testScriptState === 'notRunning' && a.dataset.testConnectionState === 'CONNECTED'; }"""
LOCAL = re.compile(r"^(https?|wss?)://127\.0\.0\.1[:/]|^(data|blob|about):")


expect.set_options(timeout=45_000)  # a busy machine draws slowly; nothing here measures time


@dataclass
class Server:
    """The app under test; its home outlives a restart."""

    home: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    log: Path = field(kw_only=True)
    script: str = field(default="app.py", kw_only=True)
    env: dict[str, str] = field(default_factory=dict)
    """Settings of this server."""

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start on the same port as before, or on a free one; returns when it answers."""
        if not self.port:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.port = s.getsockname()[1]
        env = {**os.environ, "LEXSI_DS_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", **self.env}
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            self.script,
            "--server.address=127.0.0.1",
            f"--server.port={self.port}",
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=REPO, env=env, stdout=log, stderr=subprocess.STDOUT)
        for _ in range(300):
            assert self.process.poll() is None, self.log.read_text()
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1).read() == b"ok":
                    return
            time.sleep(0.1)
        raise AssertionError("the server did not answer")

    def stop(self) -> None:
        """End it as an operator would."""
        if self.process:
            self.process.terminate()
            self.process.wait(20)
            self.process = None

    def troubles(self) -> list[str]:
        """Lines of the log that no run should leave."""
        return [line for line in self.log.read_text().splitlines() if "Traceback" in line or "page error" in line]


@contextlib.contextmanager
def running(folder: Path, *, script: str = "app.py", env: dict[str, str] | None = None) -> Iterator[Server]:
    """A server on ``folder / "home"`` until the block ends; what its log should not hold fails the tests."""
    made = Server(folder / "home", log=folder / "server.log", script=script, env=env or {})
    made.start()
    try:
        yield made
    finally:
        made.stop()
    assert not made.troubles(), made.log.read_text()[-4000:]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server a module, on an empty home."""
    with running(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium a module."""
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium here: scripts/need_chromium.sh installs it")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@dataclass
class Watched:
    """A tab, and what it did that it should not have."""

    page: Page
    outside: list[str]
    errors: list[str]

    def settle(self) -> None:
        """Wait until the script rests; only after an outcome was seen."""
        self.page.wait_for_function(IDLE, timeout=60_000)
        assert self.page.get_by_test_id("stException").count() == 0
        assert self.page.get_by_text("could not be drawn").count() == 0

    def go(self, name: str) -> None:
        """Follow a link of the sidebar."""
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=re.compile(f"^.*{name}")).click()


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Watched]:
    """A fresh tab that watches its requests and errors; both must be empty at the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    page = context.new_page()
    watched = Watched(page, [], [])
    page.on("request", lambda r: None if LOCAL.match(r.url) else watched.outside.append(r.url))
    page.on("websocket", lambda w: None if LOCAL.match(w.url) else watched.outside.append(w.url))
    page.on("pageerror", lambda e: watched.errors.append(str(e)))
    page.set_default_timeout(30_000)
    yield watched
    context.close()
    assert watched.outside == [], "a request left loopback"
    assert watched.errors == []
