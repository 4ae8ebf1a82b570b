"""Findings review: segments with counts, the list at the left, one finding in full at the right."""

from __future__ import annotations

import streamlit as st

from components import finding_list, findings, session
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
        f"{counts['to_review']} to review, {counts['flagged']} flagged. "
        "A finding is one sentence with a check that returns the rows that violate it."
    )
    linked = finding_list.linked(app, actor)
    if linked is None and st.query_params.get("finding"):
        not_found("This finding is not there.", "It was deleted, or the link is not whole.")
    if not any(counts.values()) and linked is None:
        if not first_start(frame):
            teach(
                frame,
                "What did you learn, and is it still true?",
                "It needs a finding. Ask a question in Chat and propose its answer as a finding; it waits here for a decision.",
                "Ask a question",
                "chat",
            )
        st.stop()
    segment = finding_list.segments(counts, linked)
    listed = list(
        app.findings.list(
            actor, segment=segment, source_id=source_id, search=session.read(session.FINDING_SEARCH) or None
        )
    )
    left, right = st.columns([1, 2.2], gap="medium")
    ids = [f.id for f in listed]
    with left:
        st.text_input("Search", key=session.FINDING_SEARCH, placeholder="Search findings", label_visibility="collapsed")
        chosen = finding_list.pick(listed, linked)
        finding_list.steps(ids, chosen.id if chosen else None)
    with right, guarded("The finding"):
        if chosen is None:
            st.info(f"Nothing in {plain(findings.SEGMENTS[segment]).lower()}.", icon=":material/inbox:")
        else:
            findings.card(app, actor, chosen, ids)
