"""Long work on models that a page started: its progress with Cancel, what went wrong, and what came of it.

The task is the application's; this tab only remembers its id. Must never: compute, or lose an error before it was read.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import session
from components.frame import progress_of
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor


def start(name: str, task: Task) -> None:
    """Remember a task under what it is for."""
    session.held().model_tasks[name] = task.id


def running(app: Application, name: str) -> bool:
    """Whether work of this name is under way."""
    task = app.background.get(session.held().model_tasks.get(name, ""))
    return task is not None and task.state == "running"


def outcome(app: Application, actor: Actor, name: str) -> Any:
    """The result, once; else the progress or what went wrong is drawn and None comes back."""
    task_id = session.held().model_tasks.get(name)
    task = app.background.get(task_id) if task_id else None
    if task is None:
        session.held().model_tasks.pop(name, None)
        return None
    if task.state == "running":
        _progress(app, actor, task.id)
        return None
    if task.state == "done":
        session.held().model_tasks.pop(name, None)
        return task.result
    if task.state == "stopped":
        st.info(f"{plain(task.label)}: stopped. Nothing was kept.", icon=":material/stop_circle:")
    else:
        st.error(f"**{plain(task.label)} did not work.** {plain(task.error or '', 700)}", icon=":material/error:")
    st.button(
        "Close", key=session.wkey("model-task", task.id, "close"), type="tertiary", icon=":material/close:", on_click=_close,
        args=(name,),
    )
    return None


@st.fragment(run_every=0.5)
def _progress(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        progress_of(app, actor, task, "models")


@careful
def _close(name: str) -> None:
    session.held().model_tasks.pop(name, None)
