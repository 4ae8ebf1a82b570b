"""A test or an unlocking of a connection at work: a task with a cancel, so that a server that does not answer holds up nobody.

What is drawn here is one row's state. Must never: keep a secret; the task's own thread has it, and ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from components import session
from components.frame import progress_of
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor


def start(app: Application, actor: Actor, connector_id: str, label: str, work: Callable[[Any], Any], good: str) -> None:
    """Begin ``work`` (it gets the cancel) for a connection; ``good`` is said when it went well."""
    task = app.background.start(
        "connect", label, lambda cancel, _: (work(cancel), good)[1], owner=actor.id, key=f"check:{actor.id}:{connector_id}"
    )
    session.held().checks[connector_id] = task.id


def at_work(app: Application, actor: Actor, connector_id: str) -> bool:
    """Draw what is at work, or what came of it; True while it is at work."""
    checks = session.held().checks
    task = app.background.get(checks.get(connector_id, ""))
    if task is None:
        return False
    if task.state == "running":
        _waiting(app, actor, task.id)
        return True
    if task.state == "failed":
        st.error(f"**It did not work.** {plain(task.error or '', 900)}", icon=":material/error:")
        return False
    checks.pop(connector_id, None)
    if task.state == "done":
        st.toast(plain(str(task.result)), icon=":material/check_circle:")
    else:
        st.toast("Cancelled.", icon=":material/stop_circle:")
    return False


@st.fragment(run_every=0.4)
def _waiting(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "check")
