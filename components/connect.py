"""Connect data on screen: the ways in, an import at work, the list of sources, and the tables of the active one.

Uploaded bytes are written to disk in pieces and then dropped: the uploader gets a new key. Must never: read a file here, or
believe a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import streamlit as st

from components import figures, problems, session, tables
from components.frame import activate, progress_of
from components.problems import careful
from components.registry import page
from components.safe import plain
from lexsi_ds.application import Application
from lexsi_ds.data.handle import Column, DatasetHandle, SourceKind, Table
from lexsi_ds.jobs.background import Task
from lexsi_ds.services.access import Actor

CHUNK = 1 << 20
KINDS: dict[str, tuple[str, str]] = {
    "demo": ("Demo bank", ":material/account_balance:"),
    "pkdd": ("PKDD files", ":material/folder:"),
    "files": ("Files", ":material/description:"),
    "sqlite": ("SQLite file", ":material/database:"),
    "derived": ("Derived", ":material/function:"),
    "s3": ("Bucket", ":material/cloud:"),
}
LATER = (
    ("Database", ":material/storage:", "PostgreSQL and MySQL"),
    ("Bucket", ":material/cloud:", "S3 and the like"),
    ("Lexsi", ":material/hub:", "A Lexsi workspace"),
)
EXTENSIONS = ["csv", "tsv", "txt", "parquet", "sqlite", "sqlite3", "db"]


def tiles(frame_app: Application, actor: Actor, task: Task | None) -> None:
    """The ways in: what works now, and what does not yet, said as such."""
    busy = task is not None and task.state == "running"
    with st.grid(3, min_column_width=260):
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/upload_file: **Upload files**")
            _uploader(frame_app, actor, busy)
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/folder_open: **Folder of this machine**")
            _folder(frame_app, actor, busy)
        with st.container(border=True, gap="small", height="stretch"):
            st.markdown(":material/account_balance: **Demo bank**")
            st.markdown(":gray[Eight tables of a synthetic bank: accounts, loans, cards, a million transactions.]")
            st.space("stretch")
            st.button(
                "Use the demo bank",
                key="connect-demo",
                disabled=busy,
                on_click=_demo,
                args=(frame_app, actor),
                width="stretch",
            )
    st.caption("Not available yet: " + ", ".join(f"{icon} {name} ({what})" for name, icon, what in LATER) + ".")


def _uploader(app: Application, actor: Actor, busy: bool) -> None:
    key = session.wkey("connect", "upload", session.held().upload_round)
    files = st.file_uploader(
        "CSV, TSV, TXT, Parquet or SQLite",
        type=EXTENSIONS,
        accept_multiple_files=True,
        key=key,
        disabled=busy,
        help="Several files become tables of one source.",
    )
    st.text_input(
        "Name of the source",
        key=session.UPLOAD_NAME,
        placeholder="Taken from the first file",
        max_chars=80,
        persist_state="page",
    )
    st.button(
        "Load files",
        type="primary",
        key="connect-load",
        disabled=busy or not files,
        on_click=_load,
        args=(app, actor, key),
        width="stretch",
    )


@careful
def _load(app: Application, actor: Actor, key: str) -> None:
    files: Sequence[Any] = session.read(key) or []
    if not files:
        return
    folder = app.upload_folder()
    paths = [write_upload(folder, file) for file in files]
    name = str(session.read(session.UPLOAD_NAME) or "").strip() or PurePosixPath(paths[0].name).stem
    session.held().upload_round += 1
    session.held().import_task_id = app.start_import(actor, source_kind(paths), name, paths).id


def source_kind(paths: Sequence[Path]) -> SourceKind:
    """A single SQLite file is a source of its own kind, told by its first bytes; all else is read as files."""
    if len(paths) == 1:
        with paths[0].open("rb") as file:
            if file.read(16) == b"SQLite format 3\x00":
                return "sqlite"
    return "files"


def write_upload(folder: Path, file: Any) -> Path:
    """Write an upload below ``folder`` in pieces, under a harmless form of its name; a name twice gets a number."""
    name = (
        re.sub(r"[^\w.\- ]+", "_", PurePosixPath(str(file.name).replace("\\", "/")).name).strip(". ")[-120:] or "file"
    )
    path, n = folder / name, 1
    while path.exists():
        n += 1
        path = folder / f"{Path(name).stem}_{n}{Path(name).suffix}"
    file.seek(0)
    with path.open("wb") as out:
        while piece := file.read(CHUNK):
            out.write(piece)
    return path


def _folder(app: Application, actor: Actor, busy: bool) -> None:
    st.text_input(
        "Folder path",
        key=session.FOLDER_PATH,
        placeholder="/data/berka",
        persist_state="page",
        help="The PKDD'99 files (.asc), or a folder of CSV and Parquet files.",
    )
    st.text_input(
        "Name of the source",
        key=session.FOLDER_NAME,
        placeholder="Taken from the folder",
        max_chars=80,
        persist_state="page",
    )
    st.space("stretch")
    st.button(
        "Load folder",
        key="connect-folder-load",
        disabled=busy,
        on_click=_load_folder,
        args=(app, actor),
        width="stretch",
    )


@careful
def _load_folder(app: Application, actor: Actor) -> None:
    text = str(session.read(session.FOLDER_PATH) or "").strip()
    if not text:
        session.notify("warning", "**No folder was named.** Write the path of a folder of this machine.")
        return
    folder = Path(text).expanduser()
    if not folder.is_dir():
        session.notify("error", f"**There is no folder {plain(text)}.** The path is of the machine that runs the app.")
        return
    kind, paths = folder_contents(folder)
    if not paths:
        session.notify(
            "error",
            f"**No data file in {plain(text)}.** It looks for .asc, .csv, .tsv, .txt, .parquet and SQLite files.",
        )
        return
    name = str(session.read(session.FOLDER_NAME) or "").strip() or folder.name
    session.held().import_task_id = app.start_import(actor, kind, name, paths).id


def folder_contents(folder: Path) -> tuple[SourceKind, list[Path]]:
    """What kind of source a folder is, and its data files. A folder with ``.asc`` files is the PKDD set as a whole."""
    files = sorted(p for p in folder.iterdir() if p.is_file())
    if any(p.suffix.casefold() == ".asc" for p in files):
        return "pkdd", [folder]
    return "files", [p for p in files if p.suffix.casefold().lstrip(".") in EXTENSIONS]


@careful
def _demo(app: Application, actor: Actor) -> None:
    session.held().import_task_id = app.start_import(actor, "demo", "Demo bank", []).id


def import_state(app: Application, actor: Actor) -> Task | None:
    """The import of this tab; its end, good or bad, is said here once and stays until the next."""
    task_id = session.held().import_task_id
    task = app.background.get(task_id) if task_id else None
    if task is None:
        return None
    if task.state == "running":
        _importing(app, actor, task.id)
    elif task.state == "done":
        handle: DatasetHandle = task.result
        st.success(
            f"**{plain(handle.name)} is loaded and active**: {figures.counted(len(handle.tables), 'table')}, {figures.count(handle.rows)} rows.",
            icon=":material/check_circle:",
        )
        session.held().import_task_id = None
        session.forget_source()
    elif task.state == "stopped":
        st.info("The import was cancelled; nothing of it was kept.", icon=":material/stop_circle:")
    else:
        st.error(f"**Nothing was imported.** {plain(task.error or '', 900)}", icon=":material/error:")
    return task


@st.fragment(run_every=0.5)
def _importing(app: Application, actor: Actor, task_id: str) -> None:
    task = app.background.get(task_id)
    if task is None or task.state != "running":
        st.rerun()
    with st.container(border=True, gap="small"):
        progress_of(app, actor, task, "import")


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


MARKS = ("protected", "masked", "identifier")


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
        height="content" if len(frame) <= 12 else 460,
        on_change=_mark,
        args=(app, actor, table, key),
        alt=f"Columns of {plain(table.name)}",
        column_config={
            "Missing": st.column_config.NumberColumn("Missing", format="percent"),
            "Distinct": st.column_config.NumberColumn("Distinct", format="localized"),
            "Protected": st.column_config.CheckboxColumn(
                "Protected", help="Left out of models, kept for fairness tests."
            ),
            "Masked": st.column_config.CheckboxColumn(
                "Masked", help="Identifies a person: never shown to a planner, hidden on screen."
            ),
            "Identifier": st.column_config.CheckboxColumn("Identifier", help="Names a row; never a feature."),
        },
    )
    st.caption("Protected, masked and identifier can be changed; the change counts from the next question on.")


def _column_row(column: Column, rows: int) -> dict[str, Any]:
    hidden = column.masked
    return {
        "Column": column.name,
        "Type": column.type,
        "Missing": column.nulls / rows if rows else 0.0,
        "Distinct": column.distinct,
        "Min": "masked" if hidden and column.minimum else column.minimum,
        "Max": "masked" if hidden and column.maximum else column.maximum,
        "Protected": column.protected,
        "Masked": column.masked,
        "Identifier": column.identifier,
        "Meaning": column.comment or "",
    }


@careful
def _mark(app: Application, actor: Actor, table: Table, key: str) -> None:
    edited: dict[int, dict[str, Any]] = (session.read(key) or {}).get("edited_rows", {})
    for position, changes in edited.items():
        column = table.columns[int(position)]
        for name, wanted in changes.items():
            mark = name.casefold()
            if mark in MARKS and getattr(column, mark) != wanted:
                app.catalog.mark_column(
                    actor,
                    table.dataset_id,
                    column.name,
                    protected=wanted if mark == "protected" else None,
                    masked=wanted if mark == "masked" else None,
                    identifier=wanted if mark == "identifier" else None,
                )


def next_step() -> None:
    """Where to go from here."""
    st.page_link(page("chat").path, label="Ask a question about it", icon=page("chat").icon)
