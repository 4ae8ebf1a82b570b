"""Connections that are kept: choose more tables, test, unlock, delete. Nothing secret is shown."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import connector_checks, connector_form, session
from components.connector_state import begin
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.connectors.kinds import REGISTRY
from lexsi_ds.services.access import Actor


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
    lock = "" if info.ready else " :yellow-badge[:material/lock: Locked]"
    place = " :gray-badge[In place]" if info.mode == "in_place" else ""
    nothing = " :gray-badge[No table yet]" if empty else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        address = plain(connector_form.where(info.config), 120)
        st.markdown(f"**{plain(info.name, 60)}**{place}{nothing}{lock}  \n:gray[{label}: {address}]", width="stretch")
        _buttons(app, actor, info, empty=empty)
    if info.ready:
        connector_checks.at_work(app, actor, info.id)
    else:
        connector_form.unlock_form(app, actor, info.id, info.kind)
    if info.warnings:
        st.caption(f":material/warning: {plain(' '.join(info.warnings), 600)}")


def _buttons(app: Application, actor: Actor, info: Any, *, empty: bool) -> None:
    if info.ready:
        st.button(
            "Pick files" if info.kind == "s3" else "Pick tables",
            key=session.wkey("connection", info.id, "tables"),
            on_click=begin,
            args=(info.kind, info.id),
        )
        st.button(
            "Test",
            key=session.wkey("connection", info.id, "test"),
            type="tertiary",
            help="Open it now, and look at what its role may do",
            on_click=_test,
            args=(app, actor, info.id, info.name),
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


@careful
def _test(app: Application, actor: Actor, connector_id: str, name: str) -> None:
    connector_checks.start(
        app, actor, connector_id, f"Testing {name}",
        lambda cancel: app.connectors.test_connection(actor, connector_id, cancel=cancel), f"{name} answers.",
    )


@careful
def _delete(app: Application, actor: Actor, connector_id: str) -> None:
    session.held().checks.pop(connector_id, None)
    app.connectors.delete(actor, connector_id)
    session.notify("info", "The connection is deleted.")
