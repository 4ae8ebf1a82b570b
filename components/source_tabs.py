"""One source, opened: tables and columns, preview, relationships, versions, SQL, and how it was read."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components import (
    columns,
    components_tab,
    documents_tab,
    figures,
    problems,
    relationships,
    semantic,
    session,
    sql_editor,
    surprises_tab,
    tables,
    versions,
)
from components.registry import page
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.services.access import Actor

TABS = ["Tables", "Preview", "Relationships", "Semantic model", "Documents", "Components", "Surprises", "Versions",
        "SQL", "How it was read"]


def opener(app: Application, actor: Actor, active: DatasetHandle | None) -> Callable[[str], None]:
    """What draws a source by its id, below its card."""

    def open_below(source_id: str) -> None:
        with problems.guarded("The source"):
            in_use = active is not None and active.source_id == source_id
            draw(app, actor, active if active and in_use else app.catalog.handle(actor, source_id), active=in_use)

    return open_below


def draw(app: Application, actor: Actor, handle: DatasetHandle, *, active: bool) -> None:
    """Tabs of a source, and the way to ask about the one in use; only the open tab is computed."""
    if active:
        st.page_link(page("chat").path, label="Ask a question about it", icon=page("chat").icon)
    if not handle.tables:
        st.info("This source has no tables.", icon=":material/info:")
        return
    labels = [f":gray[{name}]" for name in TABS]
    drawn = st.tabs(labels, on_change="rerun", key=session.wkey("tabs", handle.source_id))
    work = (
        _tables, _preview, relationships.draw, semantic.draw, documents_tab.draw, components_tab.draw,
        surprises_tab.draw, versions.draw, sql_editor.draw, _how_read,
    )
    for name, tab, body in zip(TABS, drawn, work, strict=True):
        if tab.open:
            with tab, problems.guarded(name):
                body(app, actor, handle)


def _picked(handle: DatasetHandle) -> Table | None:
    """The list of tables; what is chosen there."""
    names = [t.name for t in handle.tables]
    if session.read(session.PREVIEW_TABLE) not in names:
        session.put(session.PREVIEW_TABLE, names[0])
    counts = [f"{figures.counted(t.rows, 'row')}, {figures.counted(len(t.columns), 'column')}" for t in handle.tables]
    with st.container(height=520 if len(names) > 8 else "content", border=False):
        chosen = st.radio(
            "Tables",
            names,
            key=session.PREVIEW_TABLE,
            captions=counts,
            format_func=lambda n: plain(n, 40),
            label_visibility="collapsed",
            persist_state="session",
        )
    return handle.table(chosen) if chosen else None


def _tables(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    left, right = st.columns([1, 3.8], gap="medium")
    with left:
        table = _picked(handle)
    if table:
        with right:
            columns.draw(app, actor, table)


def _preview(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    left, right = st.columns([1, 3.8], gap="medium")
    with left:
        table = _picked(handle)
    if table is None:
        return
    with right:
        rows = app.catalog.preview(actor, handle.source_id, table.name, tables.SHOWN_ROWS)
        hidden = "; masked columns are hidden" if any(c.masked for c in table.columns) else ""
        tables.card_head(table.name, tables.count_line(len(rows), table.rows) + hidden)
        tables.show(
            rows,
            key=session.wkey("preview", table.dataset_id, table.version),
            alt=f"First rows of {flat(table.name)}",
        )


def _how_read(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """Guesses, values that became missing, and lines that did not fit, with the lines to download."""
    notes = app.catalog.notes(actor, handle.source_id)
    with st.container(border=True, gap="xsmall"):
        tables.card_head("Rejected rows", "lines and cells of the files that did not fit; nothing is dropped without a word")
        any_rejected = False
        for table in handle.tables:
            count, path = app.catalog.rejected(actor, handle.source_id, table.name)
            if not count:
                continue
            any_rejected = True
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"{plain(table.name)} :gray[{figures.counted(count, 'entry')}]")
                if path and path.is_file():
                    tables.csv_button(
                        "Download them",
                        f"rejected_{figures.slug(table.name)}.csv",
                        path.read_bytes,
                        session.wkey("rejected", table.dataset_id, table.version),
                    )
        if not any_rejected:
            st.caption("None.")
    with st.container(border=True, gap="xsmall"):
        tables.card_head("Notes", figures.counted(len(notes), "note"))
        for note in notes:
            st.text(note)
        if not notes:
            st.caption("Nothing special was noticed.")
