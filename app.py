"""Home: what is connected and what to do next. Also the entry of the app; every other page has an address of its own."""

from __future__ import annotations

import streamlit as st

from components import board, home
from components.empty import first_start
from components.figures import ago
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain

frame = bootstrap("home")
app, actor, handle = frame.app, frame.actor, frame.handle
home.follow_example()

st.title("Home", anchor=False)
with guarded("Home"):
    conversations = app.chats.list(actor)
    counts = app.findings.counts(actor, handle.source_id if handle else None)
    latest = app.models.latest(actor, handle.source_id) if handle else None
    if handle:
        asked = f" Last question {ago(conversations[0].updated_at)}." if conversations else " Nothing was asked yet."
        synthetic = " Synthetic data." if handle.synthetic else ""
        st.caption(f"{plain(handle.name)}, version {handle.snapshot_number}.{synthetic}{asked}")
    else:
        st.caption("No data is connected yet.")
    home.path(frame, latest, conversations, counts)
    first_start(frame)
    st.space("small")
    with guarded("The board"):
        board.draw(app, actor)
    left, right = st.columns([1.9, 1], gap="medium")
    with left, guarded("The examples"):
        if handle:
            with st.skeleton(height=330):
                home.examples(frame, app.suggestions(handle))
    with right, guarded("What waits"):
        of_source = handle.source_id if handle else None
        flagged, _ = app.findings.page(actor, segment="flagged", source_id=of_source, limit=10)
        pending, _ = app.findings.page(actor, segment="to_review", source_id=of_source, limit=10)
        home.waiting([*flagged, *pending], counts["flagged"] + counts["to_review"])
        st.space("small")
        home.recent(conversations)
