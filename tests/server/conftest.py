"""Real servers on loopback: the whole web app under uvicorn, on the shared demo bank or on a small home of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from pydantic import SecretStr

from lexsi_ds.application import Application
from lexsi_ds.jobs.runs import RunHandle
from lexsi_ds.server.guard import Doors
from lexsi_ds.server.identity import Identity, KeyActor
from lexsi_ds.server.serve import config_of
from lexsi_ds.server.web import web_app
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.chats import AskContext, Chats
from lexsi_ds.settings import Settings

TOKEN = "a-token-of-the-tests-0123456789"
ADA = Actor("ada", "Ada", ALL_RIGHTS)
BEN = Actor("ben", "Ben", ALL_RIGHTS)
READER = replace(ADA, rights=frozenset({"datasets:read", "models:read", "findings:read", "chats:read", "chats:write"}))
KEYS = {"key-of-ada-000000000000000000": ADA, "key-of-ben-000000000000000000": BEN, "key-of-reader-0000000000000000": READER}


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    app: Application

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        more = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=more | headers, timeout=60, trust_env=False)


@contextlib.contextmanager
def serving(app: Application, *, token: str | None = None, keys: KeyActor = KEYS.get) -> Iterator[Served]:
    """The web app of ``app`` on a free port; API keys are those of ``KEYS`` or of the application."""
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    identity = Identity(app.person(), SecretStr(token) if token else None, keys, f"{url}/mcp", token is not None)
    built = web_app(app, identity, Doors.of("127.0.0.1", (), ()))
    server = uvicorn.Server(config_of(built))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield Served(url, app)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def until(true: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.02)


class SlowAgent:
    """Answers when it is let go: says one thing, waits, and ends. ``asked`` holds what it was asked."""

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), []

    def __call__(self, ask: AskContext, run: RunHandle) -> dict[str, Any]:
        self.asked.append(ask)
        run.put("thinking", text="at work")
        while not self.go.wait(0.02):
            run.cancel.check()
        if ask.question == "which one":
            run.put("ask", question="Which one?", options=["the first one", "the second one"], learns=[])
            return {"state": "needs_clarification"}
        run.put("delta", text="Done.")
        return {"state": "answered", "answer": f"You asked: {ask.question}"}


@dataclass(frozen=True)
class Slow:
    """A server whose agent waits."""

    served: Served
    agent: SlowAgent
    source_id: str


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    """A server on a home with one small source; runs wait until ``agent.go`` is set, and are left alone for 1 s at most."""
    app = Application(Settings(home=tmp_path / "home", sql_workers=1, detached_run_s=1, serve_max_runs=2))
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nBob,45\n")
    handle = app.catalog.import_source(app.person(), "files", "people", [tmp_path / "people.csv"])
    agent = SlowAgent()
    app.chats = Chats(app.store, app.runs, agent, app.artifacts)
    try:
        with serving(app) as served:
            yield Slow(served, agent, handle.source_id)
    finally:
        app.close()


@pytest.fixture(scope="session")
def bank(application: Application, demo_handle: object) -> Iterator[Served]:
    """A server on the demo bank."""
    with serving(application) as served:
        yield served


def frames(text: str) -> list[dict[str, Any]]:
    """The frames of a stream: the object of each, with its ``id`` where it has one."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith((":", "retry:"))]
        if not lines:
            continue
        fields = dict(line.split(": ", 1) for line in lines)
        found.append(json.loads(fields["data"]) | ({"_id": fields["id"]} if "id" in fields else {}))
    return found


def ask(served: Served, question: str, **more: Any) -> httpx2.Response:
    """POST /api/chat, whole."""
    with served.client() as client:
        return client.post("/api/chat", json={"question": question} | more)
