"""The commands as a client starts them: real processes, real pipes and ports, both eras of the protocol."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.server.conftest import TOKEN, frames, serving

REPO = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("demo")
MODES = ("auto", "legacy")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small file, and a home beside it."""
    folder = tmp_path_factory.mktemp("doors")
    (folder / "people.csv").write_text("name,age\nAnn,31\nBob,45\n")
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "LEXSI_DS_HOME": str(folder / "home"), "PYTHONPATH": str(REPO), **more}


def over_stdio(folder: Path, *args: str) -> StdioServerParameters:
    command = ["-m", "lexsi_ds", "mcp", "--dataset", str(folder / "people.csv"), *args]
    return StdioServerParameters(command=sys.executable, args=command, env=environment(folder), cwd=str(REPO))


def with_client(target: Any, mode: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(target, mode=mode) as client:
                return await work(client)

    return anyio.run(run)


@contextmanager
def served(folder: Path, *args: str, **more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``python -m lexsi_ds serve`` on a free port; its address and process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lexsi_ds", "serve", "--port", "0", "--dataset", str(folder / "people.csv"), *args],
        env=environment(folder, **more), cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said, url = [], None
        while url is None:
            line = process.stderr.readline()
            assert line, "".join(said)
            said.append(line)
            url = re.search(r"http://[^ ]+:\d+", line)
        yield url[0].replace("0.0.0.0", "127.0.0.1"), process
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.mark.parametrize("mode", MODES)
def test_stdio_serves_both_eras_and_reads_only(small: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[set[str], Any, Any]:
        names = {tool.name for tool in (await client.list_tools()).tools}
        rows = await client.call_tool("run_sql", {"sql": "SELECT name FROM people ORDER BY age DESC"})
        return names, rows, await client.call_tool("ask", {"question": "How many people?"})

    names, rows, asked = with_client(over_stdio(small), mode, work)
    assert "ask" in names and not names & {"train", "predict", "propose_finding", "ingest_tables", "update_dataset_context"}
    assert rows.structured_content["rows"] == [["Bob"], ["Ann"]]
    assert asked.structured_content["state"] == "answered" and asked.structured_content["result"]["rows"] == [[2]]


def test_stdio_with_write_has_the_tools_that_change_something(small: Path) -> None:
    async def work(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert {"train", "propose_finding", "ingest_tables"} <= with_client(over_stdio(small, "--write"), "auto", work)


def test_stdout_of_stdio_belongs_to_the_protocol(small: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": "How many people?"}},
        },
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "run_sql", "arguments": {"sql": "SELEC"}}},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "lexsi_ds", "mcp", "--dataset", str(small / "people.csv")], env=environment(small), cwd=REPO,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    for line in [*lines[:2], "this is no JSON", *lines[2:]]:
        process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    process.stdin.flush()
    got: list[dict[str, Any]] = []
    while {3, 2} - {m.get("id") for m in got}:
        got.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    assert process.wait(60) == 0, "closing stdin ends it"
    assert process.stdout.read() == "" and all(m["jsonrpc"] == "2.0" for m in got)
    assert "answered" in next(m for m in got if m.get("id") == 2)["result"]["content"][0]["text"]


@pytest.mark.parametrize("mode", MODES)
def test_http_serves_both_eras_with_a_token_and_without_one_nothing(small: Path, mode: str) -> None:
    async def work(client: Client) -> Any:
        assert {"train", "propose_finding"} <= {tool.name for tool in (await client.list_tools()).tools}
        return await client.call_tool("run_sql", {"sql": "SELECT count(*) FROM people"})

    with served(small, LEXSI_DS_SERVE_TOKEN=TOKEN) as (url, _):

        def target(token: str) -> Any:
            return streamable_http_client(
                f"{url}/mcp", http_client=httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False)
            )

        assert with_client(target(TOKEN), mode, work).structured_content["rows"] == [[2]]
        with pytest.raises(BaseException) as raised:
            with_client(target("wrong-token-of-the-same-length-"), mode, work)
        assert "Server returned an error response" in _all_texts(raised.value), "the guard's tests look at the 401 itself"
        health = httpx2.get(f"{url}/health", trust_env=False)
        assert health.status_code == 200


def _all_texts(error: BaseException) -> str:
    return " ".join([str(error), *map(_all_texts, getattr(error, "exceptions", ()))])


def test_serve_streams_a_question_and_ends_on_a_signal(small: Path) -> None:
    with served(small) as (url, process):
        answer = httpx2.post(f"{url}/api/chat", json={"question": "How many people?"}, timeout=60, trust_env=False)
        assert frames(answer.text)[-1]["state"] == "answered"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and out == "", "stdout stays empty"


REFUSED = [
    (("--host", "0.0.0.0"), {}, "requests need a token"),
    (("--host", "::"), {}, "requests need a token"),
    (("--host", "0.0.0.0"), {"LEXSI_DS_SERVE_TOKEN": "short"}, "fewer than 24 characters"),
    (("--host", "not-an-address.invalid"), {"LEXSI_DS_SERVE_TOKEN": TOKEN}, "cannot be listened on"),
]


@pytest.mark.parametrize(("args", "more", "said"), REFUSED)
def test_an_open_address_demands_a_token(small: Path, args: tuple[str, ...], more: dict[str, str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lexsi_ds", "serve", "--port", "0", *args], env=environment(small, **more), cwd=REPO,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_an_open_address_with_a_token_is_served_to_its_bearer_alone(small: Path) -> None:
    with served(small, "--host", "0.0.0.0", LEXSI_DS_SERVE_TOKEN=TOKEN) as (url, _):
        assert httpx2.get(f"{url}/api/runs/run_x", trust_env=False).status_code == 401
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx2.get(f"{url}/api/runs/run_x", headers=bearer, trust_env=False).status_code == 404
        rebound = httpx2.get(f"{url}/health", headers={"Host": "evil.example"}, trust_env=False)
        assert rebound.status_code == 421


def test_a_revoked_key_is_refused_at_the_next_request_of_an_open_session(tmp_path: Path) -> None:
    app = Application(Settings(home=tmp_path / "home", sql_workers=1))
    record, secret = app.api_keys.create(app.person(), "mine", ["datasets:read"])
    try:
        with serving(app, keys=app.api_keys.actor) as here:
            target = streamable_http_client(
                f"{here.url}/mcp",
                http_client=httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, trust_env=False),
            )

            async def work(client: Client) -> None:
                assert (await client.call_tool("list_datasets", {})).structured_content["total"] == 0
                app.api_keys.revoke(app.person(), record.id)
                with pytest.raises(MCPError):
                    await client.call_tool("list_datasets", {})

            with_client(target, "legacy", work)
    finally:
        app.close()


def test_a_session_belongs_to_the_key_that_opened_it(tmp_path: Path) -> None:
    app = Application(Settings(home=tmp_path / "home", sql_workers=1))
    (_, mine), (_, other) = (app.api_keys.create(app.person(), n, ["datasets:read"]) for n in ("mine", "other"))
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    try:
        with serving(app, keys=app.api_keys.actor) as here:
            accepts = {"Accept": "application/json, text/event-stream"}
            with here.client(mine, **accepts) as client:
                session = client.post("/mcp", json=hello).headers["mcp-session-id"]
                accepts |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
                assert client.post("/mcp", json=listing, headers=accepts).status_code == 200
            for token in (other, None):
                with here.client(token, **accepts) as client:
                    assert client.post("/mcp", json=listing).status_code == 404
    finally:
        app.close()


@pytest.mark.parametrize("announced", [True, False])
def test_a_huge_message_is_cut_off(tmp_path: Path, announced: bool) -> None:
    app = Application(Settings(home=tmp_path / "home", sql_workers=1))
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 5_000_000 + b'"}'
    try:
        with serving(app) as here, here.client(**{"Content-Type": "application/json"}) as client:
            answer = client.post("/mcp", content=body if announced else iter([body[:2_500_000], body[2_500_000:]]))
        assert answer.status_code == 413
    finally:
        app.close()
