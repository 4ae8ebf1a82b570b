"""Somebody else's things by every tool that takes a name of them, and what a showcase, a grant and a key open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import LexsiError
from lexsi_ds.ids import new_id
from lexsi_ds.server.toolbox import TOOLS
from lexsi_ds.settings import Settings
from tests.server.conftest import ADA, BEN
from tests.server.test_mcp_tools import call, done, ds, refused


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Ada has a source, a finding, a conversation and a model; Ben has nothing."""
    home = tmp_path_factory.mktemp("hostile")
    opened = Application(Settings(home=home / "home", sql_workers=1))
    rows = "\n".join(f"{i},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60))
    (home / "deals.csv").write_text("id,size,won\n" + rows + "\n")
    opened.catalog.import_source(ADA, "files", "deals", [home / "deals.csv"])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def theirs(app: Application) -> dict[str, str]:
    """Ids of what is Ada's."""
    source = done(call(app, "list_data_connectors"))["connectors"][0]["id"]
    dataset = ds(app, "deals")
    asked = done(call(app, "ask", {"question": "How many deals?"}))
    trained = done(call(app, "train", {"target": "won", "modelType": "Logistic"}))
    finding = app.findings.propose(ADA, dataset_id=dataset, title="Sizes", statement="Sizes are below seven.")
    return {
        "con": source,
        "ds": dataset,
        "conv": asked["conversationId"],
        "mdl": trained["modelId"],
        "fnd": finding.id,
        "ws": app.workspaces.create(ADA, "Finance").id,
    }


BY_NAME: list[tuple[str, str, dict[str, Any]]] = [
    ("list_connector_tables", "con", {"connectorId": "?"}),
    ("list_datasets", "con", {"connectorId": "?"}),
    ("ingest_tables", "con", {"connectorId": "?", "tables": [{"tableName": "deals"}]}),
    ("describe_dataset", "ds", {"dataset": "?"}),
    ("get_columns", "ds", {"dataset": "?"}),
    ("get_semantic_data", "ds", {"dataset": "?", "component": "column_stats"}),
    ("compare_schemas", "ds", {"datasetA": "?", "datasetB": "?"}),
    ("get_surprises", "ds", {"dataset": "?"}),
    ("list_findings", "ds", {"dataset": "?"}),
    ("propose_finding", "ds", {"dataset": "?", "title": "t", "statement": "s"}),
    ("update_dataset_context", "ds", {"dataset": "?", "datasetContext": "x"}),
    ("run_sql", "con", {"source": "?", "sql": "SELECT 1"}),
    ("run_sql", "ds", {"source": "?", "sql": "SELECT 1"}),
    ("ask", "con", {"source": "?", "question": "How many deals?"}),
    ("ask", "conv", {"conversationId": "?", "question": "How many deals?"}),
    ("train", "con", {"source": "?", "target": "won"}),
    ("predict", "mdl", {"model": "?"}),
    ("explain", "mdl", {"model": "?"}),
    ("get_workspace_context", "ws", {"workspaceId": "?"}),
    ("update_workspace_context", "ws", {"workspaceId": "?", "content": "x"}),
]


@pytest.mark.parametrize(("tool", "kind", "arguments"), BY_NAME, ids=[f"{t}-{k}" for t, k, _ in BY_NAME])
def test_a_strangers_call_tells_theirs_and_nothing_alike(
    app: Application, theirs: dict[str, str], tool: str, kind: str, arguments: dict[str, Any]
) -> None:
    def told(value: str) -> tuple[str, str]:
        error = refused(call(app, tool, {k: value if v == "?" else v for k, v in arguments.items()}, BEN))
        return error["code"], error["message"]

    there, nowhere = told(theirs[kind]), told(new_id(kind))
    assert there == nowhere and there[0] == "not_found"


@pytest.mark.parametrize("tool", ["update_finding", "review_finding"])
def test_a_strangers_call_on_a_finding_is_not_found(app: Application, theirs: dict[str, str], tool: str) -> None:
    more = {"title": "x"} if tool == "update_finding" else {"decision": "accept"}
    for dataset in (theirs["ds"], new_id("ds")):
        assert refused(call(app, tool, {"dataset": dataset, "findingId": theirs["fnd"]} | more, BEN))["code"] == "not_found"


def test_every_tool_that_takes_a_name_is_asked_here() -> None:
    listing = {"list_data_connectors", "list_workspaces"}
    assert {t.name for t in TOOLS} == {t for t, _, _ in BY_NAME} | listing | {"update_finding", "review_finding"}


def test_a_strangers_lists_are_empty(app: Application, theirs: dict[str, str]) -> None:
    for tool in ("list_data_connectors", "list_datasets", "list_workspaces"):
        assert done(call(app, tool, actor=BEN))["total"] == 0


ODD = [
    "../../etc/passwd",
    "ds_' OR 1=1 --",
    'deals" ; DROP TABLE x',
    "con_\x00",
    "\u202elaed",
    "%2e%2e",
    "{{7*7}}",
    "$(id)",
    "deals\n",
    "a" * 400,
]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_finds_nothing_and_comes_back_visible(app: Application, theirs: dict[str, str], name: str) -> None:
    for tool, argument in (("describe_dataset", "dataset"), ("list_datasets", "connectorId"), ("explain", "model")):
        answer = call(app, tool, {argument: name})
        assert refused(answer)["code"] in ("not_found", "bad_arguments")
        assert not set(answer.content[0].text) & {"\x00", "\u202e"}


def test_a_showcase_shows_figures_and_no_rows(app: Application, theirs: dict[str, str]) -> None:
    app.sharing.set_visibility(ADA, theirs["con"], "showcase")
    try:
        assert [d["accessLevel"] for d in done(call(app, "list_datasets", actor=BEN))["datasets"]] != ["owner"]
        for tool, more in (("run_sql", {"sql": "SELECT * FROM deals"}), ("ask", {"question": "How many deals?"})):
            assert refused(call(app, tool, {"source": theirs["con"]} | more, BEN))["code"] == "not_found"
        finding = {"dataset": theirs["ds"], "title": "t", "statement": "s", "checkSql": "SELECT * FROM dataset"}
        assert call(app, "propose_finding", finding, BEN).is_error
    finally:
        app.sharing.set_visibility(ADA, theirs["con"], "private")


def test_who_may_read_may_propose_but_not_check_edit_or_decide(app: Application, theirs: dict[str, str]) -> None:
    app.sharing.grant(ADA, theirs["con"], BEN.id, "read")
    try:
        finding = {"dataset": theirs["ds"], "title": "From Ben", "statement": "Sizes are small."}
        assert done(call(app, "propose_finding", finding, BEN))["status"] == "preview"
        assert done(call(app, "run_sql", {"source": theirs["con"], "sql": "SELECT count(*) FROM deals"}, BEN))["rows"] == [[60]]
        for tool, more in (
            ("propose_finding", finding | {"checkSql": "SELECT * FROM dataset WHERE size > 9"}),
            ("update_finding", {"dataset": theirs["ds"], "findingId": theirs["fnd"], "title": "x"}),
            ("review_finding", {"dataset": theirs["ds"], "findingId": theirs["fnd"], "decision": "accept"}),
            ("update_dataset_context", {"dataset": theirs["ds"], "datasetContext": "x"}),
        ):
            assert refused(call(app, tool, more, BEN))["code"] in ("denied", "not_found"), tool
    finally:
        app.sharing.grant(ADA, theirs["con"], BEN.id, None)
    with pytest.raises(LexsiError):
        app.catalog.handle(BEN, theirs["con"])
    assert refused(call(app, "run_sql", {"source": theirs["con"], "sql": "SELECT 1"}, BEN))["code"] == "not_found"


@pytest.mark.parametrize(
    "sql", ["SELECT repeat('x', 2000000000)", "SELECT sum(a.range * b.range) FROM range(9999999) a, range(9999999) b"]
)
def test_a_query_that_eats_memory_or_time_ends_and_the_next_one_runs(tmp_path: Path, sql: str) -> None:
    opened = Application(Settings(home=tmp_path / "home", sql_workers=1, sql_timeout_s=3))
    (tmp_path / "t.csv").write_text("a\n1\n")
    opened.catalog.import_source(ADA, "files", "t", [tmp_path / "t.csv"])
    try:
        assert refused(call(opened, "run_sql", {"sql": sql, "source": "t"}))["code"] in ("worker_failed", "sql_failed")
        assert done(call(opened, "run_sql", {"sql": "SELECT 1", "source": "t"}))["rows"] == [[1]]
    finally:
        opened.close()
