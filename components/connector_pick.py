"""The second step of a connector: which tables of a database, or which files of a bucket.

The list is a task of its own, with a cancel. Must never: lose what was ticked when the search changes.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import connector_form, figures, session, tables
from components.connector_state import ConnectorWizard, leave, waiting
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import Kind
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor

MOST = 500


def pick(app: Application, actor: Actor, state: ConnectorWizard, kind: Kind) -> None:
    """What there is, and what of it is wanted."""
    try:
        info = app.connectors.get(actor, state.connector_id or "")
    except LexsiError:
        leave()
        st.rerun()
    place = ", queries run in place" if info.mode == "in_place" else ""
    tables.card_head(info.name, f"{connector_form.where(info.config)}{place}")
    if info.warnings:
        st.warning(plain(" ".join(info.warnings), 900), icon=":material/warning:")
    if not info.ready:
        connector_form.unlock_form(app, actor, info.id, info.kind)
    elif kind.lists_tables:
        _listed(app, actor, state)
    else:
        _files(app, actor, state)
        return
    if not info.ready or task_state(app, state) != "done":
        _later()


def task_state(app: Application, state: ConnectorWizard) -> str | None:
    """How far the listing is."""
    task = app.background.get(state.task_id) if state.task_id else None
    return task.state if task else None


def _later() -> None:
    st.button("Later", key="connector-later", type="tertiary", on_click=leave, help="The connection is kept")


def _listed(app: Application, actor: Actor, state: ConnectorWizard) -> None:
    connector_id = state.connector_id or ""
    task = app.background.get(state.task_id) if state.task_id else None
    if task is None:
        task = app.background.start(
            "connect",
            "Listing the tables",
            lambda cancel, _: app.connectors.list_connector_tables(actor, connector_id, cancel=cancel),
            owner=actor.id,
        )
        state.task_id = task.id
    if task.state == "running":
        waiting(app, actor, task.id)
        return
    if task.state != "done":
        st.error(f"**The tables could not be listed.** {plain(task.error or 'It was stopped.', 900)}", icon=":material/error:")
        st.button("Try again", key="connector-again", icon=":material/refresh:", on_click=_again)
        return
    _table_list(task, state)


@careful
def _again() -> None:
    state = session.held().wizard
    if isinstance(state, ConnectorWizard):
        state.task_id = None


def _table_list(task: Task, state: ConnectorWizard) -> None:
    search = st.text_input(
        "Search", key="connector-search", placeholder="Search tables", label_visibility="collapsed", width=300
    )
    wanted = str(search or "").casefold()
    fits = [t for t in task.result if wanted in f"{t.schema_name or ''}.{t.table_name}".casefold()]
    found = fits[:MOST]
    if not task.result:
        st.info("This role may read no table there. Grant it SELECT, then look again.", icon=":material/search_off:")
        st.button("Look again", key="connector-again", icon=":material/refresh:", on_click=_again)
        _later()
        return
    if not found:
        st.info("No table has this in its name.", icon=":material/search_off:")
        _next([(t.schema_name, t.table_name) for t in task.result if (t.schema_name, t.table_name) in state.marked])
        return
    frame = pd.DataFrame(
        [
            {"Schema": t.schema_name or "", "Table": t.table_name, "Rows, estimated": t.rows, "Comment": t.comment or ""}
            for t in found
        ]
    )
    if state.ticked is None or state.ticked[0] != wanted:
        state.ticked = (wanted, frozenset(state.marked))
    ticked = state.ticked[1]
    event = st.dataframe(
        frame,
        key=session.wkey("connector", "tables", wanted),
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [i for i, t in enumerate(found) if (t.schema_name, t.table_name) in ticked]}},
        height=tables.height(len(frame)),
        placeholder="",
        column_config=tables.columns(frame),
        alt="Tables that this role may read",
    )
    shown = {(t.schema_name, t.table_name) for t in found}
    here = {(found[i].schema_name, found[i].table_name) for i in event.selection.rows if i < len(found)}
    state.marked = (state.marked - shown) | here  # what another search has picked stays picked
    chosen = [(t.schema_name, t.table_name) for t in task.result if (t.schema_name, t.table_name) in state.marked]
    of = f"{figures.count(len(found))} of " if len(found) < len(task.result) else ""
    st.caption(f"{of}{figures.counted(len(task.result), 'table')}, {figures.count(len(chosen))} picked.")
    _next(chosen)


def _files(app: Application, actor: Actor, state: ConnectorWizard) -> None:
    text = st.text_area(
        "Files, one a line",
        key="connector-files",
        height=120,
        placeholder="sales/2026/*.parquet\ncustomers.csv",
        help="Relative to the folder in the bucket. A pattern becomes one table.",
    )
    names = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    st.button(
        "Look at these files", key="connector-look", icon=":material/preview:", disabled=not names, on_click=_look,
        args=(app, actor, tuple(names)), help="Which files there are, and how the first of each line is read. Nothing is copied.",
    )  # fmt: skip
    task = app.background.get(state.task_id) if state.task_id and state.looked else None
    if task is not None and task.state == "running":
        waiting(app, actor, task.id)
        return
    if task is not None and task.state == "done":
        for number, found in enumerate(task.result):
            _looked_at(found, number)
    elif task is not None:
        st.error(f"**They could not be looked at.** {plain(task.error or 'It was stopped.', 900)}", icon=":material/error:")
    _next([(None, name) for name in names])


@careful
def _look(app: Application, actor: Actor, names: tuple[str, ...]) -> None:
    state = session.held().wizard
    if not isinstance(state, ConnectorWizard) or state.connector_id is None:
        return
    connector_id = state.connector_id
    state.looked = names
    state.task_id = app.background.start(
        "connect", "Looking at the files",
        lambda cancel, _: app.connectors.look_at_files(actor, connector_id, names, cancel=cancel), owner=actor.id,
    ).id  # fmt: skip


def _looked_at(found: dict[str, Any], number: int) -> None:
    """What one line of the list stands for, and how it is read."""
    tables.card_head(found["table"], f"{figures.counted(found['count'], 'file')}; {found['said'] or 'not looked at'}")
    for note in found["notes"][:4]:
        st.caption(f":material/info: {plain(note, 300)}")
    left, right = st.columns(2, gap="medium")
    with left:
        listed = pd.DataFrame([{"File": f["name"], "Bytes": f["bytes"]} for f in found["files"]])
        tables.show(listed, key=session.wkey("connector", "files", number), alt="Files of this line")
    with right:
        columns = pd.DataFrame([{"Column": c["name"], "Type": c["type"]} for c in found["columns"]])
        if len(columns):
            tables.show(columns, key=session.wkey("connector", "columns", number), alt="Columns as they are read")


def _next(chosen: list[tuple[str | None, str]]) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            f"Go on with {figures.counted(len(chosen), 'table')}" if chosen else "Go on",
            key="connector-next",
            type="primary",
            disabled=not chosen,
            on_click=_picked,
            args=(chosen,),
        )
        _later()


@careful
def _picked(chosen: list[tuple[str | None, str]]) -> None:
    state = session.held().wizard
    if isinstance(state, ConnectorWizard):
        state.picked, state.loading = chosen, True
