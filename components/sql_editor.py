"""The SQL editor of a source: read only, guarded, masked columns hidden; names of the source are offered while one types.

A query runs as a task of its own, so it can be stopped, and leaving the page loses nothing but the drawing. Must never: run
SQL in this process.
"""

from __future__ import annotations

import time

import streamlit as st

from components import exports, figures, session, sql_box, sql_words, tables
from components.frame import progress_of
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.data.sql import SqlResult
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor
from lexsi_ds.services.sql_desk import SqlDesk

SHOWN = 200
WAITS = 0.7
"""Seconds that a run waits for a quick query before it shows a bar instead."""


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """Editor and, below it, the rows of its last query."""
    key = session.wkey("sql", handle.source_id)
    first = f"SELECT *\nFROM {sql_words.quoted(handle.tables[0].name)}\nLIMIT 100"
    text = session.held().sql_texts.get(handle.source_id, first)
    sql_box.draw(
        handle,
        text,
        key=key,
        on_text=lambda: _keep(handle.source_id, key),
        on_run=lambda: _run(app, actor, handle.source_id, key),
    )
    _result(app, actor, handle)


@careful
def _keep(source_id: str, key: str) -> None:
    session.held().sql_texts[source_id] = sql_box.given(key, "text")


@careful
def _run(app: Application, actor: Actor, source_id: str, key: str) -> None:
    sql = sql_box.given(key, "run").strip()
    if not sql:
        session.notify("warning", "**There is nothing to run.** Write one SELECT.")
        return
    session.held().sql_texts[source_id] = sql
    _forget_result(app)
    session.held().desk = begin(app, actor, source_id, sql)


def begin(app: Application, actor: Actor, source_id: str, sql: str) -> session.DeskRun:
    """Start a query, guarded and on the newest version; it goes on when the page is left."""
    desk = SqlDesk(app.catalog, app.sql)
    task = app.background.start(
        "sql", "Running your SQL", lambda cancel, _: desk.run(actor, source_id, sql, cancel=cancel), owner=actor.id
    )
    return session.DeskRun(task.id, source_id, sql)


def _forget_result(app: Application) -> None:
    """Remove the file of the result that was shown before."""
    before = session.held().desk
    task = app.background.get(before.task_id) if before else None
    if task is None:
        return
    task.cancel.set()
    if isinstance(task.result, SqlResult):
        task.result.path.unlink(missing_ok=True)


def _result(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    ran = session.held().desk
    if ran is None or ran.source_id != handle.source_id:
        return
    task = app.background.get(ran.task_id)
    until = time.monotonic() + WAITS
    while task is not None and task.state == "running" and time.monotonic() < until:
        time.sleep(0.02)
    if task is None:
        st.info("This result is not kept any more. Run it again.", icon=":material/history:")
    elif task.state == "running":
        _running(app, actor, task.id)
    elif task.state == "stopped":
        st.info("Stopped.", icon=":material/stop_circle:")
    elif task.state == "failed":
        st.error(f"**It did not run.** {plain(task.error or '', 900)}", icon=":material/error:")
    else:
        _rows(app, actor, handle, task, ran.sql)


@st.fragment(run_every=0.5)
def _running(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    progress_of(app, actor, task, "desk")


def _rows(app: Application, actor: Actor, handle: DatasetHandle, task: Task, sql: str) -> None:
    result: SqlResult = task.result
    if not result.path.is_file():
        st.info("This result is not kept any more. Run it again.", icon=":material/history:")
        return
    frame = result.head(SHOWN)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        note = f"{tables.count_line(len(frame), result.row_count)}, {figures.seconds(result.seconds)}"
        tables.card_head("Result", note)
        exports.of_result(app, actor, handle, result, sql, key=session.wkey("desk", task.id))
    tables.show(frame, key=session.wkey("desk", task.id, "rows"), alt="Rows of the query")
