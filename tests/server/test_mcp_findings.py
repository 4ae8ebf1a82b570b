"""Findings and texts through MCP: preview, confirm, and every way in which a token must not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.settings import Settings
from tests.server.conftest import ADA, BEN, READER
from tests.server.test_mcp_tools import call, done, ds, refused


@pytest.fixture
def app(tmp_path: Any) -> Iterator[Application]:
    """A home with one small source of Ada."""
    opened = Application(Settings(home=tmp_path / "home", sql_workers=1))
    (tmp_path / "sales.csv").write_text("id,price\n1,10\n2,20\n3,-5\n")
    opened.catalog.import_source(ADA, "files", "shop", [tmp_path / "sales.csv"])
    yield opened
    opened.close()


PROPOSAL = {
    "dataset": "sales",
    "title": "Prices are positive",
    "statement": "Every sale has a price above zero.",
    "columns": ["price"],
    "checkSql": "SELECT * FROM dataset WHERE price <= 0",
}


def preview(app: Application, tool: str, arguments: dict[str, Any], actor: Actor = ADA) -> str:
    body = done(call(app, tool, arguments, actor))
    assert body["status"] == "preview" and body["proposal"]
    return body["confirmationToken"]


def confirm(app: Application, tool: str, arguments: dict[str, Any], token: Any, actor: Actor = ADA) -> dict[str, Any]:
    return done(call(app, tool, arguments | {"confirm": True, "confirmationToken": token}, actor))


def propose(app: Application, **changed: Any) -> dict[str, Any]:
    arguments = PROPOSAL | changed
    return confirm(app, "propose_finding", arguments, preview(app, "propose_finding", arguments))["finding"]


def findings(app: Application) -> list[dict[str, Any]]:
    return done(call(app, "list_findings", {"dataset": "sales"}))["findings"]


def test_a_finding_is_proposed_checked_edited_and_reviewed_each_in_two_calls(app: Application) -> None:
    token = preview(app, "propose_finding", PROPOSAL)
    assert findings(app) == [], "a preview changes nothing"
    made = confirm(app, "propose_finding", PROPOSAL, token)
    assert made["created"] and made["finding"]["review"] == "pending"
    assert made["finding"]["verdict"] == "violated" and made["finding"]["lastCheck"]["failureCount"] == 1
    finding_id = made["finding"]["findingId"]
    edit = {"dataset": "sales", "findingId": finding_id, "title": "Prices above zero"}
    assert confirm(app, "update_finding", edit, preview(app, "update_finding", edit))["finding"]["title"] == "Prices above zero"
    review = {"dataset": "sales", "findingId": finding_id, "decision": "accept"}
    reviewed = confirm(app, "review_finding", review, preview(app, "review_finding", review))
    assert reviewed["reviewed"] and reviewed["finding"]["review"] == "accepted"
    assert reviewed["finding"]["reviewedVia"].startswith("mcp:"), "the record says through which client a decision came"
    described = done(call(app, "describe_dataset", {"dataset": "sales"}))
    assert [f["title"] for f in described["findings"]] == ["Prices above zero"]


def test_a_confirmed_call_that_is_sent_again_does_nothing_twice(app: Application) -> None:
    token = preview(app, "propose_finding", PROPOSAL)
    first, again = (confirm(app, "propose_finding", PROPOSAL, token) for _ in range(2))
    assert first == again and len(findings(app)) == 1


@pytest.mark.parametrize("token", [None, "", "x", "ct1..", "ct1.e30.e30", "\u202e", "a" * 1999])
def test_a_forged_token_changes_nothing(app: Application, token: Any) -> None:
    body = confirm(app, "propose_finding", PROPOSAL, token)
    assert body["status"] == "confirmation_invalid" and body["message"] and findings(app) == []


ALTERED = [{"title": "Another"}, {"checkSql": "SELECT * FROM dataset"}, {"columns": []}, {"statement": "Nothing is true."}]


@pytest.mark.parametrize("changed", ALTERED)
def test_a_token_does_not_fit_altered_arguments(app: Application, changed: dict[str, Any]) -> None:
    token = preview(app, "propose_finding", PROPOSAL)
    assert confirm(app, "propose_finding", PROPOSAL | changed, token)["status"] == "confirmation_invalid"
    assert (
        confirm(app, "propose_finding", {k: v for k, v in PROPOSAL.items() if k != "checkSql"}, token)["status"]
        == "confirmation_invalid"
    )
    assert findings(app) == []


def test_a_token_does_not_fit_another_person_another_tool_or_another_target(app: Application) -> None:
    one, two = propose(app), propose(app, title="Another")
    edit = {"dataset": "sales", "findingId": one["findingId"], "title": "Changed"}
    token = preview(app, "update_finding", edit)
    assert confirm(app, "update_finding", edit | {"findingId": two["findingId"]}, token)["status"] == "confirmation_invalid"
    review = {"dataset": "sales", "findingId": one["findingId"], "decision": "accept"}
    assert confirm(app, "review_finding", review, token)["status"] == "confirmation_invalid"
    stranger = call(app, "update_finding", edit | {"confirm": True, "confirmationToken": token}, replace(BEN, id="cyd"))
    assert refused(stranger)["code"] == "not_found"
    assert {f["title"] for f in findings(app)} == {"Prices are positive", "Another"}


def test_a_token_ends_after_five_minutes(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    confirmations = app.reference._confirmations
    token, now = preview(app, "propose_finding", PROPOSAL), confirmations._clock()
    monkeypatch.setattr(confirmations, "_clock", lambda: now + 301)
    body = confirm(app, "propose_finding", PROPOSAL, token)
    assert body["status"] == "confirmation_invalid" and body["reason"] == "expired" and findings(app) == []


def test_what_changed_since_the_preview_is_not_overwritten(app: Application) -> None:
    finding_id = propose(app)["findingId"]
    mine = {"dataset": "sales", "findingId": finding_id, "title": "Mine"}
    other = {"dataset": "sales", "findingId": finding_id, "statement": "Prices are above nothing."}
    token = preview(app, "update_finding", mine)
    confirm(app, "update_finding", other, preview(app, "update_finding", other))
    body = confirm(app, "update_finding", mine, token)
    assert (
        body["status"] == "confirmation_invalid" and body["reason"] == "state_changed" and findings(app)[0]["title"] != "Mine"
    )


def test_the_right_is_looked_at_again_when_a_call_is_confirmed(app: Application) -> None:
    token = preview(app, "propose_finding", PROPOSAL)
    answer = call(app, "propose_finding", PROPOSAL | {"confirm": True, "confirmationToken": token}, READER)
    assert refused(answer)["code"] == "insufficient_scope" and findings(app) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "DELETE FROM dataset",
        "SELECT 1; SELECT 2",
        "SELECT * FROM other",
        "SELECT getenv('HOME')",
        "COPY dataset TO '/tmp/x'",
        "SELECT * FROM read_parquet('*')",
        "",
        "SELECT",
    ],
)
def test_a_check_that_reaches_for_more_is_refused_or_ends_in_error(app: Application, sql: str) -> None:
    arguments = PROPOSAL | {"checkSql": sql}
    answer = call(app, "propose_finding", arguments)
    if answer.is_error:
        assert refused(answer)["code"] in ("sql_refused", "sql_failed", "bad_input")
        return
    made = confirm(app, "propose_finding", arguments, answer.structured_content["confirmationToken"])["finding"]
    assert made["verdict"] in ("error", "unchecked") and "failureCount" not in (made["lastCheck"] or {})


def test_texts_are_described_in_two_calls(app: Application) -> None:
    arguments = {"dataset": "sales", "datasetContext": "What was sold.", "columnDescriptions": {"price": "In crowns."}}
    token = preview(app, "update_dataset_context", arguments)
    assert done(call(app, "describe_dataset", {"dataset": "sales"}))["datasetContext"] == ""
    assert confirm(app, "update_dataset_context", arguments, token)["featureContexts"] == {"price": "In crowns."}


def test_a_workspace_context_is_read_written_and_never_overwritten_unread(app: Application) -> None:
    person = app.person()
    workspace = done(call(app, "list_workspaces", actor=person))["workspaces"][0]["workspaceId"]
    assert done(call(app, "get_workspace_context", {"workspaceId": workspace}, person))["content"] == ""
    first = {"workspaceId": workspace, "content": "Revenue is net of refunds."}
    assert confirm(app, "update_workspace_context", first, preview(app, "update_workspace_context", first, person), person)[
        "updated"
    ]
    read = done(call(app, "get_workspace_context", {"workspaceId": workspace}, person))
    assert read["content"] == first["content"] and read["updatedBy"]
    token = preview(app, "update_workspace_context", first | {"content": "Mine."}, person)
    app.workspaces.write_context(person, workspace, "Theirs.", app.workspaces.get(person, workspace).version)
    mine = first | {"content": "Mine.", "confirm": True, "confirmationToken": token}
    assert refused(call(app, "update_workspace_context", mine, person))["code"] == "conflict"
    assert refused(call(app, "get_workspace_context", {"workspaceId": workspace}, BEN))["code"] == "not_found"


def test_more_than_five_hundred_findings_are_read_page_by_page(app: Application) -> None:
    dataset_id = ds(app, "sales")
    for n in range(510):
        app.findings.propose(ADA, dataset_id=dataset_id, title=f"Rule {n}", statement=f"Rule {n} holds.")
    seen, cursor = [], None
    while True:
        body = done(call(app, "list_findings", {"dataset": "sales", "limit": 200} | ({"cursor": cursor} if cursor else {})))
        assert body["total"] == 510
        seen += [f["title"] for f in body["findings"]]
        if (cursor := body.get("nextCursor")) is None:
            break
        other = call(app, "list_findings", {"dataset": "sales", "review": "pending", "cursor": cursor})
        assert refused(other)["code"] == "invalid_cursor", "a cursor holds for its filters alone"
    assert seen == [f"Rule {n}" for n in reversed(range(510))]


def test_an_api_key_opens_what_its_scopes_say_and_nothing_once_it_is_revoked(app: Application) -> None:
    person = app.person()
    record, secret = app.api_keys.create(person, "reader", ["datasets:read"])
    actor = app.api_keys.actor(secret)
    assert actor is not None
    from tests.server.test_mcp_tools import with_client

    names = {t.name for t in with_client(app, actor, lambda client: client.list_tools()).tools}
    assert "list_findings" in names and not names & {
        "propose_finding",
        "review_finding",
        "ingest_tables",
        "train",
        "update_workspace_context",
    }
    app.api_keys.revoke(person, record.id)
    assert app.api_keys.actor(secret) is None
