"""A finding on screen: its badge, its card, its history, and the callbacks that decide about it.

A callback carries the finding's id and the row version the person saw; the service refuses a stale one. Text of a finding is
untrusted: it is drawn letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import figures, finding_edit, finding_evidence, session
from components.finding_evidence import follow as follow
from components.finding_evidence import go as go
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor
from lexsi_ds.services.finding import Decision, Finding, Segment

SEGMENTS: dict[Segment, str] = {
    "to_review": "To review",
    "flagged": "Flagged",
    "accepted": "Accepted",
    "rejected": "Rejected",
    "retired": "Retired",
}
_VERDICT_BADGES = {
    "holds": (":material/check_circle:", "green", "Holds"),
    "violated": (":material/cancel:", "red", "Violated"),
    "error": (":material/error:", "red", "Check failed to run"),
    "unchecked": (":material/help:", "gray", "No check"),
}


def headline_text(finding: Finding) -> str:
    """The one headline of a finding as a badge, with icon, word and colour."""
    icon, colour = _headline_look(finding)
    return f":{colour}-badge[{icon} {plain(finding.headline)}]"


def stale_mark(finding: Finding) -> str:
    """A badge where the data moved since the check ran, with the two versions."""
    check = finding.last_check
    if not finding.stale or check is None:
        return ""
    said = f"Stale: checked on version {check.dataset_version}, version {finding.latest_version} is there"
    return f" :yellow-badge[:material/history: {said}]"


def _headline_look(finding: Finding) -> tuple[str, Any]:
    if finding.status == "retired":
        return ":material/archive:", "gray"
    if finding.review == "rejected":
        return ":material/close:", "gray"
    if finding.verdict in ("violated", "error"):
        return ":material/error:", "red" if finding.review == "accepted" else "yellow"
    if finding.flag is not None:
        return ":material/flag:", "yellow"
    return (":material/check:", "green") if finding.review == "accepted" else (":material/rate_review:", "blue")


def verdict_line(finding: Finding) -> str:
    """The verdict as safe Markdown: badge, rows that violate it, when it ran and on which data version."""
    icon, colour, word = _VERDICT_BADGES.get(finding.verdict, _VERDICT_BADGES["unchecked"])
    line = f":{colour}-badge[{icon} {word}]"
    check = finding.last_check
    if check is None:
        return line
    if check.failure_count is not None and finding.band is None:
        rows = figures.counted(check.failure_count, "row")
        line += f" {rows} {'violates' if check.failure_count == 1 else 'violate'} it"
        if check.vacuous:
            line += " :gray[(there is nothing to check)]"
        elif check.rows_checked:
            line += f" :gray[of {figures.count(check.rows_checked)}]"
    if finding.band is not None and check.observed is not None:
        line += f" {plain(finding.band.seen(check.observed))}"
    ran = figures.ago(check.ran_at)
    return line + (f":gray[, checked {ran}, data version {check.dataset_version}]" if ran else "")


@careful
def decide(
    app: Application, actor: Actor, finding_id: str, seen: int, decision: Decision, following: str | None
) -> None:
    """Accept or reject what was seen, then go to the next one that waits."""
    note = str(session.read(session.wkey("finding", finding_id, "note")) or "")
    decided = app.findings.decide(actor, finding_id, seen, decision, note=note, via="ui")
    session.held().last_decision = (finding_id, decided.row_version)
    session.notify("success", f"{decision.capitalize()}: {plain(decided.title)}")
    go(following)


@careful
def undo(app: Application, actor: Actor) -> None:
    """Take the last decision of this tab back, unless somebody changed the finding since."""
    last = session.held().last_decision
    if last is None:
        return
    session.held().last_decision = None
    app.findings.undo(actor, last[0], last[1])
    session.notify("info", "The last decision was taken back.")
    session.put(session.SEGMENT, "to_review")
    go(last[0])


@careful
def retire(app: Application, actor: Actor, finding_id: str, seen: int) -> None:
    """Put a finding away."""
    app.findings.retire(actor, finding_id, seen)
    session.notify("info", "Retired. It is in the last segment.")
    go(None)


@careful
def restore(app: Application, actor: Actor, finding_id: str, seen: int) -> None:
    """Bring a retired finding back."""
    app.findings.restore(actor, finding_id, seen)
    session.notify("info", "Restored, with the review it had.")
    go(None)


def step(ids: Sequence[str], current: str | None, by: int) -> str | None:
    """The neighbour of a finding in the list; the ends stay where they are."""
    if not ids:
        return None
    at = ids.index(current) if current in ids else 0
    return ids[max(0, min(len(ids) - 1, at + by))]


@careful
def move(ids: Sequence[str], current: str | None, by: int) -> None:
    """Go to the next or previous finding."""
    go(step(ids, current, by))


def actions(app: Application, actor: Actor, finding: Finding, ids: Sequence[str]) -> None:
    """The row of buttons, with their keys."""
    key, seen = finding.id, finding.row_version
    after = step(ids, finding.id, 1)
    following = after if after != finding.id else step([i for i in ids if i != finding.id], None, 0)
    done = finding.status == "retired"
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Accept",
            key=session.wkey("finding", key, "accept"),
            type="primary",
            icon=":material/check:",
            shortcut="a",
            disabled=done or (finding.review == "accepted" and finding.flag is None),
            on_click=decide,
            args=(app, actor, key, seen, "accepted", following),
        )
        st.button(
            "Reject",
            key=session.wkey("finding", key, "reject"),
            icon=":material/close:",
            shortcut="x",
            disabled=done or finding.review == "rejected",
            on_click=decide,
            args=(app, actor, key, seen, "rejected", following),
        )
        st.button(
            "Undo",
            key="findings-undo",
            icon=":material/undo:",
            shortcut="u",
            disabled=session.held().last_decision is None,
            on_click=undo,
            args=(app, actor),
        )
        finding_edit.button(finding)
        st.button(
            "Restore" if done else "Retire",
            key=session.wkey("finding", key, "retire"),
            type="tertiary",
            icon=":material/unarchive:" if done else ":material/archive:",
            on_click=restore if done else retire,
            args=(app, actor, key, seen),
        )
    st.caption("Keys: a accept, x reject, e edit, u undo, j next, k previous.")


def card(app: Application, actor: Actor, finding: Finding, ids: Sequence[str]) -> None:
    """The whole card: headline, sentence, verdict, buttons, evidence."""
    with st.container(border=True, gap="small"):
        st.markdown(headline_text(finding) + stale_mark(finding))
        if finding_edit.is_open(finding):
            finding_edit.form(app, actor, finding)
            return
        st.markdown(f"#### {plain(finding.title)}")
        st.text(finding.statement)
        st.markdown(verdict_line(finding))
        if finding.flag is not None:
            _flag(app, actor, finding)
        if finding.suggested is not None:
            _suggestion(finding)
        actions(app, actor, finding, ids)
        _reviewer(finding)
        st.text_input(
            "Note on the decision",
            key=session.wkey("finding", finding.id, "note"),
            max_chars=500,
            placeholder="Why, for whoever reads it later",
            persist_state="page",
        )
    finding_evidence.evidence(app, actor, finding)


def _flag(app: Application, actor: Actor, finding: Finding) -> None:
    """Why it wants another look, and what was and what is, side by side."""
    flag = finding.flag
    assert flag is not None, "drawn for flagged findings alone"
    st.warning(f"{plain(flag.message, 500)} Since {figures.ago(flag.since)}.", icon=":material/flag:")
    if flag.before or flag.now:
        left, right = st.columns(2, gap="small")
        left.metric("When it was accepted", plain(flag.before), border=True)
        right.metric("When it was flagged", plain(flag.now), border=True)
    if flag.finding_id is not None:
        st.button(
            "Open what it depends on", key=session.wkey("finding", finding.id, "cause"), type="tertiary",
            icon=":material/arrow_forward:", on_click=follow, args=(app, actor, flag.finding_id),
        )


def _suggestion(finding: Finding) -> None:
    said = finding.suggested
    assert said is not None, "drawn where there is one"
    door = "The chat" if said.via == "chat" else plain(said.via)
    note = f"  \n{plain(said.note, 500)}" if said.note else ""
    st.info(
        f"{door} suggests that it is **{said.decision}**, {figures.ago(said.at)}. It is yours to decide.{note}",
        icon=":material/smart_toy:",
    )


def _reviewer(finding: Finding) -> None:
    if finding.reviewed_at is None:
        return
    door = {"ui": "on this page", "chat": "in the chat"}.get(finding.reviewed_via or "ui", f"through {finding.reviewed_via}")
    line = f"{finding.review.capitalize()} by {finding.reviewed_by_name}, {figures.ago(finding.reviewed_at)}, {door}"
    st.caption(f":material/verified_user: {plain(line)}")
    if finding.review_note:
        st.caption(f":material/sticky_note_2: {plain(finding.review_note, 500)}")
