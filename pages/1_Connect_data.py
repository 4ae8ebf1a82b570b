"""Connect data: the ways in, an import at work, the sources, and the tables of the active one."""

from __future__ import annotations

import streamlit as st

from components import connect, sources
from components.empty import first_start
from components.figures import counted
from components.frame import bootstrap
from components.problems import guarded
from components.safe import plain

frame = bootstrap("connect")
app, actor, handle = frame.app, frame.actor, frame.handle

st.title("Connect data", anchor=False)
with guarded("Connect data"):
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
    connect.tiles(app, actor, task)
    st.space("small")
    st.subheader("Sources", anchor=False)
    sources.source_list(app, actor, handle.source_id if handle else None)
    if handle:
        st.space("small")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.subheader(f"Tables of {plain(handle.name)}", anchor=False)
            with st.container(horizontal=True, width="content", vertical_alignment="center"):
                sources.how_read(app, actor, handle)
                connect.next_step()
        with guarded("The tables"):
            sources.active_tables(app, actor, handle)
