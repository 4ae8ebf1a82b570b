"""What the loop enforces whoever plans: one disobedient planner a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.decisions import Answer
from tests.agent.scripted import NORTH_STAR, call, done, play, returned

pytestmark = pytest.mark.xdist_group("demo")


def _prediction_script(task):
    return [
        call("query_kg", search=NORTH_STAR),
        call("text_to_sql", question=NORTH_STAR, mode="predictive"),
        call("run_sql", sql="context_sql", label="context_df"),
        call("run_sql", sql="predict_sql", label="predict_df"),
        call(
            "train_tabular_model",
            df_label="context_df",
            target_column=task.target_column,
            entity_column=task.entity_column,
        ),
        call("predict", df_label="predict_df"),
    ]


@pytest.fixture(scope="module")
def task(application, demo_handle, tmp_path_factory):
    events, ctx, _ = play(
        application,
        demo_handle,
        tmp_path_factory.mktemp("task"),
        NORTH_STAR,
        [call("query_kg", search=NORTH_STAR), call("text_to_sql", question=NORTH_STAR, mode="predictive")],
    )
    assert returned(events)[-1].ok, returned(events)[-1].summary
    return ctx.cache["_task"]


def test_an_unknown_tool_is_answered_with_the_tools_there_are(application, demo_handle, tmp_path: Path) -> None:
    events, _, _ = play(application, demo_handle, tmp_path, "How many accounts?", [call("delete_everything")])
    assert not returned(events)[0].ok and "run_sql" in returned(events)[0].summary


def test_invalid_arguments_are_named(application, demo_handle, tmp_path: Path) -> None:
    events, _, _ = play(application, demo_handle, tmp_path, "How many accounts?", [call("run_sql", query="SELECT 1")])
    assert "sql" in returned(events)[0].summary and "query" in returned(events)[0].summary


def test_an_ambiguous_noun_needs_the_knowledge_graph_before_sql(application, demo_handle, tmp_path: Path) -> None:
    script = [
        call("text_to_sql", question="Which loans are in default?"),
        call("run_sql", sql="SELECT count(*) AS n FROM loan"),
        call("query_kg", search="Which loans are in default?"),
        call("run_sql", sql="SELECT count(*) AS n FROM loan"),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, "Which loans are in default?", script)
    assert [r.ok for r in returned(events)] == [False, False, True, True]
    assert "query_kg" in returned(events)[0].summary


def test_a_text_filter_needs_its_values_sampled_first(application, demo_handle, tmp_path: Path) -> None:
    sql = "SELECT count(*) AS n FROM account WHERE frequency = 'POPLATEK TYDNE'"
    script = [
        call("run_sql", sql=sql),
        call("sample_values", table="account", column="frequency"),
        call("run_sql", sql=sql + " "),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, "How many weekly accounts?", script)
    assert [r.ok for r in returned(events)] == [False, True, True]
    assert "sample_values" in returned(events)[0].summary


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM loan JOIN account USING (account_id)",
        "SELECT sum(CASE WHEN amount > 5 THEN 1 END) FROM loan",
        "SELECT count(*) FILTER (WHERE amount > 5) FROM loan",
    ],
)
def test_joins_and_conditional_aggregates_come_from_text_to_sql(
    application, demo_handle, tmp_path: Path, sql: str
) -> None:
    events, _, _ = play(application, demo_handle, tmp_path, "How many accounts?", [call("run_sql", sql=sql)])
    assert not returned(events)[0].ok and "text_to_sql" in returned(events)[0].summary


def test_an_empty_result_is_looked_at_again_before_an_answer(application, demo_handle, tmp_path: Path) -> None:
    empty = call("run_sql", sql="SELECT * FROM loan WHERE amount < 0")
    events, _, planner = play(
        application, demo_handle, tmp_path, "Any loans below zero?", [empty, Answer("There are none."), Answer("There are none.")]
    )
    assert planner.seen[0].steps[-1].refused and "gave no row" in planner.seen[0].steps[-1].summary
    assert done(events).state == "answered" and len(planner.seen) == 3
    looked = [empty, call("run_sql", sql="SELECT min(amount) AS least FROM loan"), Answer("There are none.")]
    _, _, planner = play(application, demo_handle, tmp_path, "Any loans below zero?", looked)
    assert len(planner.seen) == 3 and not any(s.refused for s in planner.seen[0].steps)


def test_a_label_is_not_a_table(application, demo_handle, tmp_path: Path) -> None:
    script = [
        call("run_sql", sql="SELECT * FROM loan", label="predict_df"),
        call("run_sql", sql="SELECT * FROM predict_df"),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, "Show the rows", script)
    assert [r.ok for r in returned(events)] == [True, False]
    assert "cache key" in returned(events)[1].summary


def test_a_planner_that_answers_after_predict_gets_the_narrative_anyway(
    application, demo_handle, tmp_path: Path, task
) -> None:
    script = [*_prediction_script(task), Answer("The predictions are cached, here are next steps.")]
    events, _, _ = play(application, demo_handle, tmp_path, NORTH_STAR, script)
    assert [r.name for r in returned(events)][-2:] == ["predict", "summarize_result"]
    assert done(events).state == "answered" and "ranked" in str(done(events).answer)


def test_after_predict_only_explain_may_come_before_summarize(application, demo_handle, tmp_path: Path, task) -> None:
    script = [
        *_prediction_script(task),
        call("inspect_data"),
        call("explain_prediction", top_k=2),
        call("summarize_result", question="q"),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, NORTH_STAR, script)
    last = returned(events)[-3:]
    assert [(r.name, r.ok) for r in last] == [
        ("inspect_data", False),
        ("explain_prediction", True),
        ("summarize_result", True),
    ]
    assert "summarize_result" in last[0].summary


def test_a_repeated_failing_call_is_answered_with_the_earlier_error_and_three_end_the_run(
    application, demo_handle, tmp_path: Path
) -> None:
    bad = call("run_sql", sql="SELECT nothing_like_this FROM account")
    events, _, planner = play(application, demo_handle, tmp_path, "How many accounts?", [bad] * 9)
    assert len(returned(events)) == 3 and done(events).state == "failed"
    assert "already answered" in returned(events)[1].summary
    assert len(planner.seen) == 3


def test_the_steps_run_out_and_one_final_answer_is_taken(application, demo_handle, tmp_path: Path) -> None:
    events, _, planner = play(
        application,
        demo_handle,
        tmp_path,
        "How many accounts?",
        [call("inspect_data", table_filter=[t.name]) for t in demo_handle.tables],
        max_steps=3,
    )
    assert done(events).state == "limit_reached" and planner.seen[-1].force_final
    assert len(returned(events)) == 3


def test_a_final_answer_loses_the_sentence_whose_number_no_tool_gave(application, demo_handle, tmp_path: Path) -> None:
    script = [
        call("run_sql", sql="SELECT count(*) AS n FROM account"),
        Answer("There are 4,500 accounts. About 77% are happy."),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, "How many accounts?", script)
    assert done(events).answer == "There are 4,500 accounts."
    assert done(events).removed == ["About 77% are happy."]


def test_an_answer_without_any_tool_is_a_refusal(application, demo_handle, tmp_path: Path) -> None:
    events, _, _ = play(
        application, demo_handle, tmp_path, "What's the meaning of life?", [Answer("That is not about this data.")]
    )
    assert done(events).state == "refused" and not returned(events)


def test_an_exception_without_a_message_still_says_something(
    application, demo_handle, tmp_path: Path, monkeypatch
) -> None:
    def empty(*_: object, **__: object) -> None:
        raise Exception("")

    monkeypatch.setattr(application.engine, "train", empty)
    script = [
        call("run_sql", sql="SELECT account_id, district_id, account_id % 2 AS weekly FROM account", label="x"),
        call("train_tabular_model", df_label="x", target_column="weekly"),
    ]
    events, _, _ = play(application, demo_handle, tmp_path, "How many accounts?", script)
    assert not returned(events)[1].ok and "train_tabular_model failed" in returned(events)[1].summary


def test_events_are_numbered_and_end_exactly_once(application, demo_handle, tmp_path: Path) -> None:
    events, ctx, _ = play(application, demo_handle, tmp_path, "How many accounts?", [call("inspect_data")])
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert {e.run_id for e in events} == {ctx.run_id} and isinstance(events[-1], ev.Done)
    assert [ev.parse(e.model_dump()) for e in events] == events
