"""The judge of the demo bank's questions: what it calls right, wrong, abstained, asked and failed, on real runs."""

from __future__ import annotations

import json

import pytest

from bench.asking import Chat, Told
from bench.pkdd.__main__ import chosen, main, same
from bench.pkdd.items import Item, load
from bench.pkdd.running import Runner
from bench.pkdd.variants import WAYS, variants
from bench.verdict import Judged, Verdict, no_answer, table, tools_fit
from lexsi_ds.application import Application
from lexsi_ds.settings import Settings
from tests.agent.endpoint import Endpoint

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def runner(application, tmp_path_factory) -> Runner:
    return Runner(application, tmp_path_factory.mktemp("bench"))


def judged(runner: Runner, **fields: object) -> Judged:
    item = Item.model_validate({"id": "t", "kind": "simple", "question": "How many loans are there?"} | fields)
    return next(iter(runner.run([item])))


def test_the_golds_rows_are_right_and_come_by_the_expected_tools(runner: Runner) -> None:
    one = judged(runner, gold="SELECT count(*) FROM loan")
    assert (one.verdict, one.tools_fit) == (Verdict("right"), True)
    assert one.tools[-3:] == ("text_to_sql", "run_sql", "summarize_result") and one.seconds > 0


def test_other_rows_are_a_wrong_result(runner: Runner) -> None:
    one = judged(runner, gold="SELECT count(*) + 1 FROM loan")
    assert (one.verdict.outcome, one.verdict.reason) == ("wrong", "wrong_result")


def test_another_good_reading_is_right_too(runner: Runner) -> None:
    assert judged(runner, gold="SELECT 1", readings=["SELECT count(*) FROM loan"]).verdict.outcome == "right"


def test_an_answer_that_lacks_a_needed_warning_is_wrong(runner: Runner) -> None:
    one = judged(runner, gold="SELECT count(*) FROM loan", says="not mature")
    assert (one.verdict.outcome, one.verdict.reason) == ("wrong", "wrong_text")


def test_an_answer_where_none_can_be_is_wrong(runner: Runner) -> None:
    one = judged(runner, expect="abstain")
    assert (one.verdict.outcome, one.verdict.reason) == ("wrong", "should_have_abstained")


def test_saying_that_it_cannot_be_answered_is_right_only_where_it_cannot(runner: Runner) -> None:
    question = "How many zorblaxes are there?"
    assert judged(runner, question=question, expect="abstain").verdict == Verdict("right")
    missed = judged(runner, question=question, gold="SELECT count(*) FROM loan").verdict
    assert (missed.outcome, missed.reason) == ("abstained", "abstained")


def test_a_missing_word_in_a_refusal_is_told_apart(runner: Runner) -> None:
    one = judged(runner, question="How many zorblaxes are there?", expect="abstain", says="document")
    assert (one.verdict.outcome, one.verdict.reason) == ("abstained", "wrong_text")


def test_other_tools_than_expected_are_said(runner: Runner) -> None:
    one = judged(runner, gold="SELECT count(*) FROM loan", tools=["run_sql"])
    assert (one.verdict.outcome, one.verdict.reason, one.tools_fit) == ("right", "wrong_tool_sequence", False)


def test_a_run_that_breaks_is_a_result_and_not_the_end_of_the_bench(runner: Runner) -> None:
    one = judged(runner, gold="SELECT no_such_column FROM loan")
    assert (one.verdict.outcome, one.verdict.reason) == ("failed", "crashed")


def test_a_scripted_call_is_judged_by_whether_it_worked_and_what_it_said(runner: Runner) -> None:
    call = {"tool": "sample_values", "args": {"table": "card", "column": "type"}}
    assert judged(runner, calls=[call], says="classic").verdict == Verdict("right")
    assert judged(runner, calls=[call], says="platinum").verdict.reason == "wrong_text"
    assert judged(runner, calls=[call], expect="tool_error").verdict.reason == "wrong_result"


def test_two_questions_can_follow_the_same_one(application, demo_handle) -> None:
    first = Chat(application, demo_handle.source_id)
    assert first.ask("How many loans are there?").rows == [(682,)]
    copies = [first.fork(), first.fork()]
    answers = [copy.ask("by status") for copy in copies]
    assert answers[0].rows == answers[1].rows and len(answers[0].rows or ()) == 4


def test_a_question_that_takes_too_long_is_stopped(application, demo_handle) -> None:
    told = Chat(application, demo_handle.source_id).ask("How many loans are there?", timeout_s=0.0)
    verdict = no_answer(told)
    assert verdict is not None and (verdict.outcome, verdict.reason) == ("failed", "timeout")


def test_a_configured_model_is_asked_and_its_tokens_are_counted(shared_home, demo_handle, tmp_path) -> None:
    count = {"thought": "count", "tool": "run_sql", "args": {"sql": "SELECT count(*) AS n FROM loan"}}
    with Endpoint([count, {"thought": "", "final_answer": "There are 682 loans."}]) as endpoint:
        app = Application(Settings(home=shared_home, llm_base_url=endpoint.url, llm_model="scripted", llm_tools="json"))
        try:
            one = judged(Runner(app, tmp_path), gold="SELECT count(*) FROM loan")
        finally:
            app.close()
    assert (one.verdict.outcome, one.verdict.reason, one.tokens) == ("right", "wrong_tool_sequence", 30)


def test_passes_that_differ_give_an_exit_status(capsys) -> None:
    def once(signature: str) -> list[Judged]:
        return [Judged("a", "simple", "q", Verdict("right"), signature=signature)]

    assert same([once("x"), once("x")]) == 0 and same([once("x"), once("y")]) == 1
    assert "not the same: a" in capsys.readouterr().out


def test_a_sample_of_every_kind_runs_without_a_wrong_answer(runner: Runner) -> None:
    kinds = ("simple", "joins", "windows", "existence", "nested", "ratios", "time", "followup", "unanswerable", "tools")
    results = list(runner.run(chosen(load(), kinds, (), 2)))
    assert len(results) == 2 * len(kinds)
    assert [r for r in results if r.verdict.outcome in ("wrong", "failed")] == []


def test_the_command_prints_the_table_and_writes_its_verdicts(shared_home, demo_handle, tmp_path, capsys) -> None:
    file = tmp_path / "verdicts.json"
    assert main(["--id", "simple-02", "--repeat", "2", "--json", str(file), "--home", str(shared_home)]) == 0
    printed = capsys.readouterr().out
    assert "1 items, planner: Offline" in printed and "1 questions: right 100.0%" in printed and "identical" in printed
    assert [v["verdict"]["outcome"] for v in json.loads(file.read_text(encoding="utf-8"))] == ["right"]


def test_variants_keep_the_gold_and_change_the_words() -> None:
    item = Item(id="a", kind="simple", question="Average loan amount by region", gold="SELECT 1")
    made = {v.id: v for v in variants([item, Item(id="b", kind="simple", question="tell me a joke", expect="abstain")])}
    assert set(made) == {f"a-{name}" for name in WAYS}
    assert made["a-upper"].question == "AVERAGE LOAN AMOUNT BY REGION" and made["a-upper"].gold == "SELECT 1"
    assert made["a-swapped"].question == "Avearge loan amount by region"
    assert made["a-doubled"].question == "Averrage loan amount by region"


def test_said_otherwise_a_question_has_the_same_answer(runner: Runner) -> None:
    results = list(runner.run(list(variants(chosen(load(), (), ("simple-02", "joins-01", "time-01"), None)))))
    assert len(results) >= 15 and [r for r in results if r.verdict.outcome in ("wrong", "failed")] == []


@pytest.mark.parametrize(
    ("expected", "ran", "fits"),
    [
        (("text_to_sql", "run_sql"), ("query_kg", "text_to_sql", "run_sql"), True),
        (("text_to_sql", "run_sql"), ("run_sql", "text_to_sql"), False),
        (("text_to_sql", "run_sql"), ("text_to_sql", "run_sql", "run_sql"), False),
        (("predict", "explain_prediction?", "summarize_result"), ("predict", "summarize_result"), True),
        (("query_kg",), ("inspect_data",), False),
        ((), ("inspect_data",), True),
        ((), ("run_sql",), False),
    ],
)
def test_tools_must_run_in_order_and_looking_is_free(expected: tuple[str, ...], ran: tuple[str, ...], fits: bool) -> None:
    assert tools_fit(expected, ran) is fits


@pytest.mark.parametrize(
    ("state", "tool", "reason"),
    [
        ("failed", "run_sql", "sql_error"), ("failed", "predict", "crashed"), ("limit_reached", "run_sql", "timeout"),
        ("interrupted", "", "crashed"),
    ],
)
def test_what_broke_has_a_name(state: str, tool: str, reason: str) -> None:
    calls = [{"type": "tool_result", "name": tool, "ok": False, "summary": "no"}] if tool else []
    verdict = no_answer(Told("q", "", [*calls, {"type": "done", "state": state, "answer": None}], (), 0.0))
    assert verdict is not None and (verdict.outcome, verdict.reason) == ("failed", reason)


def test_the_table_counts_by_kind_and_says_the_rates() -> None:
    text = table([
        Judged("a", "simple", "q", Verdict("right"), (), True, 0.1),
        Judged("b", "simple", "q", Verdict("wrong", "wrong_result"), (), None, 0.3),
        Judged("c", "joins", "q", Verdict("abstained", "abstained"), (), None, 0.2),
    ])  # fmt: skip
    assert "3 questions: right 33.3%, wrong 33.3%, abstained 33.3%" in text and "wrong_result 1" in text and "1/1" in text
