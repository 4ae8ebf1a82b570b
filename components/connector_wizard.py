"""Connect a database or a bucket: the form and its test, the tables that are there, what to load.

Testing, listing and copying are tasks of their own, with a cancel. Must never: keep a secret in the tab's state.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import connector_form, connector_pick, figures, session, sources, tables, wizard
from components.connector_state import ConnectorWizard, leave, waiting
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import Kind, kind_of
from lexsi_ds.services.access import Actor

STEPS = ("Choose", "Pick tables", "Load")
BUCKET_STEPS = ("Choose", "Pick files", "Load")


def draw(app: Application, actor: Actor, state: ConnectorWizard, *, busy: bool) -> None:
    """The step that it is at."""
    kind = kind_of(state.kind)
    names = STEPS if kind.lists_tables else BUCKET_STEPS
    if state.connector_id is None:
        wizard.steps(1, names)
        _choose(app, actor, state, kind)
    elif not state.loading:
        wizard.steps(2, names)
        connector_pick.pick(app, actor, state, kind)
    else:
        wizard.steps(3, names)
        _load_step(app, actor, state, busy=busy)


# -- the form ------------------------------------------------------------------------------------------------------


def _choose(app: Application, actor: Actor, state: ConnectorWizard, kind: Kind) -> None:
    task = app.background.get(state.task_id) if state.task_id else None
    if task is not None and task.state == "running":
        waiting(app, actor, task.id)
        return
    if task is not None and task.state == "done":
        state.connector_id, state.task_id = task.result.id, None
        st.rerun()
    if task is not None and task.state == "failed":
        st.error(f"**It could not be opened.** {plain(task.error or '', 900)}", icon=":material/error:")
    tables.card_head(kind.label)
    with st.form(session.wkey("connector", state.kind), border=False):
        connector_form.fields(kind, state.round, state.kept)
        st.text_input(
            "Name of the source",
            value=state.kept.get("name of the source", ""),
            key="connector-name",
            max_chars=80,
            placeholder="Taken from the database" if kind.lists_tables else "Taken from the bucket",
            persist_state="page",
        )
        if kind.in_place:
            st.toggle(
                "Read in place, copy nothing",
                value=state.kept.get("in place", False),
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
    st.button("Back", key="connector-back", type="tertiary", icon=":material/arrow_back:", on_click=leave)


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
    state.kept = {**config, "name of the source": name or "", "in place": in_place}

    def work(cancel: Any, _: Any) -> Any:
        return app.connectors.connect(actor, kind.name, config | given, name=name, in_place=in_place, cancel=cancel)

    state.task_id = app.background.start("connect", "Testing the connection", work, owner=actor.id).id


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
