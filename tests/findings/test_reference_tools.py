"""The findings tools as programs call them: what they answer, page by page, and what each of the two calls does."""

from __future__ import annotations

import threading

import pytest

from lexsi_ds.application import Application
from lexsi_ds.errors import Ambiguous, BadInput, InvalidCursor, NotFound, SqlRefused
from lexsi_ds.services.reference import ReferenceTools
from tests.findings.conftest import ADA, BEN, EVE, POSITIVE, SALES, Clock, Confirming, Importing, Json

TWO_STEP = ("propose_finding", "update_finding", "review_finding", "update_dataset_context", "update_workspace_context")


@pytest.fixture
def calls(app: Application, importing: Importing, tools: ReferenceTools) -> dict[str, Json]:
    """Arguments that each tool of two calls takes from Ada."""
    dataset = importing()
    finding = app.findings.propose(ADA, dataset_id=dataset, title="Prices", statement="Every price is positive.")
    space = app.workspaces.create(ADA, "Finance")
    tools.get_workspace_context(ADA, {"workspaceId": space.id})
    return {
        "propose_finding": {"dataset": dataset, "title": "Sizes", "statement": "Every size is positive."},
        "update_finding": {"dataset": dataset, "findingId": finding.id, "statement": "Every price is above zero."},
        "review_finding": {"dataset": dataset, "findingId": finding.id, "decision": "accept", "note": "Seen."},
        "update_dataset_context": {"dataset": dataset, "datasetContext": "Sales of houses."},
        "update_workspace_context": {"workspaceId": space.id, "content": "Revenue is net of refunds."},
    }


def _token(tools: ReferenceTools, tool: str, arguments: Json) -> str:
    return getattr(tools, tool)(ADA, arguments, via="mcp:test")["confirmationToken"]


def _confirm(tools: ReferenceTools, tool: str, arguments: Json, token: object, actor=ADA) -> Json:
    return getattr(tools, tool)(actor, {**arguments, "confirm": True, "confirmationToken": token}, via="mcp:test")


# -- preview and confirm -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TWO_STEP)
def test_a_preview_changes_nothing_and_the_confirmed_call_does(
    tools: ReferenceTools, app: Application, calls: dict[str, Json], tool: str
) -> None:
    arguments = calls[tool]
    dataset = arguments.get("dataset", "")
    before = tools.list_findings(ADA, {"dataset": dataset}) if dataset else None
    shown = getattr(tools, tool)(ADA, arguments, via="mcp:test")
    assert set(shown) == {"status", "proposal", "confirmationToken"} and shown["status"] == "preview"
    assert (tools.list_findings(ADA, {"dataset": dataset}) if dataset else None) == before
    done = _confirm(tools, tool, arguments, shown["confirmationToken"])
    assert done["status"] == "done"
    flag = {"propose_finding": "created", "review_finding": "reviewed"}.get(tool, "updated")
    assert done[flag] is True


@pytest.mark.parametrize("tool", TWO_STEP)
def test_a_replay_gets_the_first_answer_and_does_nothing_twice(
    tools: ReferenceTools, app: Application, calls: dict[str, Json], tool: str
) -> None:
    token = _token(tools, tool, calls[tool])
    first = _confirm(tools, tool, calls[tool], token)
    assert _confirm(tools, tool, calls[tool], token) == first
    if "finding" in first:
        steps = app.findings.history(ADA, first["finding"]["findingId"])
        assert len(steps) == len({s.action for s in steps})


@pytest.mark.parametrize("tool", TWO_STEP)
def test_a_token_is_good_for_five_minutes(
    tools: ReferenceTools, calls: dict[str, Json], clock: Clock, tool: str
) -> None:
    token = _token(tools, tool, calls[tool])
    clock.now += 301
    late = _confirm(tools, tool, calls[tool], token)
    assert (late["status"], late["reason"]) == ("confirmation_invalid", "expired")
    clock.now -= 2
    assert _confirm(tools, tool, calls[tool], token)["status"] == "done"


@pytest.mark.parametrize("tool", TWO_STEP)
@pytest.mark.parametrize("token", [None, "", "ct1", "ct1..", "ct1.e30.x", "x" * 1900, "ct1.eyJiIjoxfQ.AAAA", 7])
def test_a_token_that_is_none_of_ours_confirms_nothing(
    tools: ReferenceTools, calls: dict[str, Json], tool: str, token: object
) -> None:
    if token == 7:
        with pytest.raises(BadInput):
            _confirm(tools, tool, calls[tool], token)
        return
    answer = _confirm(tools, tool, calls[tool], token)
    assert (answer["status"], answer["reason"]) == ("confirmation_invalid", "malformed")


@pytest.mark.parametrize("tool", TWO_STEP)
def test_a_token_with_one_character_changed_confirms_nothing(
    tools: ReferenceTools, calls: dict[str, Json], tool: str
) -> None:
    token = _token(tools, tool, calls[tool])
    for at in range(4, len(token) - 1, 9):
        changed = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1:]
        assert _confirm(tools, tool, calls[tool], changed)["reason"] == "malformed"


ALTERED = {
    "propose_finding": {"title": "Other"}, "update_finding": {"title": "Added"}, "review_finding": {"decision": "reject"},
    "update_dataset_context": {"datasetContext": "Other."}, "update_workspace_context": {"content": "Other."},
}


@pytest.mark.parametrize("tool", TWO_STEP)
def test_a_token_is_for_its_arguments_its_person_and_its_tool(
    tools: ReferenceTools, app: Application, calls: dict[str, Json], tool: str
) -> None:
    _, source = app.datasets.resolve(ADA, calls["propose_finding"]["dataset"])
    app.sharing.grant(ADA, source.id, BEN.id, "edit")
    space = calls["update_workspace_context"]["workspaceId"]
    app.workspaces.set_member(ADA, space, BEN.id, "admin")
    token = _token(tools, tool, calls[tool])
    assert _confirm(tools, tool, calls[tool] | ALTERED[tool], token)["reason"] == "mismatch"
    assert _confirm(tools, tool, calls[tool], token, BEN)["reason"] == "mismatch"
    other = TWO_STEP[(TWO_STEP.index(tool) + 1) % len(TWO_STEP)]
    assert _confirm(tools, other, calls[other], token)["reason"] == "mismatch"
    assert _confirm(tools, tool, calls[tool], token)["status"] == "done"


def test_null_and_left_out_are_not_the_same_arguments(tools: ReferenceTools, calls: dict[str, Json]) -> None:
    token = _token(tools, "update_finding", calls["update_finding"])
    assert _confirm(tools, "update_finding", calls["update_finding"] | {"checkSql": None}, token)["reason"] == "mismatch"


def test_what_changed_since_the_preview_is_not_confirmed(
    tools: ReferenceTools, app: Application, calls: dict[str, Json]
) -> None:
    review = calls["review_finding"]
    token = _token(tools, "review_finding", review)
    finding = app.findings.get(ADA, review["findingId"])
    app.findings.edit(ADA, finding.id, finding.row_version, statement="Another rule.")
    assert _confirm(tools, "review_finding", review, token)["reason"] == "state_changed"
    assert app.findings.get(ADA, finding.id).review == "pending"
    text = calls["update_dataset_context"]
    token = _token(tools, "update_dataset_context", text)
    app.datasets.describe(ADA, text["dataset"], text="Somebody was quicker.")
    assert _confirm(tools, "update_dataset_context", text, token)["reason"] == "state_changed"


def test_the_rights_are_checked_again_when_it_is_confirmed(
    tools: ReferenceTools, app: Application, calls: dict[str, Json]
) -> None:
    _, source = app.datasets.resolve(ADA, calls["propose_finding"]["dataset"])
    app.sharing.grant(ADA, source.id, BEN.id, "edit")
    for tool in ("propose_finding", "update_finding", "review_finding", "update_dataset_context"):
        app.sharing.grant(ADA, source.id, BEN.id, "edit")
        token = getattr(tools, tool)(BEN, calls[tool], via="mcp:test")["confirmationToken"]
        app.sharing.grant(ADA, source.id, BEN.id, None)
        with pytest.raises(NotFound):
            _confirm(tools, tool, calls[tool], token, BEN)


def test_a_token_without_confirm_gives_a_fresh_preview(tools: ReferenceTools, calls: dict[str, Json]) -> None:
    arguments = calls["propose_finding"]
    token = _token(tools, "propose_finding", arguments)
    assert tools.propose_finding(ADA, {**arguments, "confirmationToken": token}, via="x")["status"] == "preview"


def test_two_confirmed_calls_at_once_do_it_once(
    tools: ReferenceTools, app: Application, calls: dict[str, Json]
) -> None:
    token, answers = _token(tools, "propose_finding", calls["propose_finding"]), []
    gate = threading.Barrier(4)

    def press() -> None:
        gate.wait()
        answers.append(_confirm(tools, "propose_finding", calls["propose_finding"], token))

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({a["finding"]["findingId"] for a in answers}) == 1 and all(a == answers[0] for a in answers)


# -- each tool -----------------------------------------------------------------------------------------------------------


def test_a_proposal_is_pending_its_check_has_run_and_a_retry_gives_the_first(
    confirming: Confirming, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing()
    asked = {"dataset": dataset, "title": "Prices", "statement": "Every sale has a price above zero.", "checkSql": POSITIVE,
             "columns": ["price"]}
    shown = tools.propose_finding(ADA, asked, via="x")["proposal"]
    assert shown["review"] == "pending" and shown["datasetId"] == dataset
    assert shown["finding"] == {"title": "Prices", "statement": "Every sale has a price above zero.", "columns": ["price"],
                                "checkSql": POSITIVE, "dependsOn": []}
    made = confirming("propose_finding", ADA, **asked)["finding"]
    assert (made["review"], made["verdict"], made["lastCheck"]["failureCount"]) == ("pending", "violated", 1)
    assert confirming("propose_finding", ADA, **asked)["finding"] == made
    confirming("update_finding", ADA, dataset=dataset, findingId=made["findingId"], title="Prices are positive")
    again = confirming("propose_finding", ADA, **asked)["finding"]
    assert again["findingId"] == made["findingId"] and again["title"] == "Prices are positive"
    assert tools.list_findings(ADA, {"dataset": dataset})["count"] == 1


def test_an_edit_shows_each_change_and_sends_back_to_review_unless_it_is_the_title(
    confirming: Confirming, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing()
    first = confirming("propose_finding", ADA, dataset=dataset, title="A", statement="A holds.")["finding"]
    second = confirming("propose_finding", ADA, dataset=dataset, title="B", statement="B holds.")["finding"]
    accepted = confirming("review_finding", ADA, dataset=dataset, findingId=second["findingId"], decision="accept")["finding"]
    assert (accepted["review"], accepted["reviewedBy"], accepted["reviewedVia"]) == ("accepted", "Ada", "mcp:test")
    retitled = confirming("update_finding", ADA, dataset=dataset, findingId=second["findingId"], title="B2")["finding"]
    assert (retitled["review"], retitled["version"]) == ("accepted", 2)
    asked = {"dataset": dataset, "findingId": second["findingId"], "dependsOn": [first["findingId"]]}
    shown = tools.update_finding(ADA, asked, via="x")["proposal"]
    assert shown["changes"] == {"dependsOn": {"current": [], "proposed": [{"findingId": first["findingId"], "title": "A"}]}}
    assert (shown["review"], shown["version"]) == ("accepted", 2) and "back to pending" in shown["message"]
    edited = confirming("update_finding", ADA, **asked)["finding"]
    assert (edited["review"], edited["dependsOn"]) == ("pending", [first["findingId"]])
    assert "Nothing would change" in tools.update_finding(ADA, asked, via="x")["proposal"]["message"]


def test_dependencies_stay_in_one_data_set_and_never_go_round(
    confirming: Confirming, importing: Importing, tools: ReferenceTools, app: Application
) -> None:
    dataset, other = importing(), importing("other")
    ids = [
        confirming("propose_finding", ADA, dataset=dataset, title=t, statement=f"{t} holds.")["finding"]["findingId"]
        for t in "ABC"
    ]
    confirming("update_finding", ADA, dataset=dataset, findingId=ids[1], dependsOn=[ids[0]])
    confirming("update_finding", ADA, dataset=dataset, findingId=ids[2], dependsOn=[ids[1], ids[1]])
    for wrong in ([ids[2]], [ids[0]], [ids[1]]):
        with pytest.raises(BadInput, match="circle"):
            tools.update_finding(ADA, {"dataset": dataset, "findingId": ids[0], "dependsOn": wrong}, via="x")
    elsewhere = confirming("propose_finding", ADA, dataset=other, title="X", statement="X.")["finding"]["findingId"]
    with pytest.raises(BadInput, match="no such finding of this data set"):
        tools.update_finding(ADA, {"dataset": dataset, "findingId": ids[0], "dependsOn": [elsewhere]}, via="x")
    rejected = app.findings.get(ADA, ids[2])
    app.findings.decide(ADA, ids[2], rejected.row_version, "rejected")
    with pytest.raises(BadInput, match="rejected finding"):
        tools.propose_finding(
            ADA, {"dataset": dataset, "title": "D", "statement": "D.", "dependsOn": [ids[2]]}, via="x"
        )


def test_a_review_shows_the_finding_as_it_stands_and_says_what_it_means(
    confirming: Confirming, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing()
    made = confirming("propose_finding", ADA, dataset=dataset, title="P", statement="P.", checkSql=POSITIVE)["finding"]
    shown = tools.review_finding(
        ADA, {"dataset": dataset, "findingId": made["findingId"], "decision": "accept", "note": "Known."}, via="mcp:x"
    )["proposal"]
    assert (shown["decision"], shown["note"]) == ("accept", "Known.")
    assert shown["finding"]["standing"] == "To review, check violated by 1 row"
    assert {"title", "statement", "columns", "checkSql", "verdict", "review", "version"} <= set(shown["finding"])


def test_the_chats_decision_waits_in_the_queue_and_a_persons_click_takes_it(
    confirming: Confirming, importing: Importing, app: Application
) -> None:
    dataset = importing()
    made = confirming("propose_finding", ADA, "chat", dataset=dataset, title="P", statement="P.")["finding"]
    answer = confirming("review_finding", ADA, "chat", dataset=dataset, findingId=made["findingId"], decision="accept", note="Yes")
    assert (answer["reviewed"], answer["queued"]) == (False, True)
    finding = app.findings.get(ADA, made["findingId"])
    assert finding.review == "pending" and finding.suggested is not None
    assert (finding.suggested.decision, finding.suggested.note, finding.suggested.via) == ("accepted", "Yes", "chat")
    taken = app.findings.decide(ADA, finding.id, finding.row_version, "accepted", via="ui")
    assert (taken.review, taken.reviewed_via, taken.suggested) == ("accepted", "ui", None)


def test_texts_of_a_data_set_are_shown_before_and_after(
    confirming: Confirming, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing()
    asked = {"dataset": dataset, "datasetContext": "Houses.", "columnDescriptions": {"city": "Where it is."}}
    shown = tools.update_dataset_context(ADA, asked, via="x")["proposal"]
    assert shown["datasetContext"] == {"current": "", "proposed": "Houses."}
    assert shown["columnDescriptions"] == {"city": {"current": "", "proposed": "Where it is."}}
    done = confirming("update_dataset_context", ADA, **asked)
    assert (done["datasetContext"], done["featureContexts"]) == ("Houses.", {"city": "Where it is."})
    with pytest.raises(BadInput, match="Nothing is to be edited"):
        tools.update_dataset_context(ADA, {"dataset": dataset}, via="x")


def test_findings_come_page_by_page_newest_first_each_once(
    app: Application, importing: Importing, tools: ReferenceTools
) -> None:
    dataset = importing()
    made = [
        app.findings.propose(ADA, dataset_id=dataset, title=f"Rule {i}", statement="S.", columns=("price",) if i % 2 else ()).id
        for i in range(23)
    ]
    app.findings.retire(ADA, made[3], 1)
    whole = tools.list_findings(ADA, {"dataset": dataset})
    assert [f["findingId"] for f in whole["findings"]] == made[::-1] and whole["count"] == whole["total"] == 23
    got, cursor = [], None
    while True:
        page = tools.list_findings(ADA, {"dataset": dataset, "limit": 5, "cursor": cursor})
        got += page["findings"]
        cursor = page.get("nextCursor")
        if len(got) == 10:
            app.findings.propose(ADA, dataset_id=dataset, title="Meanwhile", statement="S.")
        if cursor is None:
            break
    assert [f["findingId"] for f in got] == made[::-1]
    assert tools.list_findings(ADA, {"dataset": dataset, "column": "price"})["total"] == 11
    assert tools.list_findings(ADA, {"dataset": dataset, "status": "retired"})["findings"][0]["findingId"] == made[3]
    first = tools.list_findings(ADA, {"dataset": dataset, "limit": 5})["nextCursor"]
    for other in ({"dataset": dataset, "review": "pending"}, {"dataset": importing("other")}):
        with pytest.raises(InvalidCursor):
            tools.list_findings(ADA, {**other, "limit": 5, "cursor": first})


def test_arguments_that_are_none_are_refused_by_name(tools: ReferenceTools, importing: Importing) -> None:
    dataset = importing()
    for arguments, said in (
        ({"dataset": dataset, "title": "T"}, "statement"), ({"dataset": dataset, "title": "T", "statement": "S", "x": 1}, "x"),
        ({"dataset": dataset, "title": 7, "statement": "S"}, "title"), ({"dataset": "", "title": "T", "statement": "S"}, "dataset"),
    ):
        with pytest.raises(BadInput, match=said):
            tools.propose_finding(ADA, arguments, via="x")
    with pytest.raises(SqlRefused):
        tools.propose_finding(ADA, {"dataset": dataset, "title": "T", "statement": "S", "checkSql": "DROP TABLE dataset"}, via="x")


def test_a_name_that_fits_two_data_sets_is_not_picked(tools: ReferenceTools, importing: Importing) -> None:
    importing("twins", SALES), importing("twins", SALES)
    with pytest.raises(Ambiguous):
        tools.list_findings(ADA, {"dataset": "twins"})


# -- workspaces ------------------------------------------------------------------------------------------------------------


def test_a_context_that_somebody_else_saved_is_not_overwritten(
    app: Application, tools: ReferenceTools, confirming: Confirming
) -> None:
    from lexsi_ds.errors import Conflict

    space = app.workspaces.create(ADA, "Sales").id
    app.workspaces.set_member(ADA, space, BEN.id, "admin")
    read = tools.get_workspace_context(ADA, {"workspaceId": space})
    assert read == {"workspaceId": space, "content": "", "updatedBy": None, "updatedAt": None}
    done = confirming("update_workspace_context", ADA, workspaceId=space, content="# KPIs\nNet of refunds.")
    assert done["updatedBy"] == "Ada" and done["updatedAt"].endswith("Z")
    mine = {"workspaceId": space, "content": "Mine."}
    with pytest.raises(Conflict, match="Ada saved"):  # Ben never read it
        tools.update_workspace_context(BEN, mine, via="x")
    tools.get_workspace_context(BEN, {"workspaceId": space})
    token = tools.update_workspace_context(BEN, mine, via="x")["confirmationToken"]
    tools.get_workspace_context(ADA, {"workspaceId": space})
    confirming("update_workspace_context", ADA, workspaceId=space, content="Newer.")
    with pytest.raises(Conflict):
        _confirm(tools, "update_workspace_context", mine, token, BEN)
    assert tools.get_workspace_context(ADA, {"workspaceId": space})["content"] == "Newer."
    with pytest.raises(NotFound):
        tools.get_workspace_context(EVE, {"workspaceId": space})


def test_the_trail_says_who_confirmed_what_through_which_client(
    app: Application, importing: Importing, confirming: Confirming
) -> None:
    dataset = importing()
    confirming("propose_finding", ADA, "mcp:inspector", dataset=dataset, title="T", statement="A secret text.")
    lines, _ = app.audit.lines(ADA, action="propose_finding", limit=1)
    assert (lines[0].person, lines[0].via, lines[0].target, lines[0].outcome) == ("ada", "mcp:inspector", dataset, "done")
    assert "secret" not in str(lines[0])
