"""The semantic model of a source, as a page shows it: an outline that can be changed, the file, its history, taught words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components import figures, semantic_edit, semantic_file, session, tables
from components.problems import careful
from components.safe import flat, plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import DatasetHandle
from lexsi_ds.knowledge.model import ColumnModel, Formula, Metric, SemanticModel, TableModel
from lexsi_ds.services.access import Actor
from lexsi_ds.services.semantics import SemanticView

PARTS = ("Tables", "Joins", "Metrics", "Taught words", "File", "History")
_ROLES = {
    "key": "key", "link": "link", "measure": "measure", "category": "category", "flag": "yes or no", "time": "date", "text": "text",
}  # fmt: skip


def draw(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """What is in force, and the part that is looked at."""
    with st.spinner("Reading what is known of the source"):
        view = app.semantics.view(actor, handle.source_id)
    _head(view)
    key = session.wkey("semantic", handle.source_id, "part")
    part = st.segmented_control(
        "Part of the semantic model", PARTS, default=PARTS[0], key=key, label_visibility="collapsed",
        format_func=lambda p: f"{p} ({len(view.words)})" if p == "Taught words" and view.words else p, persist_state="page",
    )  # fmt: skip
    match part or PARTS[0]:
        case "Tables":
            _tables(app, actor, handle, view)
        case "Joins":
            _joins(view.model)
        case "Metrics":
            _metrics(app, actor, handle, view)
            semantic_edit.verified(app, actor, handle, view)
        case "Taught words":
            _words(app, actor, handle, view)
        case "File":
            semantic_file.editor(app, actor, handle, view)
        case _:
            semantic_file.history(app, actor, handle, view)


def _head(view: SemanticView) -> None:
    newest = view.history[0] if view.history else None
    if newest is None:
        st.caption("As derived from the data; nothing was changed yet. A change counts from the next question on.")
    else:
        said = f"Version {newest.version}, {plain(newest.how)} by {plain(newest.person_name)} {figures.ago(newest.created_at)}."
        st.caption(f"{said} A change counts from the next question on.")
    if view.stale:
        listed = "\n".join(f"- {plain(s.what, 80)}: {plain(s.why, 160)}" for s in view.stale[:12])
        more = f"\n- and {len(view.stale) - 12} more" if len(view.stale) > 12 else ""
        st.warning(
            f"**{figures.counted(len(view.stale), 'part')} of the saved model no longer "
            f"fit{'s' * (len(view.stale) == 1)} the data.** "
            f"They stay in the file and are not used:\n{listed}{more}",
            icon=":material/history_toggle_off:",
        )


def _tables(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    names = [t.name for t in view.model.tables]
    left, right = st.columns([1, 3.8], gap="medium")
    with left, st.container(height=520 if len(names) > 8 else "content", border=False):
        chosen = st.radio(
            "Tables", names, key=session.wkey("semantic", handle.source_id, "table"), label_visibility="collapsed",
            captions=[f"one row is one {flat(t.label, 40)}" for t in view.model.tables], format_func=lambda n: plain(n, 40),
            persist_state="page",
        )  # fmt: skip
    table = view.model.table(chosen or names[0])
    columns = view.model.of_table(table.name)
    with right:
        _table_head(table)
        semantic_edit.table_form(app, actor, handle, view, table)
        frame = pd.DataFrame([_row(c) for c in columns])
        height = min(15 * tables.ROW, tables.ROW * (len(frame) + 1) + 4)
        picked = st.dataframe(
            frame, key=session.wkey("semantic", handle.source_id, table.name, view.version, "columns"), hide_index=True,
            height=height, on_select="rerun", selection_mode="single-row", alt=f"Columns of {flat(table.name)} and what they mean",
        )  # fmt: skip
        rows = picked["selection"]["rows"]
        st.caption("Select a row to change what its column means.")
        semantic_edit.column_form(app, actor, handle, view, columns[rows[0]] if rows else None, columns)


def _table_head(table: TableModel) -> None:
    parts = [f"{figures.counted(table.rows, 'row')}"]
    parts += [f"default date {plain(table.time)}"] if table.time else []
    tables.card_head(table.name, ", ".join(parts))
    words = ", ".join(plain(s, 40) for s in table.synonyms[:20])
    said = f"One row is one **{plain(table.label, 60)}**, several are {plain(table.plural, 60)}"
    st.markdown(f"{said}{f'; also called {words}' if words else ''}.")
    if table.comment:
        st.caption(plain(table.comment, 600))


def _row(column: ColumnModel) -> dict[str, str]:
    meanings = ", ".join(f"{m.value} = {m.label}" for m in column.values if m.label and m.label != m.value)
    return {
        "Column": flat(column.name, 60),
        "Read as": flat(column.label, 60),
        "Role": _ROLES[column.role],
        "Unit": column.unit or "",
        "Also called": flat(", ".join((*column.synonyms, *column.verbs)), 200),
        "Meanings": "masked" if column.masked else flat(meanings, 200),
        "About": flat(column.comment, 200),
    }


def _joins(model: SemanticModel) -> None:
    links = (*model.relationships, *model.hierarchies)
    tables.card_head("Joins", figures.counted(len(links), "relationship"))
    if not links:
        st.caption("No table points to another here.")
    for link in links:
        with st.container(border=True, gap="xxsmall"):
            ends = (
                f"**{plain(link.child, 40)}** {plain(link.child_column, 40)} :material/arrow_right_alt: "
                f"**{plain(link.parent, 40)}** {plain(link.parent_column, 40)}"
            )
            called = ", ".join(plain(w, 40) for w in (*link.nouns, *link.words))
            one = "; one to one" if link.one_to_one else ""
            st.markdown(f"{ends}  \n:gray[{plain(link.role or 'a link', 80)}{one}{f'; said as {called}' if called else ''}]")
    for path in model.paths:
        with st.container(border=True, gap="xxsmall"):
            st.markdown(f"**{plain(path.start)}** to **{plain(path.end)}** as {plain(path.name)}  \n:gray[{plain(path.said, 160)}]")
    st.caption("Relationships are confirmed, rejected and added on the tab Relationships; words for a role in the file.")


def _metrics(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    every: Sequence[Metric | Formula] = (*view.model.metrics, *view.model.formulas)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        tables.card_head("Metrics", figures.counted(len(every), "metric"))
        semantic_edit.metric_form(app, actor, handle, view)
    if not every:
        st.caption("No metric yet. One is an expression over the rows of a table, such as SUM(price * quantity), with a name.")
    for metric in every:
        semantic_edit.metric_line(app, actor, handle, view, metric)


def _words(app: Application, actor: Actor, handle: DatasetHandle, view: SemanticView) -> None:
    tables.card_head("Taught words", "kept when somebody answers what a word means")
    if not view.words:
        st.caption(
            "None yet. When a question has a word that is not known here, the chat asks which column it means; "
            "the answer is kept here and used the next time."
        )
    for word in view.words:
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            badge = " :yellow-badge[:material/history_toggle_off: Not in the data any more]" if word.stale else ""
            who = f"taught by {plain(word.record.person_name)} {figures.ago(word.record.created_at)}"
            st.markdown(f"**{plain(word.words, 80)}** means {plain(word.meaning, 120)}{badge}  \n:gray[{who}]", width="stretch")
            st.button(
                "Forget", key=session.wkey("word", word.id, "forget"), type="tertiary", icon=":material/undo:",
                on_click=_forget, args=(app, actor, handle.source_id, word.id, word.words),
            )  # fmt: skip
    semantic_edit.word_form(app, actor, handle, view)


@careful
def _forget(app: Application, actor: Actor, source_id: str, word_id: str, words: str) -> None:
    app.semantics.forget(actor, source_id, word_id)
    session.notify("success", f"Forgotten: {plain(words, 80)}.")
