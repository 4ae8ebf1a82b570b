"""Findings through the chat: kept with a check that is made of the words, listed, and judged by a person alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexsi_ds.agent.loop import AgentLoop
from lexsi_ds.agent.planners.llm import LLMPlanner
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.llm.client import LLMClient
from lexsi_ds.services.access import LOCAL
from lexsi_ds.services.review_rules import ReviewRules
from lexsi_ds.settings import Settings
from tests.agent.endpoint import Endpoint
from tests.agent.test_offline import ask, tools


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(Settings(home=tmp_path_factory.mktemp("home"), sql_workers=1, _env_file=None))  # type: ignore[call-arg]
    yield made
    made.close()


@pytest.fixture(scope="module")
def handle(app: Application, tmp_path_factory: pytest.TempPathFactory) -> DatasetHandle:
    folder = tmp_path_factory.mktemp("shop")
    lines = [f"{i},{'North' if i % 3 else 'South'},{20 + i % 50},{'yes' if i % 16 == 0 else 'no'}" for i in range(800)]
    (folder / "customer.csv").write_text("customer_id,region,tenure,churned\n" + "\n".join(lines) + "\n")
    (folder / "invoice.csv").write_text("invoice_id,amount\n" + "\n".join(f"{i},{10 + i % 7}" for i in range(90)) + "\n")
    return app.catalog.import_source(LOCAL, "files", "shop", [folder / "customer.csv", folder / "invoice.csv"])


def asked(app: Application, handle: DatasetHandle, question: str) -> list[dict]:
    return ask(app, app.chats.new(LOCAL, handle.source_id), question, handle.source_id)


def kept(app: Application, handle: DatasetHandle, statement: str):
    return next(f for f in app.findings.list(LOCAL, source_id=handle.source_id) if f.statement == statement)


def test_a_band_in_words_becomes_a_check_with_the_observed_value_and_its_n(app: Application, handle: DatasetHandle) -> None:
    said = "the churn rate stays between 5% and 8%"
    events = asked(app, handle, f"Save as a finding: {said}")
    assert tools(events) == ["propose_finding"] and events[-1]["state"] == "answered", events[-1]
    assert "holds" in events[-1]["answer"] and "800" in events[-1]["answer"]
    found = kept(app, handle, said)
    assert (found.review, found.verdict, found.origin) == ("pending", "holds", "agent")
    assert found.band is not None and found.band.percent and (found.band.low, found.band.high) == (0.05, 0.08)
    assert found.last_check is not None and found.last_check.observed is not None
    assert (found.last_check.observed.value, found.last_check.observed.n) == (pytest.approx(50 / 800), 800)
    assert app.findings.history(LOCAL, found.id)[-1].via == "chat"


@pytest.mark.parametrize(
    ("statement", "low", "high", "strict", "verdict", "value"),
    [
        ("the average amount of invoices is at least 10", 10, None, False, "holds", None),
        ("the average tenure of customers stays above 60", 60, None, True, "violated", None),
        ("the average tenure of customers is between 40 and 50.", 40, 50, False, "holds", 44.5),
    ],
)
def test_bounds_of_one_side_and_of_other_figures(
    app: Application, handle: DatasetHandle, statement: str, low: float, high: float | None, strict: bool, verdict: str,
    value: float | None,
) -> None:
    events = asked(app, handle, f"please record a finding that {statement}")
    assert events[-1]["state"] == "answered", events[-1]["answer"]
    found = kept(app, handle, statement)
    assert found.band is not None and (found.band.low, found.band.high, found.band.strict) == (low, high, strict)
    assert found.verdict == verdict
    if value is not None and found.last_check is not None and found.last_check.observed is not None:
        assert found.last_check.observed.value == pytest.approx(value)
        assert found.last_check.observed.n == 800


@pytest.mark.parametrize(("statement", "low", "high", "verdict", "value", "n"), [
    ("fibre customers churn above 5%", 0.05, None, "holds", 34 / 400, 400),
    ("copper customers churn between 1% and 3%", 0.01, 0.03, "violated", 16 / 400, 400),
])  # fmt: skip
def test_a_group_that_does_something_is_a_share_of_it(app, tmp_path, statement, low, high, verdict, value, n) -> None:
    kinds = ("Fibre optic", "Copper line")  # 34 of the 400 on even rows churn, 16 of those on odd rows
    rows = [f"{i},{kinds[i % 2]},{'Yes' if i < (68 if i % 2 == 0 else 32) else 'No'}" for i in range(800)]
    (tmp_path / "customers.csv").write_text("customer_id,internet,churn\n" + "\n".join(rows) + "\n")
    data = app.catalog.import_source(LOCAL, "files", statement, [tmp_path / "customers.csv"])
    events = asked(app, data, f"Save as a finding: {statement}")
    found = kept(app, data, statement)
    assert found.band is not None and (found.band.low, found.band.high) == (low, high), events[-1]
    assert found.verdict == verdict and found.last_check is not None and found.last_check.observed is not None
    assert (found.last_check.observed.value, found.last_check.observed.n) == (pytest.approx(value), n)
    other = statement.replace("fibre", "fiber")  # the other side of the Atlantic
    assert asked(app, data, f"Save as a finding: {other}")[-1]["state"] == "answered" and kept(app, data, other).band is not None


def test_a_rule_is_read_by_itself_whatever_was_asked_before(app: Application, handle: DatasetHandle) -> None:
    conversation = app.chats.new(LOCAL, handle.source_id)
    ask(app, conversation, "How many customers by region?", handle.source_id)
    said = "the churn rate stays between 1% and 9%"
    assert ask(app, conversation, f"Save as a finding: {said}", handle.source_id)[-1]["state"] == "answered"
    found = kept(app, handle, said)
    assert found.last_check is not None and found.last_check.observed is not None and found.last_check.observed.n == 800


def test_findings_are_listed_with_what_they_say_by_their_state(app: Application, handle: DatasetHandle) -> None:
    asked(app, handle, "Save as a finding: the average amount of invoices is at least 11")
    listed = asked(app, handle, "which findings wait for review?")[-1]["answer"]
    assert "the average amount of invoices is at least 11 (pending, holds" in listed and listed.count("at least 11") == 1
    none = asked(app, handle, "what findings are accepted on the invoice table?")[-1]["answer"]
    assert none == "There is no accepted finding on invoice."


def test_a_sentence_without_a_band_is_kept_without_a_check_and_says_so(app: Application, handle: DatasetHandle) -> None:
    events = asked(app, handle, "Save as a finding on invoice: Amounts are in euro.")
    assert "no check" in events[-1]["answer"]
    found = kept(app, handle, "Amounts are in euro.")
    invoice = next(t for t in handle.tables if t.name == "invoice")
    assert found.check_sql is None and found.dataset_id == invoice.dataset_id
    unclear = asked(app, handle, "Save as a finding: Prices are net.")
    assert unclear[-1]["state"] == "cannot_answer" and "which table" in unclear[-1]["answer"]
    empty = asked(app, handle, "Save this as a finding")
    assert empty[-1]["state"] == "cannot_answer" and "Say what to keep" in empty[-1]["answer"]


def test_findings_are_listed_and_a_decision_waits_for_a_person(app: Application, handle: DatasetHandle) -> None:
    asked(app, handle, "Save as a finding on invoice: No invoice is free.")
    found = kept(app, handle, "No invoice is free.")
    listed = asked(app, handle, "Which findings on invoice are still waiting for review?")
    assert tools(listed) == ["list_findings"] and "No invoice is free" in listed[-1]["answer"]
    decided = asked(app, handle, "Accept the finding No invoice is free")
    assert tools(decided) == ["review_finding"] and "a person has to take the decision" in decided[-1]["answer"]
    waits = app.findings.get(LOCAL, found.id)
    assert waits.review == "pending" and waits.suggested is not None and waits.suggested.via == "chat"
    app.review_settings.change(LOCAL, ReviewRules(queued=()))
    try:
        asked(app, handle, "Reject the finding \"No invoice is free\"")
        assert (app.findings.get(LOCAL, found.id).review, app.findings.get(LOCAL, found.id).reviewed_via) == ("rejected", "chat")
    finally:
        app.review_settings.change(LOCAL, ReviewRules())


def test_a_model_keeps_and_judges_nothing_that_the_person_did_not_ask_for(
    app: Application, handle: DatasetHandle, tmp_path: Path
) -> None:
    before = len(app.findings.list(LOCAL, source_id=handle.source_id))
    call = {"thought": "", "tool": "propose_finding", "args": {"statement": "All is well.", "dataset": "invoice"}}
    with Endpoint([call, {"thought": "", "final_answer": "Done."}]) as endpoint:
        ctx = app.answering.context(handle, "run_y", tmp_path, actor=LOCAL)
        ctx.llm = LLMClient(endpoint.url, "scripted", "sk-secret", retries=0)
        list(AgentLoop(LLMPlanner(ctx.llm)).stream("How many invoices are there?", ctx))
    assert len(app.findings.list(LOCAL, source_id=handle.source_id)) == before
