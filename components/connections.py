"""Connections that are kept: choose more tables, test, unlock, delete. Nothing secret is shown."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import connector_form, connector_wizard, session
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import REGISTRY
from lexsi_ds.services.access import Actor

SHOWN = ("host", "port", "database", "user", "bucket", "prefix", "endpoint")


def draw(app: Application, actor: Actor) -> None:
    """A line for each connector, newest first; nothing when there is none."""
    listed = [c for c in app.connectors.list(actor) if c.delete_status is None]
    if not listed:
        return
    st.subheader("Connections", anchor=False)
    sources = {s.id for s in app.catalog.sources(actor)}
    for info in listed:
        with st.container(border=True, gap="xsmall"):
            _one(app, actor, info, empty=info.id not in sources)


def _one(app: Application, actor: Actor, info: Any, *, empty: bool) -> None:
    kind = REGISTRY.get(info.kind)
    label = plain(kind.label) if kind else plain(info.kind)
    where = ", ".join(plain(str(info.config[name]), 80) for name in SHOWN if info.config.get(name))
    lock = "" if info.ready else " :yellow-badge[:material/lock: Locked]"
    place = " :gray-badge[In place]" if info.mode == "in_place" else ""
    nothing = " :gray-badge[No table yet]" if empty else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(info.name, 60)}**{place}{nothing}{lock}  \n:gray[{label}: {where}]", width="stretch")
        st.button(
            "Pick files" if info.kind == "s3" else "Pick tables",
            key=session.wkey("connection", info.id, "tables"),
            disabled=not info.ready,
            on_click=connector_wizard.begin,
            args=(info.kind, info.id),
        )
        st.button(
            "Test",
            key=session.wkey("connection", info.id, "test"),
            type="tertiary",
            disabled=not info.ready,
            on_click=_test,
            args=(app, actor, info.id),
        )
        if empty:
            st.button(
                "",
                key=session.wkey("connection", info.id, "delete"),
                type="tertiary",
                icon=":material/delete:",
                help="Delete this connection; it has no tables here",
                on_click=_delete,
                args=(app, actor, info.id),
            )
    for warning in info.warnings:
        st.caption(f":material/warning: {plain(warning, 400)}")
    if not info.ready:
        connector_form.unlock_form(app, actor, info.id, info.kind)


@careful
def _test(app: Application, actor: Actor, connector_id: str) -> None:
    info = app.connectors.test_connection(actor, connector_id)
    session.notify("success", f"{plain(info.name)} answers.")


@careful
def _delete(app: Application, actor: Actor, connector_id: str) -> None:
    app.connectors.delete(actor, connector_id)
    session.notify("info", "The connection is deleted.")
