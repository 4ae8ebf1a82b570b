"""Pages that have nothing to show yet: what the page is for, what it needs, one button that gets there. And the first start."""

from __future__ import annotations

import streamlit as st

from components import session
from components.frame import Frame, progress_of
from components.problems import careful
from components.registry import PageKey, page
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor


def teach(frame: Frame, what: str, needs: str, button: str, goal: PageKey) -> None:
    """One card that teaches, with one primary button."""
    with st.container(border=True, gap="small"):
        st.markdown(f"{frame.page.icon} **{what}**")
        st.markdown(f":gray[{needs}]")
        if st.button(button, type="primary", icon=page(goal).icon, key=session.wkey("teach", frame.page.key)):
            st.switch_page(page(goal).path)


def not_found(what: str, detail: str) -> None:
    """A link that leads nowhere (any more)."""
    st.warning(f"**{what}** {detail}", icon=":material/link_off:")


def first_start(frame: Frame) -> bool:
    """While no source exists: the demo bank being built, its failure, or the way to other data. True when something was drawn."""
    if frame.handle is not None:
        return False
    task = frame.app.prepare_demo(frame.actor)
    if task is None or task.state == "done":
        teach(
            frame,
            "No source is active",
            "Choose one of the sources, or load files of your own.",
            "Connect data",
            "connect",
        )
        return True
    if task.state in ("failed", "stopped"):
        st.error(
            f"**The demo bank was not built.** {plain(task.error or 'It was stopped.', 400)} "
            "You can try again, or load files of your own.",
            icon=":material/error:",
        )
        st.button(
            "Build it again",
            icon=":material/refresh:",
            key="first-again",
            on_click=_again,
            args=(frame.app, frame.actor),
        )
        return True
    _building(frame.app, frame.actor, task.id)
    return True


@careful
def _again(app: Application, actor: Actor) -> None:
    app.prepare_demo(actor)


@st.fragment(run_every=0.5)
def _building(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        st.markdown(":material/database: **The demo bank is being built**")
        st.markdown(
            ":gray[Eight tables of a synthetic bank, about a million rows, once. This page goes on by itself; "
            "you can already load files of your own.]"
        )
        progress_of(app, actor, task, "first")
