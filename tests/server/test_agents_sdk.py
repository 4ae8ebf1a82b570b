"""The OpenAI Agents SDK as a real client, over stdio and HTTP; a scripted model stands for the one that plans."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents import Agent, RunConfig, Runner
from agents.items import ModelResponse
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.server.conftest import TOKEN, serving

REPO = Path(__file__).resolve().parents[2]


class Scripted(Model):
    """Calls the tools that it was told to, one a turn, then says what the last one gave."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls, self.offered, self.seen = list(calls), [], []

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any  # noqa: A002
    ) -> ModelResponse:
        self.offered = [tool.name for tool in tools]
        self.seen = [item["output"] for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if self.calls:
            name, arguments = self.calls.pop(0)
            item: Any = ResponseFunctionToolCall(
                type="function_call", call_id=f"c{len(self.calls)}", name=name, arguments=json.dumps(arguments)
            )
        else:
            text = ResponseOutputText(type="output_text", text=str(self.seen[-1]), annotations=[])
            item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def converse(server: MCPServer, model: Scripted) -> str:
    async def run() -> str:
        with anyio.fail_after(120):
            async with server:
                agent = Agent(name="analyst", instructions="Use the tools.", mcp_servers=[server], model=model)
                result = await Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True))
                return str(result.final_output)

    return anyio.run(run)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nBob,45\n")
    return tmp_path


def test_an_agent_asks_over_stdio(folder: Path) -> None:
    environment = {**os.environ, "LEXSI_DS_HOME": str(folder / "home"), "PYTHONPATH": str(REPO)}
    command = ["-m", "lexsi_ds", "mcp", "--dataset", str(folder / "people.csv")]
    params: Any = {"command": sys.executable, "args": command, "env": environment, "cwd": str(REPO)}
    model = Scripted(("ask", {"question": "How many people?"}), ("run_sql", {"sql": "SELECT max(age) AS oldest FROM people"}))
    said = converse(MCPServerStdio(params=params, client_session_timeout_seconds=90), model)
    assert "answered" in str(model.seen[0]) and "45" in said
    assert "run_sql" in model.offered and "train" not in model.offered, "read and ask only, without --write"


def test_an_agent_proposes_a_finding_over_http_in_two_calls(folder: Path) -> None:
    app = Application(Settings(home=folder / "home", sql_workers=1))
    app.catalog.import_source(app.person(), "files", "people", [folder / "people.csv"])
    proposal = {
        "dataset": "people",
        "title": "Adults",
        "statement": "Everyone is over 17.",
        "checkSql": "SELECT * FROM dataset WHERE age < 18",
    }
    model = Scripted(("propose_finding", proposal), ("list_findings", {"dataset": "people"}))
    try:
        with serving(app, token=TOKEN) as served:
            params: Any = {"url": f"{served.url}/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}}

            def server() -> MCPServer:
                return MCPServerStreamableHttp(params=params, client_session_timeout_seconds=90)

            said = converse(server(), model)
            assert json.loads(_text(said))["findings"] == [], "the preview changed nothing"
            token = json.loads(_text(str(model.seen[0])))["confirmationToken"]
            again = Scripted(("propose_finding", proposal | {"confirm": True, "confirmationToken": token}))
            finding = json.loads(_text(converse(server(), again)))["finding"]
        assert finding["verdict"] == "holds" and finding["review"] == "pending"
    finally:
        app.close()


def _text(output: str) -> str:
    """The tool's own text within what the SDK hands to a model: a list of parts, or one."""
    found = ast.literal_eval(output)
    return (found[0] if isinstance(found, list) else found)["text"]
