"""The planner that asks a language model: JSON decisions over real HTTP, repaired when malformed, held to the rules."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from lexsi_ds.agent import events as ev
from lexsi_ds.agent.loop import AgentLoop, RunLimits
from lexsi_ds.agent.planners.llm import LLMPlanner, parse_decision
from lexsi_ds.agent.results import MemorySink
from lexsi_ds.llm.client import LLMClient
from tests.agent.endpoint import Endpoint, Entry
from tests.agent.scripted import NORTH_STAR, context, done, returned

pytestmark = pytest.mark.xdist_group("demo")
COUNT = {"thought": "count", "tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM account"}}


def test_the_tests_themselves_cannot_leave_loopback() -> None:
    import socket

    with pytest.raises(AssertionError, match="left loopback"):
        socket.create_connection(("192.0.2.1", 80), timeout=0.2)


def ask(application, demo_handle, folder: Path, question: str, script: Sequence[Entry], *, max_steps: int = 12):
    with Endpoint(script) as endpoint:
        ctx = context(application, demo_handle, folder)
        ctx.llm = LLMClient(endpoint.url, "scripted", "sk-very-secret", retries=0)
        loop = AgentLoop(LLMPlanner(ctx.llm), limits=RunLimits(max_steps=max_steps), sink=MemorySink())
        return list(loop.stream(question, ctx)), endpoint


def test_a_question_is_answered_by_decisions_of_the_model(application, demo_handle, tmp_path: Path) -> None:
    script = [COUNT, {"thought": "", "final_answer": "There are 4,500 accounts."}]
    events, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", script)
    assert done(events).answer == "There are 4,500 accounts." and done(events).state == "answered"
    usage = done(events).usage
    assert usage.pop("milliseconds") >= 0 and usage == {"prompt_tokens": 20, "completion_tokens": 10, "requests": 2}
    system = endpoint.requests[0]["messages"][0]["content"]
    assert "summarize_result" in system and "account (4500 rows)" in system
    assert endpoint.requests[0]["temperature"] == 0


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"thought": "x", "tool": "inspect_data", "args": {}}\n```',
        'Sure! Here it is: {"thought": "x", "tool": "inspect_data", "args": {}} Hope that helps.',
        '{"tool": "inspect_data"}',
    ],
)
def test_prose_or_a_fence_around_the_object_is_let_pass(reply: str) -> None:
    decision = parse_decision(reply)
    assert getattr(decision, "tool", None) == "inspect_data"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I think so.",
        "[1, 2]",
        '{"tool": 5}',
        '{"tool": "x", "args": [1]}',
        '{"final_answer": ""}',
        '{"thought": "cut',
    ],
)
def test_a_malformed_reply_says_what_to_mend(reply: str) -> None:
    with pytest.raises(ValueError, match=r"\S{4,}"):
        parse_decision(reply)


def test_a_malformed_reply_gets_one_precise_message_and_the_run_goes_on(
    application, demo_handle, tmp_path: Path
) -> None:
    script = ["No JSON here.", COUNT, {"thought": "", "final_answer": "There are 4,500 accounts."}]
    events, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", script)
    assert done(events).state == "answered"
    assert "no JSON object" in endpoint.requests[1]["messages"][-1]["content"]


def test_a_model_that_never_gives_json_ends_the_run_as_failed(application, demo_handle, tmp_path: Path) -> None:
    events, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", ["nonsense"] * 9)
    assert done(events).state == "failed" and len(endpoint.requests) == 3
    assert any(isinstance(e, ev.Failed) and "no usable decision" in e.message for e in events)


@pytest.mark.parametrize(("status", "words"), [(401, "refused the key"), (500, "status 500"), (429, "status 429")])
def test_an_endpoint_that_fails_is_named_without_the_key(
    application,
    demo_handle,
    tmp_path: Path,
    status: int,
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    events, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", [status])
    message = next(e.message for e in events if isinstance(e, ev.Failed))
    assert words in message and done(events).state == "failed"
    assert endpoint.keys == ["Bearer sk-very-secret"]
    assert "sk-very-secret" not in message + caplog.text + repr([e.model_dump() for e in events])


def test_a_dead_endpoint_is_a_clear_failure(application, demo_handle, tmp_path: Path) -> None:
    ctx = context(application, demo_handle, tmp_path)
    ctx.llm = LLMClient("http://127.0.0.1:9/v1", "nobody", retries=0)
    events = list(AgentLoop(LLMPlanner(ctx.llm)).stream("How many accounts?", ctx))
    assert done(events).state == "failed" and "cannot be reached" in next(
        e.message for e in events if isinstance(e, ev.Failed)
    )


def test_at_the_step_limit_one_final_answer_is_forced(application, demo_handle, tmp_path: Path) -> None:
    looks = [{"tool": "inspect_data", "args": {"table_filter": [t.name]}} for t in demo_handle.tables[:3]]
    events, endpoint = ask(
        application,
        demo_handle,
        tmp_path,
        "How many accounts?",
        [*looks, {"final_answer": "I could not find out."}],
        max_steps=3,
    )
    assert done(events).state == "limit_reached" and done(events).answer == "I could not find out."
    assert "No step is left" in endpoint.requests[-1]["messages"][-1]["content"]


def test_no_payload_beyond_the_preview_reaches_a_prompt(application, demo_handle, tmp_path: Path) -> None:
    script = [
        {"tool": "run_sql", "args": {"sql": "SELECT account_id + 7000000 AS marker FROM account ORDER BY account_id"}},
        {"final_answer": "Done."},
    ]
    events, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", script)
    assert returned(events)[0].ok
    shown = [n for n in range(7_000_001, 7_020_000) if str(n) in endpoint.prompts()]
    assert 0 < len(shown) <= 20


def test_masked_values_never_reach_a_prompt(application, demo_handle, tmp_path: Path) -> None:
    secret = application.sql.frame(demo_handle, "SELECT birth_number FROM client ORDER BY client_id LIMIT 1").iloc[0, 0]
    script = [
        {"tool": "run_sql", "args": {"sql": "SELECT birth_number AS x FROM client ORDER BY client_id"}},
        {"tool": "run_sql", "args": {"sql": "SELECT * FROM client ORDER BY client_id"}},
        {"tool": "sample_values", "args": {"table": "client", "column": "birth_number"}},
        {"final_answer": "Done."},
    ]
    _, endpoint = ask(application, demo_handle, tmp_path, "How many accounts?", script)
    assert str(secret) not in endpoint.prompts()


def test_the_model_runs_the_north_star_and_its_final_text_is_held_to_the_facts(
    application, demo_handle, tmp_path: Path
) -> None:
    script: list[Entry] = [
        {"tool": "inspect_data", "args": {}},
        {"tool": "query_kg", "args": {"search": NORTH_STAR}},
        {"tool": "text_to_sql", "args": {"question": NORTH_STAR, "mode": "predictive"}},
        {"tool": "run_sql", "args": {"sql": "context_sql", "label": "context_df"}},
        {"tool": "run_sql", "args": {"sql": "predict_sql", "label": "predict_df"}},
        {
            "tool": "train_tabular_model",
            "args": {"df_label": "context_df", "target_column": "y_default", "entity_column": "loan_id"},
        },
        {"tool": "predict", "args": {"df_label": "predict_df"}},
        {"tool": "explain_prediction", "args": {}},
        {"tool": "summarize_result", "args": {"question": NORTH_STAR}},
        "A fine list of 403 loans. And 99.123% of them will default.",  # the summarizer's own reply
        {"final_answer": "403 loans are ranked. I am 99.123% sure."},
    ]
    events, endpoint = ask(application, demo_handle, tmp_path, NORTH_STAR, script)
    assert [r.ok for r in returned(events)] == [True] * 9
    assert done(events).answer == "403 loans are ranked."
    assert any("99.123" in r for r in done(events).removed)
    hidden, prompts = _hidden_values(application, events), endpoint.prompts()
    assert hidden and not [v for v in hidden if f"{v:.8f}"[:-1] in prompts or re.search(rf"(?<!\d){v:.5f}(?!\d)", prompts)]


def _hidden_values(application, events) -> list[float]:
    """Cells of the payloads that no summary shows."""
    card = application.models.latest(application.person(), application.catalog.ensure_demo(application.person()).source_id)
    predictions = application.models.latest_predictions(application.person(), card.id)
    frame, _ = application.models.page(application.person(), predictions.id, offset=20, limit=400)
    assert returned(events)
    return [float(value) for value in frame["probability"]]


def test_the_configured_endpoint_plans_for_the_application(application, demo_handle, tmp_path: Path, monkeypatch) -> None:
    from lexsi_ds.agent.answering import Answering

    script = [COUNT, {"thought": "", "final_answer": "There are 4,500 accounts."}] * 2
    with Endpoint(script) as endpoint:
        settings = application.settings.model_copy(
            update={"llm_base_url": endpoint.url, "llm_model": "scripted", "llm_tools": "json"}
        )
        answering = Answering(settings, application.sql, application.engine, application.models, application.explanations)
        for _ in range(2):
            ctx = answering.context(demo_handle, "run_x", tmp_path)
            end = answering.loop(ctx).run("How many accounts?", ctx)
            assert end.answer == "There are 4,500 accounts." and end.usage["requests"] == 2
