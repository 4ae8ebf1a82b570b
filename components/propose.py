"""Propose what a run found as a finding: a form that is filled from the run and saved by the service."""

from __future__ import annotations

import streamlit as st

from components import session, tables
from components.problems import careful
from components.registry import page
from components.safe import plain
from components.sql_text import pretty
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor


def button_or_form(app: Application, actor: Actor, run_id: str, source_id: str) -> None:
    """The button; once clicked, the form in its place."""
    mine = session.held()
    if mine.proposing_run != run_id:
        saved = mine.proposed.get(run_id)
        if saved:
            st.page_link(
                page("findings").path,
                label="Proposed: open the finding",
                icon=":material/lightbulb:",
                query_params={"finding": saved},
            )
            return
        st.button(
            "Propose as finding",
            key=session.wkey("propose", run_id),
            type="tertiary",
            icon=":material/lightbulb:",
            on_click=_begin,
            args=(app, actor, run_id, source_id),
        )
        return
    _form(app, actor, run_id)


@careful
def _begin(app: Application, actor: Actor, run_id: str, source_id: str) -> None:
    draft = app.draft_finding(actor, run_id, source_id)
    if draft is None:
        session.notify(
            "info", "This answer has nothing to propose: a finding needs a sentence about rows that a query can check."
        )
        return
    mine = session.held()
    mine.proposing_run, mine.draft = run_id, draft
    for name, value in (("title", draft.title), ("statement", draft.statement), ("sql", pretty(draft.check_sql))):
        session.put(session.wkey("propose", run_id, name), value)


def _form(app: Application, actor: Actor, run_id: str) -> None:
    with st.form(session.wkey("propose", run_id, "form"), border=True):
        tables.card_head("Propose a finding", "a sentence and a check that returns the rows that violate it")
        st.text_input("Title", key=session.wkey("propose", run_id, "title"), max_chars=120)
        st.text_area("Sentence", key=session.wkey("propose", run_id, "statement"), max_chars=500, height=90)
        st.text_area(
            "Check, one SELECT that returns the rows that violate the sentence",
            key=session.wkey("propose", run_id, "sql"),
            height=140,
        )
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(
                "Propose",
                type="primary",
                icon=":material/lightbulb:",
                key=session.wkey("propose", run_id, "save"),
                on_click=_save,
                args=(app, actor, run_id),
            )
            st.form_submit_button(
                "Cancel", type="tertiary", key=session.wkey("propose", run_id, "cancel"), on_click=_cancel
            )


@careful
def _save(app: Application, actor: Actor, run_id: str) -> None:
    mine = session.held()
    if mine.draft is None or mine.proposing_run != run_id:
        return
    draft = mine.draft.model_copy(
        update={
            "title": str(session.read(session.wkey("propose", run_id, "title")) or "").strip(),
            "statement": str(session.read(session.wkey("propose", run_id, "statement")) or "").strip(),
            "check_sql": str(session.read(session.wkey("propose", run_id, "sql")) or "").strip(),
        }
    )
    finding = app.propose_finding(actor, draft)
    mine.proposed[run_id] = mine.finding_id = finding.id
    mine.proposing_run = mine.draft = None
    session.notify("success", f"Proposed: {plain(finding.title)}. It waits in Findings review.")


@careful
def _cancel() -> None:
    mine = session.held()
    mine.proposing_run = mine.draft = None
