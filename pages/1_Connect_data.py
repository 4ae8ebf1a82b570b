"""Connect data: the ways in, an import at work, the sources, and one of them opened."""

from __future__ import annotations

import streamlit as st

from components import connect, connections, session, source_tabs, sources
from components.empty import first_start
from components.figures import counted
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain

frame = bootstrap("connect")
app, actor, handle = frame.app, frame.actor, frame.handle

st.title("Connect data", anchor=False)
with guarded("Connect data"):
    active = handle.source_id if handle else None
    if handle:
        until = f", data to {handle.today.isoformat()}" if handle.today else ""
        st.caption(
            f"Active: {plain(handle.name)}, version {handle.snapshot_number}, {counted(len(handle.tables), 'table')}, "
            f"{counted(handle.rows, 'row')}{until}."
        )
    else:
        st.caption("No data is connected yet. Load files of your own, or wait for the demo bank.")
    first_start(frame)
    task = connect.import_state(app, actor)
    connect.ways(app, actor, task)
    st.space("small")
    st.subheader("Sources", anchor=False)
    shown = sources.opened(app, actor, active)
    below = source_tabs.opener(app, actor, handle) if session.held().wizard is None else None
    with guarded("The sources"):
        sources.cards(app, actor, active, shown, below)
    with guarded("The connections"):
        connections.draw(app, actor)
