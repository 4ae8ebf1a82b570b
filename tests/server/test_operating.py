"""What an operator relies on: caps that say so, figures for whom they are meant, a log line a turn without what was asked."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from lexsi_ds.errors import Busy
from lexsi_ds.jobs.background import Background
from lexsi_ds.jobs.runs import RunHandle, RunRegistry
from lexsi_ds.server.headers import digests, policy
from lexsi_ds.server.metrics import Metrics, SessionCap
from lexsi_ds.store.db import Store
from lexsi_ds.store.runs import Runs
from tests.stores import sqlite_url


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


def _ask(app: Any, path: str, client: str = "127.0.0.1", **headers: str) -> tuple[int, str]:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "client": (client, 1), "query_string": b""}
    scope["headers"] = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    anyio.run(app, scope, None, send)
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent).decode()


@pytest.mark.parametrize(
    ("reach", "client", "headers", "status"),
    [
        ("loopback", "127.0.0.1", {}, 200), ("loopback", "::1", {}, 200), ("loopback", "192.0.2.1", {}, 404),
        ("loopback", "127.0.0.1", {"x_forwarded_for": "192.0.2.1"}, 404),
        ("off", "127.0.0.1", {}, 404), ("all", "192.0.2.1", {}, 200),
    ],
)
def test_figures_are_for_whom_they_are_meant(reach: Any, client: str, headers: dict[str, str], status: int) -> None:
    assert _ask(Metrics(_nothing, reach), "/metrics", client, **headers)[0] == status


def test_a_tab_too_many_is_told_so_and_one_that_leaves_makes_room() -> None:
    async def held(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await _nothing(scope, receive, send)
        else:
            await receive()

    async def work() -> None:
        cap, leave, closed = SessionCap(held, 1), anyio.Event(), []

        async def send(message: Any) -> None:
            closed.append(message)

        async with anyio.create_task_group() as tabs:
            stream = {"type": "websocket", "path": "/_stcore/stream"}
            tabs.start_soon(cap, stream, leave.wait, send)
            await anyio.wait_all_tasks_blocked()
            await cap(stream, leave.wait, send)
            assert closed[-1]["code"] == 1013
            page = {"type": "http", "method": "GET", "path": "/", "headers": [(b"accept", b"text/html")]}
            await cap(page, None, send)  # type: ignore[arg-type]
            assert closed[-2]["status"] == 503 and b"as many as this server takes" in closed[-1]["body"]
            leave.set()
            await anyio.wait_all_tasks_blocked()
            await cap(page, None, send)  # type: ignore[arg-type]
            assert closed[-2]["status"] == 200

    anyio.run(work)


def test_the_policy_lets_in_the_scripts_of_the_page_by_digest_and_no_other() -> None:
    page = "<script>\n  window.a = 1\n</script><script src='x.js'></script>"
    assert digests(page) == ("'sha256-" + digests(page)[0].split("-", 1)[1],) and len(digests(page)) == 1
    said = policy(page)
    assert digests(page)[0] in said and "unsafe-inline" not in said.split("style-src")[0] and "frame-ancestors 'none'" in said
    assert digests(page) != digests(page.replace("= 1", "= 2"))


def test_caps_on_questions_and_tasks_say_so_and_a_turn_leaves_one_line_without_its_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(sqlite_url(tmp_path))
    store.migrate()
    registry, go = RunRegistry(Runs(store), tmp_path, most=1), threading.Event()

    def work(run: RunHandle) -> dict[str, Any]:
        go.wait(20)
        return {"state": "answered", "answer": "SECRET 42", "tool_calls": 3, "usage": {"prompt_tokens": 7}}

    with caplog.at_level(logging.INFO, "lexsi_ds.turn"):
        run_id = registry.start("conv_a", "SECRET question", work)
        with pytest.raises(Busy, match="as many as this server takes"):
            registry.start("conv_b", "another", work)
        go.set()
        while not registry.read(run_id, 0, 5.0):
            pass
        while registry.live():
            threading.Event().wait(0.01)
    lines = [record.getMessage() for record in caplog.records if record.name == "lexsi_ds.turn"]
    assert len(lines) == 1 and "SECRET" not in lines[0]
    line = json.loads(lines[0])
    assert (line["turn"], line["state"], line["tool_calls"], line["prompt_tokens"]) == (run_id, "answered", 3, 7)
    registry.close()
    store.close()
    background, hold = Background(most=1), threading.Event()
    task = background.start("import", "one", lambda *_: hold.wait(20), owner="ada")
    with pytest.raises(Busy, match="as many as one person may have"):
        background.start("import", "two", lambda *_: None, owner="ada")
    background.start("import", "another's", lambda *_: None, owner="ben")
    hold.set()
    while task.state == "running":
        threading.Event().wait(0.01)
    assert background.start("import", "three", lambda *_: None, owner="ada").id != task.id
