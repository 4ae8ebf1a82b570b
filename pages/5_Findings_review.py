"""Findings review: segments with counts, a page of the list at the left, one finding in full at the right."""

from __future__ import annotations

import streamlit as st

from components import finding_bulk, finding_file, finding_list, finding_new, findings, session
from components.empty import first_start, not_found, teach
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain

frame = bootstrap("findings")
app, actor, handle = frame.app, frame.actor, frame.handle

st.title("Findings review", anchor=False)
with guarded("Findings review"):
    source_id = handle.source_id if handle else None
    counts = app.findings.counts(actor, source_id)
    st.caption(
        f"{counts['to_review']:,} to review, {counts['flagged']:,} flagged. "
        "A finding is one sentence with a check that says when it stops being true."
    )
    linked = finding_list.linked(app, actor)
    if linked is None and st.query_params.get("finding"):
        not_found("This finding is not there.", "It was deleted, or the link is not whole.")
    if handle is not None and session.held().new_finding:
        with guarded("The form"):
            finding_new.form(app, actor, handle)
    if not any(counts.values()) and linked is None:
        if handle is not None and session.held().new_finding:
            st.stop()
        if not first_start(frame):
            teach(
                frame,
                "What did you learn, and is it still true?",
                "It needs a finding. Ask a question in Chat and propose its answer as a finding; it waits here for a decision.",
                "Ask a question",
                "chat",
            )
            finding_new.button()
        st.stop()
    tools = st.container(horizontal=True, gap="small", vertical_alignment="bottom")
    left, right = st.columns([1, 2.2], gap="medium")
    with left:
        wanted = finding_list.narrowed(handle)
        narrowed = app.findings.counts(actor, source_id, **wanted.given()) if wanted.given() else counts
    with tools:
        segment = finding_list.segments(app, actor, narrowed, linked, source_id)
        finding_new.button()
        finding_file.menu(app, actor, segment, source_id, wanted, narrowed[segment])
    listed, total = finding_list.listed(app, actor, segment, source_id, wanted)
    ids = [f.id for f in listed]
    with left:
        several = finding_bulk.switch() if listed else False
        chosen = None if several else finding_list.pick(listed, linked)
        finding_list.steps(ids, chosen.id if chosen else None, total)
    with right, guarded("The finding"):
        if several:
            finding_bulk.panel(app, actor, listed)
        elif chosen is None:
            what = "fits the search and the filters" if wanted.given() else plain(findings.SEGMENTS[segment]).lower()
            st.info(f"Nothing {'' if wanted.given() else 'in '}{what}.", icon=":material/inbox:")
        else:
            findings.card(app, actor, chosen, ids)
