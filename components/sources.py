"""The list of sources (use one, delete one after a second look) and the tables of the active one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, problems, session, tables
from components.frame import activate
from components.problems import careful
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Column, DatasetHandle, Table
from lexsi_ds.services.access import Actor

KINDS: dict[str, tuple[str, str]] = {
    "demo": ("Demo bank", ":material/account_balance:"),
    "pkdd": ("PKDD files", ":material/folder:"),
    "files": ("Files", ":material/description:"),
    "sqlite": ("SQLite file", ":material/database:"),
    "derived": ("Derived", ":material/function:"),
    "s3": ("Bucket", ":material/cloud:"),
}
MARKS = ("protected", "masked", "identifier")


def source_list(app: Application, actor: Actor, active: str | None) -> None:
    """Every source: use it, or delete it after a second look."""
    for source in app.catalog.sources(actor):
        label, icon = KINDS.get(source.kind, (source.kind, ":material/dataset:"))
        with st.container(
            border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"
        ):
            state = " :green-badge[:material/check: Active]" if source.id == active else ""
            synthetic = " :gray-badge[Synthetic]" if source.synthetic else ""
            st.markdown(
                f"{icon} **{plain(source.name)}**{state}{synthetic}  \n:gray[{source_line(source, label)}]",
                width="stretch",
            )
            if session.held().confirm_delete == source.id:
                st.button(
                    "Delete for good",
                    key=session.wkey("source", source.id, "sure"),
                    type="primary",
                    on_click=_delete,
                    args=(app, actor, source.id),
                )
                st.button(
                    "Keep",
                    key=session.wkey("source", source.id, "keep"),
                    type="tertiary",
                    on_click=_ask_delete,
                    args=(None,),
                )
            else:
                st.button(
                    "Use",
                    key=session.wkey("source", source.id, "use"),
                    disabled=source.id == active,
                    on_click=_use,
                    args=(app, actor, source.id),
                )
                st.button(
                    "",
                    key=session.wkey("source", source.id, "delete"),
                    type="tertiary",
                    icon=":material/delete:",
                    help="Delete this source",
                    on_click=_ask_delete,
                    args=(source.id,),
                )


def source_line(source: Any, label: str) -> str:
    """One gray line about a source."""
    parts = [
        label,
        figures.counted(source.tables, "table"),
        f"{figures.count(source.rows)} rows",
        f"version {source.snapshot_number}",
    ]
    if source.today:
        parts.append(f"data to {source.today.isoformat()}")
    return ", ".join([*parts, f"added {figures.ago(source.created_at)}"])


@careful
def _use(app: Application, actor: Actor, source_id: str) -> None:
    activate(app, actor, source_id)


@careful
def _ask_delete(source_id: str | None) -> None:
    session.held().confirm_delete = source_id


@careful
def _delete(app: Application, actor: Actor, source_id: str) -> None:
    session.held().confirm_delete = None
    app.catalog.delete(actor, source_id)
    session.forget_source()
    session.notify("info", "The source is deleted. Findings and models made from it stay readable.")


def how_read(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """What was noticed while the files were read: values that became missing, rejected lines, guesses."""
    notes = app.catalog.notes(actor, handle.source_id)
    if notes:
        with st.popover("How it was read", type="tertiary", icon=":material/fact_check:", key="connect-notes"):
            for note in notes:
                st.text(note)


def active_tables(app: Application, actor: Actor, handle: DatasetHandle) -> None:
    """Tables of the active source; one opens into columns and a preview."""
    names = [t.name for t in handle.tables]
    if not names:
        st.info("This source has no tables.", icon=":material/info:")
        return
    left, right = st.columns([1, 3.4], gap="medium")
    with left:
        captions = [f"{figures.count(t.rows)} rows, {len(t.columns)} columns" for t in handle.tables]
        chosen = st.radio(
            "Tables",
            names,
            key=session.PREVIEW_TABLE,
            captions=captions,
            format_func=lambda n: plain(n, 40),
            persist_state="session",
        )
    table = handle.table(chosen) if chosen else None
    with right:
        if table:
            _one_table(app, actor, handle, table)


def _one_table(app: Application, actor: Actor, handle: DatasetHandle, table: Table) -> None:
    note = f"{figures.count(table.rows)} rows, version {table.version}"
    tables.card_head(table.name, note)
    if table.comment:
        st.caption(plain(table.comment, 400))
    columns, preview = st.tabs(["Columns", "Preview"], on_change="rerun", key=session.wkey("table", table.dataset_id))
    with columns:
        if columns.open:
            _columns(app, actor, table)
    with preview:
        if preview.open:
            with problems.guarded("The preview"):
                rows = app.catalog.preview(actor, handle.source_id, table.name, tables.SHOWN_ROWS)
                st.caption(
                    tables.count_line(len(rows), table.rows)
                    + ("; masked columns are hidden" if any(c.masked for c in table.columns) else "")
                )
                tables.show(
                    rows,
                    key=session.wkey("preview", table.dataset_id, table.version),
                    alt=f"First rows of {plain(table.name)}",
                )


def _columns(app: Application, actor: Actor, table: Table) -> None:
    key = session.wkey("marks", table.dataset_id, table.version)
    frame = pd.DataFrame([_column_row(c, table.rows) for c in table.columns])
    fixed = [c for c in frame.columns if c.casefold() not in MARKS]
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=fixed,
        num_rows="fixed",
        height=min(14 * tables.ROW, tables.ROW * (len(frame) + 1) + 4),
        on_change=_mark,
        args=(app, actor, table, key),
        alt=f"Columns of {plain(table.name)}",
        column_config={
            "Type": st.column_config.TextColumn("Type", width=80),
            "Missing": st.column_config.NumberColumn("Missing", format="%.1f%%", width=65),
            "Distinct": st.column_config.NumberColumn("Distinct", format="localized", width=75),
            "Protected": _mark_column("Protected", "Left out of models, kept for fairness tests."),
            "Masked": _mark_column("Masked", "Identifies a person: never shown to a planner, hidden on screen."),
            "Identifier": _mark_column("Identifier", "Names a row; never a feature."),
        },
    )
    st.caption("Protected, masked and identifier can be changed; the change counts from the next question on.")


def _mark_column(name: str, meaning: str) -> Any:
    return st.column_config.CheckboxColumn(name, help=meaning, width=98)


def _column_row(column: Column, rows: int) -> dict[str, Any]:
    def shown(value: str | None) -> str:
        return "masked" if column.masked and value else value or ""

    return {
        "Column": column.name,
        "Type": column.type,
        "Missing": 100 * column.nulls / rows if rows else 0.0,
        "Distinct": column.distinct,
        "Protected": column.protected,
        "Masked": column.masked,
        "Identifier": column.identifier,
        "Min": shown(column.minimum),
        "Max": shown(column.maximum),
        "Meaning": column.comment or "",
    }


@careful
def _mark(app: Application, actor: Actor, table: Table, key: str) -> None:
    apply_marks(app, actor, table, (session.read(key) or {}).get("edited_rows", {}))


def apply_marks(app: Application, actor: Actor, table: Table, edited: Mapping[int, Mapping[str, Any]]) -> None:
    """Keep what was ticked: row number of the columns table -> the marks that were changed there."""
    for position, changes in edited.items():
        column = table.columns[int(position)]
        for name, wanted in changes.items():
            mark = name.casefold()
            if mark in MARKS and getattr(column, mark) != wanted:
                given = {each: wanted if each == mark else None for each in MARKS}
                app.catalog.mark_column(actor, table.dataset_id, column.name, **given)
