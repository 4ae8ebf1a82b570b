"""Connect a database or a bucket: the form and its test, the tables that are there, what to load.

Testing, listing and copying are tasks of their own, with a cancel. Must never: keep a secret in the tab's state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from components import connector_form, figures, session, sources, tables, wizard
from components.frame import progress_of
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import Kind, kind_of
from lexsi_ds.errors import LexsiError
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor

STEPS = ("Choose", "Pick tables", "Load")
BUCKET_STEPS = ("Choose", "Pick files", "Load")
MOST = 500


@dataclass
class ConnectorWizard:
    """A connector on its way in. Nothing in it is secret."""

    kind: str
    connector_id: str | None = None
    task_id: str | None = None
    """The test, or the listing, that is at work."""
    picked: list[tuple[str | None, str]] = field(default_factory=list)
    loading: bool = False
    round: int = 0
    """Part of the password fields' keys: a new one is an empty field."""


@careful
def begin(kind: str, connector_id: str | None = None) -> None:
    """Open the form of a kind, or the tables of a connector that is there."""
    session.held().wizard = ConnectorWizard(kind, connector_id)


@careful
def _leave() -> None:
    session.held().wizard = None


def draw(app: Application, actor: Actor, state: ConnectorWizard, *, busy: bool) -> None:
    """The step that it is at."""
    kind = kind_of(state.kind)
    names = STEPS if kind.lists_tables else BUCKET_STEPS
    if state.connector_id is None:
        wizard.steps(1, names)
        _choose(app, actor, state, kind)
    elif not state.loading:
        wizard.steps(2, names)
        _pick(app, actor, state, kind)
    else:
        wizard.steps(3, names)
        _load_step(app, actor, state, busy=busy)


# -- the form ------------------------------------------------------------------------------------------------------


def _choose(app: Application, actor: Actor, state: ConnectorWizard, kind: Kind) -> None:
    task = app.background.get(state.task_id) if state.task_id else None
    if task is not None and task.state == "running":
        _waiting(app, actor, task.id)
        return
    if task is not None and task.state == "done":
        state.connector_id, state.task_id = task.result.id, None
        st.rerun()
    if task is not None and task.state == "failed":
        st.error(f"**It could not be opened.** {plain(task.error or '', 900)}", icon=":material/error:")
    tables.card_head(kind.label)
    with st.form(session.wkey("connector", state.kind), border=False):
        connector_form.fields(kind, state.round)
        st.text_input(
            "Name of the source",
            key="connector-name",
            max_chars=80,
            placeholder="Taken from the database",
            persist_state="page",
        )
        if kind.in_place:
            st.toggle(
                "Read in place, copy nothing",
                key="connector-in-place",
                persist_state="page",
                help="Queries run where the data is. It needs a role that may only read.",
            )
        st.caption(
            ":material/lock: Passwords and keys go to the connection and stay in this server's memory; they are never written "
            "to disk, logs or a prompt. After a restart they are asked for again. Better: a role that may only read."
        )
        st.form_submit_button(
            "Test and connect",
            type="primary",
            key="connector-test",
            icon=":material/cable:",
            on_click=_connect,
            args=(app, actor, state.kind),
        )
    st.button("Back", key="connector-back", type="tertiary", icon=":material/arrow_back:", on_click=_leave)


@careful
def _connect(app: Application, actor: Actor, kind_name: str) -> None:
    state, kind = session.held().wizard, kind_of(kind_name)
    if not isinstance(state, ConnectorWizard):
        return
    given = connector_form.take_secrets(kind, state.round)
    state.round += 1
    assert kind.config is not None
    config: dict[str, Any] = {}
    for name in kind.config.model_fields:
        value = session.read(session.wkey("connector", name))
        if name not in kind.config.secret_fields() and value not in (None, ""):
            config[name] = value
    name = str(session.read("connector-name") or "").strip() or None
    in_place = bool(session.read("connector-in-place"))

    def work(cancel: Any, _: Any) -> Any:
        return app.connectors.connect(actor, kind.name, config | given, name=name, in_place=in_place, cancel=cancel)

    state.task_id = app.background.start("connect", "Testing the connection", work, owner=actor.id).id


@st.fragment(run_every=0.4)
def _waiting(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "connector")


# -- what is there -------------------------------------------------------------------------------------------------


def _pick(app: Application, actor: Actor, state: ConnectorWizard, kind: Kind) -> None:
    try:
        info = app.connectors.get(actor, state.connector_id or "")
    except LexsiError:
        _leave()
        st.rerun()
    place = ", queries run in place" if info.mode == "in_place" else ""
    tables.card_head(info.name, f"{kind.label}{place}")
    for warning in info.warnings:
        st.warning(plain(warning, 500), icon=":material/warning:")
    if not info.ready:
        connector_form.unlock_form(app, actor, info.id, info.kind)
    elif kind.lists_tables:
        _listed(app, actor, state)
    else:
        _files(state)
    st.button("Later", key="connector-later", type="tertiary", on_click=_leave, help="The connection is kept")


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
        _waiting(app, actor, task.id)
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
    found = [t for t in task.result if wanted in f"{t.schema_name or ''}.{t.table_name}".casefold()][:MOST]
    if not found:
        st.info("No table fits, or this role may read none.", icon=":material/search_off:")
        return
    frame = pd.DataFrame(
        [
            {"Schema": t.schema_name or "", "Table": t.table_name, "Rows, estimated": t.rows, "Comment": t.comment or ""}
            for t in found
        ]
    )
    event = st.dataframe(
        frame,
        key=session.wkey("connector", "tables", wanted),
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        height=tables.height(len(frame)),
        column_config=tables.columns(frame),
        alt="Tables that this role may read",
    )
    chosen = [(found[i].schema_name, found[i].table_name) for i in event.selection.rows if i < len(found)]
    st.caption(f"{tables.count_line(len(found), len(task.result), 'table')}, {figures.count(len(chosen))} picked.")
    _next(chosen)


def _files(state: ConnectorWizard) -> None:
    text = st.text_area(
        "Files, one a line",
        key="connector-files",
        height=120,
        placeholder="sales/2026/*.parquet\ncustomers.csv",
        help="Relative to the folder in the bucket. A pattern becomes one table.",
    )
    names = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    _next([(None, name) for name in names])


def _next(chosen: list[tuple[str | None, str]]) -> None:
    st.button(
        f"Go on with {figures.counted(len(chosen), 'table')}" if chosen else "Go on",
        key="connector-next",
        type="primary",
        disabled=not chosen,
        on_click=_picked,
        args=(chosen,),
    )


@careful
def _picked(chosen: list[tuple[str | None, str]]) -> None:
    state = session.held().wizard
    if isinstance(state, ConnectorWizard):
        state.picked, state.loading = chosen, True


# -- load ----------------------------------------------------------------------------------------------------------


def _load_step(app: Application, actor: Actor, state: ConnectorWizard, *, busy: bool) -> None:
    info = app.connectors.get(actor, state.connector_id or "")
    far = info.mode == "in_place"
    what = "is bound, nothing is copied" if far else "is copied into a new version"
    tables.card_head(info.name, f"{figures.counted(len(state.picked), 'table')}; each {what}")
    for schema, table in state.picked[:20]:
        st.text(f"{schema}.{table}" if schema else table)
    if len(state.picked) > 20:
        st.caption(f"and {figures.count(len(state.picked) - 20)} more.")
    with st.container(horizontal=True, gap="small"):
        st.button("Back", key="connector-back", icon=":material/arrow_back:", on_click=_back)
        st.button(
            "Load data",
            key="connector-load",
            type="primary",
            icon=":material/database:",
            disabled=busy,
            on_click=_load,
            args=(app, actor, info.id, info.name),
        )


@careful
def _back() -> None:
    state = session.held().wizard
    if isinstance(state, ConnectorWizard):
        state.loading = False


@careful
def _load(app: Application, actor: Actor, connector_id: str, name: str) -> None:
    state = session.held().wizard
    if not isinstance(state, ConnectorWizard):
        return
    wanted = [{"schemaName": schema, "tableName": table} if schema else table for schema, table in state.picked]

    def work(cancel: Any, tell: Any) -> Any:
        handle = app.connectors.ingest_tables(actor, connector_id, wanted, cancel=cancel, tell=tell)
        app.versions.recheck(actor, handle)
        app.set_active_source(actor, handle.source_id)
        return handle

    sources.start(app, actor, f"Importing {name}", work)
    session.held().wizard = None
