"""What a person built or edited runs as a question does; a doubtful prediction waits for them, whoever plans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.context import AgentContext
from lexsi_ds.agent.given import GivenQuery, GivenTask, given_of, task_lines, waits
from lexsi_ds.agent.rules import Done, broken
from lexsi_ds.errors import BadInput
from lexsi_ds.text_to_sql.reading import Predictive
from lexsi_ds.text_to_sql.task_draft import TaskDraft

pytestmark = pytest.mark.xdist_group("demo")
REPO = Path(__file__).resolve().parents[2]
BUILT = {
    "table": "loan",
    "measures": [{"fn": "count", "name": "loans", "label": "number of loans"}],
    "dimensions": [{"ref": {"alias": "loan", "table": "loan", "column": "status"}, "name": "status", "label": "loan status"}],
    "order": [{"name": "status", "descending": False}],
}
NORTH = "which running loans are likely to default?"


def run(application: Any, handle: Any, question: str, folder: Path, **more: Any) -> tuple[AgentContext, list[ev.Event]]:
    ctx = application.answering.context(handle, "run_given", folder, **more)
    return ctx, list(application.answering.loop(ctx).stream(question, ctx))


def test_a_built_query_is_answered_as_a_question_is(application, demo_handle, tmp_path) -> None:
    given = given_of({"kind": "query", "logical": BUILT})
    ctx, events = run(application, demo_handle, "Number of loans by loan status", tmp_path, given=given)
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert done.state == "answered"
    assert done.reading == "Number of loans by loan status"
    assert ctx.cache["last_sql_result"].to_dict("records") == [
        {"status": "A", "loans": 203}, {"status": "B", "loans": 31}, {"status": "C", "loans": 403}, {"status": "D", "loans": 45},
    ]  # fmt: skip
    assert [e.name for e in events if isinstance(e, ev.ToolCalled)][-3:] == ["text_to_sql", "run_sql", "summarize_result"]
    assert ctx.session.previous is not None


def test_a_built_query_is_kept_and_can_be_asked_again_in_its_conversation(application, demo_handle) -> None:
    actor = application.person()
    conversation = application.chats.new(actor, demo_handle.source_id)
    given = {"kind": "query", "logical": BUILT}
    run_id = application.chats.ask(actor, conversation, "Loans by status, built", demo_handle.source_id, given=given)
    while not any(e["type"] == "done" for e in application.chats.events(actor, run_id, after=0, wait=1.0)):
        pass
    turn = application.chats.turns(actor, conversation)[-1]
    assert (turn.state, turn.given, turn.question) == ("answered", given, "Loans by status, built")
    application.chats.delete(actor, conversation)


def test_a_built_query_of_another_source_cannot_be_answered(application, demo_handle, tmp_path) -> None:
    foreign = GivenQuery(logical={**BUILT, "table": "nothing"})
    _, events = run(application, demo_handle, "Number of things", tmp_path, given=foreign)
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert done.state == "cannot_answer"
    assert "nothing" in (done.answer or "")


@pytest.mark.parametrize("body", [{"kind": "query"}, {"kind": "other"}, {"kind": "task", "draft": {"table": 1}}, {"x": 1}])
def test_what_cannot_be_read_is_refused(body: dict) -> None:
    with pytest.raises(BadInput):
        given_of(body)


def test_a_certain_task_trains_unless_the_person_wants_to_see_it(application, demo_handle, tmp_path) -> None:
    ctx, events = run(application, demo_handle, NORTH, tmp_path, review="always")
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert (done.state, done.offer) == ("needs_clarification", {"kind": "task"})
    assert "train_tabular_model" not in [e.name for e in events if isinstance(e, ev.ToolCalled)]
    reading: Predictive = ctx.cache["_predictive"]
    assert not reading.doubts
    ctx.review = "doubtful"
    assert not waits(reading, ctx)
    assert reading.task.statement == "predict default FOR EACH loan WHERE status IN (C, D)"


def test_a_doubtful_task_waits_for_every_planner(application, demo_handle, tmp_path) -> None:
    ctx, events = run(application, demo_handle, "predict duration for each loan", tmp_path)
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert (done.state, done.offer) == ("needs_clarification", {"kind": "task"})
    assert "a class of its own" in (done.answer or "")
    seen = Done(succeeded=["query_kg", "text_to_sql"])
    assert "wants to see this task" in (broken("train_tabular_model", {}, seen, ctx) or "")
    ctx.review = "never"
    assert broken("train_tabular_model", {}, seen, ctx) is None


def test_an_edited_task_trains_as_edited_and_says_so_on_its_model(application, demo_handle, tmp_path) -> None:
    draft = TaskDraft(
        question=NORTH, table="loan", outcome="loan_default", column="status", score=("D",), put_back=("client.gender",),
        taken_out=("duration",), split={"by": "time", "folds": 3},  # type: ignore[arg-type]
    )  # fmt: skip
    ctx, events = run(application, demo_handle, NORTH, tmp_path, given=GivenTask(draft=draft))
    done = events[-1]
    assert isinstance(done, ev.Done)
    assert done.state == "answered", done
    card = ctx.cache["_card"]
    names = {f.feature.name for f in card.features}
    assert "duration" not in names
    assert any("gender" in name for name in names)
    assert (card.folds, card.repeats) == (3, 1)
    said = " ".join(card.task.edits)
    for part in ("loans with status D", "client.gender (protected)", "duration", "stretches of date", "3 folds"):
        assert part in said, part
    left = {o.name: o.reason for o in card.left_out}
    assert left["duration"] == "by_hand"
    assert len(ctx.cache["last_predictions"]) == 45


def test_the_card_in_words_holds_every_part(application, demo_handle, tmp_path) -> None:
    ctx, _ = run(application, demo_handle, NORTH, tmp_path, review="always")
    lines = dict(task_lines(ctx.cache["_predictive"]))
    for about in ("Task", "Target", "For each", "Learned from", "Scored", "Cut-off", "Held out", "Columns used"):
        assert lines[about], about
    assert "client.gender" in lines["Left out, protected"]


def command(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    env = {**os.environ, "LEXSI_DS_HOME": str(home)}
    call = [sys.executable, "-m", "lexsi_ds", "ask", "predict default for each loan where status = D", *args]
    return subprocess.run(call, cwd=REPO, env=env, capture_output=True, text=True, timeout=180)


def test_the_command_line_stops_for_review_and_goes_on_from_a_file(shared_home, demo_handle, tmp_path) -> None:
    told = command(shared_home, "--review")
    assert told.returncode == 0, told.stderr
    for part in ("Columns used", "--approve", "--task task.json", "predict default FOR EACH loan WHERE status = D"):
        assert part in told.stdout, part
    body = json.loads(command(shared_home, "--review", "--json").stdout)
    assert body["state"] == "needs_clarification"
    assert body["task"]["waits"] is True
    body["task"]["draft"]["taken_out"] = ["amount"]
    task = tmp_path / "task.json"
    task.write_text(json.dumps(body))
    trained = json.loads(command(shared_home, "--task", str(task), "--json").stdout)
    assert trained["state"] == "answered"
    assert {"about": "Changed", "text": "Taken out by hand: amount."} in trained["task"]["lines"]
    task.write_text("no json")
    refused = command(shared_home, "--task", str(task))
    assert refused.returncode == 1
    assert "cannot be read as JSON" in refused.stderr


def test_the_preference_is_kept_for_the_person(application, demo_handle, tmp_path) -> None:
    actor = application.person()
    assert application.review(actor) == "doubtful"
    application.set_review(actor, always=True)
    try:
        _, events = run(application, demo_handle, NORTH, tmp_path)
        assert isinstance(events[-1], ev.Done)
        assert events[-1].offer == {"kind": "task"}
    finally:
        application.set_review(actor, always=False)
