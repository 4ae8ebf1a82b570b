"""The SQL editor of a source: read only, guarded, masked columns hidden; the schema beside it, names complete the last word.

A query runs as a task of its own, so it can be stopped, and leaving the page loses nothing but the drawing. Must never: run
SQL in this process.
"""

from __future__ import annotations

import time

import streamlit as st

from components import exports, figures, session, sql_words, tables
from components.frame import progress_of
from components.problems import careful
from components.safe import flat, plain
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
    """Schema at the left, editor and result at the right."""
    left, right = st.columns([1, 2.9], gap="medium")
    key = session.wkey("sql", handle.source_id)
    with left:
        _schema(handle, key)
    with right:
        _editor(app, actor, handle, key)
        _result(app, actor, handle)


def _schema(handle: DatasetHandle, key: str) -> None:
    """Tables with their columns; a click puts a name at the end of the text."""
    tables.card_head("Names", "a click writes one")
    name = st.selectbox(
        "Table",
        [t.name for t in handle.tables],
        key=session.wkey(key, "table"),
        format_func=lambda n: flat(n, 60),
        label_visibility="collapsed",
        persist_state="session",
    )
    table = handle.table(name) if name else None
    if table is None:
        return
    with st.container(height=330, border=True, gap="xxsmall"):
        st.button(
            f"**{plain(table.name, 40)}**",
            key=session.wkey(key, "name", table.dataset_id),
            type="tertiary",
            on_click=_write,
            args=(key, sql_words.quoted(table.name)),
        )
        for i, column in enumerate(table.columns[:200]):
            hidden = ", masked" if column.masked else ""
            st.button(
                f"{plain(column.name, 40)} :gray[{plain(column.type.lower(), 30)}{hidden}]",
                key=session.wkey(key, "name", table.dataset_id, i),
                type="tertiary",
                on_click=_write,
                args=(key, sql_words.quoted(column.name)),
            )


@careful
def _write(key: str, name: str) -> None:
    text = str(session.read(key) or "")
    session.put(key, text + ("" if not text or text.endswith((" ", "\n", "(", ".")) else " ") + name + " ")


def _editor(app: Application, actor: Actor, handle: DatasetHandle, key: str) -> None:
    if session.read(key) is None:
        session.put(key, f"SELECT *\nFROM {sql_words.quoted(handle.tables[0].name)}\nLIMIT 100")
    text = st.text_area(
        "One SELECT on the tables of this source",
        key=key,
        height=190,
        max_chars=20_000,
        persist_state="session",
        help="Ctrl and Enter takes the text over, so that names can be completed",
    )
    found = sql_words.completions(str(text or ""), handle)
    if found:
        pick = session.wkey(key, "complete")
        st.pills(
            "Complete the last word",
            found,
            key=pick,
            label_visibility="collapsed",
            format_func=lambda n: f":gray[{plain(n, 40)}]",
            on_change=_complete,
            args=(key, pick),
        )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Run",
            key=session.wkey(key, "run"),
            type="primary",
            icon=":material/play_arrow:",
            on_click=_run,
            args=(app, actor, handle.source_id, key),
        )
        st.caption("Read only. It runs on the newest version; every row is counted.")


@careful
def _complete(key: str, pick: str) -> None:
    word = session.read(pick)
    session.forget(pick)
    if word:
        session.put(key, sql_words.complete(str(session.read(key) or ""), word))


@careful
def _run(app: Application, actor: Actor, source_id: str, key: str) -> None:
    sql = str(session.read(key) or "").strip()
    if not sql:
        session.notify("warning", "**There is nothing to run.** Write one SELECT.")
        return
    _forget_result(app)
    desk = SqlDesk(app.catalog, app.sql)
    task = app.background.start(
        "sql", "Running your SQL", lambda cancel, _: desk.run(actor, source_id, sql, cancel=cancel), owner=actor.id
    )
    session.held().desk = session.DeskRun(task.id, source_id, sql)


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
