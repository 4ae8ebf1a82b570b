from __future__ import annotations

from collections.abc import Callable

import pytest

from lexsi_ds.data.sql import SqlRunner
from lexsi_ds.errors import BadInput, Conflict, Denied, NotFound, SqlRefused
from lexsi_ds.ids import new_id
from lexsi_ds.services.access import LOCAL, Actor
from lexsi_ds.services.finding import Finding
from lexsi_ds.services.findings import Findings
from lexsi_ds.store.db import Store

from .conftest import ADA, BEN, OwnsAll, Shelf

LOANS = "SELECT i AS loan_id, i * 100 AS amount, 'C' AS status, 7000000 + i AS birth_number FROM range(1, 2001) t(i)"
POSITIVE = "SELECT * FROM dataset WHERE amount <= 0"
SMALL = "SELECT * FROM dataset WHERE amount < 150000"


@pytest.fixture
def findings(store: Store, shelf: Shelf, sql: SqlRunner) -> Findings:
    return Findings(store, shelf, sql, OwnsAll())


@pytest.fixture
def propose(findings: Findings, shelf: Shelf) -> Callable[..., Finding]:
    def make(check: str | None = POSITIVE, **changes: object) -> Finding:
        asked: dict = {"title": "Amounts are positive", "statement": "Every loan has a positive amount."}
        asked |= {"dataset_id": changes.pop("dataset_id", None) or shelf.put(LOANS).dataset_id}
        return findings.propose(ADA, check_sql=check, **{**asked, **changes})

    return make


# -- proposing and checks --------------------------------------------------------------------------------------------


def test_a_proposal_is_pending_and_its_check_has_run_once(propose: Callable[..., Finding]) -> None:
    finding = propose(columns=("Amount",))
    assert (finding.review, finding.status, finding.version, finding.row_version) == ("pending", "active", 1, 1)
    assert finding.columns == ("amount",)
    assert finding.verdict == "holds" and finding.last_check is not None
    assert (finding.last_check.failure_count, finding.last_check.rows_checked) == (0, 2000)
    assert (finding.last_check.dataset_version, finding.last_check.vacuous) == (1, False)
    assert (finding.segment, finding.headline) == ("to_review", "To review, check holds")


def test_violating_rows_are_counted_in_full(propose: Callable[..., Finding]) -> None:
    finding = propose(SMALL)
    assert finding.last_check is not None and finding.last_check.failure_count == 1499
    assert finding.headline == "To review, check violated by 1,499 rows"


def test_one_violating_row_is_told_in_the_singular(propose: Callable[..., Finding]) -> None:
    assert propose("SELECT * FROM loan WHERE loan_id = 7").headline == "To review, check violated by 1 row"


def test_a_check_may_end_in_a_comment_or_a_semicolon(propose: Callable[..., Finding]) -> None:
    assert propose(POSITIVE + " -- nothing below zero").verdict == "holds"
    assert propose(POSITIVE + ";", title="Again").verdict == "holds"


def test_a_finding_without_a_check_is_unchecked(propose: Callable[..., Finding]) -> None:
    finding = propose(None)
    assert (finding.verdict, finding.last_check, finding.headline) == ("unchecked", None, "To review")


def test_a_check_that_cannot_run_is_an_error_and_never_zero_rows(propose: Callable[..., Finding]) -> None:
    finding = propose("SELECT * FROM dataset WHERE amont <= 0")
    assert finding.verdict == "error" and finding.last_check is not None
    assert finding.last_check.failure_count is None
    assert "amont" in (finding.last_check.error or "")
    assert finding.headline == "To review, check cannot run"


@pytest.mark.parametrize("check", [
    "DELETE FROM dataset",
    "SELECT 1; SELECT 2",
    "1) q; SELECT (2",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM account",
    "SELECT * FROM dataset WHERE amount < 150000 LIMIT 5",
    "(SELECT * FROM dataset) LIMIT 5",
    "SELECT * FROM dataset ORDER BY amount FETCH FIRST 5 ROWS ONLY",
    "SELECT * FROM dataset USING SAMPLE 5 ROWS",
])
def test_what_can_never_be_a_check_is_refused(
    propose: Callable[..., Finding], findings: Findings, check: str
) -> None:
    with pytest.raises(SqlRefused):
        propose(check)
    assert findings.list(LOCAL) == ()


def test_a_limit_inside_the_check_is_its_own_business(propose: Callable[..., Finding]) -> None:
    finding = propose("SELECT * FROM dataset WHERE amount < (SELECT amount FROM dataset ORDER BY amount DESC LIMIT 1)")
    assert finding.last_check is not None and finding.last_check.failure_count == 1999


def test_a_check_on_no_rows_holds_but_says_so(findings: Findings, shelf: Shelf, propose: Callable[..., Finding]) -> None:
    empty = propose(dataset_id=shelf.put(f"{LOANS} LIMIT 0").dataset_id)
    nulls = propose(
        dataset_id=shelf.put("SELECT 1 AS loan_id, NULL::BIGINT AS amount").dataset_id, columns=("amount",)
    )
    for finding in (empty, nulls):
        assert finding.verdict == "holds" and finding.last_check is not None and finding.last_check.vacuous
        assert finding.headline == "To review, check holds (nothing to check)"


@pytest.mark.parametrize(("field", "value", "says"), [
    ("title", "", "title is empty"),
    ("title", "x" * 121, "121 characters"),
    ("statement", "\n\t ", "statement is empty"),
    ("statement", "x" * 501, "501 characters"),
    ("columns", ("amuont",), "Did you mean amount"),
])
def test_a_text_that_cannot_be_kept_is_told(propose: Callable[..., Finding], field: str, value: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        propose(**{field: value})


def test_a_statement_is_kept_as_one_visible_line(propose: Callable[..., Finding]) -> None:
    finding = propose(statement="Every loan\n has \u202ea\u202c positive\u200b amount.\x07")
    assert finding.statement == "Every loan has a positive amount."


def test_the_same_proposal_twice_is_one_finding(findings: Findings, propose: Callable[..., Finding]) -> None:
    first = propose()
    assert propose(dataset_id=first.dataset_id) == first
    assert len(findings.list(LOCAL)) == 1
    other = propose(dataset_id=first.dataset_id, title="Another title")
    assert other.id != first.id


# -- decisions -------------------------------------------------------------------------------------------------------


def test_a_decision_sticks_with_who_when_and_on_what(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    decided = findings.decide(ADA, finding.id, finding.row_version, "accepted", note="Checked by hand.", via="ui")
    assert findings.get(BEN, finding.id) == decided
    assert (decided.review, decided.reviewed_by, decided.reviewed_by_name) == ("accepted", "ada", "Ada")
    assert (decided.review_note, decided.reviewed_via, decided.reviewed_version) == ("Checked by hand.", "ui", 1)
    assert decided.reviewed_check == finding.last_check and decided.reviewed_at is not None
    assert (decided.segment, decided.headline) == ("accepted", "Accepted, holds")
    assert decided.version == finding.version


def test_a_rejected_finding_says_so(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose(SMALL)
    decided = findings.decide(ADA, finding.id, 1, "rejected")
    assert (decided.segment, decided.headline) == ("rejected", "Rejected")


def test_a_double_click_decides_once(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    first = findings.decide(ADA, finding.id, 1, "accepted")
    assert findings.decide(ADA, finding.id, 1, "accepted") == first
    assert findings.decide(ADA, finding.id, first.row_version, "accepted") == first
    assert [s.action for s in findings.history(ADA, finding.id)] == ["proposed", "accepted"]


def test_a_stale_tab_is_told_who_decided_what(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    findings.decide(ADA, finding.id, 1, "accepted")
    with pytest.raises(Conflict, match="Ada accepted it"):
        findings.decide(BEN, finding.id, 1, "rejected")
    with pytest.raises(Conflict, match="Ada accepted it"):
        findings.decide(BEN, finding.id, 1, "accepted")
    with pytest.raises(Conflict):
        findings.decide(ADA, finding.id, 1, "rejected")
    assert findings.get(ADA, finding.id).review == "accepted"
    assert len(findings.history(ADA, finding.id)) == 2


def test_a_late_click_does_not_bring_back_a_decision_that_was_taken_back(
    findings: Findings, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    decided = findings.decide(ADA, finding.id, 1, "accepted")
    findings.undo(ADA, finding.id, decided.row_version)
    with pytest.raises(Conflict, match="took the decision back"):
        findings.decide(ADA, finding.id, 1, "accepted")


def test_a_decision_may_be_changed_knowingly(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    accepted = findings.decide(ADA, finding.id, 1, "accepted")
    rejected = findings.decide(BEN, finding.id, accepted.row_version, "rejected", note="Not so.")
    assert (rejected.review, rejected.reviewed_by) == ("rejected", "ben")
    assert [s.action for s in findings.history(ADA, finding.id)] == ["proposed", "accepted", "rejected"]


def test_undo_restores_what_was_and_is_itself_history(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    first = findings.decide(ADA, finding.id, 1, "accepted", note="Yes.")
    second = findings.decide(BEN, finding.id, first.row_version, "rejected")
    back = findings.undo(BEN, finding.id, second.row_version)
    assert (back.review, back.reviewed_by, back.review_note) == ("accepted", "ada", "Yes.")
    assert (back.reviewed_at, back.reviewed_check) == (first.reviewed_at, first.reviewed_check)
    assert [s.action for s in findings.history(ADA, finding.id)] == ["proposed", "accepted", "rejected", "undone"]
    with pytest.raises(BadInput, match="no decision"):
        findings.undo(BEN, finding.id, back.row_version)


def test_undo_of_a_first_decision_sends_it_back_to_review(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    with pytest.raises(BadInput):
        findings.undo(ADA, finding.id, 1)
    decided = findings.decide(ADA, finding.id, 1, "accepted")
    back = findings.undo(ADA, finding.id, decided.row_version)
    assert (back.review, back.reviewed_by, back.segment) == ("pending", None, "to_review")


# -- flags -----------------------------------------------------------------------------------------------------------


def test_an_accepted_finding_that_breaks_is_flagged_until_it_is_reviewed(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    findings.decide(ADA, finding.id, 1, "accepted")
    shelf.put(f"{LOANS} UNION ALL SELECT 9999, -1, 'C', 1", dataset_id=finding.dataset_id)
    broken = findings.run_check(ADA, finding.id)
    assert broken.flag is not None and broken.flag.reason == "check_violated"
    assert (broken.segment, broken.headline, broken.review) == ("flagged", "Accepted, now broken", "accepted")
    assert broken.last_check is not None and broken.last_check.dataset_version == 2
    shelf.put(LOANS, dataset_id=finding.dataset_id)
    passing = findings.run_check(ADA, finding.id)
    assert (passing.verdict, passing.segment) == ("holds", "flagged")
    assert passing.headline == "Accepted, was broken and holds again"
    again = findings.decide(BEN, finding.id, passing.row_version, "accepted")
    assert (again.flag, again.headline, again.reviewed_by) == (None, "Accepted, holds", "ben")


def test_accepted_as_violated_is_flagged_only_when_it_gets_worse(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose(SMALL)
    accepted = findings.decide(ADA, finding.id, 1, "accepted")
    assert accepted.headline == "Accepted, violated by 1,499 rows"
    assert findings.run_check(ADA, finding.id).flag is None
    shelf.put(f"{LOANS} UNION ALL SELECT 9999, 5, 'C', 1", dataset_id=finding.dataset_id)
    worse = findings.run_check(ADA, finding.id)
    assert worse.flag is not None and "1,500 rows" in worse.flag.message and "1,499" in worse.flag.message


def test_an_accepted_check_that_can_no_longer_run_is_told(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    findings.decide(ADA, finding.id, 1, "accepted")
    shelf.put("SELECT 1 AS other", dataset_id=finding.dataset_id)
    broken = findings.run_check(ADA, finding.id)
    assert (broken.verdict, broken.headline) == ("error", "Accepted, check cannot run")
    assert broken.flag is not None and broken.flag.reason == "check_error"


def test_a_column_that_is_gone_flags_the_finding(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose(columns=("status",))
    findings.decide(ADA, finding.id, 1, "accepted")
    shelf.put("SELECT 1 AS loan_id, 5 AS amount", dataset_id=finding.dataset_id)
    changed = findings.run_check(ADA, finding.id)
    assert changed.flag is not None and changed.flag.reason == "schema_changed" and "status" in changed.flag.message
    assert changed.headline == "Accepted, its columns changed"


def test_a_data_set_that_is_gone_is_an_error_not_a_crash(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    shelf.drop(finding.dataset_id)
    assert findings.run_check(ADA, finding.id).verdict == "error"


def test_a_pending_finding_is_never_flagged(findings: Findings, shelf: Shelf, propose: Callable[..., Finding]) -> None:
    finding = propose()
    shelf.put(f"{LOANS} UNION ALL SELECT 9999, -1, 'C', 1", dataset_id=finding.dataset_id)
    checked = findings.run_check(ADA, finding.id)
    assert (checked.flag, checked.headline) == (None, "To review, check violated by 1 row")


def test_recheck_runs_the_accepted_checks_of_a_data_set(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    accepted = propose()
    pending = propose(dataset_id=accepted.dataset_id, title="Pending")
    findings.decide(ADA, accepted.id, 1, "accepted")
    shelf.put(f"{LOANS} UNION ALL SELECT 9999, -1, 'C', 1", dataset_id=accepted.dataset_id)
    assert [f.id for f in findings.recheck(ADA, accepted.dataset_id)] == [accepted.id]
    assert findings.get(ADA, accepted.id).headline == "Accepted, now broken"
    assert findings.get(ADA, pending.id).verdict == "holds"


def test_undo_of_a_second_look_leaves_the_flag_it_cleared(
    findings: Findings, shelf: Shelf, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    findings.decide(ADA, finding.id, 1, "accepted")
    shelf.put(f"{LOANS} UNION ALL SELECT 9999, -1, 'C', 1", dataset_id=finding.dataset_id)
    broken = findings.run_check(ADA, finding.id)
    rejected = findings.decide(ADA, finding.id, broken.row_version, "rejected")
    assert rejected.flag is None
    back = findings.undo(ADA, finding.id, rejected.row_version)
    assert back.flag == broken.flag and back.headline == "Accepted, now broken"


# -- edits, retiring, lists ------------------------------------------------------------------------------------------


def test_an_edit_of_the_check_sends_it_back_to_review_and_runs_it(
    findings: Findings, propose: Callable[..., Finding]
) -> None:
    finding = propose()
    decided = findings.decide(ADA, finding.id, 1, "accepted")
    edited = findings.edit(BEN, finding.id, decided.row_version, check_sql=SMALL)
    assert (edited.review, edited.version, edited.reviewed_by, edited.verdict) == ("pending", 2, None, "violated")
    assert edited.last_check is not None and edited.last_check.finding_version == 2
    step = findings.history(ADA, finding.id)[-1]
    assert (step.action, step.before["check_sql"], step.after["check_sql"]) == ("edited", POSITIVE, SMALL)
    assert step.before["reviewed_by"] == "ada"


def test_an_edit_of_the_title_keeps_the_review(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    decided = findings.decide(ADA, finding.id, 1, "accepted")
    edited = findings.edit(BEN, finding.id, decided.row_version, title="Positive amounts")
    assert (edited.title, edited.version, edited.review, edited.reviewed_version) == ("Positive amounts", 2, "accepted", 2)
    assert edited.last_check == decided.last_check


def test_an_edit_that_changes_nothing_writes_nothing(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose(columns=("amount",))
    same = findings.edit(
        ADA, finding.id, 1, title=finding.title, statement=finding.statement + " ", columns=("amount",), check_sql=POSITIVE
    )
    assert same == finding and len(findings.history(ADA, finding.id)) == 1


def test_an_edit_from_a_stale_tab_is_refused(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    findings.edit(ADA, finding.id, 1, title="New")
    with pytest.raises(Conflict, match="Ada gave it another title"):
        findings.edit(BEN, finding.id, 1, title="Newer")


def test_a_check_can_be_taken_away(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose(SMALL)
    edited = findings.edit(ADA, finding.id, 1, check_sql=None)
    assert (edited.verdict, edited.last_check, edited.check_sql) == ("unchecked", None, None)
    with pytest.raises(BadInput, match="no check"):
        findings.run_check(ADA, finding.id)


def test_a_retired_finding_comes_back_as_it_was(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose()
    decided = findings.decide(ADA, finding.id, 1, "accepted")
    retired = findings.retire(ADA, finding.id, decided.row_version)
    assert (retired.segment, retired.headline) == ("retired", "Retired")
    with pytest.raises(BadInput, match="Restore it first"):
        findings.decide(ADA, finding.id, retired.row_version, "rejected")
    restored = findings.restore(ADA, finding.id, retired.row_version)
    assert (restored.segment, restored.review) == ("accepted", "accepted")


def test_segments_search_and_counts_agree(findings: Findings, shelf: Shelf, propose: Callable[..., Finding]) -> None:
    source = new_id("con")
    made = [propose(title=f"Rule {i}", source_id=source) for i in range(5)]
    findings.decide(ADA, made[1].id, 1, "accepted")
    findings.decide(ADA, made[2].id, 1, "rejected")
    findings.retire(ADA, made[3].id, 1)
    findings.decide(ADA, made[4].id, 1, "accepted")
    shelf.put(f"{LOANS} UNION ALL SELECT 1, -1, 'C', 1", dataset_id=made[4].dataset_id)
    findings.run_check(ADA, made[4].id)
    elsewhere = propose(title="Elsewhere", source_id=new_id("con"))
    expected = {"to_review": [made[0]], "flagged": [made[4]], "accepted": [made[1]], "rejected": [made[2]], "retired": [made[3]]}
    for segment, members in expected.items():
        found = findings.list(ADA, segment=segment, source_id=source)  # type: ignore[arg-type]
        assert [f.id for f in found] == [f.id for f in members]
        assert all(f.segment == segment for f in found)
    assert findings.counts(ADA, source) == dict.fromkeys(expected, 1)
    assert findings.counts(ADA)["to_review"] == 2
    assert [f.id for f in findings.list(ADA, search="ELSE positive")] == [elsewhere.id]
    assert [f.title for f in findings.list(ADA, source_id=source)] == [f"Rule {i}" for i in (4, 3, 2, 1, 0)]


def test_failing_rows_are_a_masked_sample(findings: Findings, shelf: Shelf, propose: Callable[..., Finding]) -> None:
    table = shelf.put(LOANS, masked=("birth_number",))
    finding = propose(SMALL, dataset_id=table.dataset_id)
    rows = findings.failing_rows(ADA, finding.id, 20)
    assert len(rows) == 20 and list(rows.columns) == ["loan_id", "amount", "status", "birth_number"]
    assert set(rows["birth_number"]) == {"•••"}
    assert rows["amount"].max() < 150000
    assert rows.equals(findings.failing_rows(ADA, finding.id, 20))


# -- rights and foreign ids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [
    "", "fnd_1", "../../etc/passwd", "fnd_' OR 1=1 --", "fnd_01900000-0000-7000-8000-000000000000",
    "ds_01900000-0000-7000-8000-000000000000",
])
def test_an_id_that_is_none_of_ours_is_not_found(findings: Findings, propose: Callable[..., Finding], bad: str) -> None:
    propose()
    for call in (
        lambda: findings.get(ADA, bad), lambda: findings.decide(ADA, bad, 1, "accepted"),
        lambda: findings.history(ADA, bad), lambda: findings.run_check(ADA, bad),
    ):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(NotFound):
        propose(dataset_id="ds_../../x")


def test_every_call_checks_the_right(findings: Findings, propose: Callable[..., Finding]) -> None:
    finding = propose(SMALL)
    nobody = Actor("eve", "Eve", frozenset())
    writer = Actor("wim", "Wim", frozenset({"findings:read", "findings:write"}))
    for call in (
        lambda: findings.get(nobody, finding.id), lambda: findings.list(nobody), lambda: findings.counts(nobody),
        lambda: findings.history(nobody, finding.id), lambda: findings.failing_rows(nobody, finding.id),
        lambda: findings.failing_rows(writer, finding.id), lambda: findings.decide(writer, finding.id, 1, "accepted"),
        lambda: findings.undo(writer, finding.id, 1), lambda: findings.run_check(nobody, finding.id),
        lambda: findings.edit(nobody, finding.id, 1, title="x"), lambda: findings.retire(nobody, finding.id, 1),
        lambda: findings.propose(nobody, dataset_id=finding.dataset_id, title="x", statement="y"),
    ):
        with pytest.raises(Denied):
            call()
    assert findings.get(ADA, finding.id) == finding
