"""How an answer was made: nodes, what each was made from, hashes that change with the content, and whose they are."""

from __future__ import annotations

import hashlib

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import NotFound
from lexsi_ds.services.access import ALL_RIGHTS, Actor
from lexsi_ds.services.result_graph import Made, ResultGraph, graph_of

pytestmark = pytest.mark.xdist_group("demo")


def edges(graph: ResultGraph) -> dict[str, tuple[str, ...]]:
    return {n.id: n.made_from for n in graph.nodes}


def test_a_prediction_is_made_of_everything_behind_it(application: Application, demo_handle, predicted: str) -> None:
    graph = application.lineage.of_run(application.person(), predicted)
    assert edges(graph) == {
        "question-1": (), "sql-1": ("question-1",), "frame-1": ("sql-1",), "sql-2": ("question-1",), "frame-2": ("sql-2",),
        "model-1": ("frame-1",), "predictions-1": ("model-1", "frame-2"), "explanation-1": ("predictions-1",),
        "narrative-1": ("explanation-1",),
    }
    assert (graph.source_id, graph.snapshot_id) == (demo_handle.source_id, demo_handle.snapshot_id)
    assert [graph.node(i).rows for i in ("frame-1", "frame-2", "predictions-1")] == [234, 448, 448]
    assert [n.id for n in graph.behind("model-1")] == ["question-1", "sql-1", "frame-1", "model-1"]
    assert graph.behind("question-1") == graph.nodes


def test_each_node_leads_to_its_step_and_to_content_with_its_hash(application: Application, predicted: str) -> None:
    me = application.person()
    graph, events = application.lineage.of_run(me, predicted), application.chats.events(me, predicted)
    calls = {e["call_id"]: e["name"] for e in events if e["type"] == "tool"}
    made_by = {n.id: calls[n.call_id] for n in graph.nodes if n.call_id}
    assert made_by["sql-1"] == made_by["sql-2"] == "text_to_sql" and made_by["frame-1"] == "run_sql"
    assert (made_by["model-1"], made_by["narrative-1"]) == ("train_tabular_model", "summarize_result")
    for node in graph.nodes:
        if node.artifact_id and node.kind != "narrative":
            content = application.artifacts.get(me, node.artifact_id).path.read_bytes()
            assert node.hash == hashlib.sha256(content).hexdigest()
    assert application.models.get(me, str(graph.node("model-1").about_id)).rows == 234


def test_a_finding_is_made_from_what_the_run_found(application: Application, demo_handle, counted: str) -> None:
    me = application.person()
    draft = application.draft_finding(me, counted, demo_handle.source_id)
    assert draft is not None
    finding = application.propose_finding(me, draft)
    node = application.lineage.of_run(me, counted).node("finding-1")
    assert (node.about_id, node.made_from, node.text) == (finding.id, ("frame-1",), finding.statement)


def test_a_run_and_its_graph_belong_to_one_person(application: Application, counted: str) -> None:
    with pytest.raises(NotFound):
        application.lineage.of_run(Actor("eve", "Eve", ALL_RIGHTS), counted)
    with pytest.raises(NotFound, match="no such part"):
        application.lineage.of_run(application.person(), counted).node("model-7")


def _events(*steps: tuple[str, dict, bool], state: str = "answered") -> list[dict]:
    found: list[dict] = []
    for i, (name, args, ok) in enumerate(steps):
        found.append({"type": "tool", "call_id": f"c{i}", "name": name, "args": args})
        found.append({"type": "tool_result", "call_id": f"c{i}", "name": name, "ok": ok, "artifact_ids": [f"a{i}"]})
    return [*found, {"type": "done", "state": state, "answer": "So it is."}]


def test_a_failed_step_makes_nothing_and_a_gone_artifact_is_left_out() -> None:
    made = {"a1": Made({"sql": "SELECT 1", "label": None, "row_count": 1}, "h1")}
    graph = graph_of("run", "q", _events(("run_sql", {}, False), ("run_sql", {}, True), ("run_sql", {}, True)), made.get)
    assert edges(graph) == {"question-1": (), "sql-1": ("question-1",), "frame-1": ("sql-1",), "narrative-1": ("frame-1",)}
    assert graph.node("frame-1").hash == "h1" and graph.node("frame-1").call_id == "c1"


def test_one_query_that_ran_twice_is_one_node_with_two_results() -> None:
    made = {f"a{i}": Made({"sql": "SELECT 1", "label": name, "row_count": 1}) for i, name in enumerate(("x", "y"))}
    graph = graph_of("run", "q", _events(("run_sql", {}, True), ("run_sql", {}, True)), made.get)
    assert [n.made_from for n in graph.nodes if n.kind == "frame"] == [("sql-1",), ("sql-1",)]
    assert graph.node("narrative-1").made_from == ("frame-1", "frame-2")


def test_a_model_of_an_earlier_run_has_no_step_and_an_end_that_asks_back_is_no_answer() -> None:
    made = {"a0": Made({}, "h", {"model_id": "mdl_1", "cases": [{}, {}]})}
    graph = graph_of("run", "q", _events(("explain_prediction", {}, True), state="needs_clarification"), made.get)
    assert edges(graph) == {"question-1": (), "model-1": (), "explanation-1": ("model-1",)}
    assert graph.node("model-1").call_id is None and graph.node("explanation-1").rows == 2
