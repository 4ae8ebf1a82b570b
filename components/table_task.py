"""A tab of a source that shows one table at a time, and what is computed about it in the background.

Must never: draw an old result beside the bar of its new computation.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import session
from components.frame import progress_of
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle, Table
from lexsi_ds.services.access import Actor


def table_at_rest(
    app: Application, actor: Actor, handle: DatasetHandle, tasks: Mapping[str, str], *, about: str, failed: str
) -> Table | None:
    """The chosen table; None while its task is at work, whose progress is drawn instead.

    ``tasks`` has the id of the last task of each dataset in this tab; ``about`` names what they compute, ``failed`` is said of a
    failure that has no words of its own.
    """
    names = [t.name for t in handle.tables]
    key = session.wkey(f"{about}-table", handle.source_id)
    chosen = st.selectbox("Table", names, key=key, format_func=lambda n: flat(n, 60))
    table = handle.table(chosen or names[0])
    task = app.background.get(tasks.get(table.dataset_id, "")) if table is not None else None
    if task is not None and task.state == "running":
        _running(app, actor, task.id, about)
        return None
    if task is not None and task.state == "failed":
        st.error(plain(task.error or failed, 600), icon=":material/error:")
    return table


@st.fragment(run_every=0.5)
def _running(app: Application, actor: Actor, task_id: str, about: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, about)
