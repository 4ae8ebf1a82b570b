"""The rows that answer a question: chart and table with their controls, and the SQL card that can be changed and run again.

How a person wants it drawn is kept with the run, so a reload shows the same. Must never: run SQL here, or pass a part off as all.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import asking, cards, chart_spec, exports, figures, session, sql_box, tables
from components.chart_spec import ChartSpec
from components.payloads import ArtifactLike, head
from components.problems import careful
from components.result_chart import MOST_POINTS
from components.safe import plain
from components.sql_text import show_sql
from components.turn import TurnView
from lexsi_ds.application import Application
from lexsi_ds.services.access import Actor

EDITED, AGAIN = "SQL edited", "SQL run again"


def draw(
    app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView, artifact: ArtifactLike, artifact_id: str
) -> None:
    """Chart, table and SQL of an answer."""
    frame, meta = head(artifact, tables.SHOWN_ROWS), artifact.meta
    total = int(meta.get("row_count") or len(frame))
    if len(frame) != 1 or len(frame.columns) > 1:
        _rows(app, actor, source_id, view, artifact, artifact_id, frame, total)
    _sql(app, actor, source_id, conversation_id, view, meta)


def _rows(
    app: Application, actor: Actor, source_id: str, view: TurnView, artifact: ArtifactLike, artifact_id: str, frame: Any, total: int
) -> None:
    meta, key = artifact.meta, session.wkey("table", view.run_id)
    spec = chart_spec.spec_of(view.view, frame, meta)
    figure = chart_spec.drawn(spec, head(artifact, MOST_POINTS) if spec.kind == "scatter" else frame, cards.mode())
    if figure:
        with st.container(border=True, gap="small"):
            own = (view.given or {}).get("kind") == "sql"
            tables.card_head("Chart" if own else str(meta.get("reading") or "Chart"))
            cards.draw_chart(figure, session.wkey("chart", view.run_id))
            if note := chart_spec.left_out(spec, total):
                st.caption(note)
    units = {meta["value_column"]: meta["unit"]} if meta.get("unit") and meta.get("value_column") else {}
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("Result", tables.count_line(len(frame), total))
            with st.container(horizontal=True, gap="small", width="content", vertical_alignment="center"):
                _chart_menu(app, actor, view, frame, spec)
                _derive(app, actor, source_id, view, artifact_id)
                name = f"result_{view.run_id[-6:]}"
                exports.of_artifact(app, actor, artifact_id, rows=total, name=name, key=key)
        groups = meta.get("group_columns") or ()
        tables.show(frame, key=key, alt="Rows of the answer", units=units, identifiers=groups)


def _chart_menu(app: Application, actor: Actor, view: TurnView, frame: Any, spec: ChartSpec) -> None:
    """Type and columns of the chart; a choice is kept at once."""
    key = session.wkey("chart", view.run_id, "menu")
    box = st.popover("Chart", type="tertiary", icon=":material/bar_chart:", key=key, on_change="rerun")
    if not box.open:
        return
    with box:
        chosen = chart_spec.controls(spec, frame, key)
        if chosen != spec:
            app.chats.draw_as(actor, view.run_id, chosen.model_dump())
            st.rerun()


def _derive(app: Application, actor: Actor, source_id: str, view: TurnView, artifact_id: str) -> None:
    """Keeps all rows as a data set of the source."""
    key = session.wkey("derive", view.run_id)
    with st.popover("Save as data set", type="tertiary", icon=":material/table_view:", key=key, on_change="rerun"):
        st.text_input("Name", value=plain_name(view.question), key=session.wkey(key, "name"), max_chars=120)
        st.caption("All rows, kept beside the source's tables and computed anew when it is refreshed.")
        st.button(
            "Save", type="primary", key=session.wkey(key, "save"), on_click=_saved,
            args=(app, actor, source_id, artifact_id, view.run_id, key),
        )  # fmt: skip


def bare(question: str) -> str:
    """A question without the marks of its SQL being changed or run again."""
    for mark in (EDITED, AGAIN):
        question = question.removesuffix(f" ({mark})")
    return question


def plain_name(question: str) -> str:
    """A short name for what a question gave."""
    line = " ".join(bare(question).split()).rstrip("?.! ")
    return line if len(line) <= 60 else line[:59].rstrip() + "…"


@careful
def _saved(app: Application, actor: Actor, source_id: str, artifact_id: str, run_id: str, key: str) -> None:
    artifact = app.chats.artifact(actor, artifact_id)
    name = str(session.read(session.wkey(key, "name")) or "")
    table = app.catalog.save_derived(actor, source_id, name, artifact.path, run_id, artifact.meta.get("sql"))
    session.put(key, False)
    session.notify("success", f"{plain(table.name, 80)} is saved with {figures.counted(table.rows, 'row')}.")


def _sql(
    app: Application, actor: Actor, source_id: str, conversation_id: str, view: TurnView, meta: dict[str, Any]
) -> None:
    """The query that was run, laid out; or open in the editor."""
    seconds, editing = meta.get("seconds"), session.held().editing_sql == view.run_id
    with st.container(border=True, gap="small", key=session.wkey("sql", view.run_id)):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            tables.card_head("SQL", f"ran in {figures.seconds(seconds)}" if seconds is not None else "")
            with st.container(horizontal=True, gap="small", width="content", vertical_alignment="center"):
                if editing:
                    st.button(
                        "Close", type="tertiary", icon=":material/close:", key=session.wkey("sql", view.run_id, "close"),
                        on_click=_edit, args=(None,),
                    )  # fmt: skip
                else:
                    st.button(
                        "Run again", type="tertiary", icon=":material/refresh:", key=session.wkey("sql", view.run_id, "again"),
                        help="The same query on the newest version of the data, as a new turn.", on_click=_again,
                        args=(app, actor, source_id, conversation_id, view.question, meta["sql"]),
                    )  # fmt: skip
                    st.button(
                        "Edit and run", type="tertiary", icon=":material/edit:", key=session.wkey("sql", view.run_id, "edit"),
                        on_click=_edit, args=(view.run_id,),
                    )  # fmt: skip
        if not editing:
            show_sql(meta["sql"])
            return
        key = session.wkey("sql", view.run_id, "box")
        sql_box.draw(
            app.catalog.handle(actor, source_id), str(session.held().sql_texts.get(view.run_id) or meta["sql"]), key=key,
            on_text=lambda: _keep(view.run_id, key),
            on_run=lambda: _run(app, actor, source_id, conversation_id, view.question, view.run_id, key),
        )  # fmt: skip


@careful
def _edit(run_id: str | None) -> None:
    session.held().editing_sql = run_id


@careful
def _keep(run_id: str, key: str) -> None:
    session.held().sql_texts[run_id] = sql_box.given(key, "text")


@careful
def _run(
    app: Application, actor: Actor, source_id: str, conversation_id: str, question: str, run_id: str, key: str
) -> None:
    sql = sql_box.given(key, "run").strip()
    if not sql:
        session.notify("warning", "**There is nothing to run.** Write one SELECT.")
        return
    session.held().sql_texts[run_id] = sql
    _start(app, actor, source_id, conversation_id, question, sql, EDITED)
    session.held().editing_sql = None


@careful
def _again(app: Application, actor: Actor, source_id: str, conversation_id: str, question: str, sql: str) -> None:
    _start(app, actor, source_id, conversation_id, question, sql, AGAIN)


def _start(
    app: Application, actor: Actor, source_id: str, conversation_id: str, question: str, sql: str, mark: str
) -> None:
    asking.start(app, actor, source_id, conversation_id, f"{bare(question)} ({mark})", {"kind": "sql", "sql": sql})
